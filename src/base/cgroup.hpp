// The control groups (Linux cgroups) that this process is in, so that their limits can be read.
#pragma once

#include <string>
#include <vector>

namespace carbon {

struct ControlGroup {
  std::string directory;
  bool unified = false;  // version 2 of control groups, in which the files of limits have other names
};

/// For a controller ("cpu" or "memory"): the group of this process and every group above it, of both
/// versions. A directory may not exist, because containers can hide it.
std::vector<ControlGroup> control_groups(const std::string& controller);

}  // namespace carbon
