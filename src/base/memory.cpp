#include "src/base/memory.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include "src/base/cgroup.hpp"
#include "src/base/numbers.hpp"

namespace carbon {
namespace {

uint64_t kernel_estimate() {
  std::ifstream file("/proc/meminfo");
  std::string key, amount, unit;
  for (uint64_t kib = 0; file >> key >> amount && std::getline(file, unit);)
    if (key == "MemAvailable:" && parse_number(amount, kib)) return kib * 1024;
  return kUnknownMemory;
}

}  // namespace

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

}  // namespace carbon
