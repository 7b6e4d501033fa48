// FILE##idx##INDEX, htslib's way to name the index of a file that lies elsewhere or has another name.
#pragma once

#include <string>

namespace carbon {

/// The file and, if the name has one, the index; otherwise that is "".
struct IndexedName {
  std::string file, index;
};

inline IndexedName split_index_name(const std::string& name) {
  constexpr const char kDelimiter[] = "##idx##";
  const size_t at = name.find(kDelimiter);
  if (at == std::string::npos) return {name, ""};
  return {name.substr(0, at), name.substr(at + sizeof kDelimiter - 1)};
}

}  // namespace carbon
