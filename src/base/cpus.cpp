#include "src/base/cpus.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
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

}  // namespace

int available_cpus() {
  cpu_set_t mask;
  int count = sched_getaffinity(0, sizeof mask, &mask) == 0
                  ? CPU_COUNT(&mask)
                  : static_cast<int>(std::thread::hardware_concurrency());
  if (const int quota = cgroup_cpus(); quota > 0) count = std::min(count, quota);
  return std::max(count, 1);
}

}  // namespace carbon
