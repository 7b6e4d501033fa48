// The text of HTTP/1.x: what of a request can be judged before it is parsed, and the head of an answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/serve/http.hpp"

namespace carbon {

/// False if no more bytes could make a request of `start`, which has no end of a header yet.
bool may_become_request(std::string_view start);

/// Splits the target of a request into path and query. False if it is none that a server has to know, or has
/// bytes that should have been percent-encoded.
bool split_target(std::string_view target, std::string& path, std::string& query);

/// A path with the bytes that are percent-encoded in it, such as %2F for a slash. What is no such code stays.
std::string decoded_path(std::string_view path);

/// A host without the brackets in which URLs have the address of IPv6, and what a URL has for host and port.
std::string bare_host(const std::string& host);
std::string host_and_port(const std::string& host, uint16_t port);

/// True for what may be the name of a request: 1 to 128 visible ASCII characters.
bool is_request_id(std::string_view text);

/// `text` with a question mark for each byte that is not printable ASCII.
std::string visible_ascii(std::string_view text);

/// False for the kinds of answer that say nothing of a body, not even that it is empty.
bool has_body(int status);

/// How an answer is put on the wire.
struct HttpFraming {
  bool http10 = false;             // the client speaks HTTP/1.0
  bool keep = true;                // the connection stays open after it
  bool streamed = false;           // the body comes in pieces
  std::optional<uint64_t> length;  // of the body, if known

  bool chunked() const { return streamed && !http10; }
};

/// Status line and headers, up to the empty line. A header of the answer with characters that could end it is
/// left out.
std::string answer_head(const HttpAnswer& answer, std::string_view request_id, const HttpFraming& framing);

/// Appends a piece of a chunked body to `out`. No piece ends the body, so an empty one is left out.
void append_chunk(std::string& out, std::string_view piece);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace carbon
