// POST /v1/completions.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/base/error.hpp"
#include "src/base/letters.hpp"
#include "src/generate/requests.hpp"
#include "src/sampling/joint.hpp"
#include "src/serve/api_error.hpp"
#include "src/serve/completion_request.hpp"
#include "src/serve/endpoints.hpp"
#include "src/serve/metrics.hpp"
#include "src/serve/service.hpp"
#include "src/verbs/fields.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

using nlohmann::ordered_json;

// ---- Log-probabilities of k-mers, the tokens of k bases, as clients expect those of tokens: the form of
// OpenAI's completions, and that of vLLM's prompt_logprobs.

// One k-mer of a text, or a token before it.
struct RankedToken {
  std::string letters;
  size_t offset = 0;              // of its first base in the text; 0 for one that begins before the text
  std::span<const double> ranks;  // a row of kRankWidth, or none: then its log-probability is null
};

// Calls `take` with index, log-probability and rank of the `top` likeliest k-mers of a row.
template <class Take>
void each_likeliest(std::span<const double> ranks, size_t top, Take take) {
  for (size_t i = 0; i < std::min(top, kRanked) && ranks[2 + 2 * i] >= 0; ++i)
    take(static_cast<size_t>(ranks[2 + 2 * i]), ranks[3 + 2 * i], i + 1);
}

ordered_json empty_list() {
  return {{"tokens", ordered_json::array()},
          {"token_logprobs", ordered_json::array()},
          {"top_logprobs", ordered_json::array()},
          {"text_offset", ordered_json::array()}};
}

// {"tokens","token_logprobs","top_logprobs","text_offset"}, with the `top` likeliest k-mers and the one that
// is there.
class LogprobList {
 public:
  LogprobList(size_t top, size_t k);
  void add(const RankedToken& token);
  /// Hands over the object and begins a new one.
  ordered_json take();

 private:
  size_t top_, k_;
  ordered_json list_;
};

LogprobList::LogprobList(size_t top, size_t k) : top_(top), k_(k), list_(empty_list()) {}

void LogprobList::add(const RankedToken& token) {
  const bool known = !token.ranks.empty() && token.ranks[1] > 0;
  list_["tokens"].push_back(token.letters);
  list_["token_logprobs"].push_back(known ? ordered_json(token.ranks[0]) : ordered_json());
  list_["text_offset"].push_back(token.offset);
  ordered_json top;
  if (known) {
    top = ordered_json::object();
    each_likeliest(token.ranks, top_,
                   [&](size_t kmer, double logp, size_t) { top[kmer_text(kmer, k_)] = logp; });
    top[token.letters] = token.ranks[0];
  }
  list_["top_logprobs"].push_back(std::move(top));
}

ordered_json LogprobList::take() {
  return std::exchange(list_, empty_list());
}

// An entry of prompt_logprobs: by token id the log-probability, rank and letters of the k-mer `kmer` of a
// prompt and of the `top` likeliest ones; null without ranks.
ordered_json prompt_logprob(std::span<const double> ranks, uint32_t kmer, size_t top,
                            const TokenLayout& layout) {
  if (ranks.empty() || ranks[1] == 0) return nullptr;
  ordered_json entry = ordered_json::object();
  const auto add = [&](size_t index, double logp, size_t rank) {
    entry[std::to_string(layout.kmer_id(index))] = {
        {"logprob", logp}, {"rank", rank}, {"decoded_token", kmer_text(index, layout.bases())}};
  };
  add(kmer, ranks[0], static_cast<size_t>(ranks[1]));
  each_likeliest(ranks, top, add);
  return entry;
}

// ---- A completion.

// A prompt of the request, and what it asks of the model besides samples.
struct PromptPart {
  std::shared_ptr<const Prompt> prompt;
  std::string bases;
  RequestPtr ranks;  // of its 6-mers; null if nobody asks for them, or there are none

  size_t kmers() const { return prompt->context.size() - prompt->first_kmer; }
  std::span<const double> row(size_t kmer) const {
    return ranks ? ranks->values().subspan(kmer * kRankWidth, kRankWidth) : std::span<const double>();
  }
};

// A sample: one choice of the answer.
struct Choice {
  size_t index = 0;
  const PromptPart* part = nullptr;
  RequestPtr request;  // null if no new 6-mers are wanted
  std::shared_ptr<SampleFeed> feed;
  StoppedText text;
  std::vector<uint16_t> kmers;  // drawn, up to the one in which the text ends
  std::vector<double> ranks;
  size_t sent_bases = 0, sent_kmers = 0;  // of a stream
  bool ended = false;
};

