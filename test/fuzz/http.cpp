// The bytes of a connection to carbon serve: the header of a request, its target and its body, which come in
// pieces of a size that the first byte says.
#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/write.hpp>
#include <sstream>

#include "src/serve/http_message.hpp"
#include "test/fuzz/harness.hpp"

namespace carbon::fuzz {
namespace {

namespace http = boost::beast::http;
using ErrorCode = boost::system::error_code;

constexpr size_t kMostHeader = 4096, kMostBody = 4096;

void check_answer(const HttpRequest& request, const HttpProblem& problem, bool http10) {
  HttpAnswer answer;
  answer.status = problem.status == 0 ? 200 : problem.status;
  answer.headers = {{"X-Origin", request.origin}};
  HttpFraming framing;
  framing.http10 = http10;
  std::ostringstream head;
  head << make_response(answer, request.id, framing).base();
  require(head.str().find("\r\n\r\n") == head.str().size() - 4, "a header of an answer that ends early");
}

// Adds the next piece of `input` to `buffer`. Returns false at the end of the input.
bool receive(std::string_view& input, size_t piece, HttpBuffer& buffer) {
  const size_t n = std::min({piece, input.size(), buffer.max_size() - buffer.size()});
  buffer.commit(boost::asio::buffer_copy(buffer.prepare(n), boost::asio::buffer(input.data(), n)));
  input.remove_prefix(n);
  return n > 0;
}

}  // namespace

void run(std::string_view input, const Folder& /*folder*/) {
  if (input.empty()) return;
  const size_t piece = static_cast<unsigned char>(input[0]) % 64 + 1;
  input.remove_prefix(1);
  HttpOptions options;
  options.max_header = kMostHeader;
  options.max_body = kMostBody;
  HttpBuffer buffer(options.max_header);
  HttpParser parser;
  parser.body_limit(options.max_body);

  ErrorCode error = http::error::need_more;
  while (error == http::error::need_more && may_become_request(unparsed(buffer)) &&
         receive(input, piece, buffer))
    error = parse_header(parser, buffer);
  const HttpRequest request = request_of(parser);
  const HttpProblem problem = find_problem(parser, request, error, options);
  check_answer(request, problem, parser.get().version() < 11);
  if (problem.status != 0) return;
  require(!request.path.empty(), "a request without a path");

  // The first piece of the body may have come with the header.
  while (!error && !parser.is_done()) {
    error = parse_body(parser, buffer);
    if (error == http::error::need_more && receive(input, piece, buffer)) error = {};
  }
  require(parser.get().body().size() <= kMostBody, "a body that is too large");
}

}  // namespace carbon::fuzz
