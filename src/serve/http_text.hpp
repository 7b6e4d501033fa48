// Texts of HTTP that need no message: paths, hosts and ports.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace carbon {

/// A path with the bytes that are percent-encoded in it, such as %2F for a slash. What is no such code stays.
std::string decoded_path(std::string_view path);

/// Whether a character may stand in a token of HTTP, such as a method or the name of a header field.
bool is_token_character(char c);
/// Whether a text is one or more tokens, joined by commas and blanks.
bool is_list_of_tokens(std::string_view text);

/// A host without the brackets in which URLs have the address of IPv6, and what a URL has for host and port.
std::string bare_host(const std::string& host);
std::string host_and_port(const std::string& host, uint16_t port);

}  // namespace carbon
