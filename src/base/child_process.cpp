#include "src/base/child_process.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "src/base/error.hpp"

namespace carbon {
namespace {

[[noreturn]] void work_and_end(const std::function<void(int)>& work, unsigned seconds, int file) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  // What the process does when it is ended or crashes is not the business of its copy.
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGALRM, SIGTERM, SIGINT, SIGHUP})
    std::signal(number, SIG_DFL);
  alarm(seconds);
  try {
    work(file);
  } catch (...) {
    _exit(1);
  }
  _exit(0);
}

std::string read_all(int file, size_t most) {
  std::string text;
  char block[4096];
  for (;;) {
    const ssize_t count = read(file, block, sizeof block);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(block, std::min(static_cast<size_t>(count), most - text.size()));
  }
}

}  // namespace

ChildResult run_in_child(const std::string& function, unsigned seconds, size_t most,
                         const std::function<void(int file)>& work) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw Error(function, std::string("cannot make a pipe: ") + std::strerror(errno));
  const pid_t child = fork();
  if (child == 0) work_and_end(work, seconds, ends[1]);
  const int problem = errno;
  close(ends[1]);
  ChildResult result;
  if (child > 0) result.text = read_all(ends[0], most);
  close(ends[0]);
  if (child < 0)
    throw Error(function, std::string("cannot start a child process: ") + std::strerror(problem));
  while (waitpid(child, &result.status, 0) < 0 && errno == EINTR) continue;
  return result;
}

}  // namespace carbon
