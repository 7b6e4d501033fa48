#include "src/serve/http_client.hpp"

#include <utility>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <functional>

#include "src/base/error.hpp"
#include "src/serve/http_text.hpp"

namespace carbon {

namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using boost::asio::ip::tcp;
using boost::system::error_code;

constexpr size_t kMaxAnswer = size_t{16} << 20;

}  // namespace

HttpAnswer http_ask(const std::string& host, uint16_t port, const HttpRequest& request, double seconds) {
  const std::string where = host_and_port(host, port);
  boost::asio::io_context context;
  beast::tcp_stream stream(context);
  // Runs one operation, which reports to what it is given.
  const auto wait = [&](const char* what,
                        const std::function<void(std::function<void(error_code)>)>& operation) {
    error_code result = boost::asio::error::would_block;
    operation([&](error_code error) { result = error; });
    context.restart();
    context.run();
    if (result) throw Error("serve", std::string(what) + " " + where + ": " + result.message());
  };
  error_code error;
  const auto addresses = tcp::resolver(context).resolve(bare_host(host), std::to_string(port), error);
  if (error) throw Error("serve", "cannot find the host " + where + ": " + error.message());
  stream.expires_after(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds)));
  wait("cannot connect to", [&](auto done) {
    stream.async_connect(addresses, [done](error_code result, const tcp::endpoint&) { done(result); });
  });
  http::request<http::string_body> question;
  question.version(11);
  question.method_string(request.method);
  question.target(request.path);
  question.set(http::field::host, where);
  question.set(http::field::connection, "close");
  if (!request.authorization.empty()) question.set(http::field::authorization, request.authorization);
  if (!request.body.empty()) question.set(http::field::content_type, "application/json");
  question.body() = request.body;
  question.prepare_payload();
  wait("cannot send to", [&](auto done) {
    http::async_write(stream, question, [done](error_code result, size_t) { done(result); });
  });
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(kMaxAnswer);
  wait("no answer from", [&](auto done) {
    http::async_read(stream, buffer, parser, [done](error_code result, size_t) { done(result); });
  });
  HttpAnswer answer;
  answer.status = static_cast<int>(parser.get().result_int());
  answer.content_type = std::string(parser.get()[http::field::content_type]);
  answer.body = std::move(parser.get().body());
  return answer;
}

}  // namespace carbon
