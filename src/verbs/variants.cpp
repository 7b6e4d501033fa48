#include "src/verbs/variants.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "src/base/json.hpp"
#include "src/base/letters.hpp"
#include "src/base/numbers.hpp"
#include "src/base/words.hpp"
#include "src/formats/contig_names.hpp"
#include "src/formats/contig_spelling.hpp"
#include "src/vep/assembly_check.hpp"
#include "src/vep/recipe.hpp"
#include "src/vep/structural.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

// Variants are planned in steps. Only those of one step share windows.
constexpr size_t kStep = 16, kSharingStep = 512;

// What the settings say besides the recipe.
struct Reference {
  std::string unify_chr_names;
  double max_ref_mismatch = kMaxRefMismatch;
  std::string fasta;                    // a file; "": none
  std::optional<std::string> sequence;  // or the bases themselves
};

class PlannedVariants final : public VariantsVerb {
 public:
  PlannedVariants(const VerbContext& context, const RecipeSettings& settings, const Reference& reference)
      : context_(context),
        planner_(make_recipes(settings, context.served.model().checkpoint(), context.log),
                 context.served.config().layout, nullptr),
        names_(reference.unify_chr_names),
        assembly_(reference.max_ref_mismatch, "variant",
                  reference.fasta.empty() ? "send variants of its assembly"
                                          : "give the FASTA that they were made with"),
        step_(planner_.shares_windows() ? kSharingStep : kStep) {
    if (settings.use() == ModelUse::labels)
      labels_ = LabelValues(context.served.model().checkpoint(), settings.labels, silent_log()).names();
    for (const Measure measure : settings.measures)
      if (measure != Measure::llr) measures_.push_back(measure);
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
    add(read_variant(name, text, has_sequence(), context_.note), emit);
  }

  void add(PlacedVariant variant, const Emit& emit) override {
    kept_.push_back(std::move(variant));
    if (kept_.size() >= step_) flush(emit);
  }

  // A sequence that is sent with its variants is of no assembly.
  void end() override {
    if (has_sequence()) return;
    assembly_.check(reference_name(), true);
    if (lacking_.empty()) return;
    const auto fail = [&](const IndexedFasta& fasta) {
      const std::vector<std::string> ours(lacking_.begin(), lacking_.end());
      throw names_.none_matches("vep", "the variants", ours, reference_name(), fasta.names());
    };
    if (fasta_) fail(*fasta_);
    context_.reference->read(fail);
  }

  void flush(const Emit& emit) override {
    if (fasta_) name_contigs(*fasta_);
    if (reader_) return plan(*reader_, emit);
    context_.reference->read([&](const IndexedFasta& fasta) {
      name_contigs(fasta);
      ReferenceReader reader(fasta);
      // Variants and settings are checked.
      or_input_error([&] { plan(reader, emit); });
    });
  }

 private:
  // Clients do not know the name of the FASTA of a door.
  std::string reference_name() const { return fasta_ ? fasta_->path() : "the reference"; }

  // Takes the names that the FASTA has, or none. Another spelling is offered once, never taken.
  void name_contigs(const IndexedFasta& fasta) {
    for (PlacedVariant& variant : kept_) {
      const std::string known = names_.to_fasta(variant.contig, fasta);
      if (!known.empty()) {
        any_found_ = true;
        lacking_.clear();
      } else {
        if (!any_found_) lacking_.insert(variant.contig);
        const std::string words =
            std::exchange(offered_, true) ? "" : called_otherwise(variant.contig, fasta.names());
        if (!words.empty()) context_.note("the reference has no contig " + printable(variant.contig) + words);
      }
      variant.contig = known;
    }
  }

  void plan(ReferenceReader& reader, const Emit& emit) {
    bool first = true;
    const std::vector<PlacedVariant> variants = std::exchange(kept_, {});
    plan_variants(planner_, variants, reader, [&](VariantItem item) {
      const bool sample_complete = !has_sequence() && count(variants[item.index], item.check);
      const auto kept = std::make_shared<VariantItem>(std::move(item));
      emit({kept->requests,
            [this, kept](Findings& findings) {
              findings.results.push_back(result_of(variant_scores(planner_, *kept), measures_));
            },
            !std::exchange(first, false)});
      if (sample_complete) end_early(emit);
    });
  }

  // The alleles of a record come one after the other, and have one REF.
  bool count(const PlacedVariant& placed, RecordCheck check) {
    std::tuple record(placed.contig, placed.variant.pos, placed.variant.ref);
    if (record == last_record_) return false;
    last_record_ = std::move(record);
    return assembly_.add(check);
  }

