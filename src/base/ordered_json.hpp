// JSON files whose keys have an order, read as those of json.hpp.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace carbon {

/// As read_json_file(), with the keys of objects in the order of the file. Takes quadratic time in the number
/// of keys, so `max_bytes` should be less than a megabyte.
nlohmann::ordered_json read_ordered_json_file(const std::string& path, size_t max_bytes);

}  // namespace carbon