class Completion final : public ModelWork {
 public:
  using ModelWork::ModelWork;

 private:
  // The bases of a token, which is a k-mer.
  size_t k() const { return served().config().layout.bases(); }

  void begin(const Fields& fields) override {
    asked_ = read_completion(fields, served(), service().limits());
    report_ignored(fields);
    tell(fields.noted());
    id_ = "cmpl-" + request().id;
    created_ =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
            .count();
    std::vector<RequestPtr> ranks;
    for (size_t i = 0; i < asked_.prompts.size(); ++i) {
      parts_.push_back(plan(i));
      if (parts_.back().ranks) ranks.push_back(parts_.back().ranks);
    }
    if (!ranks.empty()) return run(ranks);
    begin_samples();
  }

  void finished() override {
    if (choices_.empty()) return begin_samples();
    look();
    if (asked_.stream) {
      if (asked_.include_usage) send_event(ordered_json::array(), true);
      send("data: [DONE]\n\n");
      count();
      return end_stream();
    }
    body_ = text_of(head());
    body_.back() = ',';
    body_ += "\"choices\":[";
    more();
  }

  // The answer becomes text choice by choice, because with log-probabilities the tree of one takes many times
  // the memory of its text.
  void more() override {
    for (; written_ < choices_.size(); ++written_) {
      if (turn_is_over()) return again();
      if (written_ > 0) body_ += ',';
      body_ += text_of(whole_choice(choices_[written_]));
    }
    body_ +=
        "],\"usage\":" + usage().dump() + ",\"carbon_seed\":" + std::to_string(asked_.sampler.seed) + "}";
    count();
    answer_json(std::move(body_));
  }

  void look() override {
    for (Choice& choice : choices_) {
      if (choice.ended || !choice.feed) continue;
      const SampleFeed::News news = choice.feed->take();
      for (size_t i = 0; i < news.kmers.size() && !choice.ended; ++i) {
        add_kmer(choice, news.kmers[i]);
        if (asked_.logprobs)
          choice.ranks.insert(choice.ranks.end(), news.ranks.begin() + static_cast<ptrdiff_t>(i * kRankWidth),
                              news.ranks.begin() + static_cast<ptrdiff_t>((i + 1) * kRankWidth));
        if (asked_.stream) send_news(choice);
      }
    }
  }

  PromptPart plan(size_t number) const {
    const SentPrompt& sent = asked_.prompts[number];
    PromptPart part;
    part.bases = bases_of(sent, served().config().layout);
    const size_t given = part.bases.size() % k();
    GenerateOptions options;
    options.length = asked_.max_tokens == 0 ? 0 : k() * asked_.max_tokens - given;
    part.prompt = std::make_shared<const Prompt>(plan_completion(sent, number, options));
    const TokenLayout& layout = served().config().layout;
    if (part.kmers() > 0 && ((asked_.echo && asked_.logprobs) || asked_.prompt_logprobs))
      part.ranks = rank_request(part, layout);
    return part;
  }

  // What is wrong with a prompt is known to the room generate, which knows no names of fields. There is no
  // constraint here, so that a wrong length is one that does not fit the model's context.
  Prompt plan_completion(const SentPrompt& sent, size_t number, const GenerateOptions& options) const {
    try {
      return plan_prompt(served(), sent, number, options);
    } catch (const OutOfMemory&) {
      throw;
    } catch (const WrongLength& error) {
      throw ApiError(400, error.what(), "max_tokens", "context_length_exceeded");
    } catch (const Error& error) {
      throw ApiError(400, error.what(), "prompt");
    }
  }

  // Row i, that of the token before the 6-mers being 0, predicts 6-mer i of the prompt.
  static RequestPtr rank_request(const PromptPart& part, const TokenLayout& layout) {
    const std::vector<uint32_t>& context = part.prompt->context;
    const auto request = std::make_shared<Request>();
    request->tokens.assign(context.begin(), context.end() - 1);
    request->head = HeadKind::kmer_ranks;
    request->want_begin = part.prompt->first_kmer - 1;
    for (size_t i = part.prompt->first_kmer; i < context.size(); ++i)
      request->targets.push_back(context[i] == layout.oov() ? kNoKmer : layout.kmer_of(context[i]));
    return request;
  }

  void begin_samples() {
    std::vector<RequestPtr> requests;
    for (const PromptPart& part : parts_) add_choices(part, requests);
    if (asked_.stream) {
      start_stream("text/event-stream; charset=utf-8");
      for (Choice& choice : choices_)
        if (asked_.echo || !choice.request) send_echo(choice);
    }
    run(requests);
  }

