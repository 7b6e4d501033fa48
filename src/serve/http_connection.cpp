#include "src/serve/http_connection.hpp"

#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <chrono>
#include <exception>
#include <iterator>
#include <utility>

#include "src/serve/http_header.hpp"

namespace carbon {
namespace {

namespace net = boost::asio;

constexpr std::string_view kHeaderEnd = "\r\n\r\n";
// How long a connection that is one too many has for its request.
constexpr double kSurplusSeconds = 1;
constexpr const char* kSurplus = "the server has too many connections";
// A connection that closes before it has read everything waits for the client's end, for as long or as many
// bytes: the answer would be lost to a client that is still sending, if it were reset.
constexpr double kLingerSeconds = 5;
constexpr size_t kLingerBytes = size_t{64} << 20;
// Bytes that are joined before they are written; longer strings are not copied for it.
constexpr size_t kJoined = size_t{16} << 10;
// How often the end of a client is looked for that has sent more than its request.
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
      timer_(socket_.get_executor()),
      next_look_(socket_.get_executor()),
      surplus_(surplus) {
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
  socket_.non_blocking(true, ignored);
  socket_.set_option(net::ip::tcp::no_delay(true), ignored);
  set_deadline(surplus_ ? kSurplusSeconds : shared_.options.idle_seconds);
  await_input();
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
  timer_.cancel();
  next_look_.cancel();
  if (access_) close_exchange(false);
  shared_.closed(*this);
}

// ---- Input.

// Calls on_input() when there are bytes to read, or their end.
void HttpConnection::await_input() {
  if (awaits_input_ || state_ == State::closed) return;
  awaits_input_ = true;
  socket_.async_wait(Socket::wait_read, [self = shared_from_this()](const ErrorCode&) {
    self->awaits_input_ = false;
    self->on_input();
  });
}

void HttpConnection::on_input() {
  switch (state_) {
    case State::idle:
    case State::header:
    case State::body:
      return read();
    case State::answering:
      return watch();
    case State::lingering:
      return drain();
    case State::sending:  // the next request will be read when this one is answered
    case State::closed:
      return;
  }
}

void HttpConnection::read() {
  ErrorCode error;
  const size_t n = socket_.read_some(net::buffer(shared_.scratch), error);
  if (error == net::error::would_block) return await_input();
  if (error) return abort();
  input_.append(shared_.scratch.data(), n);
  advance();
}

// Notices that the client has gone while its answer is computed. Once it has sent more, such as another
// request, no more is read until that one's turn has come, and the end of what it sends is looked for
// instead.
void HttpConnection::watch() {
  ErrorCode error;
  char byte = 0;
  socket_.receive(net::buffer(&byte, 1), Socket::message_peek, error);
  if (error == net::error::would_block) return await_input();
  if (error || has_ended()) return abort();
  next_look_.expires_after(kLookAgain);
  next_look_.async_wait([self = shared_from_this()](const ErrorCode& stopped) {
    if (!stopped && self->state_ == State::answering) self->watch();
  });
}

// Whether the client sends no more, also behind bytes that have not been read.
bool HttpConnection::has_ended() {
  pollfd socket = {socket_.native_handle(), POLLRDHUP, 0};
  return ::poll(&socket, 1, 0) > 0;
}

void HttpConnection::drain() {
  ErrorCode error;
  drained_ += socket_.read_some(net::buffer(shared_.scratch), error);
  if (error && error != net::error::would_block) return abort();
  if (drained_ > kLingerBytes) return abort();
  await_input();
}

// Goes on with what has been read.
void HttpConnection::advance() {
  if (state_ == State::idle) {
    // Empty lines before a request are allowed.
    input_.erase(0, std::min(input_.find_first_not_of("\r\n"), input_.size()));
    if (input_.empty()) {
      input_.shrink_to_fit();
      return await_input();
    }
    state_ = State::header;
    searched_ = 0;
    framing_ = {};
    head_only_ = false;
    request_ = {};
    set_deadline(surplus_ ? kSurplusSeconds : shared_.options.read_seconds);
  }
  if (state_ == State::header && !read_header()) return;
  if (state_ == State::body) read_body();
}

// Returns whether the header is complete and its request welcome.
bool HttpConnection::read_header() {
  const size_t end = input_.find(kHeaderEnd, searched_);
  const size_t length = end == std::string::npos ? input_.size() : end + kHeaderEnd.size();
  if (length > shared_.options.max_header) {
    fail(431, "the request's header has more than " + std::to_string(shared_.options.max_header) + " bytes");
    return false;
  }
  if (end == std::string::npos) {
    searched_ = input_.size() - std::min(input_.size(), kHeaderEnd.size() - 1);
    if (may_become_request(input_))
      await_input();
    else
      fail(400, "this is not a request of HTTP/1.1; the server speaks http and not https");
    return false;
  }
  HttpHeader header = parse_header(std::string_view(input_).substr(0, length), shared_.options.max_body);
  input_.erase(0, length);
  return accept(std::move(header));
}

// Returns whether a request is welcome; if not, it has been answered.
bool HttpConnection::accept(HttpHeader header) {
  request_ = std::move(header.request);
  open_exchange(header.head ? "HEAD" : request_.method);
  head_only_ = header.head;
  framing_.http10 = header.http10;
  framing_.keep = header.keep && !surplus_;
  if (header.problem != 0) {
    fail(header.problem, header.message);
    return false;
  }
  if (header.has_body()) body_.emplace(header.length, shared_.options.max_body);
  if (std::optional<HttpAnswer> refusal = refusal_of(request_)) {
    if (body_) close_unread();
    answer_whole(std::move(*refusal));
    return false;
  }
  if (body_ && header.expects_continue && input_.empty()) {
    queue("HTTP/1.1 100 Continue\r\n\r\n");
    write();
  }
  state_ = State::body;
  return true;
}

std::optional<HttpAnswer> HttpConnection::refusal_of(const HttpRequest& request) {
  try {
    return surplus_ ? shared_.handlers.error(503, kSurplus) : shared_.handlers.refuse(request);
  } catch (const std::exception& error) {
    return shared_.handlers.error(500, error.what());
  }
}

void HttpConnection::read_body() {
  if (body_) {
    std::string_view rest = input_;
    const HttpBodyReader::Status status = body_->read(rest);
    access_->received = body_->body().size();
    input_.erase(0, input_.size() - rest.size());
    switch (status) {
      case HttpBodyReader::Status::more:
        return await_input();
      case HttpBodyReader::Status::too_large:
        return fail(413, body_too_large(shared_.options.max_body));
      case HttpBodyReader::Status::malformed:
        return fail(400, "the request's body is not chunked as its header says");
      case HttpBodyReader::Status::complete:
        break;
    }
    request_.body = body_->take_body();
    body_.reset();
  }
  hand_over();
}

void HttpConnection::hand_over() {
  state_ = State::answering;
  clear_deadline();
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

// ---- Output.

// Takes what the service has said since, unless the last of it is still being written. So it is joined while
// the client is slow.
void HttpConnection::collect() {
  if (state_ != State::answering || in_flight_ > 0) return;
  HttpOutbox::Parcel parcel = outbox_->take();
  if (parcel.head && !parcel.streamed) return answer_whole(std::move(*parcel.head));
  if (parcel.abandoned) return has_begun_ ? abort() : answer_whole(shared_.handlers.error(500, failure_));
  if (parcel.head) begin_answer(*parcel.head, std::nullopt);
  add_pieces(parcel.pieces);
  if (parcel.complete) {
    if (framing_.chunked() && !head_only_) queue(std::string(kLastChunk));
    state_ = State::sending;
  }
  write();
  if (parcel.complete && output_.empty()) answered();
}

// Queues the head of an answer. Without a length its body comes in pieces.
void HttpConnection::begin_answer(const HttpAnswer& answer, std::optional<uint64_t> length) {
  has_begun_ = true;
  access_->status = answer.status;
  framing_.streamed = !length;
  framing_.length = length;
  head_only_ = head_only_ || !has_body(answer.status);
  // An older client knows the end of such a body by the end of the connection.
  if (shared_.stopping || (framing_.streamed && !framing_.chunked())) framing_.keep = false;
  queue(answer_head(answer, access_->id, framing_));
}

void HttpConnection::answer_whole(HttpAnswer answer) {
  begin_answer(answer, answer.body.size());
  state_ = State::sending;
  if (!head_only_) {
    access_->sent = answer.body.size();
    queue(std::move(answer.body));
  }
  write();
}

void HttpConnection::add_pieces(const std::string& pieces) {
  if (head_only_ || pieces.empty()) return;
  access_->sent += pieces.size();
  std::string bytes;
  if (framing_.chunked())
    append_chunk(bytes, pieces);
  else
    bytes = pieces;
  queue(std::move(bytes));
}

// Refuses the request, and all that the client may still send.
void HttpConnection::fail(int status, const std::string& message) {
  if (!access_) open_exchange("");  // of what has no header
  close_unread();
  answer_whole(shared_.handlers.error(status, message));
}

void HttpConnection::close_unread() {
  framing_.keep = false;
  unread_ = true;
  body_.reset();
}

void HttpConnection::queue(std::string bytes) {
  if (bytes.empty()) return;
  if (output_.size() > in_flight_ && output_.back().size() + bytes.size() <= kJoined)
    output_.back() += bytes;
  else
    output_.push_back(std::move(bytes));
}

void HttpConnection::write() {
  if (in_flight_ > 0 || output_.empty()) return;
  in_flight_ = std::min<size_t>(output_.size(), 2);
  std::array<net::const_buffer, 2> buffers = {net::buffer(output_.front()) + written_};
  if (in_flight_ == 2) buffers[1] = net::buffer(*std::next(output_.begin()));
  if (state_ == State::answering || state_ == State::sending) set_deadline(shared_.options.write_seconds);
  kernel_queue_ = kernel_queue();
  socket_.async_write_some(
      buffers, [self = shared_from_this()](const ErrorCode& error, size_t n) { self->on_written(error, n); });
}

void HttpConnection::on_written(const ErrorCode& error, size_t n) {
  in_flight_ = 0;
  if (state_ == State::closed) return;
  if (error) return abort();
  written_ += n;
  while (!output_.empty() && written_ >= output_.front().size()) {
    written_ -= output_.front().size();
    output_.pop_front();
  }
  if (!output_.empty()) return write();
  if (state_ == State::sending) return answered();
  if (state_ == State::answering) {
    clear_deadline();
    collect();
  }
}

// ---- The end of an exchange, and of the connection.

void HttpConnection::open_exchange(const std::string& method) {
  request_.client = client_;
  if (request_.id.empty()) request_.id = random_id(shared_.ids);
  begun_ = Clock::now();
  has_begun_ = false;
  access_ = {client_, request_.id, method, request_.path, request_.decoded_path, 499, 0, 0, 0, false};
}

void HttpConnection::close_exchange(bool complete) {
  HttpAccess access = std::move(*access_);
  access_.reset();
  access.complete = complete;
  access.seconds = std::chrono::duration<double>(Clock::now() - begun_).count();
  size_t unsent = 0;
  for (const std::string& bytes : output_) unsent += bytes.size();
  access.sent -= std::min<uint64_t>(access.sent, unsent - std::min(unsent, written_));
  const std::shared_ptr<HttpOutbox> outbox = std::move(outbox_);
  if (outbox) outbox->close(!complete);
  shared_.handlers.log(access);
}

// The answer is written.
void HttpConnection::answered() {
  close_exchange(true);
  if (!framing_.keep || shared_.stopping) return linger();
  state_ = State::idle;
  set_deadline(shared_.options.idle_seconds);
  advance();
}

void HttpConnection::linger() {
  ErrorCode error;
  if (!unread_ && input_.empty() && socket_.available(error) == 0) return abort();
  socket_.shutdown(Socket::shutdown_send, error);
  state_ = State::lingering;
  set_deadline(surplus_ ? kSurplusSeconds : kLingerSeconds);
  await_input();
}

// ---- Time.

void HttpConnection::set_deadline(double seconds) {
  deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                 std::chrono::duration<double>(std::clamp(seconds, 0.0, kLongestSeconds)));
  if (!timer_runs_ || timer_.expiry() > deadline_) start_timer();
}

// The timer is not stopped when the deadline moves on: it starts again when it has run out.
void HttpConnection::start_timer() {
  timer_runs_ = true;
  timer_.expires_at(deadline_);
  timer_.async_wait([self = shared_from_this()](const ErrorCode& error) {
    if (error || self->state_ == State::closed) return;
    self->timer_runs_ = false;
    if (self->deadline_ <= Clock::now())
      self->on_deadline();
    else if (self->deadline_ != Clock::time_point::max())
      self->start_timer();
  });
}

void HttpConnection::on_deadline() {
  switch (state_) {
    case State::idle:
    case State::header:
    case State::body:
      if (surplus_) return fail(503, kSurplus);
      if (state_ == State::idle) return abort();
      return fail(408, "the request was not complete in time");
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
