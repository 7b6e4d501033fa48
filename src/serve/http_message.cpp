#include "src/serve/http_message.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <charconv>
#include <limits>

#include "src/base/letters.hpp"

namespace carbon {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using ErrorCode = boost::system::error_code;
using boost::asio::ip::tcp;

// The longest registered method has 17 characters.
constexpr size_t kLongestMethod = 32;

std::string_view view(beast::string_view text) {
  return {text.data(), text.size()};
}

bool is_visible(char c) {
  return c > ' ' && c <= '~';
}

bool is_request_id(std::string_view text) {
  return !text.empty() && text.size() <= 128 && std::all_of(text.begin(), text.end(), is_visible);
}

// Replaces each byte that is not printable ASCII by a question mark.
std::string visible_ascii(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c != ' ' && !is_visible(c)) c = '?';
  return result;
}

// Splits a target into path and query. Beast does not, and Boost.URL came only after Boost 1.74. The path
// stays empty if the target is empty or has bytes that should have been percent-encoded.
void split_target(std::string_view target, HttpRequest& request) {
  if (target.empty() || !std::all_of(target.begin(), target.end(), is_visible)) return;
  // A proxy receives the absolute form; the host in it is this server.
  for (const std::string_view scheme : {"http://", "https://"})
    if (target.starts_with(scheme))
      target.remove_prefix(std::min(target.find_first_of("/?", scheme.size()), target.size()));
  const size_t mark = std::min(target.find('?'), target.size());
  request.path = target.substr(0, mark);
  if (mark < target.size()) request.query = target.substr(mark + 1);
  if (request.path.empty()) request.path = "/";
}

// A path with the bytes that are percent-encoded in it, such as %2F for a slash. What is no such code stays.
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

bool is_path(const std::string& path) {
  return path.starts_with('/') || path == "*";
}

// Returns false for text that could end a header field and begin another one.
bool is_field_text(const std::string& text) {
  return std::none_of(text.begin(), text.end(),
                      [](unsigned char c) { return (c < ' ' && c != '\t') || c == 0x7f; });
}

// A host without the brackets in which URLs have the address of IPv6.
std::string bare_host(const std::string& host) {
  return host.starts_with('[') && host.ends_with(']') ? host.substr(1, host.size() - 2) : host;
}

}  // namespace

std::string_view unparsed(const HttpBuffer& buffer) {
  return {static_cast<const char*>(buffer.data().data()), buffer.size()};
}

ErrorCode parse_header(HttpParser& parser, HttpBuffer& buffer) {
  constexpr std::string_view kEnd = "\r\n\r\n";
  const size_t end = unparsed(buffer).find(kEnd);
  ErrorCode error;
  // The parser gets whole headers only: Beast 1.74 counts towards its header_limit() neither the first line
  // nor the fields that arrived before others.
  if (end == std::string_view::npos) {
    error = buffer.size() == buffer.max_size() ? http::error::header_limit : http::error::need_more;
    return error;
  }
  parser.header_limit(std::numeric_limits<uint32_t>::max());
  buffer.consume(parser.put(boost::asio::buffer(buffer.data(), end + kEnd.size()), error));
  if (error == http::error::need_more) error = http::error::partial_message;
  return error;
}

ErrorCode parse_body(HttpParser& parser, HttpBuffer& buffer) {
  ErrorCode error;
  parser.eager(true);
  // An assertion in Beast 1.74 ends the program when the end of an empty chunked body is cut at this place.
  const bool cut = parser.chunked() && unparsed(buffer) == "0\r\n";
  if (buffer.size() > 0 && !cut) buffer.consume(parser.put(buffer.data(), error));
  if (!error && !parser.is_done()) error = http::error::need_more;
  // Beast limits neither the lines between chunks nor what follows the last one.
  if (error == http::error::need_more && buffer.size() == buffer.max_size())
    error = http::error::buffer_overflow;
  return error;
}

bool is_token_character(char c) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return is_letter_or_digit(c) || kMarks.find(c) != std::string_view::npos;
}

bool may_become_request(std::string_view start) {
  const size_t line_end = start.find('\n');
  if (line_end != std::string_view::npos && (line_end == 0 || start[line_end - 1] != '\r')) return false;
  const size_t method_end = std::min(start.find(' '), start.size());
  return method_end <= kLongestMethod &&
         std::all_of(start.begin(), start.begin() + method_end, is_token_character);
}

