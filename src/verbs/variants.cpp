#include "src/verbs/variants.hpp"

#include <algorithm>
#include <cmath>
#include <map>
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

// Positions beyond any contig, and the longest of structural_alleles().
constexpr int64_t kMostPosition = 1'000'000'000'000'000;
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

// The values of an INFO tag that a request has as JSON.
InfoValues info_values(const nlohmann::json& value) {
  InfoValues values;
  if (value.is_boolean()) {
    values.type = value.get<bool>() ? InfoType::flag : InfoType::none;
  } else if (value.is_string()) {
    values.type = InfoType::text;
    for (const std::string_view part : split(value.get_ref<const std::string&>(), ','))
      values.texts.emplace_back(part);
  } else {
    const nlohmann::json list = value.is_array() ? value : nlohmann::json::array({value});
    // Doubles of this size hold whole numbers exactly, unlike the Float tags of a VCF.
    const auto exact = [](const nlohmann::json& one) {
      const double real = one.is_number_float() ? one.get<double>() : 0;
      return std::fabs(real) < 0x1p53 && real == std::floor(real);
    };
    values.type = std::all_of(list.begin(), list.end(), exact) ? InfoType::integer : InfoType::real;
    for (const nlohmann::json& one : list)
      values.numbers.push_back(one.is_number() ? one.get<double>() : NAN);
  }
  return values;
}

// What the record says of <DEL>, <DUP> and <INV>: its INFO, or END and SVLEN alone.
std::vector<std::optional<StructuralAllele>> read_structural(const Fields& variant, const Variant& read) {
  std::map<std::string, InfoValues> info;
  if (const nlohmann::json* const all = variant.find("info")) {
    if (!all->is_object()) variant.fail("info", "must be an object, such as {\"END\": 2000}");
    for (const auto& [tag, value] : all->items()) info[tag] = info_values(value);
  }
  if (variant.has("end")) info["END"] = info_values(variant.whole("end", 0, 0, kMostPosition));
  if (variant.has("svlen"))
    info["SVLEN"] = info_values(variant.whole("svlen", 0, -kMostPosition, kMostPosition));
  return structural_alleles(read.pos, {to_upper(read.alts[0])}, [&](const std::string& tag) {
    const auto found = info.find(tag);
    return found == info.end() ? InfoValues() : found->second;
  });
}

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

PlacedVariant read_variant(const Fields& variant, bool placed,
                           const std::function<void(const std::string&)>& note) {
  if (placed && variant.has("chrom"))
    variant.fail("chrom", "cannot be used with the field sequence, on which all variants are then");
  PlacedVariant out;
  out.contig = placed ? kVariantSequence : variant.required_text("chrom");
  if (out.contig.empty()) variant.fail("chrom", "is empty; give the name of the contig");
  variant.required("pos");
  out.variant.pos = variant.whole("pos", 0, 0, kMostPosition) - 1;
  out.variant.ref = read_allele(variant, "ref", note);
  out.variant.alts = {read_allele(variant, "alt", note)};
  out.variant.structural = read_structural(variant, out.variant);
  variant.refuse_others();
  return out;
}

namespace {

Fields object_of(const std::string& name, std::string_view text) {
  try {
    return {parse_json(text, name), name};
  } catch (const FieldError&) {
    throw;
  } catch (const Error& error) {
    throw FieldError(name, error.what());
  }
}

}  // namespace

PlacedVariant read_variant(const std::string& name, std::string_view text, bool placed,
                           const std::function<void(const std::string&)>& note) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{')
    return read_variant(object_of(name, text), placed, note);
  const std::vector<std::string_view> words = words_of(text);
  const size_t arrow = words.size() == 2 ? words[1].find('>') : std::string_view::npos;
  const size_t colon = words.empty() ? 0 : words[0].rfind(':');
  std::string digits(words.empty() || placed ? words.empty() ? "" : words[0] : words[0].substr(colon + 1));
  std::erase(digits, ',');
  int64_t pos = 0;
  if (arrow == std::string_view::npos || (colon == std::string_view::npos) != placed ||
      !parse_number(digits, pos))
    throw FieldError(
        name, name + (first == std::string_view::npos ? " is empty" : " is '" + printable(text) + "'") +
                  "; expected a place and its alleles, such as " +
                  (placed ? "120 G>T" : "chr17:43094692 G>T"));
  nlohmann::json row = {
      {"pos", pos}, {"ref", words[1].substr(0, arrow)}, {"alt", words[1].substr(arrow + 1)}};
  if (!placed) row["chrom"] = words[0].substr(0, colon);
  return read_variant(Fields(std::move(row), name), placed, note);
}

std::string variant_text(const VcfReader& vcf, const VcfRecord& record, size_t alt) {
  nlohmann::json row = {{"chrom", record.contig()},
                        {"pos", record.pos() + 1},
                        {"ref", record.ref()},
                        {"alt", record.alts()[alt]}};
  if (record.alts()[alt].starts_with('<')) {
    std::vector<std::string> alts;
    for (const std::string& one : record.alts()) alts.push_back(to_upper(one));
    const auto info = [&](const std::string& tag) { return vcf.info(record, tag); };
    if (const auto allele = structural_alleles(record.pos(), alts, info)[alt]) {
      row["svlen"] = allele->length;
      if (!allele->inserted.empty()) row["info"]["SVINSSEQ"] = allele->inserted;
    }
  }
  return row.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

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
