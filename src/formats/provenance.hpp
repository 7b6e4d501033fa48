// The header lines that record which program made a file, in the form of bcftools.
#pragma once

#include <string>
#include <vector>

namespace carbon {

/// The lines `##carbon_COMMANDVersion` and `##carbon_COMMANDCommand`; the second has the local time.
std::vector<std::string> version_lines(const std::string& command, const std::string& command_line);

}  // namespace carbon
