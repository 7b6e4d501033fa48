// variants: log-likelihood ratios of variants, as `carbon vep` computes them. An input is one ALT, as the
// endpoint /v1/dna/variants of `carbon serve` takes it.
#include <optional>
#include <utility>

#include "src/api/problem.hpp"
#include "src/api/verb.hpp"
#include "src/base/json.hpp"
#include "src/serve/dna_request.hpp"
#include "src/serve/dna_variants.hpp"
#include "src/serve/prompts.hpp"
#include "src/vep/recipe.hpp"
#include "src/vep/variant_scores.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon::api {
namespace {

class VariantsVerb final : public Verb {
 public:
  VariantsVerb(const ServedModel& served, RecipeList recipes, std::optional<IndexedFasta> fasta,
               std::optional<ReferenceReader> sequence)
      : planner_(std::move(recipes), served.config().layout, nullptr),
        fasta_(std::move(fasta)),
        sequence_(std::move(sequence)) {
    if (!sequence_) sequence_.emplace(*fasta_);
  }

  void add(size_t index, std::string_view text, const Emit& emit) override {
    const std::string name = input_name("rows", index);
    const Fields fields(parse_json(text, name), name);
    kept_.push_back(read_variant(fields, !fasta_));
    if (kept_.size() >= variants_per_step(planner_)) flush(emit);
  }

  // Those that are planned together share windows.
  void flush(const Emit& emit) override {
    bool first = true;
    plan_variants(planner_, std::exchange(kept_, {}), *sequence_, [&](VariantItem item) {
      const auto kept = std::make_shared<VariantItem>(std::move(item));
      emit({kept->requests,
            [this, kept](Findings& findings) {
              findings.results.push_back(result_of(variant_scores(planner_, *kept)));
            },
            !std::exchange(first, false)});
    });
  }

 private:
  static Result result_of(const VariantScores& scores) {
    std::vector<double> values;
    for (const std::vector<double>& tag : scores.values) values.push_back(tag[0]);
    const size_t n = values.size();
    Result result;
    result.emplace_back("values", std::move(values), std::initializer_list<size_t>{n});
    result.emplace_back("flag", std::string(flag_name(scores.flags[0])));
    return result;
  }

  SitePlanner planner_;
  std::optional<IndexedFasta> fasta_;  // none: the variants are on a sequence
  std::optional<ReferenceReader> sequence_;
  std::vector<PlacedVariant> kept_;
};

}  // namespace

std::unique_ptr<Verb> make_variants_verb(const ServedModel& served, const Fields& fields, Log& log) {
  if (fields.has("fasta_ref") == fields.has("sequence"))
    fields.fail("fasta_ref", "or sequence is needed, and not both: the reference of the variants");
  const RecipeSettings settings = read_recipe_settings(fields);
  check_combination(settings);
  RecipeList recipes = make_recipes(settings, served.model().checkpoint(), log);
  std::optional<IndexedFasta> fasta;
  std::optional<ReferenceReader> sequence;
  if (fields.has("sequence")) {
    sequence.emplace(kVariantSequence,
                     to_upper(checked_bases(fields, fields.required_text("sequence"), "sequence")));
  } else {
    or_code(CARBON_E_INPUT, [&] { fasta.emplace(fields.required_text("fasta_ref"), log); });
  }
  return std::make_unique<VariantsVerb>(served, std::move(recipes), std::move(fasta), std::move(sequence));
}

}  // namespace carbon::api
