// POST /tokenize and /detokenize.
#include <nlohmann/json.hpp>
#include <utility>

#include "src/serve/endpoints.hpp"
#include "src/verbs/fields.hpp"

namespace carbon {
namespace {

using nlohmann::ordered_json;

// Runs no model.
class TokenWork : public ModelWork {
 public:
  using ModelWork::ModelWork;

 private:
  void finished() override {}
};

class Tokenize final : public TokenWork {
 public:
  using TokenWork::TokenWork;

 private:
  void begin(const Fields& fields) override {
    const Encoding encoding =
        served().tokenizer().encode(fields.required_text("prompt"), served().auto_dna_tags());
    answer_json(ordered_json{{"count", encoding.ids.size()},
                             {"max_model_len", served().config().max_positions},
                             {"tokens", encoding.ids}}
                    .dump());
  }
};

class Detokenize final : public TokenWork {
 public:
  using TokenWork::TokenWork;

 private:
  void begin(const Fields& fields) override {
    const nlohmann::json& list = fields.required("tokens");
    if (!list.is_array()) fields.fail("tokens", "must be a list of token ids");
    std::vector<uint32_t> ids;
    for (const nlohmann::json& id : list) {
      if (!id.is_number_unsigned() || id.get<uint64_t>() >= served().config().layout.vocab_size)
        fields.fail("tokens",
                    "has at place " + std::to_string(ids.size()) + " what is not an id of this model");
      ids.push_back(id.get<uint32_t>());
    }
    answer_json(ordered_json{{"prompt", served().tokenizer().decode(ids)}}.dump(
        -1, ' ', false, ordered_json::error_handler_t::replace));
  }
};

}  // namespace

WorkPtr make_tokenize(const ServedModel& served, HttpExchangePtr exchange) {
  return std::make_shared<Tokenize>(served, std::move(exchange));
}

WorkPtr make_detokenize(const ServedModel& served, HttpExchangePtr exchange) {
  return std::make_shared<Detokenize>(served, std::move(exchange));
}

}  // namespace carbon
