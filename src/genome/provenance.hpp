// The header lines that say which program made a file, as bcftools writes them.
#pragma once

#include <string>
#include <vector>

namespace carbon {

/// `##carbon_COMMANDVersion` and `##carbon_COMMANDCommand`, the second with the local time.
std::vector<std::string> version_lines(const std::string& command, const std::string& command_line);

}  // namespace carbon
