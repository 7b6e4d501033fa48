#include "src/serve/api_keys.hpp"

#include <openssl/crypto.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/letters.hpp"

namespace carbon {
namespace {

std::vector<std::string> read_keys(const std::string& path) {
  std::vector<std::string> keys;
  std::ifstream in(path);
  if (!in) throw Error("serve", path + ": cannot read the keys: " + std::strerror(errno));
  for (std::string line; std::getline(in, line);) {
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    keys.push_back(line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin));
  }
  if (keys.empty()) throw Error("serve", path + ": has no key; write one per line");
  return keys;
}

}  // namespace

ApiKeys::ApiKeys(const std::string& path) : path_(path) {
  if (needed()) keys_ = read_keys(path_);
}

void ApiKeys::read_again() {
  std::vector<std::string> keys = read_keys(path_);
  const std::lock_guard lock(mutex_);
  keys_ = std::move(keys);
}

bool ApiKeys::accept(std::string_view authorization) const {
  constexpr std::string_view kScheme = "Bearer";
  if (!needed()) return true;
  // The scheme's case does not matter, and one or more blanks follow it (RFC 9110, section 11.1 and 11.4).
  const std::string_view rest = authorization.substr(std::min(kScheme.size(), authorization.size()));
  const size_t begin = rest.find_first_not_of(" \t");
  if (!equal_letters(authorization.substr(0, kScheme.size()), kScheme) || begin == 0 ||
      begin == std::string_view::npos)
    return false;
  const std::string_view shown = rest.substr(begin, rest.find_last_not_of(" \t") + 1 - begin);
  bool found = false;
  const std::lock_guard lock(mutex_);
  for (const std::string& key : keys_)
    if (key.size() == shown.size() && CRYPTO_memcmp(key.data(), shown.data(), key.size()) == 0) found = true;
  return found;
}

std::string ApiKeys::any() const {
  const std::lock_guard lock(mutex_);
  return keys_.empty() ? "" : keys_.front();
}

size_t ApiKeys::count() const {
  const std::lock_guard lock(mutex_);
  return keys_.size();
}

}  // namespace carbon
