#include "src/base/cpus.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

#include "src/base/cgroup.hpp"
#include "src/base/lists.hpp"
#include "src/base/numbers.hpp"

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
