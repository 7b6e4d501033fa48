// One connection of the HTTP server: reads a request, hands it over, writes its answer, and reads the next.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "src/serve/http_body.hpp"
#include "src/serve/http_exchange.hpp"
#include "src/serve/http_server.hpp"
#include "src/serve/http_text.hpp"

namespace carbon {

class HttpConnection;
struct HttpHeader;

/// What the connections of a server share. Only the server's thread uses it.
struct HttpShared {
  HttpOptions options;
  HttpHandlers handlers;
  std::shared_ptr<HttpPoster> poster;
  /// Called when a connection is closed.
  std::function<void(HttpConnection&)> closed;
  std::mt19937_64 ids{std::random_device()()};
  std::vector<char> scratch = std::vector<char>(size_t{64} << 10);  // what was just read
  bool stopping = false;                                            // no further requests are taken
};

/// Functions are called in the server's thread. It keeps itself alive until it is closed.
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
    idle,       // waits for a request
    header,     // reads its header
    body,       // reads its body
    answering,  // the service has the request, and is not done with its answer
    sending,    // writes the rest of the answer
    lingering,  // has sent all and reads what still comes, before it closes
    closed
  };

  void await_input();
  void on_input();
  void read();
  void watch();
  bool has_ended();
  void drain();

  void advance();
  bool read_header();
  bool accept(HttpHeader header);
  std::optional<HttpAnswer> refusal_of(const HttpRequest& request);
  void read_body();
  void hand_over();

  void collect();
  void begin_answer(const HttpAnswer& answer, std::optional<uint64_t> length);
  void answer_whole(HttpAnswer answer);
  void add_pieces(const std::string& pieces);
  void fail(int status, const std::string& message);
  void close_unread();
  void queue(std::string bytes);
  void write();
  void on_written(const ErrorCode& error, size_t n);

  void open_exchange(const std::string& method);
  void close_exchange(bool complete);
  void answered();
  void linger();

  void set_deadline(double seconds);
  void clear_deadline() { deadline_ = Clock::time_point::max(); }
  void start_timer();
  void on_deadline();
  size_t kernel_queue();

  HttpShared& shared_;
  Socket socket_;
  boost::asio::steady_timer timer_;
  boost::asio::steady_timer next_look_;  // at a client that has sent more, and may go
  Clock::time_point deadline_ = Clock::time_point::max();
  bool timer_runs_ = false;
  State state_ = State::idle;
  const bool surplus_;
  std::string client_;

  std::string input_;    // read and not yet used
  size_t searched_ = 0;  // of it, for the end of a header
  bool awaits_input_ = false;
  bool unread_ = false;  // the client has more to send, and none of it will be used
  size_t drained_ = 0;

  // The exchange.
  HttpRequest request_;
  std::optional<HttpBodyReader> body_;
  HttpFraming framing_;
  bool head_only_ = false;  // the answer has no body
  bool has_begun_ = false;  // its head is queued
  std::shared_ptr<HttpOutbox> outbox_;
  std::string failure_;  // why the service threw the exchange away
  std::optional<HttpAccess> access_;
  Clock::time_point begun_;

  std::list<std::string> output_;  // to be written; what is added moves nothing
  size_t written_ = 0;             // of its first string
  size_t in_flight_ = 0;           // strings of it that are being written
  size_t kernel_queue_ = 0;        // bytes that the client had not taken when a write began
};

}  // namespace carbon
