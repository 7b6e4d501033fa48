// Texts of HTTP that need no message: paths, hosts and ports.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace carbon {

/// A path with the bytes that are percent-encoded in it, such as %2F for a slash. What is no such code stays.
std::string decoded_path(std::string_view path);

/// A host without the brackets in which URLs have the address of IPv6, and what a URL has for host and port.
std::string bare_host(const std::string& host);
std::string host_and_port(const std::string& host, uint16_t port);

}  // namespace carbon
