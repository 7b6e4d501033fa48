// The table of endpoints: who answers which path, who needs a key, and what every answer has.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/serve/api_keys.hpp"
#include "src/serve/http.hpp"
#include "src/serve/http_cors.hpp"
#include "src/serve/service.hpp"
#include "src/verbs/served_model.hpp"
#include "src/verbs/shared_reference.hpp"

namespace carbon {

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

}  // namespace carbon
