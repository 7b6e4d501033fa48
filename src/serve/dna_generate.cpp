// POST /v1/dna/generate: samples after one prompt, which may be sent while they are drawn.
#include <algorithm>
#include <memory>
#include <utility>

#include "src/serve/endpoints.hpp"
#include "src/serve/sample_feed.hpp"
#include "src/serve/verb_work.hpp"
#include "src/verbs/generate.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

using nlohmann::ordered_json;

struct Sample {
  RequestPtr request;
  std::shared_ptr<SampleFeed> feed;
  size_t sent_kmers = 0;  // of a stream
};

class DnaGenerate final : public VerbWork {
 public:
  DnaGenerate(const ServedModel& served, HttpExchangePtr exchange)
      : VerbWork("generate", served, nullptr, std::move(exchange)) {}

 private:
  void read_inputs(const Fields& fields) override {
    std::string prompt = sent_bases("prompt", fields.text("prompt", ""));
    prompt_bases_ = prompt.size();
    check_bases(prompt_bases_, "prompt", service().limits());
    set_sequences("prompt", {std::move(prompt)});
    stream_ = fields.flag("stream", false);
  }

  const GenerateVerb& verb() { return static_cast<const GenerateVerb&>(VerbWork::verb()); }

  void begin_answer() override {
    const RequestLimits& limits = service().limits();
    const GenerateOptions& options = verb().options();
    if (options.samples > limits.items)
      throw ApiError(400, "n must be a whole number from 1 to " + std::to_string(limits.items), "n");
    if (options.length > (limits.bases - prompt_bases_) / options.samples)
      throw ApiError(400,
                     "length for all samples and the prompt gives more than " + std::to_string(limits.bases) +
                         " bases, which is the server's limit for one request",
                     "length");
    answer_ = "{\"samples\":[";
  }

  void add_input(size_t index, const Emit& emit) override {
    try {
      VerbWork::add_input(index, emit);
    } catch (const WrongLength& error) {
      throw ApiError(400, error.what(), "length");
    }
    if (stream_) start_stream("text/event-stream; charset=utf-8");
  }

  void prepare(Piece& piece) override {
    for (const RequestPtr& request : piece.requests) {
      request->keep_prefix = !request->parent;
      context_ = samples_.empty() && !request->parent ? request->tokens.size() : context_;
    }
    const RequestPtr& last = piece.requests.back();
    if (!last->generation) return;
    Work* const woken = stream_ ? this : nullptr;
    samples_.push_back({last, SampleFeed::attach(*last, woken, service().metrics(), arrived())});
  }

  void look() override {
    for (size_t i = 0; i < samples_.size(); ++i) {
      Sample& sample = samples_[i];
      const SampleFeed::News news = sample.feed->take();
      for (const uint16_t kmer : news.kmers) send_kmer(i, kmer);
      const bool complete = !news.kmers.empty() && sample.sent_kmers == kmers();
      if (complete && !verb().gives_probabilities()) send_end(i, news.logp, nullptr);
    }
  }

  void finished() override {
    if (stream_) look();
    VerbWork::finished();
  }

  void add_result(size_t index, const Result& result) override {
    if (!stream_) return VerbWork::add_result(index, result);
    if (verb().gives_probabilities()) send_end(index, samples_[index].request->logp, &result.back());
  }

  void complete() override {
    service().metrics().tokens(context_, samples_.size() * kmers());
    service().metrics().ended(Metrics::End::length, seconds());
    if (!stream_)
      return answer_json(std::move(answer_) + "],\"seed\":" + std::to_string(verb().options().sampler.seed) +
                         "}");
    send("data: [DONE]\n\n");
    end_stream();
  }

  const NewBases& new_bases() const { return *samples_.front().request->generation->bases; }
  size_t kmers() const { return new_bases().kmers(); }

  // One event for each 6-mer, however many have come at once, so that a stream does not show its neighbours.
  void send_kmer(size_t index, uint16_t kmer) {
    const size_t number = samples_[index].sent_kmers++;
    const size_t first = new_bases().first(number), last = new_bases().last(number);
    const ordered_json event = {{"index", index},
                                {"bases", kmer_text(kmer, new_bases().k).substr(first, last - first)}};
    send("data: " + event.dump() + "\n\n");
  }

  void send_end(size_t index, double logp, const Array* probabilities) {
    std::string event = ordered_json{{"index", index}, {"logp", logp}, {"finish_reason", "length"}}.dump();
    event.pop_back();
    if (probabilities) {
      event += ",\"probabilities\":";
      append_json(*probabilities, event);
    }
    send("data: " + event + "}\n\n");
  }

  bool stream_ = false;
  size_t prompt_bases_ = 0, context_ = 0;  // the prompt's; its tokens
  std::vector<Sample> samples_;
};

}  // namespace

WorkPtr make_dna_generate(const ServedModel& served, HttpExchangePtr exchange) {
  return std::make_shared<DnaGenerate>(served, std::move(exchange));
}

}  // namespace carbon
