#include "src/serve/http_connection.hpp"

#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <boost/asio/write.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/write.hpp>
#include <exception>
#include <utility>

namespace carbon {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

// How long a connection that is one too many has for its request.
constexpr double kSurplusSeconds = 1;
constexpr const char* kSurplus = "the server has too many connections";
// A connection that closes before it has read everything waits for the client's end, for as long or as many
// bytes: the answer would be lost to a client that is still sending, if it were reset.
constexpr double kLingerSeconds = 5;
constexpr size_t kLingerBytes = size_t{64} << 20;
// A longer piece is written after the head of its answer and not together with it, so that what was sent of
// it can be counted when the client goes away.
constexpr size_t kLongPiece = size_t{16} << 10;
// How often the server checks whether a client is still there that has sent more than its request.
constexpr std::chrono::milliseconds kLookAgain{250};
constexpr double kLongestSeconds = 1e8;  // that a clock can count

std::string random_id(std::mt19937_64& random) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string id(16, '0');
  uint64_t bits = random();
  for (char& c : id) {
    c = kDigits[bits & 15];
    bits >>= 4;
  }
  return id;
}

}  // namespace

HttpConnection::HttpConnection(HttpShared& shared, Socket socket, bool surplus)
    : shared_(shared),
      socket_(std::move(socket)),
      deadline_(socket_.get_executor()),
      next_look_(socket_.get_executor()),
      surplus_(surplus),
      buffer_(shared.options.max_header) {
  ErrorCode error;  // of a client that has already gone; reading will say so
  const auto peer = socket_.remote_endpoint(error);
  if (error) return;
  const net::ip::address address = peer.address();
  const bool mapped = address.is_v6() && address.to_v6().is_v4_mapped();
  client_ = mapped ? net::ip::make_address_v4(net::ip::v4_mapped, address.to_v6()).to_string()
                   : address.to_string();
}

void HttpConnection::begin() {
  ErrorCode ignored;  // of a client that has already gone
  socket_.set_option(net::ip::tcp::no_delay(true), ignored);
  await_request();
}

void HttpConnection::stop() {
  if (state_ != State::idle) return;
  ErrorCode error;
  if (socket_.available(error) == 0) abort();
}

void HttpConnection::abort() {
  if (state_ == State::closed) return;
  state_ = State::closed;
  const std::shared_ptr<HttpConnection> self = shared_from_this();
  ErrorCode ignored;
  socket_.close(ignored);
  deadline_.cancel();
  next_look_.cancel();
  if (access_) close_exchange(false);
  shared_.closed(*this);
}

// ---- Reading a request.

void HttpConnection::await_request() {
  state_ = State::idle;
  set_deadline(surplus_ ? kSurplusSeconds : shared_.options.idle_seconds);
  parse();
}

// Calls on_input() when there are bytes to read, or their end. Until then no buffer is needed.
void HttpConnection::await_input() {
  if (awaits_input_) return;
  awaits_input_ = true;
  socket_.async_wait(Socket::wait_read, [self = shared_from_this()](const ErrorCode&) {
    self->awaits_input_ = false;
    self->on_input();
  });
}

void HttpConnection::on_input() {
  if (state_ == State::idle) return read();
  if (state_ == State::answering) return watch();
}

void HttpConnection::read() {
  socket_.async_read_some(buffer_.prepare(buffer_.max_size() - buffer_.size()),
                          [self = shared_from_this()](const ErrorCode& error, size_t n) {
                            self->buffer_.commit(n);
                            self->on_read(error);
                          });
}

void HttpConnection::on_read(const ErrorCode& error) {
  if (state_ == State::closed) return;
  if (late_)
    return fail(surplus_ ? HttpProblem{503, kSurplus}
                         : HttpProblem{408, "the request was not complete in time"});
  if (error) return abort();
  if (state_ != State::lingering) return parse();
  drained_ += buffer_.size();
  buffer_.clear();
  if (drained_ > kLingerBytes) return abort();
  read();
}

// Goes on with what has been read.
//
// Beast's parser is fed here, and not by its async_read(), because what is no request has to be refused
// before it ends, such as the greeting of a client that speaks https.
void HttpConnection::parse() {
  if (state_ == State::idle && !begin_request()) return await_input();
  if (!parser_->is_header_done()) {
    const ErrorCode error = parse_header(*parser_, buffer_);
    if (error == http::error::need_more && may_become_request(unparsed(buffer_))) return read();
    if (!accept(error)) return;
  }
  if (!parser_->is_done()) {
    const ErrorCode error = parse_body(*parser_, buffer_);
    access_->received = parser_->get().body().size();
    if (error == http::error::need_more) return read();
    if (error) return fail(find_problem(*parser_, request_, error, shared_.options));
  }
  hand_over();
}

