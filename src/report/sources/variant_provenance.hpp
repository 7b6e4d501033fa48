// How a file of variants was made: the lines of its header that carbon wrote, as pairs to read.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace carbon {

/// `lines` are header lines that begin with ##carbon_; others are left out.
std::vector<std::pair<std::string, std::string>> variant_provenance(const std::string& path,
                                                                    const std::vector<std::string>& lines);

}  // namespace carbon