  void add_choices(const PromptPart& part, std::vector<RequestPtr>& requests) {
    const auto add = [&](RequestPtr sample) {
      Choice choice{choices_.size(), &part, std::move(sample), nullptr, StoppedText(asked_.stops), {}, {}};
      choice.ended = !choice.request;
      if (choice.request) {
        choice.request->generation->rank = asked_.logprobs.has_value();
        Work* const woken = asked_.stream || !asked_.stops.empty() ? this : nullptr;
        choice.feed = SampleFeed::attach(*choice.request, woken, service().metrics(), arrived());
      }
      choices_.push_back(std::move(choice));
    };
    if (asked_.max_tokens == 0) {
      for (size_t i = 0; i < asked_.samples; ++i) add(nullptr);
      return;
    }
    emit_samples(part.prompt, {0, asked_.samples}, asked_.sampler, served().devices(),
                 [&](const SampleItem& item) {
                   for (const RequestPtr& request : item.requests) request->keep_prefix = !request->parent;
                   requests.insert(requests.end(), item.requests.begin(), item.requests.end());
                   add(item.requests.back());
                 });
  }

  // What is drawn after the end of the text is left out, as if it had never been drawn.
  void add_kmer(Choice& choice, uint16_t kmer) {
    const size_t given = choice.kmers.empty() ? choice.part->prompt->bases->given : 0;
    choice.kmers.push_back(kmer);
    const bool goes_on = choice.text.add(std::string_view(kmer_text(kmer, k())).substr(given));
    choice.ended = !goes_on || choice.kmers.size() == asked_.max_tokens;
    if (!goes_on) choice.request->cancelled = true;
  }

  // Of a sample's 6-mer: its letters, where it begins in the text of the choice, its ranks.
  RankedToken token(const Choice& choice, size_t kmer) const {
    const size_t given = choice.part->prompt->bases->given;
    // With an echo the text begins with the prompt, whose last bases are the first of the first 6-mer.
    const size_t before = asked_.echo ? choice.part->bases.size() : 0;
    const size_t at = before + k() * kmer;
    return {kmer_text(choice.kmers[kmer], k()), at > given ? at - given : 0,
            std::span(choice.ranks).subspan(kmer * kRankWidth, kRankWidth)};
  }

  // How many of the 6-mers begin before new base `bases`.
  size_t kmers_before(const Choice& choice, size_t bases) const {
    const size_t given = choice.part->prompt->bases->given;
    return bases == 0 ? 0 : std::min(choice.kmers.size(), (bases + given - 1) / k() + 1);
  }

  // An entry for each token of the prompt, as clients count them. Those before the 6-mers are not part of the
  // text, and have no probability among 6-mers.
  void add_prompt_tokens(const PromptPart& part, LogprobList& list) const {
    const std::span<const uint32_t> context = part.prompt->context;
    for (const uint32_t id : context.first(part.prompt->first_kmer))
      list.add({served().tokenizer().decode({id}), 0, {}});
    for (size_t i = 0; i < part.kmers(); ++i)
      list.add({to_upper(part.bases.substr(i * k(), k())), i * k(), part.row(i)});
  }

  ordered_json prompt_logprobs(const PromptPart& part) const {
    ordered_json list(part.prompt->first_kmer, nullptr);
    const TokenLayout& layout = served().config().layout;
    for (size_t i = 0; i < part.kmers(); ++i)
      list.push_back(prompt_logprob(part.row(i),
                                    layout.kmer_of(part.prompt->context[part.prompt->first_kmer + i]),
                                    *asked_.prompt_logprobs, layout));
    return list;
  }

  std::vector<uint32_t> ids(const Choice& choice, size_t begin, size_t end) const {
    std::vector<uint32_t> out;
    for (size_t i = begin; i < end; ++i) out.push_back(served().config().layout.kmer_id(choice.kmers[i]));
    return out;
  }

  ordered_json finish_reason(const Choice& choice) const {
    if (!choice.ended) return nullptr;
    return choice.text.stopped() ? "stop" : "length";
  }

  // The members of a choice in the order in which OpenAI has them.
  ordered_json choice_json(const Choice& choice, std::string text, ordered_json logprobs) const {
    ordered_json json = {{"index", choice.index},
                         {"text", std::move(text)},
                         {"logprobs", std::move(logprobs)},
                         {"finish_reason", finish_reason(choice)}};
    json["stop_reason"] = choice.text.stopped() ? ordered_json(choice.text.found()) : ordered_json();
    return json;
  }

