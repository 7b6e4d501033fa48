// The keys that clients must show.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace carbon {

class ApiKeys {
 public:
  /// Reads one key per line; empty lines and lines that begin with # are left out. "" : no key is needed.
  /// Throws Error if the file cannot be read or has no key.
  explicit ApiKeys(const std::string& path);

  /// Reads the file again, from now on for all requests. If it throws, the keys stay as they were.
  void read_again();

  // Any thread may call these.
  bool needed() const { return !path_.empty(); }
  /// True if the value of an Authorization header is "Bearer", blanks and one of the keys, or if none is
  /// needed. The time does not tell how much of a key was right.
  bool accept(std::string_view authorization) const;
  /// One of them, for a client of this host; "" if none is needed.
  std::string any() const;
  size_t count() const;

 private:
  const std::string path_;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<std::string> keys_;
};

}  // namespace carbon
