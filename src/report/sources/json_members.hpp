// The members of JSON that other commands have written.
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "src/base/error.hpp"

namespace carbon {

/// Reads members of an object, whose place in the file is `where`. `writer` is the command that writes such
/// files, for messages. All functions throw Error, which names the file and the member.
class JsonMembers {
 public:
  JsonMembers(const nlohmann::json& object, const std::string& path, const char* writer,
              std::string where = "")
      : object_(object), path_(path), writer_(writer), where_(std::move(where)) {
    if (!object.is_object()) refuse(where_.empty() ? "the file" : where_, "an object");
  }

  bool has(std::string_view key) const { return object_.contains(key); }
  const nlohmann::json& member(std::string_view key) const {
    if (!has(key))
      throw Error("read_json",
                  path_ + ": " + name_of(key) + " is missing; expected the JSON of carbon " + writer_);
    return object_.at(std::string(key));
  }
  JsonMembers object(std::string_view key) const { return {member(key), path_, writer_, name_of(key)}; }
  /// An element of a list.
  JsonMembers element(std::string_view key, size_t i) const {
    return {array(key)[i], path_, writer_, name_of(key) + "[" + std::to_string(i) + "]"};
  }
  const nlohmann::json& array(std::string_view key) const {
    if (!member(key).is_array()) refuse(name_of(key), "a list");
    return member(key);
  }
  std::string text(std::string_view key) const {
    if (!member(key).is_string()) refuse(name_of(key), "a text");
    return member(key).get<std::string>();
  }
  bool truth(std::string_view key) const {
    if (!member(key).is_boolean()) refuse(name_of(key), "true or false");
    return member(key).get<bool>();
  }
  double number(std::string_view key) const {
    if (!member(key).is_number()) refuse(name_of(key), "a number");
    return finite(key);
  }
  uint64_t count(std::string_view key) const {
    if (!member(key).is_number_unsigned()) refuse(name_of(key), "a whole number of at least 0");
    return member(key).get<uint64_t>();
  }
  double share(std::string_view key) const {
    const double value = number(key);
    if (!(value >= 0 && value <= 1)) refuse(name_of(key), "a number from 0 to 1");
    return value;
  }
  /// NaN for null.
  double number_or_nan(std::string_view key) const {
    if (member(key).is_null()) return NAN;
    if (!member(key).is_number()) refuse(name_of(key), "a number or null");
    return finite(key);
  }

  [[noreturn]] void refuse(const std::string& what, const std::string& wanted) const {
    throw Error("read_json",
                path_ + ": " + what + " is not " + wanted + ", as in the JSON of carbon " + writer_);
  }
  std::string name_of(std::string_view key) const {
    return where_ + (where_.empty() ? "" : ".") + std::string(key);
  }

 private:
  double finite(std::string_view key) const {
    const auto value = member(key).get<double>();
    if (!std::isfinite(value)) refuse(name_of(key), "a finite number");
    return value;
  }
  const nlohmann::json& object_;
  const std::string& path_;
  const char* writer_;
  std::string where_;
};

}  // namespace carbon
