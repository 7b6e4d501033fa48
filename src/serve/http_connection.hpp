// One connection of the HTTP server: reads a request, hands it over, writes its answer, and reads the next.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/http/serializer.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "src/base/system.hpp"
#include "src/serve/http.hpp"
#include "src/serve/http_exchange.hpp"
#include "src/serve/http_message.hpp"

namespace carbon {

class HttpConnection;

/// What the connections of a server share. Only the server's thread uses it.
struct HttpShared {
  HttpOptions options;
  HttpHandlers handlers;
  std::shared_ptr<HttpPoster> poster;
  /// Called when a connection is closed.
  std::function<void(HttpConnection&)> closed;
  std::mt19937_64 ids{system_random()};
  bool stopping = false;  // connections are closed after their answers
};

/// Functions are called in the server's thread. A connection keeps itself alive until it is closed.
///
/// It consists of callbacks and not of Asio's coroutines, because clang 14, which builds the fuzz targets,
/// does not offer those with the standard library of gcc.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  using Socket = boost::asio::ip::tcp::socket;

  /// A `surplus` connection is one too many: its request is answered with 503.
  HttpConnection(HttpShared& shared, Socket socket, bool surplus);

  void begin();
  /// Takes no more requests: closes the connection when the answer under way is complete, or now.
  void stop();
  /// Closes the connection, whatever it is doing.
  void abort();
  bool surplus() const { return surplus_; }

 private:
  using Clock = std::chrono::steady_clock;
  using ErrorCode = boost::system::error_code;
  enum class State {
    idle,       // waits for the first byte of a request
    reading,    // reads the rest of the request
    answering,  // the service has the request, and is not done with its answer
    sending,    // writes the rest of the answer
    lingering,  // has sent all and reads what still comes, before it closes
    closed
  };
  /// An answer that has begun.
  struct Answer {
    explicit Answer(HttpResponse head) : response(std::move(head)), serializer(response) {}
    HttpResponse response;
    boost::beast::http::response_serializer<boost::beast::http::buffer_body> serializer;
  };

  void await_request();
  void await_input();
  void on_input();
  void read();
  void on_read(const ErrorCode& error);
  void parse();
  bool begin_request();
  bool accept(const ErrorCode& error);
  std::optional<HttpAnswer> refusal_of(const HttpRequest& request);
  void ask_for_body();
  void hand_over();
  void watch();

  void collect();
  void answer_whole(HttpAnswer answer);
  void begin_answer(const HttpAnswer& answer, bool streamed);
  void write_piece(std::string piece, bool more);
  void write();
  void on_written(const ErrorCode& error, size_t n);
  void piece_written();
  void fail(const HttpProblem& problem);
  void leave_unread();

  void open_exchange();
  void close_exchange(bool complete);
  void answered();
  void linger();

  void set_deadline(double seconds);
  void clear_deadline() { deadline_.expires_at(Clock::time_point::max()); }
  void on_deadline();
  size_t kernel_queue();

  HttpShared& shared_;
  Socket socket_;
  boost::asio::steady_timer deadline_;
  boost::asio::steady_timer next_look_;  // at a client that has sent more, and may go
  State state_ = State::idle;
  const bool surplus_;
  std::string client_;

  // What is read.
  HttpBuffer buffer_;
  std::optional<HttpParser> parser_;  // of the request that is being read
  bool awaits_input_ = false;
  bool late_ = false;    // the request was not complete in time; reading was cancelled
  bool unread_ = false;  // the client has more to send, and none of it will be used
  size_t drained_ = 0;

  // The exchange.
  HttpRequest request_;
  HttpFraming framing_;
  std::shared_ptr<HttpOutbox> outbox_;
  std::string failure_;  // why the service threw the exchange away
  std::optional<HttpAccess> access_;
  Clock::time_point begun_;

  // What is written.
  std::optional<Answer> answer_;
  std::string piece_;  // of its body
  bool writing_ = false;
  size_t written_ = 0;       // bytes of the piece
  size_t kernel_queue_ = 0;  // bytes that the client had not taken when a write began
};

}  // namespace carbon
