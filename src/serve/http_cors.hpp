// What web pages of another origin may ask of the server (CORS).
#pragma once

#include <string>

#include "src/serve/http.hpp"

namespace carbon {

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

}  // namespace carbon
