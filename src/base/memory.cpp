#include "src/base/memory.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include "src/base/cgroup.hpp"

namespace carbon {
namespace {

uint64_t kernel_estimate() {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  for (uint64_t kib = 0; file >> key >> kib;) {
    if (key == "MemAvailable:") return kib * 1024;
    std::getline(file, unit);
  }
  return kUnknownMemory;
}

}  // namespace

uint64_t available_memory() {
  uint64_t least = kernel_estimate();
  for (const ControlGroup& group : control_groups("memory")) {
    std::ifstream limit_file(group.directory + (group.unified ? "/memory.max" : "/memory.limit_in_bytes"));
    std::ifstream usage_file(group.directory +
                             (group.unified ? "/memory.current" : "/memory.usage_in_bytes"));
    uint64_t limit = 0, usage = 0;  // reading fails where there is no limit, which is written as "max"
    if (limit_file >> limit && usage_file >> usage) least = std::min(least, limit - std::min(usage, limit));
  }
  return least;
}

}  // namespace carbon
