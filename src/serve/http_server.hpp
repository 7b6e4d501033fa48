// An HTTP/1.1 server on Boost.Beast and Asio: connections, their limits and times, and nothing of what is
// asked. Requests go to a handler, which answers through an HttpExchange (http.hpp).
//
// One thread does all input and output; it never waits for a handler, so that a slow client or a long
// computation delays nobody. Not here: TLS and HTTP/2, which belong to a reverse proxy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "src/serve/http.hpp"

namespace carbon {

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

}  // namespace carbon
