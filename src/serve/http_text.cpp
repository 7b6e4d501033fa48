#include "src/serve/http_text.hpp"

#include <algorithm>
#include <charconv>

#include "src/base/letters.hpp"
#include "src/base/lists.hpp"

namespace carbon {

std::string decoded_path(std::string_view path) {
  std::string decoded;
  decoded.reserve(path.size());
  for (size_t i = 0; i < path.size(); ++i) {
    unsigned char byte = 0;
    const char* const code = path.data() + i + 1;
    const bool encoded =
        path[i] == '%' && path.size() - i > 2 && std::from_chars(code, code + 2, byte, 16).ptr == code + 2;
    decoded += encoded ? static_cast<char>(byte) : path[i];
    if (encoded) i += 2;
  }
  return decoded;
}

bool is_token_character(char c) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return is_letter_or_digit(c) || kMarks.find(c) != std::string_view::npos;
}

bool is_list_of_tokens(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ',');
  return std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
    const size_t begin = part.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return false;
    part = part.substr(begin, part.find_last_not_of(" \t") + 1 - begin);
    return std::all_of(part.begin(), part.end(), is_token_character);
  });
}

std::string bare_host(const std::string& host) {
  return host.starts_with('[') && host.ends_with(']') ? host.substr(1, host.size() - 2) : host;
}

std::string host_and_port(const std::string& host, uint16_t port) {
  const std::string bare = bare_host(host);
  const bool is_v6 = bare.find(':') != std::string::npos;
  return (is_v6 ? "[" + bare + "]" : bare) + ":" + std::to_string(port);
}

}  // namespace carbon
