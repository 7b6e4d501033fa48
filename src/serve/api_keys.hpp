// The keys that clients must show.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace carbon {

class ApiKeys {
 public:
  /// Reads one key per line; empty lines and lines that begin with # are left out. "" : no key is needed.
  /// Throws Error if the file cannot be read or has no key.
  explicit ApiKeys(const std::string& path);
  ApiKeys() = default;

  /// True if the value of an Authorization header is "Bearer " and one of the keys, or if none is needed. The
  /// time does not tell how much of a key was right.
  bool accept(std::string_view authorization) const;
  /// One of them, for a client of this host; "" if none is needed.
  std::string any() const { return keys_.empty() ? "" : keys_.front(); }

 private:
  std::vector<std::string> keys_;
};

}  // namespace carbon
