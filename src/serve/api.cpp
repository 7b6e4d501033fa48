#include "src/serve/api.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/letters.hpp"
#include "src/base/words.hpp"
#include "src/model/registry.hpp"
#include "src/serve/api_error.hpp"
#include "src/serve/endpoints.hpp"
#include "version.h"

namespace carbon {
namespace {

// ---- the files of the web page

using namespace std::string_view_literals;

struct Source {
  std::string_view name, text;
};
constexpr Source kSources[] = {
#include "serve_page.h"
};

constexpr std::string_view content_type(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml; charset=utf-8";
  return "text/plain; charset=utf-8";
}

constexpr auto kFiles = [] {
  std::array<PageFile, std::size(kSources)> files;
  for (size_t i = 0; i < files.size(); ++i) {
    const auto [name, text] = kSources[i];
    files[i] = {name == "/index.html" ? "/" : name, content_type(name), text};
  }
  return files;
}();

// ---- keys

std::vector<std::string> read_keys(const std::string& path) {
  std::vector<std::string> keys;
  std::ifstream in(path);
  if (!in) throw Error("serve", path + ": cannot read the keys: " + std::strerror(errno));
  for (std::string line; std::getline(in, line);) {
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    keys.push_back(line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin));
  }
  if (keys.empty()) throw Error("serve", path + ": has no key; write one per line");
  return keys;
}

// Whether a text is one or more tokens, joined by commas and blanks.
bool is_list_of_tokens(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ',');
  return std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
    const size_t begin = part.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return false;
    part = part.substr(begin, part.find_last_not_of(" \t") + 1 - begin);
    return std::all_of(part.begin(), part.end(), is_token_character);
  });
}

}  // namespace

std::span<const PageFile> page_files() {
  return kFiles;
}

// ---- Who may ask.

ApiKeys::ApiKeys(const std::string& path) : path_(path) {
  if (needed()) keys_ = read_keys(path_);
}

void ApiKeys::read_again() {
  std::vector<std::string> keys = read_keys(path_);
  const std::lock_guard lock(mutex_);
  keys_ = std::move(keys);
}

bool ApiKeys::accept(std::string_view authorization) const {
  constexpr std::string_view kScheme = "Bearer";
  if (!needed()) return true;
  // The scheme's case does not matter, and one or more blanks follow it (RFC 9110, section 11.1 and 11.4).
  const std::string_view rest = authorization.substr(std::min(kScheme.size(), authorization.size()));
  const size_t begin = rest.find_first_not_of(" \t");
  if (!equal_letters(authorization.substr(0, kScheme.size()), kScheme) || begin == 0 ||
      begin == std::string_view::npos)
    return false;
  const std::string_view shown = rest.substr(begin, rest.find_last_not_of(" \t") + 1 - begin);
  bool found = false;
  const std::lock_guard lock(mutex_);
  for (const std::string& key : keys_)
    if (key.size() == shown.size() && CRYPTO_memcmp(key.data(), shown.data(), key.size()) == 0) found = true;
  return found;
}

std::string ApiKeys::any() const {
  const std::lock_guard lock(mutex_);
  return keys_.empty() ? "" : keys_.front();
}

size_t ApiKeys::count() const {
  const std::lock_guard lock(mutex_);
  return keys_.size();
}

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

// ---- The table.

