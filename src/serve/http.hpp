// What the HTTP server (http_server.hpp) and the service behind it say to each other: a request, an answer,
// and an exchange, on which an answer is sent whole or piece by piece.
//
// No Boost here: only http_message.hpp, http_connection.hpp and what includes them have its headers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
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

}  // namespace carbon