  // What is of another assembly ends a call when the results so far are taken.
  void end_early(const Emit& emit) const {
    try {
      assembly_.check(reference_name(), false);
    } catch (const Error& error) {
      emit({{}, [error](Findings& /*findings*/) { throw error; }, true});
    }
  }

  // The values of the measures are the last ones.
  static Result result_of(const VariantScores& scores, const std::vector<Measure>& measures) {
    std::vector<double> values;
    for (const std::vector<double>& tag : scores.values) values.push_back(tag[0]);
    const size_t n = values.size() - measures.size();
    const std::vector<double> distances(values.begin() + static_cast<ptrdiff_t>(n), values.end());
    values.resize(n);
    Result result;
    result.emplace_back("values", std::move(values), std::initializer_list<size_t>{n});
    result.emplace_back("flag", std::string(flag_name(scores.flags[0])));
    for (size_t i = 0; i < measures.size(); ++i)
      result.emplace_back(word_of(kMeasureWords, measures[i]), distances[i]);
    return result;
  }

  const VerbContext context_;
  SitePlanner planner_;
  const ContigNames names_;
  AssemblyCheck assembly_;
  std::tuple<std::string, int64_t, std::string> last_record_;  // contig, pos and REF
  const size_t step_;
  bool offered_ = false, any_found_ = false;
  std::set<std::string> lacking_;  // contigs that the FASTA lacks, as long as it has none of the variants'
  std::vector<std::string> labels_;
  std::vector<Measure> measures_;          // those besides llr
  std::optional<IndexedFasta> fasta_;      // of the settings
  std::optional<ReferenceReader> reader_;  // of that, or of the sequence; none: that of the door
  std::vector<PlacedVariant> kept_;
};

}  // namespace

SettingList variants_verb_settings(RecipeSettings& settings, Reference& reference, std::string& sequence) {
  SettingList list = recipe_settings(settings);
  for (Setting& setting : head_settings(settings)) list.push_back(std::move(setting));
  list.push_back(Setting("fasta-ref", "FILE", "reference FASTA of the variants", &reference.fasta)
                     .not_at(Door::http, "a server reads no files that clients name; it has its own (-f)")
                     .not_at(Door::plugin, "an argument of the function")
                     .not_at(Door::mcp, "that of the program (-f)"));
  list.push_back(Setting("unify-chr-names", "VCF,FASTA",
                         "prefixes to ignore in the contig names of variants and FASTA, e.g. chr,-",
                         &reference.unify_chr_names)
                     .not_at(Door::plugin, "contigs are those of the FASTA"));
  list.push_back(Setting("max-ref-mismatch", "FRACTION",
                         "refuse variants of which a larger share differs from the FASTA in REF",
                         &reference.max_ref_mismatch)
                     .shows_default()
                     .not_at(Door::plugin, "a plugin is told of each variant"));
  list.push_back(Setting("sequence", "BASES", "the bases that the variants lie on", &sequence)
                     .not_at(Door::command, "a reference is a FASTA")
                     .not_at(Door::plugin, "an argument of the function"));
  return list;
}

void describe_variants(const std::function<void(const SettingList&)>& see) {
  RecipeSettings settings;
  Reference reference;
  std::string sequence;
  see(variants_verb_settings(settings, reference, sequence));
}

std::unique_ptr<Verb> make_variants_verb(const VerbContext& context, const ReadSettings& read) {
  RecipeSettings settings;
  Reference reference;
  std::string sequence;
  const std::vector<std::string> given = read(variants_verb_settings(settings, reference, sequence));
  const auto is_given = [&](const char* name) {
    return std::find(given.begin(), given.end(), name) != given.end();
  };
  const bool has_fasta = is_given("fasta-ref") || (context.reference && !is_given("sequence"));
  if (has_fasta == is_given("sequence"))
    throw SettingError("vep", "fasta-ref",
                       "fasta-ref or sequence is needed, and not both: the reference of the variants");
  check_fasta("vep", given, reference.fasta);
  if (!(reference.max_ref_mismatch >= 0 && reference.max_ref_mismatch <= 1))
    throw SettingError("vep", "max-ref-mismatch", "max-ref-mismatch must be a number from 0 to 1");
  if (is_given("sequence")) {
    reference.sequence = std::move(sequence);
    for (const char* idle : {"unify-chr-names", "max-ref-mismatch"})
      if (is_given(idle))
        context.advise(field_name(idle) +
                       " has no effect: the variants lie on a sequence, and not on a FASTA");
  }
  check_given(settings, given);
  if (const std::string idle = idle_setting(settings, given); !idle.empty()) context.advise(idle);
  return std::make_unique<PlannedVariants>(context, settings, reference);
}

}  // namespace carbon
