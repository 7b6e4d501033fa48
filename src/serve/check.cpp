#include "src/serve/check.hpp"

#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/numbers.hpp"
#include "src/serve/api_keys.hpp"
#include "src/serve/http_client.hpp"
#include "src/serve/http_text.hpp"

namespace carbon {
namespace {

constexpr double kSeconds = 30;

nlohmann::json ask(const ServeOptions& options, const std::string& key, const std::string& method,
                   const std::string& path, const std::string& body) {
  HttpRequest request;
  request.method = method;
  request.path = path;
  request.body = body;
  if (!key.empty()) request.authorization = "Bearer " + key;
  const HttpAnswer answer = http_ask(options.http.host, options.http.port, request, kSeconds);
  if (answer.status == 200) return parse_json(answer.body, "the answer of " + path);
  throw Error("serve", path + " was answered with status " + std::to_string(answer.status) + ": " +
                           printable(answer.body));
}

}  // namespace

std::string check_server(const ServeOptions& options) {
  const std::string key = ApiKeys(options.api_key_file).any();
  const auto begin = std::chrono::steady_clock::now();
  try {
    const nlohmann::json models = ask(options, key, "GET", "/v1/models", "");
    const nlohmann::json scores =
        ask(options, key, "POST", "/v1/dna/score", R"({"sequences":["ACGTACGTACGTACGTACGTACGT"]})");
    if (scores.at("results").at(0).at("n_scored") != 24)
      throw Error("serve", "/v1/dna/score did not score the 24 bases that it was given");
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return host_and_port(options.http.host, options.http.port) + " serves " +
           models.at("data").at(0).at("id").get<std::string>() + " and has answered within " +
           fixed_text(seconds, 3) + " s";
  } catch (const nlohmann::json::exception&) {
    throw Error("serve", "what listens on " + host_and_port(options.http.host, options.http.port) +
                             " does not answer as carbon serve does");
  }
}

}  // namespace carbon