  ordered_json whole_choice(const Choice& choice) const {
    ordered_json logprobs;
    const size_t kmers = kmers_before(choice, choice.text.text().size());
    if (asked_.logprobs) {
      LogprobList list(*asked_.logprobs, k());
      if (asked_.echo) add_prompt_tokens(*choice.part, list);
      for (size_t i = 0; i < kmers; ++i) list.add(token(choice, i));
      logprobs = list.take();
    }
    ordered_json json = choice_json(choice, (asked_.echo ? choice.part->bases : "") + choice.text.text(),
                                    std::move(logprobs));
    if (asked_.prompt_logprobs) json["prompt_logprobs"] = prompt_logprobs(*choice.part);
    if (asked_.token_ids) {
      json["token_ids"] = ids(choice, 0, kmers);
      json["prompt_token_ids"] = choice.part->prompt->context;
    }
    return json;
  }

  // The first event of a choice that begins with the prompt, and the only one of a choice without new bases.
  void send_echo(Choice& choice) {
    ordered_json logprobs;
    if (asked_.logprobs) {
      LogprobList list(*asked_.logprobs, k());
      if (asked_.echo) add_prompt_tokens(*choice.part, list);
      logprobs = list.take();
    }
    ordered_json json = choice_json(choice, asked_.echo ? choice.part->bases : "", std::move(logprobs));
    if (asked_.token_ids) json["prompt_token_ids"] = choice.part->prompt->context;
    send_event(ordered_json::array({std::move(json)}), false);
  }

  // One event for each 6-mer, however many have come at once, so that a stream does not show its neighbours.
  void send_news(Choice& choice) {
    const size_t certain = choice.ended ? choice.text.text().size() : choice.text.certain();
    const size_t kmers = kmers_before(choice, certain);
    ordered_json logprobs;
    if (asked_.logprobs) {
      LogprobList list(*asked_.logprobs, k());
      for (size_t i = choice.sent_kmers; i < kmers; ++i) list.add(token(choice, i));
      logprobs = list.take();
    }
    const bool nothing = certain <= choice.sent_bases && kmers <= choice.sent_kmers;
    if (nothing && !choice.ended) return;
    std::string text;
    if (certain > choice.sent_bases)
      text = choice.text.text().substr(choice.sent_bases, certain - choice.sent_bases);
    ordered_json json = choice_json(choice, std::move(text), std::move(logprobs));
    if (asked_.token_ids)
      json["token_ids"] = ids(choice, choice.sent_kmers, std::max(kmers, choice.sent_kmers));
    choice.sent_bases = std::max(certain, choice.sent_bases);
    choice.sent_kmers = std::max(kmers, choice.sent_kmers);
    send_event(ordered_json::array({std::move(json)}), false);
  }

  ordered_json head() const {
    return {{"id", id_}, {"object", "text_completion"}, {"created", created_}, {"model", served().name()}};
  }

  // A token of metadata may be a part of a letter.
  static std::string text_of(const ordered_json& body) {
    return body.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  }

  void send_event(ordered_json choices, bool with_usage) {
    ordered_json body = head();
    body["choices"] = std::move(choices);
    if (with_usage) body["usage"] = usage();
    body["carbon_seed"] = asked_.sampler.seed;
    send("data: " + text_of(body) + "\n\n");
  }

  uint64_t prompt_tokens() const {
    uint64_t sum = 0;
    for (const PromptPart& part : parts_) sum += part.prompt->context.size();
    return sum;
  }

  uint64_t new_tokens() const {
    uint64_t sum = 0;
    for (const Choice& choice : choices_) sum += choice.kmers.size();
    return sum;
  }

  ordered_json usage() const {
    return {{"prompt_tokens", prompt_tokens()},
            {"total_tokens", prompt_tokens() + new_tokens()},
            {"completion_tokens", new_tokens()}};
  }

  void count() {
    service().metrics().tokens(prompt_tokens(), new_tokens());
    bool stopped = false;
    for (const Choice& choice : choices_) stopped = stopped || choice.text.stopped();
    service().metrics().ended(stopped ? Metrics::End::stop : Metrics::End::length, seconds());
  }

  CompletionRequest asked_;
  std::string id_;
  int64_t created_ = 0;
  std::vector<PromptPart> parts_;
  std::vector<Choice> choices_;
  std::string body_;    // of an answer that is no stream, as far as it is written
  size_t written_ = 0;  // choices
};

}  // namespace

WorkPtr make_completion(const ServedModel& served, HttpExchangePtr exchange) {
  return std::make_shared<Completion>(served, std::move(exchange));
}

}  // namespace carbon
