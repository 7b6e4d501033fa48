// JSON files read as hostile input: size limit, depth limit, duplicate keys refused, one-line messages.
//
// A thin layer on nlohmann::json; it knows nothing of what the files mean.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace carbon {

/// Parses a whole text. Throws Error naming `path` and the byte if it is not JSON, repeats a key in an object
/// or nests deeper than 32 levels (nothing we read does).
nlohmann::json parse_json(std::string_view text, const std::string& path);

/// Reads and parses a file of at most `max_bytes`.
nlohmann::json read_json_file(const std::string& path, size_t max_bytes);

/// Text from a file made fit for one line of a message: control characters escaped, cut after 120 bytes.
std::string printable(std::string_view text);

}  // namespace carbon
