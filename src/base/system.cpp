#include "src/base/system.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <thread>
#include <vector>

#include "src/base/error.hpp"
#include "src/base/numbers.hpp"
#include "src/base/words.hpp"

namespace carbon {
namespace {

// The control groups (Linux cgroups) that this process is in, so that their limits can be read.
struct ControlGroup {
  std::string directory;
  bool unified = false;  // version 2 of control groups, in which the files of limits have other names
};

// For a controller ("cpu" or "memory"): the group of this process and every group above it, of both
// versions. A directory may not exist, because containers can hide it.
std::vector<ControlGroup> control_groups(const std::string& controller) {
  std::vector<ControlGroup> found;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t a = line.find(':'), b = line.find(':', a + 1);
    if (a == std::string::npos || b == std::string::npos) continue;
    const std::string controllers = line.substr(a + 1, b - a - 1);
    const bool unified = controllers.empty();
    if (!unified && ("," + controllers + ",").find("," + controller + ",") == std::string::npos) continue;
    const std::string root = unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/" + controller;
    for (std::string path = line.substr(b + 1);; path.resize(path.rfind('/'))) {
      found.push_back({root + path, unified});
      if (path.empty() || path.rfind('/') == std::string::npos) break;
    }
  }
  return found;
}

// The smallest quota of this process's control group and of the groups above it, because all of them apply.
// 0 if there is none.
int cgroup_cpus() {
  double best = 0;
  const auto take = [&best](double quota, double period) {
    if (quota > 0 && period > 0) best = best > 0 ? std::min(best, quota / period) : quota / period;
  };
  for (const ControlGroup& group : control_groups("cpu")) {
    std::string quota, period;  // the quota is "max" where there is none
    double microseconds = 0, of = 0;
    if (group.unified) {
      std::ifstream(group.directory + "/cpu.max") >> quota >> period;
    } else {
      std::ifstream(group.directory + "/cpu.cfs_quota_us") >> quota;
      std::ifstream(group.directory + "/cpu.cfs_period_us") >> period;
    }
    if (parse_number(quota, microseconds) && parse_number(period, of)) take(microseconds, of);
  }
  return best > 0 ? static_cast<int>(std::ceil(best)) : 0;
}

// Whether the mask has a CPU of a list such as "0-3,8".
bool has_one_of(const cpu_set_t& mask, const std::string& list) {
  for (const std::string_view range : split(list, ',')) {
    const size_t dash = std::min(range.find('-'), range.size());
    int first = 0, last = 0;
    if (!parse_number(range.substr(0, dash), first) || first < 0) return false;
    if (dash == range.size())
      last = first;
    else if (!parse_number(range.substr(dash + 1), last))
      return false;
    for (int cpu = first; cpu <= std::min(last, CPU_SETSIZE - 1); ++cpu)
      if (CPU_ISSET(static_cast<size_t>(cpu), &mask)) return true;
  }
  return false;
}

uint64_t kernel_estimate() {
  std::ifstream file("/proc/meminfo");
  std::string key, amount, unit;
  for (uint64_t kib = 0; file >> key >> amount && std::getline(file, unit);)
    if (key == "MemAvailable:" && parse_number(amount, kib)) return kib * 1024;
  return kUnknownMemory;
}

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

int memory_domains(const std::string& folder) {
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return 1;
  int count = 0;
  std::error_code none;  // there may be no such folder
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    std::string list;
    if (std::ifstream file(entry.path() / "cpulist"); std::getline(file, list))
      count += static_cast<int>(has_one_of(mask, list));
  }
  return std::max(count, 1);
}

int available_cpus() {
  cpu_set_t mask;
  int count = sched_getaffinity(0, sizeof mask, &mask) == 0
                  ? CPU_COUNT(&mask)
                  : static_cast<int>(std::thread::hardware_concurrency());
  if (const int quota = cgroup_cpus(); quota > 0) count = std::min(count, quota);
  return std::max(count, 1);
}

uint64_t available_memory() {
  uint64_t least = kernel_estimate();
  for (const ControlGroup& group : control_groups("memory")) {
    std::string limit_text, usage_text;
    std::ifstream(group.directory + (group.unified ? "/memory.max" : "/memory.limit_in_bytes")) >> limit_text;
    std::ifstream(group.directory + (group.unified ? "/memory.current" : "/memory.usage_in_bytes")) >>
        usage_text;
    uint64_t limit = 0, usage = 0;  // reading fails where there is no limit, which is written as "max"
    if (parse_number(limit_text, limit) && parse_number(usage_text, usage))
      least = std::min(least, limit - std::min(usage, limit));
  }
  return least;
}

uint64_t system_random() {
  uint64_t bits = 0;
  if (::getentropy(&bits, sizeof bits) != 0)
    throw Error("random", std::string("the system gives no random numbers: ") + std::strerror(errno));
  return bits;
}

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