// Returns false if nothing of a request has been read yet.
bool HttpConnection::begin_request() {
  // Empty lines before a request are allowed.
  buffer_.consume(std::min(unparsed(buffer_).find_first_not_of("\r\n"), buffer_.size()));
  if (buffer_.size() == 0) {
    buffer_.shrink_to_fit();
    return false;
  }
  state_ = State::reading;
  set_deadline(surplus_ ? kSurplusSeconds : shared_.options.read_seconds);
  request_ = {};
  framing_ = {};
  parser_.emplace();
  parser_->body_limit(shared_.options.max_body);
  return true;
}

// The header has been read, with `error`. Returns whether the rest of the request can be read now; if not,
// the request has been answered, or the client is asked for the rest.
bool HttpConnection::accept(const ErrorCode& error) {
  request_ = request_of(*parser_);
  open_exchange();
  access_->method = std::string(parser_->get().method_string());
  framing_.head_only = parser_->get().method() == http::verb::head;
  const HttpProblem problem = find_problem(*parser_, request_, error, shared_.options);
  if (problem.status != 0) {
    fail(problem);
    return false;
  }
  framing_.http10 = parser_->get().version() < 11;
  framing_.keep = parser_->keep_alive() && !surplus_;
  if (std::optional<HttpAnswer> refusal = refusal_of(request_)) {
    if (!parser_->is_done()) leave_unread();
    answer_whole(std::move(*refusal));
    return false;
  }
  const bool asks = !framing_.http10 && beast::iequals(parser_->get()[http::field::expect], "100-continue");
  if (!asks || parser_->is_done() || buffer_.size() > 0) return true;
  ask_for_body();
  return false;
}

std::optional<HttpAnswer> HttpConnection::refusal_of(const HttpRequest& request) {
  try {
    return surplus_ ? shared_.handlers.error(503, kSurplus) : shared_.handlers.refuse(request);
  } catch (const std::exception& error) {
    return shared_.handlers.error(500, error.what());
  }
}

void HttpConnection::ask_for_body() {
  constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  net::async_write(socket_, net::buffer(kContinue),
                   [self = shared_from_this()](const ErrorCode& error, size_t) { self->on_read(error); });
}

void HttpConnection::hand_over() {
  state_ = State::answering;
  clear_deadline();
  request_.body = std::move(parser_->get().body());
  parser_.reset();
  outbox_ = std::make_shared<HttpOutbox>([poster = shared_.poster, self = weak_from_this()] {
    poster->post([self] {
      if (const auto connection = self.lock()) connection->collect();
    });
  });
  failure_ = "the server dropped the request";
  try {
    shared_.handlers.handle(make_exchange(std::move(request_), outbox_));
  } catch (const std::exception& error) {
    failure_ = error.what();  // the exchange was dropped on the way, and is answered as such
  }
  await_input();
}

// Notices that the client has gone while its answer is computed. Bytes that the client has sent since, such
// as another request, stay in the socket until their turn has come, so that it stays readable; then the end
// of the client is looked for every now and then.
void HttpConnection::watch() {
  pollfd socket = {socket_.native_handle(), POLLIN | POLLRDHUP, 0};
  ::poll(&socket, 1, 0);
  if ((socket.revents & ~POLLIN) != 0) return abort();
  if (socket.revents == 0) return await_input();
  next_look_.expires_after(kLookAgain);
  next_look_.async_wait([self = shared_from_this()](const ErrorCode& stopped) {
    if (!stopped && self->state_ == State::answering) self->watch();
  });
}

// ---- Writing the answer.

// Takes what the service has said since, unless the last of it is still being written. So it is joined while
// the client is slow.
void HttpConnection::collect() {
  if (state_ != State::answering || writing_) return;
  HttpOutbox::Parcel parcel = outbox_->take();
  if (parcel.abandoned) return answer_ ? abort() : answer_whole(shared_.handlers.error(500, failure_));
  if (parcel.head && !parcel.streamed) return answer_whole(std::move(*parcel.head));
  if (parcel.head) begin_answer(*parcel.head, true);
  if (parcel.head || parcel.complete || !parcel.pieces.empty())
    write_piece(std::move(parcel.pieces), !parcel.complete);
}

void HttpConnection::answer_whole(HttpAnswer answer) {
  begin_answer(answer, false);
  write_piece(std::move(answer.body), false);
}

void HttpConnection::begin_answer(const HttpAnswer& answer, bool streamed) {
  access_->status = answer.status;
  framing_.streamed = streamed;
  framing_.head_only = framing_.head_only || !has_body(answer.status);
  // A client of HTTP/1.0 knows the end of a stream by the end of the connection.
  if (shared_.stopping || (streamed && framing_.http10)) framing_.keep = false;
  answer_.emplace(make_response(answer, access_->id, framing_));
}

