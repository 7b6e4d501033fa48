#include "src/serve/http_header.hpp"

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <limits>
#include <utility>

#include "src/serve/http_text.hpp"

namespace carbon {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using Parser = http::request_parser<http::empty_body>;

std::string_view view(beast::string_view text) {
  return {text.data(), text.size()};
}

struct Problem {
  int status = 0;
  std::string message = {};
};

// What speaks against a request, as it was parsed.
Problem find_problem(const Parser& parser, const boost::system::error_code& error, bool has_path,
                     size_t max_body) {
  if (error == http::error::bad_version) return {505, "the server speaks HTTP/1.1 and HTTP/1.0"};
  if (error || !parser.is_header_done()) return {400, "the request's header is malformed"};
  if (!has_path) return {400, "the request's target is not a path in visible ASCII"};
  const Parser::value_type& message = parser.get();
  const bool http10 = message.version() < 11;
  const size_t hosts = message.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && !http10)) return {400, "the request must have one Host header"};
  // Other encodings, and bodies of which two headers speak, are how requests are smuggled past a proxy.
  const size_t encodings = message.count(http::field::transfer_encoding);
  if (encodings > 1 ||
      (encodings == 1 && !beast::iequals(message[http::field::transfer_encoding], "chunked")))
    return {501, "of transfer encodings only chunked is known"};
  if (encodings == 1 && http10) return {400, "HTTP/1.0 has no transfer encodings"};
  const boost::optional<uint64_t> length = parser.content_length();
  if (length && *length > max_body) return {413, body_too_large(max_body)};
  return {};
}

}  // namespace

HttpHeader parse_header(std::string_view text, size_t max_body) {
  Parser parser;
  parser.skip(true);  // HttpBodyReader reads the body
  parser.header_limit(std::numeric_limits<uint32_t>::max());
  boost::system::error_code error;
  parser.put(boost::asio::buffer(text.data(), text.size()), error);
  const Parser::value_type& message = parser.get();

  HttpHeader header;
  HttpRequest& request = header.request;
  const std::string_view id = view(message["X-Request-Id"]);
  if (is_request_id(id)) request.id = id;
  request.method = view(message.method_string());
  request.content_type = visible_ascii(view(message[http::field::content_type]));
  request.authorization = view(message[http::field::authorization]);
  request.origin = visible_ascii(view(message[http::field::origin]));
  const bool has_path = split_target(view(message.target()), request.path, request.query);
  request.decoded_path = decoded_path(request.path);
  header.head = request.method == "HEAD";
  if (header.head) request.method = "GET";
  Problem problem = find_problem(parser, error, has_path, max_body);
  header.problem = problem.status;
  header.message = std::move(problem.message);
  if (header.problem != 0) return header;

  header.http10 = message.version() < 11;
  header.keep = parser.keep_alive();
  header.expects_continue = !header.http10 && beast::iequals(message[http::field::expect], "100-continue");
  header.chunked = parser.chunked();
  if (const boost::optional<uint64_t> length = parser.content_length()) header.length = *length;
  return header;
}

std::string body_too_large(size_t max_body) {
  return "the request's body has more than " + std::to_string(max_body) + " bytes";
}

}  // namespace carbon