namespace {

using nlohmann::ordered_json;

HttpAnswer json_answer(const ordered_json& body, int status = 200) {
  HttpAnswer answer;
  answer.status = status;
  answer.body = body.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  return answer;
}

// A file of the page. It may load nothing from another host.
HttpAnswer page_answer(const PageFile& file) {
  HttpAnswer answer;
  answer.content_type = file.content_type;
  answer.body = file.bytes;
  answer.headers = {
      {"Content-Security-Policy",
       "default-src 'self'; img-src 'self' data: blob:; base-uri 'none'; frame-ancestors 'none'"},
      {"Cache-Control", "no-cache"},
      {"Referrer-Policy", "no-referrer"}};
  return answer;
}

ordered_json model_json(const ServedModel& served, const std::string& name) {
  const size_t bases = served.config().layout.bases();
  ordered_json model = {{"id", name},
                        {"object", "model"},
                        {"created", served.created()},
                        {"owned_by", "carbon"},
                        {"root", served.model().checkpoint().id()},
                        {"parent", nullptr},
                        {"demonstration", is_demonstration_model(served.model().checkpoint().dir())},
                        {"family", served.config().layout.family->name},
                        {"max_model_len", served.config().max_positions},
                        {"bases_per_token", bases},
                        {"max_bases", bases * (served.config().max_positions - 1)},
                        {"dtype", served.model().dtype()},
                        {"device", served.model().device_kind()}};
  if (const auto& classifier = served.config().classifier) model["labels"] = classifier->labels;
  return model;
}

bool same_method(const char* method, const std::string& asked) {
  return asked == method || (asked == "HEAD" && std::strcmp(method, "GET") == 0);
}

// Adds headers to the answer of another exchange.
class ExchangeWithHeaders final : public HttpExchange {
 public:
  ExchangeWithHeaders(HttpExchangePtr exchange, std::function<HttpAnswer(HttpAnswer)> add)
      : exchange_(std::move(exchange)), add_(std::move(add)) {}

  const HttpRequest& request() const override { return exchange_->request(); }
  void answer(HttpAnswer answer) override { exchange_->answer(add_(std::move(answer))); }
  void start(HttpAnswer head) override { exchange_->start(add_(std::move(head))); }
  void send(std::string piece) override { exchange_->send(std::move(piece)); }
  void finish() override { exchange_->finish(); }
  void when_gone(std::function<void()> gone) override { exchange_->when_gone(std::move(gone)); }

 private:
  HttpExchangePtr exchange_;
  std::function<HttpAnswer(HttpAnswer)> add_;
};

}  // namespace

Api::Api(Service& service, const ServedModel& served, SharedReference* reference, const ApiKeys& keys,
         const Cors& cors)
    : service_(service), served_(served), keys_(keys), cors_(cors) {
  for (const PageFile& file : page_files())
    add_quick(std::string(file.path), false, [&file] { return page_answer(file); });
  add_quick("/health", false, [this] { return health(); });
  add_quick("/version", false, [] { return json_answer({{"version", CARBON_VERSION}}); });
  add_quick("/openapi.json", false,
            [this] { return json_answer(openapi_document(served_.model().checkpoint())); });
  add_quick("/metrics", false, [this] {
    HttpAnswer answer;
    answer.content_type = "text/plain; version=0.0.4; charset=utf-8";
    answer.body = service_.metrics().text(served_.name(), service_.engine().state(), connections_(),
                                          service_.under_way());
    return answer;
  });
  add_quick("/v1/models", true, [this] { return models(); });
  for (const std::string& name : served_.names())
    add_quick("/v1/models/" + name, true, [this, &name] { return json_answer(model_json(served_, name)); });
  const auto with_model = [this](auto make) {
    return [this, make](HttpExchangePtr exchange) { return make(served_, std::move(exchange)); };
  };
  add_work("/v1/completions", ModelUse::bases, with_model(make_completion));
  add_work("/v1/embeddings", ModelUse::states, with_model(make_embedding));
  add_work("/tokenize", ModelUse::any, with_model(make_tokenize));
  add_work("/detokenize", ModelUse::any, with_model(make_detokenize));
  add_work("/v1/dna/score", ModelUse::bases, with_model(make_dna_score));
  add_work("/v1/dna/generate", ModelUse::bases, with_model(make_dna_generate));
  add_work("/v1/dna/embed", ModelUse::states, with_model(make_dna_embed));
  add_work("/v1/dna/predict", ModelUse::labels, with_model(make_dna_predict));
  add_work("/v1/dna/annotate", ModelUse::coding, with_model(make_dna_annotate));
  const auto with_reference = [this, reference](auto make) {
    return [this, reference, make](HttpExchangePtr exchange) {
      return make(served_, reference, std::move(exchange));
    };
  };
  add_work("/v1/dna/scan", ModelUse::bases, with_reference(make_dna_scan));
  // What variants need, their recipe says.
  add_work("/v1/dna/variants", ModelUse::states, with_reference(make_dna_variants));
}

