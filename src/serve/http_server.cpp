// The server of http.hpp: where it listens, and which connections it has.
#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/version.hpp>
#include <chrono>
#include <deque>
#include <set>
#include <unordered_set>
#include <utility>
#include <vector>

#include "src/base/error.hpp"
#include "src/serve/http.hpp"
#include "src/serve/http_connection.hpp"
#include "src/serve/http_message.hpp"

namespace carbon {
namespace {

namespace net = boost::asio;
using net::ip::tcp;
using ErrorCode = boost::system::error_code;

// Connections beyond the limit that are told so at the same time; still more wait until they are accepted.
constexpr size_t kSurplusConnections = 128;
// Between attempts to accept when the process or the system has no more files or memory.
constexpr std::chrono::milliseconds kAcceptAgain{100};

Error cannot_listen(const HttpOptions& options, const ErrorCode& error) {
  std::string message =
      "cannot listen on " + host_and_port(options.host, options.port) + ": " + error.message();
  if (error == net::error::address_in_use) message += "; port 0 takes one that is free";
  return Error("serve", message);
}

}  // namespace

std::string http_library_version() {
  return std::to_string(BOOST_VERSION / 100000) + "." + std::to_string(BOOST_VERSION / 100 % 1000) + "." +
         std::to_string(BOOST_VERSION % 100);
}

// Only the thread of run() uses it, except for what says otherwise.
struct HttpServer::Impl {
  Impl(const HttpOptions& options, HttpHandlers handlers);
  ~Impl();

  // An address that is listened on.
  struct Listener {
    explicit Listener(net::io_context& context) : acceptor(context), again(context) {}
    tcp::acceptor acceptor;
    net::steady_timer again;
    bool waits = false;  // for a connection to close
  };

  void listen();
  void accept(Listener& listener);
  void add(tcp::socket socket);
  void remove(HttpConnection& connection);
  void stop_accepting();
  void close();

  HttpShared shared;
  std::unordered_set<std::shared_ptr<HttpConnection>> connections;
  std::atomic<size_t> count = 0;  // of connections, for any thread
  size_t surplus = 0;             // connections beyond the limit
  uint16_t port = 0;
  // Goes first: what still waits in it may hold connections, which use what stands above.
  net::io_context context{1};
  net::executor_work_guard<net::io_context::executor_type> work{context.get_executor()};
  std::deque<Listener> listeners;
};

HttpServer::Impl::Impl(const HttpOptions& options, HttpHandlers handlers)
    : shared{options, std::move(handlers), std::make_shared<HttpPoster>([this](HttpPoster::Work work) {
               net::post(context, std::move(work));
             }),
             [this](HttpConnection& connection) { remove(connection); }} {
  listen();
  for (Listener& listener : listeners) accept(listener);
}

HttpServer::Impl::~Impl() {
  close();
  shared.poster->close();
}

// Listens on all addresses of the host: a name such as localhost may have one of each kind.
void HttpServer::Impl::listen() {
  const HttpOptions& options = shared.options;
  ErrorCode error;
  const std::vector<tcp::endpoint> found = addresses_of(context, options.host, options.port, error);
  if (error) throw cannot_listen(options, error);
  // /etc/hosts may name an address twice.
  const std::set<tcp::endpoint> endpoints(found.begin(), found.end());
  port = options.port;
  ErrorCode missing;
  for (tcp::endpoint endpoint : endpoints) {
    endpoint.port(port);
    Listener& listener = listeners.emplace_back(context);
    tcp::acceptor& acceptor = listener.acceptor;
    acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error && endpoints.size() > 1 && endpoint.protocol() == tcp::v6())
      acceptor.set_option(net::ip::v6_only(true), error);
    if (!error) acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(tcp::acceptor::max_listen_connections, error);
    if (!error) acceptor.non_blocking(true, error);
    if (error == net::error::address_in_use) throw cannot_listen(options, error);
    if (error) {
      // A machine without IPv6 still has a name's other address.
      missing = error;
      listeners.pop_back();
      continue;
    }
    port = acceptor.local_endpoint().port();
  }
  if (listeners.empty()) throw cannot_listen(options, missing);
}

void HttpServer::Impl::accept(Listener& listener) {
  if (!listener.acceptor.is_open()) return;
  listener.waits = surplus >= kSurplusConnections;
  if (listener.waits) return;
  listener.acceptor.async_accept([this, &listener](const ErrorCode& error, tcp::socket socket) {
    if (error == net::error::operation_aborted) return;
    if (!error) add(std::move(socket));
    if (!error || error == net::error::connection_aborted) return accept(listener);
    listener.again.expires_after(kAcceptAgain);
    listener.again.async_wait([this, &listener](const ErrorCode& stopped) {
      if (!stopped) accept(listener);
    });
  });
}

void HttpServer::Impl::add(tcp::socket socket) {
  const bool is_surplus = connections.size() - surplus >= shared.options.max_connections;
  const auto connection = std::make_shared<HttpConnection>(shared, std::move(socket), is_surplus);
  connections.insert(connection);
  surplus += is_surplus;
  count = connections.size();
  connection->begin();
}

void HttpServer::Impl::remove(HttpConnection& connection) {
  surplus -= connection.surplus();
  connections.erase(connection.shared_from_this());
  count = connections.size();
  for (Listener& listener : listeners)
    if (listener.waits) accept(listener);
}

void HttpServer::Impl::stop_accepting() {
  shared.stopping = true;
  for (Listener& listener : listeners) {
    ErrorCode ignored;  // it is closed in any case
    listener.acceptor.close(ignored);
    listener.again.cancel();
  }
  for (const auto& connection : std::vector(connections.begin(), connections.end())) connection->stop();
}

void HttpServer::Impl::close() {
  stop_accepting();
  for (const auto& connection : std::vector(connections.begin(), connections.end())) connection->abort();
  work.reset();
}

HttpServer::HttpServer(const HttpOptions& options, HttpHandlers handlers)
    : impl_(std::make_unique<Impl>(options, std::move(handlers))) {}

HttpServer::~HttpServer() = default;

uint16_t HttpServer::port() const {
  return impl_->port;
}

void HttpServer::run() {
  impl_->context.run();
}

bool HttpServer::only_local() const {
  return std::all_of(impl_->listeners.begin(), impl_->listeners.end(), [](const Impl::Listener& listener) {
    return listener.acceptor.local_endpoint().address().is_loopback();
  });
}

void HttpServer::close_after_answers() {
  impl_->shared.poster->post([impl = impl_.get()] { impl->shared.stopping = true; });
}

void HttpServer::stop_accepting() {
  impl_->shared.poster->post([impl = impl_.get()] { impl->stop_accepting(); });
}

void HttpServer::close() {
  impl_->shared.poster->post([impl = impl_.get()] { impl->close(); });
}

size_t HttpServer::connections() const {
  return impl_->count;
}

}  // namespace carbon