HttpRequest request_of(const HttpParser& parser) {
  const HttpParser::value_type& message = parser.get();
  HttpRequest request;
  request.method = view(message.method_string());
  if (request.method == "HEAD") request.method = "GET";
  split_target(view(message.target()), request);
  request.decoded_path = decoded_path(request.path);
  request.content_type = visible_ascii(view(message[http::field::content_type]));
  request.authorization = view(message[http::field::authorization]);
  request.origin = visible_ascii(view(message[http::field::origin]));
  request.requested_headers = visible_ascii(view(message["Access-Control-Request-Headers"]));
  const std::string_view id = view(message["X-Request-Id"]);
  if (is_request_id(id)) request.id = id;
  return request;
}

HttpProblem find_problem(const HttpParser& parser, const HttpRequest& request, const ErrorCode& error,
                         const HttpOptions& options) {
  if (error == http::error::need_more)
    return {400, "not an HTTP/1.1 request; this server does not speak TLS"};
  if (error == http::error::header_limit)
    return {431, "the request's header has more than " + std::to_string(options.max_header) + " bytes"};
  if (error == http::error::bad_version) return {505, "the server speaks HTTP/1.1 and HTTP/1.0"};
  const bool too_large = error == http::error::body_limit;
  if (error && !too_large)
    return {400, parser.is_header_done() ? "the request's body is not chunked as its header says"
                                         : "the request's header is malformed"};
  if (!is_path(request.path)) return {400, "the request's target is not a path in visible ASCII"};
  const HttpParser::value_type& message = parser.get();
  const bool http10 = message.version() < 11;
  const size_t hosts = message.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && !http10)) return {400, "the request must have one Host header"};
  // Other encodings, and bodies of which two headers speak, are how requests are smuggled past a proxy.
  const size_t encodings = message.count(http::field::transfer_encoding);
  if (encodings > 1 ||
      (encodings == 1 && !beast::iequals(message[http::field::transfer_encoding], "chunked")))
    return {501, "of transfer encodings only chunked is known"};
  if (encodings == 1 && http10) return {400, "HTTP/1.0 has no transfer encodings"};
  if (too_large)
    return {413, "the request's body has more than " + std::to_string(options.max_body) + " bytes"};
  return {};
}

HttpResponse make_response(const HttpAnswer& answer, const std::string& request_id,
                           const HttpFraming& framing) {
  HttpResponse response;
  response.version(framing.http10 ? 10 : 11);
  response.result(static_cast<unsigned>(answer.status));
  const auto add = [&](const std::string& name, const std::string& value) {
    if (is_field_text(name) && is_field_text(value)) response.insert(name, value);
  };
  if (has_body(answer.status)) {
    add("Content-Type", answer.content_type);
    add("X-Content-Type-Options", "nosniff");
    if (!framing.streamed)
      add("Content-Length", std::to_string(answer.body.size()));
    else if (!framing.http10)
      add("Transfer-Encoding", "chunked");
  }
  if (framing.streamed) add("Cache-Control", "no-cache");
  add("X-Request-Id", request_id);
  for (const auto& [name, value] : answer.headers) add(name, value);
  if (!framing.keep)
    add("Connection", "close");
  else if (framing.http10)
    add("Connection", "keep-alive");
  return response;
}

bool has_body(int status) {
  return status != 204 && status != 304;
}

std::string host_and_port(const std::string& host, uint16_t port) {
  const std::string bare = bare_host(host);
  const bool is_v6 = bare.find(':') != std::string::npos;
  return (is_v6 ? "[" + bare + "]" : bare) + ":" + std::to_string(port);
}

std::vector<tcp::endpoint> addresses_of(boost::asio::io_context& context, const std::string& host,
                                        uint16_t port, boost::system::error_code& error) {
  const std::string name = bare_host(host);
  if (name == "localhost")
    return {{boost::asio::ip::address_v4::loopback(), port}, {boost::asio::ip::address_v6::loopback(), port}};
  std::vector<tcp::endpoint> found;
  for (const auto& entry :
       tcp::resolver(context).resolve(name, std::to_string(port), tcp::resolver::numeric_service, error))
    found.push_back(entry.endpoint());
  return found;
}

}  // namespace carbon