void Api::add_quick(std::string path, bool needs_key, std::function<HttpAnswer()> answer) {
  routes_.push_back(
      {"GET", std::move(path), needs_key,
       [answer = std::move(answer)](const HttpExchangePtr& exchange) { exchange->answer(answer()); }});
}

void Api::add_work(std::string path, ModelUse use, std::function<WorkPtr(HttpExchangePtr)> make) {
  routes_.push_back(
      {"POST", std::move(path), true, [this, use, make = std::move(make)](HttpExchangePtr exchange) {
         try {
           check_use(served_.model().checkpoint(), use);
         } catch (const Error& error) {
           return exchange->answer(ApiError(400, error.what()).answer());
         }
         service_.take(make(std::move(exchange)));
       }});
}

const Api::Route* Api::find(const HttpRequest& request) const {
  for (const Route& route : routes_)
    if (request.decoded_path == route.path && same_method(route.method, request.method)) return &route;
  return nullptr;
}

std::optional<HttpAnswer> Api::refuse(const HttpRequest& request) const {
  std::optional<HttpAnswer> answer = refusal(request);
  if (answer) answer = cors_.with_headers(std::move(*answer));
  return answer;
}

std::optional<HttpAnswer> Api::refusal(const HttpRequest& request) const {
  const Route* const route = find(request);
  if (route) {
    if (!route->needs_key || keys_.accept(request.authorization)) return std::nullopt;
    HttpAnswer answer = ApiError(401, "this server needs a key: send it as \"Authorization: Bearer KEY\"", "",
                                 "invalid_api_key")
                            .answer();
    answer.headers.emplace_back("WWW-Authenticate", "Bearer");
    return answer;
  }
  const std::string& path = request.decoded_path;
  for (const Route& other : routes_) {
    if (path != other.path) continue;
    if (request.method == "OPTIONS" && cors_.on()) return cors_.preflight(request, other.method);
    HttpAnswer answer =
        ApiError(405, "use " + std::string(other.method) + " for " + request.path, "", "method_not_allowed")
            .answer();
    answer.headers.emplace_back("Allow", other.method);
    return answer;
  }
  constexpr std::string_view kModels = "/v1/models/";
  if (path.starts_with(kModels))
    return ApiError(404, "the model '" + printable(path.substr(kModels.size())) + "' is not served here",
                    "model", "model_not_found")
        .answer();
  return ApiError(404, "no endpoint " + request.path + "; see carbon-serve(1), or GET /openapi.json", "",
                  "not_found")
      .answer();
}

void Api::handle(HttpExchangePtr exchange) const {
  if (cors_.on())
    exchange = std::make_shared<ExchangeWithHeaders>(
        exchange, [this](HttpAnswer answer) { return cors_.with_headers(std::move(answer)); });
  if (const Route* const route = find(exchange->request())) return route->handle(exchange);
  exchange->answer(ApiError(404, "not found").answer());
}

void Api::log(const HttpAccess& access) const {
  // A path that does not exist is text of a client, of which there is no end.
  bool known = false;
  for (const Route& route : routes_) known = known || access.decoded_path == route.path;
  service_.metrics().answered(known ? access.decoded_path : "other", access.status);
}

HttpAnswer Api::models() const {
  ordered_json list = ordered_json::array();
  for (const std::string& name : served_.names()) list.push_back(model_json(served_, name));
  return json_answer({{"object", "list"}, {"data", std::move(list)}});
}

// A load balancer that sees 503 sends no more requests.
HttpAnswer Api::health() const {
  const bool ends = service_.draining();
  return json_answer({{"status", ends ? "ending" : "ok"}}, ends ? 503 : 200);
}

// ---- Before there is a model.

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
