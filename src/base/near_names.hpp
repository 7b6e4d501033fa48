// Similar names, for messages about an unknown option, command, plugin or model.
#pragma once

#include <string>
#include <vector>

namespace carbon {

/// The fewest letters to add, drop, replace or swap with their neighbour that turn `a` into `b` (the optimal
/// string alignment distance). Letters are bytes.
size_t edit_distance(const std::string& a, const std::string& b);

/// The names that differ from `word` in the fewest letters, in their order; none if even they differ in more
/// than a third of its letters (but at least one). Capital and small letters count as equal.
std::vector<std::string> near_names(const std::string& word, const std::vector<std::string>& names);

/// " (did you mean 'a' or 'b'?)" for up to three near names, or "".
std::string did_you_mean(const std::string& word, const std::vector<std::string>& names);

}  // namespace carbon
