#include "src/genome/htslib_messages.hpp"

#include <fcntl.h>
#include <htslib/hts.h>
#include <htslib/hts_log.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string_view>

namespace carbon {
namespace {

constexpr unsigned kPatience = 60;      // seconds that a call is given to fail again
constexpr size_t kLongestReason = 300;  // bytes; some messages quote whole lines
constexpr size_t kMostMessages = size_t{64} << 10;

/// In the copy of the process: makes the call and ends.
[[noreturn]] void call_and_end(const std::function<void()>& call, int to) {
  // What the process does when it is ended or crashes is no business of its copy.
  for (const int number : {SIGABRT, SIGALRM, SIGBUS, SIGFPE, SIGHUP, SIGILL, SIGINT, SIGSEGV, SIGTERM})
    std::signal(number, SIG_DFL);
  alarm(kPatience);
  if (dup2(to, STDERR_FILENO) < 0) _exit(1);
  hts_set_log_level(HTS_LOG_ERROR);
  try {
    call();
  } catch (...) {
    _exit(1);
  }
  _exit(0);
}

/// What the other end writes, up to a limit.
std::string read_all(int from) {
  std::string all;
  char block[4096];
  for (;;) {
    const ssize_t got = read(from, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return all;
    all.append(block, std::min(static_cast<size_t>(got), kMostMessages - all.size()));
  }
}

/// Of lines `[E::function] text`, the text of the first.
std::string first_error(std::string_view messages) {
  const size_t begin = messages.find("[E::");
  if (begin == messages.npos) return "";
  messages.remove_prefix(begin);
  const size_t end = messages.find("] ");
  if (end == messages.npos) return "";
  const std::string_view text = messages.substr(end + 2);
  return std::string(text.substr(0, std::min(text.find('\n'), kLongestReason)));
}

}  // namespace

std::string htslib_version() {
  return hts_version();
}

void set_htslib_verbosity(int level) {
  constexpr int information = 4;
  hts_set_log_level(level >= information ? static_cast<htsLogLevel>(level) : HTS_LOG_OFF);
}

std::string htslib_reason(const std::function<void()>& call) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "";
  const pid_t copy = fork();
  if (copy == 0) call_and_end(call, ends[1]);
  close(ends[1]);
  const std::string messages = copy > 0 ? read_all(ends[0]) : "";
  close(ends[0]);
  while (copy > 0 && waitpid(copy, nullptr, 0) < 0 && errno == EINTR) {
  }
  return first_error(messages);
}

}  // namespace carbon
