// HTTP as the rest of the room sees it: a request, an answer, and an exchange, on which an answer is sent
// whole or piece by piece; the server that brings them, and a client that asks another one.
//
// The server is one of HTTP/1.1 on Boost.Beast and Asio: connections, their limits and times, and nothing of
// what is asked. Requests go to a handler, which answers through an HttpExchange. One thread does all input
// and output; it never waits for a handler, so that a slow client or a long computation delays nobody. Not
// here: TLS and HTTP/2, which belong to a reverse proxy.
//
// No Boost here: only http_message.hpp, http_connection.hpp and what includes them have its headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace carbon {

struct HttpRequest {
  std::string method;  // "GET", "POST", ...; a HEAD comes as a GET, and its answer goes without the body
  std::string path;    // of the target, without the query, as sent
  std::string decoded_path;  // the same with the bytes that are percent-encoded in it; endpoints go by it
  std::string query;         // without the '?'
  std::string body;
  std::string content_type;       // as sent, "" if missing
  std::string authorization;      // the header's value, "" if missing
  std::string origin;             // the header's value, "" if missing
  std::string requested_headers;  // Access-Control-Request-Headers: what a browser asks about, "" if missing
  std::string id;      // X-Request-Id as sent, if it is short and printable, else one that was made
  std::string client;  // address of the peer
};

struct HttpAnswer {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;  // further ones
};

/// One request on its way to its answer. All functions may be called from any thread, and none waits. Either
/// answer() is called once, or start(), any number of send(), and finish(). What is called after the client
/// has gone does nothing.
class HttpExchange {
 public:
  virtual ~HttpExchange() = default;

  virtual const HttpRequest& request() const = 0;
  /// Sends a whole answer.
  virtual void answer(HttpAnswer answer) = 0;
  /// Begins an answer whose body comes in pieces (chunked); `head.body` is the first piece and may be empty.
  virtual void start(HttpAnswer head) = 0;
  virtual void send(std::string piece) = 0;
  virtual void finish() = 0;
  /// Calls `gone` once if the client goes away, is too slow, or the server closes the connection before the
  /// answer is complete; at once if that has happened. It may be called in any thread. It is dropped when the
  /// answer is complete.
  virtual void when_gone(std::function<void()> gone) = 0;
};

using HttpExchangePtr = std::shared_ptr<HttpExchange>;

/// What is logged about an exchange when it ends.
struct HttpAccess {
  std::string client, id, method, path, decoded_path;
  int status = 0;                   // 499 if the client went away before an answer had begun
  uint64_t received = 0, sent = 0;  // bytes of the bodies
  double seconds = 0;     // to the millisecond, from the last byte of the header to that of the answer
  bool complete = false;  // the whole answer was handed to the network
};

struct HttpOptions {
  std::string host = "127.0.0.1";  // address or name; one of IPv6 also in brackets
  uint16_t port = 8000;            // 0: one that is free
  size_t max_body = size_t{16} << 20;
  size_t max_header = size_t{32} << 10;
  size_t max_connections = 4096;  // further clients are told 503 and closed
  double idle_seconds = 75;       // without a request on an open connection
  double read_seconds = 60;       // for a request, from its first byte to its last
  double write_seconds = 60;      // without a byte that the client takes
};

/// What the server asks and tells. The functions are called in the server's thread and must not wait.
struct HttpHandlers {
  /// Called when the header of a request is read, with an empty body. An answer refuses the request before
  /// its body is read.
  std::function<std::optional<HttpAnswer>(const HttpRequest&)> refuse;
  /// Called with a complete request.
  std::function<void(HttpExchangePtr)> handle;
  /// Called for what the server refuses by itself (a header or body over the limits, what is not HTTP, too
  /// many connections): turns a status and a message into an answer.
  std::function<HttpAnswer(int status, const std::string& message)> error;
  /// Called when an exchange has ended.
  std::function<void(const HttpAccess&)> log;
};

/// The version of Boost that it is built with, "1.74.0".
std::string http_library_version();

class HttpServer {
 public:
  /// Listens. Throws Error, which names host and port, if that is not possible.
  HttpServer(const HttpOptions& options, HttpHandlers handlers);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  uint16_t port() const;
  /// Serves in the calling thread until close() has been called.
  void run();

  /// Whether only programs of this machine can reach it.
  bool only_local() const;

  // Any thread may call these.
  /// From now on each connection is closed after its next answer.
  void close_after_answers();
  /// Accepts no more connections, and takes no more requests from open ones: each is closed when its answer
  /// is complete.
  void stop_accepting();
  /// Closes all connections, whatever they are doing, and lets run() return.
  void close();
  size_t connections() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Sends method, path, body and authorization of `request`, and returns status, content type and body of the
/// answer. Throws Error if nobody listens there or there is no answer within `seconds`.
HttpAnswer http_ask(const std::string& host, uint16_t port, const HttpRequest& request, double seconds);

/// Whether a character may stand in a token of HTTP, such as a method or the name of a header field.
bool is_token_character(char c);

/// What a URL has for host and port: the address of IPv6 in brackets.
std::string host_and_port(const std::string& host, uint16_t port);

}  // namespace carbon
