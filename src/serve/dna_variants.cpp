#include "src/serve/dna_variants.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/letters.hpp"
#include "src/serve/dna_request.hpp"
#include "src/serve/model_work.hpp"
#include "src/serve/prompts.hpp"
#include "src/vep/variant_scores.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

// Positions beyond any contig.
constexpr int64_t kMostPosition = int64_t{1} << 40;
// Variants are planned in steps. Only those of one step share windows.
constexpr size_t kStep = 16, kSharingStep = 512;
// A batch ends with the step that takes its results beyond this.
constexpr size_t kBatchBytes = size_t{64} << 20;

std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// A text, as on the command line, or a number.
PhaseChoice read_phases(const Fields& fields) {
  const nlohmann::json* const value = fields.find("phases");
  if (value && *value == 1) return PhaseChoice::one;
  if (value && *value == 6) return PhaseChoice::all;
  return fields.choice("phases", PhaseChoice::automatic, kPhaseWords);
}

std::string read_allele(const Fields& variant, const std::string& name) {
  const std::string allele = variant.required_text(name);
  if (allele.empty()) variant.fail(name, "is empty; an allele has at least one letter");
  if (allele.find(',') != std::string::npos)
    variant.fail(name, "has a comma; send a variant for each allele");
  // What has other characters, such as <DUP>, is no sequence.
  if (std::all_of(allele.begin(), allele.end(), is_ascii_letter))
    return checked_bases(variant, allele, variant.full_name(name));
  return allele;
}

}  // namespace

RecipeSettings read_recipe_settings(const Fields& fields) {
  RecipeSettings settings;
  const std::vector<std::string> names = recipe_names();
  const std::string recipe = fields.text("recipe", settings.recipes.front());
  if (std::find(names.begin(), names.end(), recipe) == names.end())
    fields.fail_choice("recipe", recipe, names);
  settings.recipes = {recipe};
  settings.levels = {fields.choice("level", ScoreLevel::base, kScoreLevelWords)};
  if (fields.has("strand")) settings.strand = read_strand(fields, StrandChoice::both);
  settings.phases = read_phases(fields);
  const auto bases = [&](const std::string& name) -> std::optional<int64_t> {
    if (!fields.has(name)) return std::nullopt;
    return fields.whole(name, 0, 0, kMostPosition);
  };
  settings.window = bases("window");
  settings.context = bases("context");
  if (const auto horizon = bases("horizon")) settings.horizons = {*horizon};
  if (settings.use() == ModelUse::labels) {
    settings.pooling = read_pooling(fields);
    settings.labels = read_label_settings(fields);
  }
  if (const std::string idle = idle_setting(settings); !idle.empty()) fields.note(idle);
  return settings;
}

PlacedVariant read_variant(const Fields& variant, bool placed) {
  if (placed && variant.has("chrom"))
    variant.fail("chrom", "cannot be used with the field sequence, on which all variants are then");
  PlacedVariant out;
  out.contig = placed ? kVariantSequence : variant.required_text("chrom");
  variant.required("pos");
  out.variant.pos = variant.whole("pos", 0, 0, kMostPosition) - 1;
  out.variant.ref = read_allele(variant, "ref");
  out.variant.alts = {read_allele(variant, "alt")};
  variant.refuse_others();
  return out;
}

size_t variants_per_step(const SitePlanner& planner) {
  return planner.shares_windows() ? kSharingStep : kStep;
}

namespace {

class DnaVariants final : public ModelWork {
 public:
  DnaVariants(const ServedModel& served, SharedReference* reference, HttpExchangePtr exchange)
      : ModelWork(served, std::move(exchange)), reference_(reference) {}

 private:
  void begin(const Fields& fields) override {
    if (fields.has("sequence")) {
      own_.emplace(kVariantSequence, to_upper(sent_sequence(fields, service().limits())));
    } else if (!reference_) {
      fields.fail("sequence",
                  "is missing, and the server has no reference: send the bases around the variants, or start "
                  "the server with a FASTA (-f)");
    }
    read_variants(fields);
    const RecipeSettings settings = read_recipe_settings(fields);
    fields.refuse_others();
    tell(fields);
    check_combination(settings);
    const Checkpoint& checkpoint = served().model().checkpoint();
    planner_.emplace(make_recipes(settings, checkpoint, silent_log()), served().config().layout, nullptr);
    gives_labels_ = settings.use() == ModelUse::labels;
    if (gives_labels_) {
      const LabelValues labels(checkpoint, settings.labels, silent_log());
      answer_ = "{\"labels\":" + nlohmann::json(labels.names()).dump() + ",\"results\":[";
    }
    step_ = variants_per_step(*planner_);
    run(next_batch());
  }

