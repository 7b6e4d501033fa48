// Answers requests from the moment at which the server listens: with status 503 while the model is being
// loaded, and then by the table of endpoints.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "src/serve/api.hpp"
#include "src/serve/http.hpp"
#include "src/serve/http_cors.hpp"

namespace carbon {

/// The handlers of an HttpServer. open() and close() may be called in any thread, the others are for the
/// server's.
class FrontDoor {
 public:
  /// `cors` must outlive the object.
  explicit FrontDoor(const Cors& cors) : cors_(cors) {}

  /// From now on `api` answers; it must live until close().
  void open(const Api& api) { api_ = &api; }
  /// To be called when the server has ended.
  void close() { api_ = nullptr; }

  std::optional<HttpAnswer> refuse(const HttpRequest& request) const;
  void handle(HttpExchangePtr exchange) const;
  HttpAnswer error(int status, const std::string& message) const;
  void log(const HttpAccess& access) const;

 private:
  const Cors& cors_;
  std::atomic<const Api*> api_{nullptr};
};

}  // namespace carbon
