#include "src/serve/http_cors.hpp"

#include "src/serve/http_text.hpp"

namespace carbon {

HttpAnswer Cors::with_headers(HttpAnswer answer) const {
  if (!on()) return answer;
  answer.headers.emplace_back("Access-Control-Allow-Origin", origin_);
  answer.headers.emplace_back("Access-Control-Expose-Headers", "X-Request-Id, Retry-After, X-Carbon-Note");
  if (origin_ != "*") answer.headers.emplace_back("Vary", "Origin");
  return answer;
}

HttpAnswer Cors::preflight(const HttpRequest& request, const std::string& method) const {
  const bool allowed = origin_ == "*" || request.origin == origin_;
  const bool named = allowed && is_list_of_tokens(request.requested_headers);
  HttpAnswer answer;
  answer.status = 204;
  answer.headers = {{"Access-Control-Allow-Methods", method + ", OPTIONS"},
                    {"Access-Control-Allow-Headers",
                     named ? request.requested_headers : "authorization, content-type, x-request-id"},
                    {"Access-Control-Max-Age", "600"}};
  return answer;
}

}  // namespace carbon
