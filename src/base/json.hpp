// Reads JSON files as hostile input: limits on size and depth, no duplicate keys, messages of one line.
//
// A thin layer on nlohmann::json. It does not know what the files mean.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace carbon {

/// Parses a whole text. Throws Error, which names `path`, if the text is not JSON (with the byte), repeats a
/// key in an object, or nests deeper than 32 levels, which no file that we read does.
nlohmann::json parse_json(std::string_view text, const std::string& path);

/// Reads and parses a file. Throws Error also if it cannot be read or is larger than `max_bytes`.
nlohmann::json read_json_file(const std::string& path, size_t max_bytes);

/// As read_json_file(), with the keys of objects in the order of the file. Takes quadratic time in the number
/// of keys, so `max_bytes` should be less than a megabyte.
nlohmann::ordered_json read_ordered_json_file(const std::string& path, size_t max_bytes);

/// Text from a file in a form that fits one line of a message: control characters are escaped, and the text
/// is cut after 120 bytes.
std::string printable(std::string_view text);

}  // namespace carbon
