// POST /v1/embeddings.
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

#include "src/base/numbers.hpp"
#include "src/embed/run.hpp"
#include "src/serve/api_error.hpp"
#include "src/serve/completion_request.hpp"
#include "src/serve/endpoints.hpp"
#include "src/serve/service.hpp"
#include "src/serve/verb_work.hpp"
#include "src/verbs/fields.hpp"

namespace carbon {
namespace {

// Are the numbers sent as base64?
constexpr Word<bool> kEncodingWords[] = {{"float", false}, {"base64", true}};

// Each byte string's 6-bit groups as letters (RFC 4648, section 4).
void append_base64(std::string_view bytes, std::string& text) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j)
      group = group << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    for (size_t j = 0; j < 4; ++j) text += i + j <= bytes.size() ? kLetters[group >> (18 - 6 * j) & 63] : '=';
  }
}

class Embedding final : public ModelWork {
 public:
  using ModelWork::ModelWork;

 private:
  void begin(const Fields& fields) override {
    const std::vector<SentPrompt> inputs = read_prompts(fields, "input", served(), service().limits().items);
    const auto hidden = static_cast<int64_t>(served().config().hidden);
    values_ = static_cast<size_t>(fields.whole("dimensions", hidden, 1, hidden));
    base64_ = fields.choice("encoding_format", false, kEncodingWords);
    fields.find("user");  // known, and of no use here
    report_ignored(fields);
    tell(fields.noted());
    check_size(inputs);
    std::vector<RequestPtr> requests;
    for (size_t i = 0; i < inputs.size(); ++i) {
      items_.push_back(plan("input[" + std::to_string(i) + "]", inputs[i]));
      requests.push_back(items_.back().requests.front());
      tokens_ += requests.back()->tokens.size();
    }
    run(requests);
  }

  void check_size(const std::vector<SentPrompt>& inputs) {
    size_t bases = 0;
    for (const SentPrompt& input : inputs) bases += bases_of(input, served().config().layout).size();
    check_bases(bases, "input", service().limits());
  }

  // What `carbon embed` reads, with the metadata.
  EmbedItem plan(const std::string& name, const SentPrompt& input) const {
    const auto* const text = std::get_if<DnaText>(&input);
    EmbedItem item = text ? EmbedPlanner(config_for(*text, served()), {}).plan(name, text->bases)
                          : EmbedItem{name, {plan_ids(name, std::get<std::vector<uint32_t>>(input))}};
    item.requests.front()->keep_prefix = true;
    return item;
  }

  RequestPtr plan_ids(const std::string& name, const std::vector<uint32_t>& ids) const {
    const Prompt prompt = PromptPlanner(served().config(), nullptr, {}).plan_ids(0, name, ids);
    const auto request = std::make_shared<Request>();
    const TokenLayout& layout = served().config().layout;
    request->tokens = prompt.context;
    if (layout.has_separator()) {
      request->tokens.push_back(layout.separator());
      request->want_begin = request->tokens.size() - 1;
      request->head = HeadKind::hidden;
    } else {
      if (prompt.first_kmer == prompt.context.size())
        throw ApiError(400, name + " has no letter to take a hidden state from", "input");
      request->want_begin = prompt.first_kmer;
      request->head = HeadKind::mean_hidden;
    }
    if (request->tokens.size() > served().config().max_positions)
      throw ApiError(400,
                     name + " takes " + std::to_string(request->tokens.size()) +
                         " tokens, and the model's context has " +
                         std::to_string(served().config().max_positions),
                     "input");
    return request;
  }

  void finished() override {
    body_ = "{\"object\":\"list\",\"data\":[";
    more();
  }

  void more() override {
    for (; written_ < items_.size(); ++written_) {
      if (turn_is_over()) return again();
      body_ += written_ == 0 ? "{" : ",{";
      body_ += "\"object\":\"embedding\",\"index\":";
      append_integer(written_, body_);
      body_ += ",\"embedding\":";
      append_values(take_rows(items_[written_], DType::f32), body_);
      body_ += '}';
    }
    body_ += "],\"model\":" + nlohmann::ordered_json(served().name()).dump() + ",\"usage\":";
    body_ += nlohmann::ordered_json{{"prompt_tokens", tokens_}, {"total_tokens", tokens_}}.dump() + "}";
    answer_read(tokens_, std::move(body_));
  }

  // As JSON has numbers of 64 bits, those of 32 bits are written with as many digits, so that both encodings
  // give a client the same numbers.
  void append_values(const std::vector<float>& row, std::string& body) const {
    if (base64_) {
      static_assert(std::endian::native == std::endian::little);
      std::string bytes(values_ * sizeof(float), '\0');
      std::memcpy(bytes.data(), row.data(), bytes.size());
      body += '"';
      append_base64(bytes, body);
      body += '"';
      return;
    }
    for (size_t i = 0; i < values_; ++i) {
      body += i == 0 ? '[' : ',';
      append_json(double{row[i]}, body);
    }
    body += ']';
  }

  size_t values_ = 0;  // of each embedding
  bool base64_ = false;
  std::vector<EmbedItem> items_;
  size_t tokens_ = 0;
  std::string body_;    // as far as it is written
  size_t written_ = 0;  // of items_
};

}  // namespace

WorkPtr make_embedding(const ServedModel& served, HttpExchangePtr exchange) {
  return std::make_shared<Embedding>(served, std::move(exchange));
}

}  // namespace carbon
