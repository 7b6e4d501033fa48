// The control groups that this process is in: where their limits can be read.
#pragma once

#include <string>
#include <vector>

namespace carbon {

struct ControlGroup {
  std::string directory;
  bool unified = false;  // version 2, whose files have other names
};

/// For a controller ("cpu", "memory"): this process's own group and every group above it, of both versions.
/// Directories may be absent where a container hides them.
std::vector<ControlGroup> control_groups(const std::string& controller);

}  // namespace carbon
