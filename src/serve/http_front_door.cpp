#include "src/serve/http_front_door.hpp"

#include <utility>

#include "src/serve/api_error.hpp"

namespace carbon {
namespace {

HttpAnswer loading(const std::string& path) {
  HttpAnswer answer =
      ApiError(503, "the model is being loaded; try again later", "", "model_loading").answer();
  if (path == "/health") answer.body = R"({"status":"loading"})";
  answer.headers.emplace_back("Retry-After", "1");
  return answer;
}

}  // namespace

std::optional<HttpAnswer> FrontDoor::refuse(const HttpRequest& request) const {
  if (const Api* const api = api_) return api->refuse(request);
  return cors_.with_headers(loading(request.decoded_path));
}

void FrontDoor::handle(HttpExchangePtr exchange) const {
  if (const Api* const api = api_) return api->handle(std::move(exchange));
  exchange->answer(cors_.with_headers(loading("")));
}

HttpAnswer FrontDoor::error(int status, const std::string& message) const {
  return cors_.with_headers(ApiError(status, message).answer());
}

void FrontDoor::log(const HttpAccess& access) const {
  if (const Api* const api = api_) api->log(access);
}

}  // namespace carbon
