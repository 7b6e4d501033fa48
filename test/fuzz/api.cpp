// The body of a request to carbon serve, for each endpoint, and messages to carbon mcp: from the JSON to the
// answer of a small model. The first byte chooses the endpoint, 0 to 9, or messages, 10.
#include <nlohmann/json.hpp>
#include <sstream>

#include "src/mcp/mcp.hpp"
#include "src/serve/endpoints.hpp"
#include "test/fuzz/harness.hpp"
#include "test/unit/model_fixture.hpp"
#include "test/unit/serve_running.hpp"

namespace carbon::fuzz {
namespace {

RequestLimits small_limits() {
  RequestLimits limits;
  limits.bases = 600;
  limits.items = 4;
  return limits;
}

std::string write_model(const Folder& folder) {
  model_test::TestModel().write(folder.path());
  return folder.path();
}

struct Server {
  Folder folder;
  SharedReference reference{IndexedFasta(folder.put("in.fa", kFasta))};
  test::RunningService service{write_model(folder), small_limits()};
};

void check_answer(const HttpAnswer& answer) {
  require(answer.status >= 200 && answer.status < 500, "an error of the server itself");
  if (answer.content_type == "application/json")
    require(nlohmann::json::accept(answer.body), "an answer that is not JSON");
}

// Each line of the answer is a message.
void check_messages(const std::string& input) {
  static Folder folder;
  static McpTools tools(
      [] {
        ModelOptions options;
        options.model = write_model(folder);
        options.threads = 1;
        return options;
      }(),
      folder.put("in.fa", kFasta), "", silent_log());
  std::istringstream in(input);
  std::ostringstream out;
  talk_mcp(tools, in, out);
  for (const std::string_view line : split_lines(out.str()))
    require(line.empty() || nlohmann::json::accept(line), "a message that is not JSON");
}

}  // namespace

void run(std::string_view input, const Folder& /*folder*/) {
  static Server server;
  if (input.empty()) return;
  const test::RunningService::Make endpoints[] = {
      make_completion,
      make_embedding,
      make_tokenize,
      make_detokenize,
      make_dna_score,
      make_dna_generate,
      [](const ServedModel& served, HttpExchangePtr exchange) {
        return make_dna_scan(served, &server.reference, std::move(exchange));
      },
      [](const ServedModel& served, HttpExchangePtr exchange) {
        return make_dna_variants(served, &server.reference, std::move(exchange));
      },
      [](const ServedModel& served, HttpExchangePtr exchange) {
        return make_dna_variants(served, nullptr, std::move(exchange));
      },
      make_dna_embed};
  const size_t chosen = static_cast<unsigned char>(input[0]) % (std::size(endpoints) + 1);
  if (chosen == std::size(endpoints)) return check_messages(std::string(input.substr(1)));
  check_answer(server.service.ask_text(endpoints[chosen], std::string(input.substr(1))));
}

}  // namespace carbon::fuzz
