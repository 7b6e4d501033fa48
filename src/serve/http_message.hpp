// Between the messages of Boost.Beast and those of the service: what a request says and what is wrong with
// it, and the head of an answer; and the addresses of a host. Includes Boost.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/serve/http.hpp"

namespace carbon {

using HttpBuffer = boost::beast::flat_buffer;
using HttpParser = boost::beast::http::request_parser<boost::beast::http::string_body>;
using HttpResponse = boost::beast::http::response<boost::beast::http::buffer_body>;

/// The bytes that have been read and not yet parsed.
std::string_view unparsed(const HttpBuffer& buffer);

/// Takes the header of a request from `buffer`. Returns http::error::need_more until all of it is there, and
/// http::error::header_limit if the buffer has reached its maximum size before.
boost::system::error_code parse_header(HttpParser& parser, HttpBuffer& buffer);

/// Takes what there is of the body from `buffer`, and returns http::error::need_more until the body is
/// complete. A line between chunks, or the lines after the last one, may be as long as the maximum size of
/// the buffer.
boost::system::error_code parse_body(HttpParser& parser, HttpBuffer& buffer);

/// Returns false if no more bytes could make a request of `start`, which has no end of a header yet.
bool may_become_request(std::string_view start);

/// What the parsed header says. Body and client stay empty, and so does an id that is missing or not
/// printable.
HttpRequest request_of(const HttpParser& parser);

/// The status and the message to refuse a request with; status 0 if there is no reason to.
struct HttpProblem {
  int status = 0;
  std::string message = {};
};

/// What is wrong with `request`, which comes from `parser`. `error` is what parse_header() or parse_body()
/// returned. The messages name the limits of `options`.
HttpProblem find_problem(const HttpParser& parser, const HttpRequest& request,
                         const boost::system::error_code& error, const HttpOptions& options);

/// How an answer is sent.
struct HttpFraming {
  bool http10 = false;     // the client speaks HTTP/1.0
  bool keep = true;        // the connection stays open after the answer
  bool head_only = false;  // the answer has no body
  // The body comes in pieces: in chunks, or for HTTP/1.0 up to the end of the connection.
  bool streamed = false;
};

/// The head of an answer. Header fields of `answer` that contain control characters are left out.
HttpResponse make_response(const HttpAnswer& answer, const std::string& request_id,
                           const HttpFraming& framing);

/// Returns false for the statuses whose answers have no body and no header fields about one.
bool has_body(int status);

/// The addresses of a host, which may be written as in a URL. localhost is this machine, also where no file
/// and no service says so; other names are asked of the system. `error` says why there are none.
std::vector<boost::asio::ip::tcp::endpoint> addresses_of(boost::asio::io_context& context,
                                                         const std::string& host, uint16_t port,
                                                         boost::system::error_code& error);

}  // namespace carbon
