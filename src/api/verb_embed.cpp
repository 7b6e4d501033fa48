// embed: hidden states of sequences, as `carbon embed` writes them.
#include <limits>
#include <utility>

#include "src/api/verb.hpp"
#include "src/embed/planner.hpp"
#include "src/serve/dna_request.hpp"

namespace carbon::api {
namespace {

class EmbedVerb final : public Verb {
 public:
  EmbedVerb(const ServedModel& served, const EmbedOptions& options, Log& log)
      : log_(log), hidden_(served.config().hidden), planner_(served.config(), options) {}

  void add(size_t index, std::string_view text, const Emit& emit) override {
    const std::string name = input_name("sequences", index);
    const auto item = std::make_shared<EmbedItem>(planner_.plan(name, input_bases(name, text, log_)));
    emit({item->requests, [this, item](Findings& findings) {
            std::vector<float> rows = take_rows(*item, DType::f32);
            const size_t n = rows.size() / hidden_;
            Result& result = findings.results.emplace_back();
            result.emplace_back("embedding", std::move(rows), std::initializer_list<size_t>{n, hidden_});
          }});
  }

 private:
  Log& log_;
  const size_t hidden_;
  EmbedPlanner planner_;
};

}  // namespace

std::unique_ptr<Verb> make_embed_verb(const ServedModel& served, const Fields& fields, Log& log) {
  EmbedOptions options;
  options.pooling.pool = fields.choice("pool", options.pooling.pool, kPoolWords);
  options.pooling.pad_tail = fields.flag("pad_tail", false);
  options.layer =
      static_cast<int>(fields.whole("layer", kFinalNorm, kFinalNorm, std::numeric_limits<int>::max()));
  options.strand = read_strand(fields, options.strand);
  check_embed_options(options);
  return std::make_unique<EmbedVerb>(served, options, log);
}

}  // namespace carbon::api
