#include "src/serve/dna_generate.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string_view>
#include <utility>

#include "src/generate/requests.hpp"
#include "src/marginals/base_scores.hpp"
#include "src/serve/bound_fields.hpp"
#include "src/serve/dna_request.hpp"
#include "src/serve/model_work.hpp"
#include "src/serve/prompts.hpp"
#include "src/serve/sample_feed.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

using nlohmann::ordered_json;

struct GenerateRequest {
  DnaText prompt;
  GenerateOptions options;
  bool probabilities = false, stream = false;
};

struct Sample {
  RequestPtr request;
  RequestPtr marginals;  // null if nobody asks for probabilities
  std::shared_ptr<SampleFeed> feed;
  size_t sent_kmers = 0;  // of a stream
};

SamplerOptions read_sampler(const Fields& fields) {
  SamplerOptions sampler;
  sampler.kind = fields.choice("sampler", sampler.kind, kSamplerWords);
  sampler.greedy = fields.flag("greedy", false);
  for (const char* name : {"temperature", "top_k", "top_p"})
    if (sampler.greedy && fields.has(name))
      fields.fail(name, "cannot be used with greedy, which takes the likeliest 6-mer or base");
  sampler.temperature = fields.number("temperature", 1, 0, 1e6);
  if (sampler.temperature == 0) fields.fail("temperature", "must be above 0; greedy takes the likeliest");
  const size_t choices = sampler.kind == SamplerKind::kmer ? ops::kKmers : ops::kLetters;
  sampler.top_k = static_cast<size_t>(fields.whole("top_k", 0, 1, static_cast<int64_t>(choices)));
  sampler.top_p = fields.number("top_p", 1, 0, 1);
  if (sampler.top_p == 0) fields.fail("top_p", "must be above 0");
  const nlohmann::json* const seed = fields.find("seed");
  if (seed && !seed->is_number_unsigned())
    fields.fail("seed", "must be a whole number from 0 to 18446744073709551615");
  if (seed) sampler.seed = seed->get<uint64_t>();
  return sampler;
}

void check_size(const Fields& fields, const GenerateRequest& asked, const RequestLimits& limits) {
  const size_t prompt = asked.prompt.bases.size();
  if (prompt > limits.bases)
    fields.fail("prompt", "has " + std::to_string(prompt) + " bases; the server's limit for one request is " +
                              std::to_string(limits.bases));
  if (asked.options.length <= (limits.bases - prompt) / asked.options.samples) return;
  fields.fail("length", "for all samples and the prompt gives more than " + std::to_string(limits.bases) +
                            " bases, which is the server's limit for one request");
}

GenerateRequest read_generate(const Fields& fields, const RequestLimits& limits) {
  GenerateRequest asked;
  asked.prompt = {fields.text("prefix", ""), checked_bases(fields, fields.text("prompt", ""), "prompt")};
  asked.options = read_generate_options(fields, limits.items);
  asked.probabilities = fields.flag("probabilities", false);
  asked.stream = fields.flag("stream", false);
  check_size(fields, asked, limits);
  return asked;
}

}  // namespace

