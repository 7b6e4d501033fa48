// The header of a request, parsed and judged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/serve/http.hpp"

namespace carbon {

struct HttpHeader {
  HttpRequest request;  // without body and client; its id is empty if the client gave none that can be used
  bool head = false;    // the method is HEAD, which the request calls GET
  bool http10 = false;
  bool keep = false;               // the client wants to send further requests
  bool expects_continue = false;   // the client waits for 100 before it sends the body
  bool chunked = false;            // the body comes in chunks
  std::optional<uint64_t> length;  // of the body, if the header says it

  int problem = 0;  // the status to refuse the request with, 0 if there is no reason to
  std::string message;

  bool has_body() const { return chunked || length.value_or(0) > 0; }
};

/// `text` goes up to the empty line, which ends it. A body may have `max_body` bytes.
HttpHeader parse_header(std::string_view text, size_t max_body);

/// What is said of a body that is longer.
std::string body_too_large(size_t max_body);

}  // namespace carbon
