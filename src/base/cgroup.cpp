#include "src/base/cgroup.hpp"

#include <fstream>

namespace carbon {

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

}  // namespace carbon
