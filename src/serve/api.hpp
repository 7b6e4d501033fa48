// The table of endpoints: who answers which path, who needs a key, and what every answer has; and what is
// answered before there is a model to ask.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/model/model_use.hpp"
#include "src/serve/http.hpp"
#include "src/serve/service.hpp"
#include "src/serve/work.hpp"
#include "src/verbs/served_model.hpp"

namespace carbon {

/// The keys that clients must show.
class ApiKeys {
 public:
  /// Reads one key per line; empty lines and lines that begin with # are left out. "" : no key is needed.
  /// Throws Error if the file cannot be read or has no key.
  explicit ApiKeys(const std::string& path);

  /// Reads the file again, from now on for all requests. If it throws, the keys stay as they were.
  void read_again();

  // Any thread may call these.
  bool needed() const { return !path_.empty(); }
  /// True if the value of an Authorization header is "Bearer", blanks and one of the keys, or if none is
  /// needed. The time does not tell how much of a key was right.
  bool accept(std::string_view authorization) const;
  /// One of them, for a client of this host; "" if none is needed.
  std::string any() const;
  size_t count() const;

 private:
  const std::string path_;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<std::string> keys_;
};

/// What web pages of another origin may ask of the server (CORS).
class Cors {
 public:
  /// `origin` may send requests; "*": every origin; "": none, and then no answer has a header of this kind.
  explicit Cors(std::string origin) : origin_(std::move(origin)) {}

  bool on() const { return !origin_.empty(); }
  /// The answer with the headers that let a page of the origin read it.
  HttpAnswer with_headers(HttpAnswer answer) const;
  /// The answer to a browser that asks, before it sends a request with `method`, whether it may. A page of
  /// the origin may send all headers that it asks for: clients of OpenAI add their own.
  HttpAnswer preflight(const HttpRequest& request, const std::string& method) const;

 private:
  std::string origin_;
};

/// The endpoints of a server with its model.
class Api {
 public:
  /// `reference`: null, or the FASTA of /v1/dna/variants. All must outlive the object.
  Api(Service& service, const ServedModel& served, SharedReference* reference, const ApiKeys& keys,
      const Cors& cors);

  /// Refuses a request whose header is enough to do so: an unknown path, another method, no key.
  std::optional<HttpAnswer> refuse(const HttpRequest& request) const;
  /// Answers a request, at once or later.
  void handle(HttpExchangePtr exchange) const;
  /// Counts an answer.
  void log(const HttpAccess& access) const;
  /// Of the server that the metrics tell about.
  void set_connections(std::function<size_t()> connections) { connections_ = std::move(connections); }

 private:
  struct Route {
    const char* method;
    std::string path;
    bool needs_key;
    std::function<void(HttpExchangePtr)> handle;
  };
  void add_quick(std::string path, bool needs_key, std::function<HttpAnswer()> answer);
  /// `use` is what the endpoint wants of the model; requests to a model that lacks it get status 400.
  void add_work(std::string path, ModelUse use, std::function<WorkPtr(HttpExchangePtr)> make);
  const Route* find(const HttpRequest& request) const;
  std::optional<HttpAnswer> refusal(const HttpRequest& request) const;
  HttpAnswer models() const;
  HttpAnswer health() const;

  Service& service_;
  const ServedModel& served_;
  const ApiKeys& keys_;
  const Cors& cors_;
  std::function<size_t()> connections_ = [] { return size_t{0}; };
  std::vector<Route> routes_;
};

/// The handlers of an HttpServer: answers requests from the moment at which the server listens, with status
/// 503 while the model is being loaded, and then by the table of endpoints. open() and close() may be called
/// in any thread, the others are for the server's.
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
