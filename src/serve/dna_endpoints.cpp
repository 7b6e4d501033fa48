// POST /v1/dna/VERB: the verbs that verb_work.hpp answers as they are, and those that have a form of their
// own.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "src/serve/api_error.hpp"
#include "src/serve/endpoints.hpp"
#include "src/serve/metrics.hpp"
#include "src/serve/service.hpp"
#include "src/serve/verb_work.hpp"
#include "src/verbs/fields.hpp"
#include "src/verbs/generate.hpp"
#include "src/verbs/variants.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

using nlohmann::ordered_json;

WorkPtr make_verb_work(const char* verb, const ServedModel& served, HttpExchangePtr exchange) {
  return std::make_shared<VerbWork>(verb, served, nullptr, std::move(exchange));
}

// The answer is about the one sequence that is sent, or a region of the server's FASTA.
class DnaScan final : public VerbWork {
 public:
  using VerbWork::VerbWork;

 private:
  void read_inputs(const Fields& fields) override {
    if (fields.has("region") && !reference())
      fields.fail("region", "needs a reference, which the server does not have: start it with a FASTA (-f)");
    if (fields.has("region") && fields.has("sequence")) fields.fail("region", "cannot be used with sequence");
    of_region_ = fields.has("region");
    if (of_region_) return set_sequences("region", {fields.required_text("region")});
    drop_reference();
    std::string sequence = sent_bases("sequence", fields.required_text("sequence"));
    check_bases(sequence.size(), "sequence", service().limits());
    set_sequences("sequence", {std::move(sequence)});
  }
  void begin_answer() override {}
  void add_result(size_t /*index*/, const Result& result) override {
    const auto& bases = std::get<std::string>(result[3].data());
    answer_ = "{";
    if (of_region_) {
      append_arrays({named_place(result[1]), named_place(result[2])});
      answer_ += ",\"sequence\":";
      append_json(result[3], answer_);
      answer_ += ',';
    }
    answer_ += "\"sequence_length\":" + std::to_string(bases.size()) + ",\"letters\":\"ACGT\",\"logp\":";
    append_json(result[0], answer_);
  }
  void complete() override { answer_read(tokens_, std::move(answer_) + "}"); }

  bool of_region_ = false;
};

std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Results name their variants, which come as objects.
class DnaVariants final : public VerbWork {
 public:
  DnaVariants(const ServedModel& served, SharedReference* reference, HttpExchangePtr exchange)
      : VerbWork("variants", served, reference, std::move(exchange)) {}

 private:
  void read_inputs(const Fields& fields) override {
    const RequestLimits& limits = service().limits();
    placed_ = fields.has("sequence");
    if (placed_) {
      check_bases(sent_bases("sequence", fields.required_text("sequence")).size(), "sequence", limits);
    } else if (!reference()) {
      fields.fail("sequence",
                  "is missing, and the server has no reference: send the bases around the variants, or start "
                  "the server with a FASTA (-f)");
    }
    const nlohmann::json& list = fields.required("variants");
    if (!list.is_array())
      fields.fail("variants", "must be a list of objects, or of texts such as chr1:2 A>G");
    check_items(list.size(), fields, "variants", limits);
    size_t letters = 0;
    for (const nlohmann::json& one : list) {
      const std::string name = "variants[" + std::to_string(variants_.size()) + "]";
      const auto noting = [this](const std::string& what) { note(what); };
      variants_.push_back(one.is_string()
                              ? read_variant(name, one.get_ref<const std::string&>(), placed_, noting)
                              : read_variant(Fields(one, name), placed_, noting));
      letters += variants_.back().variant.ref.size() + variants_.back().variant.alts[0].size();
    }
    if (letters > limits.bases)
      fields.fail("variants", "have alleles of " + std::to_string(letters) +
                                  " letters in all; the server's limit for one request is " +
                                  std::to_string(limits.bases));
  }

  size_t inputs() const override { return variants_.size(); }

  void add_input(size_t index, const Emit& emit) override {
    static_cast<VariantsVerb&>(verb()).add(variants_[index], emit);
  }

  void add_result(size_t index, const Result& result) override {
    const auto& [contig, variant] = variants_[index];
    begin_object();
    if (!placed_) answer_ += "\"chrom\":" + json_text(contig) + ",";
    answer_ += "\"pos\":" + std::to_string(variant.pos + 1) + ",\"ref\":" + json_text(variant.ref) +
               ",\"alt\":" + json_text(variant.alts[0]);
    const Array& values = result[0];
    if (!verb().labels().empty()) {
      answer_ += ",\"values\":";
      append_json(values, answer_);
    } else if (const auto& scores = std::get<std::vector<double>>(values.data()); !scores.empty()) {
      answer_ += ",\"score\":";
      append_json(scores.front(), answer_);
    }
    for (size_t i = 2; i < result.size(); ++i) {
      answer_ += ",\"" + std::string(result[i].name()) + "\":";
      append_json(result[i], answer_);
    }
    const auto& flag = std::get<std::string>(result[1].data());
    answer_ += ",\"flag\":" + (flag.empty() ? "null" : json_text(flag)) + "}";
  }

  bool placed_ = false;  // on the sequence that is sent with them
  std::vector<PlacedVariant> variants_;
};

struct Sample {
  RequestPtr request;
  std::shared_ptr<SampleFeed> feed;
  size_t sent_kmers = 0;  // of a stream
};

// Samples after one prompt, which may be sent while they are drawn.
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

WorkPtr make_dna_score(const ServedModel& served, HttpExchangePtr exchange) {
  return make_verb_work("score", served, std::move(exchange));
}
WorkPtr make_dna_embed(const ServedModel& served, HttpExchangePtr exchange) {
  return make_verb_work("embed", served, std::move(exchange));
}
WorkPtr make_dna_predict(const ServedModel& served, HttpExchangePtr exchange) {
  return make_verb_work("predict", served, std::move(exchange));
}
WorkPtr make_dna_annotate(const ServedModel& served, HttpExchangePtr exchange) {
  return make_verb_work("annotate", served, std::move(exchange));
}
WorkPtr make_dna_scan(const ServedModel& served, SharedReference* reference, HttpExchangePtr exchange) {
  return std::make_shared<DnaScan>("scan", served, reference, std::move(exchange));
}
WorkPtr make_dna_variants(const ServedModel& served, SharedReference* reference, HttpExchangePtr exchange) {
  return std::make_shared<DnaVariants>(served, reference, std::move(exchange));
}
WorkPtr make_dna_generate(const ServedModel& served, HttpExchangePtr exchange) {
  return std::make_shared<DnaGenerate>(served, std::move(exchange));
}

}  // namespace carbon
