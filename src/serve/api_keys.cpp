#include "src/serve/api_keys.hpp"

#include <openssl/crypto.h>
#include <strings.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "src/base/error.hpp"

namespace carbon {

ApiKeys::ApiKeys(const std::string& path) {
  if (path.empty()) return;
  std::ifstream in(path);
  if (!in) throw Error("serve", path + ": cannot read the keys: " + std::strerror(errno));
  for (std::string line; std::getline(in, line);) {
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    keys_.push_back(line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin));
  }
  if (keys_.empty()) throw Error("serve", path + ": has no key; write one per line");
}

bool ApiKeys::accept(std::string_view authorization) const {
  constexpr std::string_view kScheme = "Bearer ";
  if (keys_.empty()) return true;
  // The scheme's case does not matter (RFC 9110, section 11.1).
  if (authorization.size() < kScheme.size() ||
      strncasecmp(authorization.data(), kScheme.data(), kScheme.size()) != 0)
    return false;
  const std::string_view shown = authorization.substr(kScheme.size());
  bool found = false;
  for (const std::string& key : keys_)
    if (key.size() == shown.size() && CRYPTO_memcmp(key.data(), shown.data(), key.size()) == 0) found = true;
  return found;
}

}  // namespace carbon
