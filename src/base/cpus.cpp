#include "src/base/cpus.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "src/base/cgroup.hpp"

namespace carbon {
namespace {

// The smallest quota of this process's control group and of the groups above it, because all of them apply.
// 0 if there is none.
int cgroup_cpus() {
  double best = 0;
  const auto take = [&best](double quota, double period) {
    if (quota > 0 && period > 0) best = best > 0 ? std::min(best, quota / period) : quota / period;
  };
  for (const ControlGroup& group : control_groups("cpu")) {
    if (group.unified) {
      std::string quota;
      double period = 0;
      if (std::ifstream file(group.directory + "/cpu.max"); file >> quota >> period && quota != "max")
        take(std::atof(quota.c_str()), period);
    } else {
      double quota = 0, period = 0;
      if (std::ifstream(group.directory + "/cpu.cfs_quota_us") >> quota &&
          std::ifstream(group.directory + "/cpu.cfs_period_us") >> period)
        take(quota, period);
    }
  }
  return best > 0 ? static_cast<int>(std::ceil(best)) : 0;
}

// Whether the mask has a CPU of a list such as "0-3,8".
bool has_one_of(const cpu_set_t& mask, const std::string& list) {
  std::istringstream ranges(list);
  for (std::string range; std::getline(ranges, range, ',');) {
    int first = 0, last = 0;
    const int numbers = std::sscanf(range.c_str(), "%d-%d", &first, &last);
    if (numbers < 1 || first < 0) return false;
    if (numbers < 2) last = first;
    for (int cpu = first; cpu <= std::min(last, CPU_SETSIZE - 1); ++cpu)
      if (CPU_ISSET(static_cast<size_t>(cpu), &mask)) return true;
  }
  return false;
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

}  // namespace carbon
