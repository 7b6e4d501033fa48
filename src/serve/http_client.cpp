// Asks an HTTP server one question.
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <utility>
#include <vector>

#include "src/base/error.hpp"
#include "src/serve/http.hpp"
#include "src/serve/http_message.hpp"

namespace carbon {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
namespace net = boost::asio;
using boost::system::error_code;
using net::ip::tcp;

constexpr size_t kMaxAnswer = size_t{16} << 20;

http::request<http::string_body> question_of(const HttpRequest& request, const std::string& where) {
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
  return question;
}

}  // namespace

HttpAnswer http_ask(const std::string& host, uint16_t port, const HttpRequest& request, double seconds) {
  const std::string where = host_and_port(host, port);
  net::io_context context;
  beast::tcp_stream stream(context);
  error_code error;
  const std::vector<tcp::endpoint> addresses = addresses_of(context, host, port, error);
  if (error) throw Error("serve", "cannot find the host " + where + ": " + error.message());
  const http::request<http::string_body> question = question_of(request, where);
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(kMaxAnswer);
  // Waits for one operation. Only those that are asynchronous heed the time of the stream.
  const auto wait = [&](auto result) {
    context.restart();
    context.run();
    static_cast<void>(result.get());
  };
  const char* what = "cannot connect to";
  try {
    stream.expires_after(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds)));
    wait(stream.async_connect(addresses, net::use_future));
    what = "cannot send to";
    wait(http::async_write(stream, question, net::use_future));
    what = "no answer from";
    wait(http::async_read(stream, buffer, parser, net::use_future));
  } catch (const boost::system::system_error& failure) {
    throw Error("serve", std::string(what) + " " + where + ": " + failure.code().message());
  }
  HttpAnswer answer;
  answer.status = static_cast<int>(parser.get().result_int());
  answer.content_type = std::string(parser.get()[http::field::content_type]);
  answer.body = std::move(parser.get().body());
  return answer;
}

}  // namespace carbon