// Writes a piece of the body, and before it what is left of the head. The piece may be empty.
void HttpConnection::write_piece(std::string piece, bool more) {
  if (!more) state_ = State::sending;
  piece_ = framing_.head_only ? std::string() : std::move(piece);
  written_ = 0;
  http::buffer_body::value_type& body = answer_->response.body();
  body.data = piece_.empty() ? nullptr : piece_.data();
  body.size = piece_.size();
  body.more = more;
  if (!answer_->serializer.is_header_done())
    answer_->serializer.split(framing_.head_only || piece_.empty() || piece_.size() > kLongPiece);
  write();
}

void HttpConnection::write() {
  auto& serializer = answer_->serializer;
  const bool head_alone = serializer.split() && !serializer.is_header_done();
  if (framing_.head_only && serializer.is_header_done()) return piece_written();
  writing_ = true;
  set_deadline(shared_.options.write_seconds);
  kernel_queue_ = kernel_queue();
  http::async_write_some(socket_, serializer,
                         [self = shared_from_this(), head_alone](const ErrorCode& error, size_t n) {
                           self->on_written(error, head_alone ? 0 : n);
                         });
}

// `n` bytes of the piece have been written.
void HttpConnection::on_written(const ErrorCode& error, size_t n) {
  if (state_ == State::closed) return;
  writing_ = false;
  written_ += n;
  if (error == http::error::need_buffer || answer_->serializer.is_done()) return piece_written();
  if (error) return abort();
  write();
}

void HttpConnection::piece_written() {
  access_->sent += piece_.size();
  piece_.clear();
  if (state_ == State::sending) return answered();
  clear_deadline();
  collect();
}

// Refuses the request, and all that the client may still send.
void HttpConnection::fail(const HttpProblem& problem) {
  if (!access_) open_exchange();  // for bytes that have no header
  leave_unread();
  answer_whole(shared_.handlers.error(problem.status, problem.message));
}

void HttpConnection::leave_unread() {
  framing_.keep = false;
  unread_ = true;
}

// ---- The end of an exchange, and of the connection.

void HttpConnection::open_exchange() {
  request_.client = client_;
  if (request_.id.empty()) request_.id = random_id(shared_.ids);
  begun_ = Clock::now();
  access_ = {client_, request_.id, "", request_.path, request_.decoded_path, 499, 0, 0, 0, false};
}

void HttpConnection::close_exchange(bool complete) {
  HttpAccess access = std::move(*access_);
  access_.reset();
  access.complete = complete;
  const auto milliseconds = std::chrono::round<std::chrono::milliseconds>(Clock::now() - begun_);
  access.seconds = static_cast<double>(milliseconds.count()) / 1000;  // more digits would be noise
  access.sent += std::min(written_, piece_.size());
  const std::shared_ptr<HttpOutbox> outbox = std::move(outbox_);
  if (outbox) outbox->close(!complete);
  shared_.handlers.log(access);
}

// The answer is written.
void HttpConnection::answered() {
  close_exchange(true);
  answer_.reset();
  parser_.reset();
  if (framing_.keep && !shared_.stopping) return await_request();
  linger();
}

void HttpConnection::linger() {
  ErrorCode error;
  if (!unread_ && buffer_.size() == 0 && socket_.available(error) == 0) return abort();
  socket_.shutdown(Socket::shutdown_send, error);
  state_ = State::lingering;
  set_deadline(surplus_ ? kSurplusSeconds : kLingerSeconds);
  buffer_.clear();
  late_ = false;
  read();
}

// ---- Time. Not beast::tcp_stream, which closes the socket before a late request could be answered, and
// whose time for a write says nothing of whether the client takes bytes.

void HttpConnection::set_deadline(double seconds) {
  deadline_.expires_after(std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(std::clamp(seconds, 0.0, kLongestSeconds))));
  deadline_.async_wait([self = shared_from_this()](const ErrorCode& error) {
    // The deadline may have moved since this call was due.
    if (!error && self->deadline_.expiry() <= Clock::now()) self->on_deadline();
  });
}

void HttpConnection::on_deadline() {
  switch (state_) {
    case State::idle:
      return surplus_ ? fail({503, kSurplus}) : abort();
    case State::reading: {
      late_ = true;
      ErrorCode ignored;
      socket_.cancel(ignored);
      return;  // on_read() will be called
    }
    case State::answering:
    case State::sending: {
      // The socket takes more only when much of its buffer is free, which may take a slow client long.
      const size_t left = kernel_queue();
      if (left >= kernel_queue_) {
        ErrorCode ignored;  // with a reset, so that the kernel does not go on instead
        socket_.set_option(net::socket_base::linger(true, 0), ignored);
        return abort();
      }
      kernel_queue_ = left;
      return set_deadline(shared_.options.write_seconds);
    }
    case State::lingering:
      return abort();
    case State::closed:
      return;
  }
}

// Bytes that were written and that the client has not taken.
size_t HttpConnection::kernel_queue() {
  int bytes = 0;
  return ioctl(socket_.native_handle(), SIOCOUTQ, &bytes) == 0 ? static_cast<size_t>(bytes) : 0;
}

}  // namespace carbon