GenerateOptions read_generate_options(const Fields& fields, size_t most_samples) {
  GenerateOptions options;
  fields.required("length");
  options.length = static_cast<size_t>(fields.whole("length", 0, 1, 1'000'000'000));
  options.samples = static_cast<size_t>(fields.whole("n", 1, 1, static_cast<int64_t>(most_samples)));
  options.constraint = fields.text("constraint", "");
  options.sampler = read_sampler(fields);
  options.bounds = read_bounds(fields, options.sampler.kind);
  return options;
}

// The first row is that of the last token before the new 6-mers, and the last new 6-mer is no input.
RequestPtr sample_marginals(const Prompt& prompt, const Request& sample, const TokenLayout& layout) {
  const auto request = std::make_shared<Request>();
  request->tokens = prompt.context;
  for (const uint16_t kmer : sample.kmers) request->tokens.push_back(layout.kmer_id(kmer));
  request->tokens.pop_back();
  request->head = HeadKind::marginals;
  request->want_begin = prompt.context.size() - 1;
  return request;
}

namespace {

class DnaGenerate final : public ModelWork {
 public:
  using ModelWork::ModelWork;

 private:
  void begin(const Fields& fields) override {
    asked_ = read_generate(fields, service().limits());
    fields.refuse_others();
    tell(fields);
    try {
      prompt_ = std::make_shared<const Prompt>(plan_prompt(served(), asked_.prompt, 0, asked_.options));
    } catch (const WrongLength& error) {
      throw ApiError(400, error.what(), "length");
    }
    std::vector<RequestPtr> requests;
    emit_samples(prompt_, {0, asked_.options.samples}, asked_.options.sampler, served().devices(),
                 [&](const SampleItem& item) {
                   for (const RequestPtr& request : item.requests) request->keep_prefix = !request->parent;
                   requests.insert(requests.end(), item.requests.begin(), item.requests.end());
                   add(item.requests.back());
                 });
    if (asked_.stream) start_stream("text/event-stream; charset=utf-8");
    run(requests);
  }

  void add(const RequestPtr& request) {
    Work* const woken = asked_.stream ? this : nullptr;
    samples_.push_back(
        {request, nullptr, SampleFeed::attach(*request, woken, service().metrics(), arrived()), 0});
  }

  void look() override {
    for (size_t i = 0; i < samples_.size(); ++i) {
      Sample& sample = samples_[i];
      const SampleFeed::News news = sample.feed->take();
      for (const uint16_t kmer : news.kmers) send_kmer(i, kmer);
      const bool complete = !news.kmers.empty() && sample.sent_kmers == prompt_->bases->kmers();
      if (complete && !asked_.probabilities) send_end(i, news.logp);
    }
  }

  void finished() override {
    if (asked_.stream) look();
    if (asked_.probabilities && !samples_.front().marginals) return run_marginals();
    service().metrics().tokens(prompt_->context.size(), samples_.size() * prompt_->bases->kmers());
    service().metrics().ended(Metrics::End::length, seconds());
    if (!asked_.stream) return answer_json(whole_answer());
    for (size_t i = 0; asked_.probabilities && i < samples_.size(); ++i)
      send_end(i, samples_[i].request->logp);
    send("data: [DONE]\n\n");
    end_stream();
  }

  // The samples are read again, as the windows of a score are.
  void run_marginals() {
    std::vector<RequestPtr> requests;
    for (Sample& sample : samples_) {
      sample.marginals = sample_marginals(*prompt_, *sample.request, served().config().layout);
      sample.marginals->keep_prefix = true;
      requests.push_back(sample.marginals);
    }
    run(requests);
  }

  // One event for each 6-mer, however many have come at once, so that a stream does not show its neighbours.
  void send_kmer(size_t index, uint16_t kmer) {
    const size_t number = samples_[index].sent_kmers++;
    const size_t first = prompt_->bases->first(number), last = prompt_->bases->last(number);
    send_event({{"index", index}, {"bases", kmer_text(kmer, prompt_->bases->k).substr(first, last - first)}});
  }

  void send_end(size_t index, double logp) {
    std::string event = ordered_json{{"index", index}, {"logp", logp}, {"finish_reason", "length"}}.dump();
    event.pop_back();
    if (asked_.probabilities) append_probabilities(samples_[index], event);
    send("data: " + event + "}\n\n");
  }

  void send_event(const ordered_json& event) { send("data: " + event.dump() + "\n\n"); }

  std::string whole_answer() const {
    std::string body = "{\"samples\":[";
    for (const Sample& sample : samples_) {
      body += body.back() == '[' ? "{\"sequence\":\"" : ",{\"sequence\":\"";
      body += new_bases(*sample.request) + "\",\"logp\":";
      append_json(sample.request->logp, body);
      if (asked_.probabilities) append_probabilities(sample, body);
      body += '}';
    }
    return body + "],\"seed\":" + std::to_string(asked_.options.sampler.seed) + "}";
  }

  void append_probabilities(const Sample& sample, std::string& text) const {
    const std::span<const double> rows = sample.marginals->values();
    const size_t given = prompt_->bases->given;
    text += ",\"probabilities\":[";
    for (size_t i = 0; i < asked_.options.length; ++i) {
      const double* const logs = base_logs(rows, given + i);
      text += i == 0 ? "[" : ",[";
      for (const size_t digit : kOutputOrder) {
        if (digit != kOutputOrder[0]) text += ',';
        append_json(std::exp(logs[digit]), text);
      }
      text += ']';
    }
    text += ']';
  }

  GenerateRequest asked_;
  std::shared_ptr<const Prompt> prompt_;
  std::vector<Sample> samples_;
};

}  // namespace

WorkPtr make_dna_generate(const ServedModel& served, HttpExchangePtr exchange) {
  return std::make_shared<DnaGenerate>(served, std::move(exchange));
}

}  // namespace carbon