  void read_variants(const Fields& fields) {
    const RequestLimits& limits = service().limits();
    const nlohmann::json& list = fields.required("variants");
    if (list.size() > limits.items)
      fields.fail("variants", "has " + std::to_string(list.size()) + " entries; the server's limit is " +
                                  std::to_string(limits.items));
    size_t letters = 0;
    for (const Fields& variant : fields.objects("variants")) {
      variants_.push_back(read_variant(variant, own_.has_value()));
      letters += variants_.back().variant.ref.size() + variants_.back().variant.alts[0].size();
    }
    if (letters > limits.bases)
      fields.fail("variants", "have alleles of " + std::to_string(letters) +
                                  " letters in all; the server's limit for one request is " +
                                  std::to_string(limits.bases));
  }

  // Plans the next variants.
  std::vector<RequestPtr> next_batch() {
    if (own_) return plan(*own_);
    try {
      std::vector<RequestPtr> requests;
      reference_->read([&](const IndexedFasta& fasta) {
        ReferenceReader reader(fasta);
        requests = plan(reader);
      });
      return requests;
    } catch (const OutOfMemory&) {
      throw;
    } catch (const Error& error) {
      // The variants and options are checked, so that the FASTA itself cannot be read.
      throw ApiError(500, error.what());
    }
  }

  std::vector<RequestPtr> plan(ReferenceReader& reader) {
    std::vector<RequestPtr> requests;
    for (size_t bytes = 0; planned_ < variants_.size() && bytes < kBatchBytes;) {
      const size_t n = std::min(step_, variants_.size() - planned_);
      plan_variants(*planner_, std::span(variants_).subspan(planned_, n), reader, [&](VariantItem item) {
        for (const RequestPtr& request : item.requests) {
          bytes += request->bytes(result_sizes(served().config()));
          tokens_ += request->tokens.size();
          requests.push_back(request);
        }
        running_.push_back(std::move(item));
      });
      planned_ += n;
    }
    return requests;
  }

  void finished() override {
    for (const VariantItem& item : std::exchange(running_, {})) add_result(variant_scores(*planner_, item));
    if (planned_ < variants_.size()) return run(next_batch());
    answer_read(tokens_, std::move(answer_) + "]}");
  }

  // Results are in the order of the variants, and name theirs.
  void add_result(const VariantScores& scores) {
    const auto& [contig, variant] = variants_[answered_++];
    answer_ += answer_.back() == '[' ? "{" : ",{";
    if (!own_) answer_ += "\"chrom\":" + json_text(contig) + ",";
    answer_ += "\"pos\":" + std::to_string(variant.pos + 1) + ",\"ref\":" + json_text(variant.ref) +
               ",\"alt\":" + json_text(variant.alts[0]);
    if (gives_labels_) {
      answer_ += ",\"values\":[";
      for (const std::vector<double>& values : scores.values) {
        if (answer_.back() != '[') answer_ += ',';
        append_json(values[0], answer_);
      }
      answer_ += ']';
    } else {
      answer_ += ",\"score\":";
      append_json(scores.values[0][0], answer_);
    }
    const std::string flag = flag_name(scores.flags[0]);
    answer_ += ",\"flag\":" + (flag.empty() ? "null" : '"' + flag + '"') + "}";
  }

  SharedReference* const reference_;    // null: the server has none
  std::optional<ReferenceReader> own_;  // the request's sequence
  std::vector<PlacedVariant> variants_;
  std::optional<SitePlanner> planner_;
  size_t step_ = 0, planned_ = 0, answered_ = 0;  // of the variants
  std::vector<VariantItem> running_;              // those of the batch
  size_t tokens_ = 0;
  bool gives_labels_ = false;              // one value for each label instead of a score
  std::string answer_ = "{\"results\":[";  // as far as it is known
};

}  // namespace

WorkPtr make_dna_variants(const ServedModel& served, SharedReference* reference, HttpExchangePtr exchange) {
  return std::make_shared<DnaVariants>(served, reference, std::move(exchange));
}

}  // namespace carbon
