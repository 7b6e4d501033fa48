#include "src/verbs/variants.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "src/base/json.hpp"
#include "src/base/letters.hpp"
#include "src/vep/recipe.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

// Positions beyond any contig.
constexpr int64_t kMostPosition = int64_t{1} << 40;
// Variants are planned in steps. Only those of one step share windows.
constexpr size_t kStep = 16, kSharingStep = 512;

std::string read_allele(const Fields& variant, const std::string& name,
                        const std::function<void(const std::string&)>& note) {
  const std::string allele = variant.required_text(name);
  if (allele.empty()) variant.fail(name, "is empty; an allele has at least one letter");
  if (allele.find(',') != std::string::npos)
    variant.fail(name, "has a comma; send a variant for each allele");
  // What has other characters, such as <DUP>, is no sequence.
  if (std::all_of(allele.begin(), allele.end(), is_ascii_letter))
    return checked_bases(variant.full_name(name), allele, note);
  return allele;
}

// What the settings say besides the recipe.
struct Reference {
  std::string fasta;                    // a file; "": none
  std::optional<std::string> sequence;  // or the bases themselves
};

class PlannedVariants final : public VariantsVerb {
 public:
  PlannedVariants(const VerbContext& context, const RecipeSettings& settings, const Reference& reference)
      : context_(context),
        planner_(make_recipes(settings, context.served.model().checkpoint(), context.log),
                 context.served.config().layout, nullptr),
        step_(planner_.shares_windows() ? kSharingStep : kStep) {
    if (settings.use() == ModelUse::labels)
      labels_ = LabelValues(context.served.model().checkpoint(), settings.labels, silent_log()).names();
    if (!reference.fasta.empty()) {
      fasta_.emplace(open_fasta(reference.fasta, context.log));
      reader_.emplace(*fasta_);
    } else if (reference.sequence) {
      reader_.emplace(kVariantSequence,
                      to_upper(checked_bases("sequence", *reference.sequence, context.note)));
    }
  }

  bool has_sequence() const override { return reader_ && !fasta_; }
  std::vector<std::string> labels() const override { return labels_; }

  void add(size_t /*index*/, const std::string& name, std::string_view text, const Emit& emit) override {
    add(read_variant(Fields(parse_json(text, name), name), has_sequence(), context_.note), emit);
  }

  void add(PlacedVariant variant, const Emit& emit) override {
    kept_.push_back(std::move(variant));
    if (kept_.size() >= step_) flush(emit);
  }

  void flush(const Emit& emit) override {
    if (reader_) return plan(*reader_, emit);
    context_.reference->read([&](const IndexedFasta& fasta) {
      ReferenceReader reader(fasta);
      plan(reader, emit);
    });
  }

 private:
  void plan(ReferenceReader& reader, const Emit& emit) {
    bool first = true;
    plan_variants(planner_, std::exchange(kept_, {}), reader, [&](VariantItem item) {
      const auto kept = std::make_shared<VariantItem>(std::move(item));
      emit({kept->requests,
            [this, kept](Findings& findings) {
              findings.results.push_back(result_of(variant_scores(planner_, *kept)));
            },
            !std::exchange(first, false)});
    });
  }

  static Result result_of(const VariantScores& scores) {
    std::vector<double> values;
    for (const std::vector<double>& tag : scores.values) values.push_back(tag[0]);
    const size_t n = values.size();
    Result result;
    result.emplace_back("values", std::move(values), std::initializer_list<size_t>{n});
    result.emplace_back("flag", std::string(flag_name(scores.flags[0])));
    return result;
  }

  const VerbContext context_;
  SitePlanner planner_;
  const size_t step_;
  std::vector<std::string> labels_;
  std::optional<IndexedFasta> fasta_;      // of the settings
  std::optional<ReferenceReader> reader_;  // of that, or of the sequence; none: that of the door
  std::vector<PlacedVariant> kept_;
};

}  // namespace

PlacedVariant read_variant(const Fields& variant, bool placed,
                           const std::function<void(const std::string&)>& note) {
  if (placed && variant.has("chrom"))
    variant.fail("chrom", "cannot be used with the field sequence, on which all variants are then");
  PlacedVariant out;
  out.contig = placed ? kVariantSequence : variant.required_text("chrom");
  variant.required("pos");
  out.variant.pos = variant.whole("pos", 0, 0, kMostPosition) - 1;
  out.variant.ref = read_allele(variant, "ref", note);
  out.variant.alts = {read_allele(variant, "alt", note)};
  variant.refuse_others();
  return out;
}

SettingList variants_verb_settings(RecipeSettings& settings, std::string& fasta, std::string& sequence) {
  SettingList list = recipe_settings(settings);
  for (Setting& setting : head_settings(settings)) list.push_back(std::move(setting));
  list.push_back(Setting("fasta-ref", "FILE", "reference FASTA of the variants", &fasta)
                     .not_at(Door::http, "a server reads no files that clients name; it has its own (-f)")
                     .not_at(Door::plugin, "an argument of the function"));
  list.push_back(Setting("sequence", "BASES", "the bases that the variants lie on", &sequence)
                     .not_at(Door::command, "a reference is a FASTA")
                     .not_at(Door::plugin, "an argument of the function"));
  return list;
}

void describe_variants(const std::function<void(const SettingList&)>& see) {
  RecipeSettings settings;
  std::string fasta, sequence;
  see(variants_verb_settings(settings, fasta, sequence));
}

std::unique_ptr<Verb> make_variants_verb(const VerbContext& context, const ReadSettings& read) {
  RecipeSettings settings;
  Reference reference;
  std::string sequence;
  const std::vector<std::string> given = read(variants_verb_settings(settings, reference.fasta, sequence));
  const auto is_given = [&](const char* name) {
    return std::find(given.begin(), given.end(), name) != given.end();
  };
  const bool has_fasta = is_given("fasta-ref") || (context.reference && !is_given("sequence"));
  if (has_fasta == is_given("sequence"))
    throw SettingError("vep", "fasta-ref",
                       "fasta-ref or sequence is needed, and not both: the reference of the variants");
  if (is_given("sequence")) reference.sequence = std::move(sequence);
  check_head_settings(settings, given);
  check_combination(settings);
  if (const std::string idle = idle_setting(settings); !idle.empty()) context.advise(idle);
  return std::make_unique<PlannedVariants>(context, settings, reference);
}

}  // namespace carbon
