#include "src/files/remote.hpp"

#include <htslib/hfile.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "src/base/error.hpp"

namespace carbon {
namespace {

// What stands before "://", or "".
std::string scheme_of(const std::string& name) {
  const size_t end = name.find("://");
  if (end == std::string::npos) return "";
  const std::string scheme = name.substr(0, end);
  const bool plain = std::all_of(scheme.begin(), scheme.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+';
  });
  return plain ? scheme : "";
}

std::vector<std::string> readable_schemes() {
  int count = 0;
  const int all = hfile_list_schemes(nullptr, nullptr, &count);
  std::vector<const char*> names(static_cast<size_t>(std::max(all, 0)));
  count = static_cast<int>(names.size());
  (void)hfile_list_schemes(nullptr, names.data(), &count);
  return {names.begin(), names.begin() + count};
}

}  // namespace

bool is_remote(const std::string& name) {
  return hisremote(name.c_str()) != 0;
}

void check_url(const std::string& name, const std::string& function) {
  const std::string scheme = scheme_of(name);
  if (scheme.empty() || access(name.c_str(), F_OK) == 0) return;
  const std::vector<std::string> readable = readable_schemes();
  if (std::find(readable.begin(), readable.end(), scheme) != readable.end()) return;
  throw Error(function, name + " is a URL, and this carbon cannot read one that begins with " + scheme +
                            "://; download the file first, for example with curl -O, and give its name");
}

}  // namespace carbon
