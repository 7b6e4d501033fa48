#include "src/util/cpus.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <thread>

namespace carbon {
namespace {

// The quota of this process's own cgroup and of every group above it: the tightest one binds.
int cgroup_cpus() {
  double best = 0;
  const auto take = [&best](double quota, double period) {
    if (quota > 0 && period > 0) best = best > 0 ? std::min(best, quota / period) : quota / period;
  };
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t a = line.find(':'), b = line.find(':', a + 1);
    if (a == std::string::npos || b == std::string::npos) continue;
    const std::string controllers = line.substr(a + 1, b - a - 1);
    const bool unified = controllers.empty();
    if (!unified && ("," + controllers + ",").find(",cpu,") == std::string::npos) continue;
    for (std::string path = line.substr(b + 1);; path.resize(path.rfind('/'))) {
      const std::string base = (unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu") + path;
      if (unified) {
        std::string quota;
        double period = 0;
        if (std::ifstream file(base + "/cpu.max"); file >> quota >> period && quota != "max")
          take(std::atof(quota.c_str()), period);
      } else {
        double quota = 0, period = 0;
        if (std::ifstream(base + "/cpu.cfs_quota_us") >> quota &&
            std::ifstream(base + "/cpu.cfs_period_us") >> period)
          take(quota, period);
      }
      if (path.empty() || path.rfind('/') == std::string::npos) break;
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
