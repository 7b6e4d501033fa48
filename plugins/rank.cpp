// +rank: where the scores of each allele stand among those of a scan or of a run of vep, on a PHRED scale.
//
// With the histogram of a scan, an allele is ranked if it is an SNV with a score; with that of vep, if it has
// a score and its type is known. All others get a missing value and are counted.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "plugins/alleles.hpp"
#include "plugins/background.hpp"
#include "plugins/reference.hpp"
#include "plugins/strata.hpp"
#include "plugins/support.hpp"

namespace {

using namespace carbon_plugins;

bool is_base(const std::string& allele) {
  return allele.size() == 1 && allele.find_first_of("ACGT") == 0;
}

/// How many alleles of a tag got a rank, and why others did not.
enum Outcome : size_t { kRanked, kNoSnv, kNoType, kNoScore, kNoContext, kNoClass, kOutcomes };
constexpr const char* kReasons[kOutcomes] = {"",
                                             " not an SNV of A, C, G and T",
                                             " of no known type",
                                             " without a score",
                                             " beside an unknown base",
                                             " of a class that the background lacks"};

/// A tag with scores, that of their ranks, and what became of its alleles.
struct RankedTag {
  std::string score, rank;
  std::array<uint64_t, kOutcomes> counts{};
};

class Rank {
 public:
  explicit Rank(carbon_run* run) : run_(run) {}

  void declare(Options& options) {
    options.text("background", "FILE", "histogram from carbon scan or carbon vep --histogram; required",
                 background_path_);
    options.choice(
        "by", {"none", "trinucleotide", "type"},
        "rank among all alleles (default for a scan), or among SNVs of the same context (of a scan), "
        "or alleles of the same type (default for vep)",
        by_);
    options.text("fasta-ref", "FILE", "the reference, for --by trinucleotide", fasta_path_).letter('f');
    options.example("the rank of each scanned SNV among all of the genome",
                    "carbon +rank -o ranked.bcf annotated.bcf -- --background scan.hist");
    options.example("the rank of each variant among those of its type in the same run",
                    "carbon +rank -o ranked.bcf scored.bcf -- --background vep.hist");
  }

  void start() {
    if (background_path_.empty())
      fail(
          "--background is missing: name a histogram that carbon scan --histogram or carbon vep --histogram "
          "wrote");
    if (by_ == kByTrinucleotide && fasta_path_.empty())
      fail("--by trinucleotide needs --fasta-ref, the FASTA that was scanned");
    if (by_ != kByTrinucleotide && !fasta_path_.empty())
      fail("--fasta-ref is of use only with --by trinucleotide");
    background_.emplace(run_, background_path_);
    choose_class();
    choose_tags();
    for (const RankedTag& tag : tags_) check_models(tag.score);
    if (by_ == kByTrinucleotide) reference_.emplace(run_, fasta_path_);
    for (const RankedTag& tag : tags_)
      checked(run_->api->info_declare(run_, tag.rank.c_str(), description(tag.score).c_str()));
  }

  void record(carbon_record* record) {
    const size_t alts = alt_count(run_, record);
    if (alts == 0) return;
    std::string context;  // of the position, read for the first allele that is to be ranked
    for (RankedTag& tag : tags_) {
      const std::vector<double> scores = read_scores(record, tag.score, alts);
      std::vector<double> ranks(alts);
      for (size_t i = 0; i < alts; ++i)
        ranks[i] = background_->of_scan() ? rank_snv(record, i, scores[i], context, tag)
                                          : rank_typed(record, i, scores[i], tag);
      checked(run_->api->info_set(run_, record, tag.rank.c_str(), ranks.data(), alts));
    }
  }

  void finish() {
    for (const RankedTag& tag : tags_) say_counts(tag);
    if (by_ == kByNone) warn_of_indels(run_, indels_);
  }

 private:
  enum By { kByDefault = -1, kByNone, kByTrinucleotide, kByType };

  void say_counts(const RankedTag& tag) const {
    uint64_t alleles = 0;
    for (const uint64_t count : tag.counts) alleles += count;
    const uint64_t ranked = tag.counts[kRanked];
    std::string text = (background_->of_scan() ? "" : tag.score + ": ") + std::to_string(ranked) + " of " +
                       std::to_string(alleles) + (alleles == 1 ? " allele has" : " alleles have") + " a rank";
    const char* separator = "; the others: ";
    for (size_t i = kRanked + 1; i < kOutcomes; ++i) {
      if (tag.counts[i] == 0) continue;
      text += separator + std::to_string(tag.counts[i]) + kReasons[i];
      separator = ", ";
    }
    run_->api->message(run_, ranked == alleles ? CARBON_INFO : CARBON_WARNING, text.c_str());
  }

  // ---- what the scores are

  void choose_class() {
    if (by_ == kByDefault) by_ = background_->of_scan() ? kByNone : kByType;
    if (background_->of_scan() && by_ == kByType)
      fail("--by type: " + background_path_ + " is of a scan, whose alleles are all SNVs");
    if (!background_->of_scan() && by_ == kByTrinucleotide)
      fail("--by trinucleotide: " + background_path_ +
           " is of carbon vep, which counts types and not trinucleotides; carbon scan does");
  }

  /// The tags of the background that the input has.
  void choose_tags() {
    std::vector<std::string> absent;
    for (const auto& [tag, model] : background_->models()) {
      const int type = checked(run_->api->info_type(run_, tag.c_str()));
      if (type == CARBON_TYPE_NONE)
        absent.push_back(tag);
      else if (type != CARBON_TYPE_FLOAT)
        fail("the INFO tag " + tag + " is not of type Float");
      else
        tags_.push_back({tag, background_->of_scan() ? "CARBON_PHRED" : tag + "_PHRED"});
    }
    if (tags_.empty())
      fail("the header has no INFO tag " + absent.front() + ": annotate the file with the output of " +
           background_->kind().command + " first");
    for (const std::string& tag : absent)
      run_->api->message(run_, CARBON_WARNING,
                         ("the header has no INFO tag " + tag + ", which the background has").c_str());
  }

  /// A header may have several lines after files were merged; then each has to be that of the background.
  void check_models(const std::string& tag) const {
    const std::string key = background_->kind().model_key;
    bool found = false;
    for_header_lines(run_, key.c_str(), [&](const char* line) {
      const std::optional<HeaderFields> fields = header_fields(line);
      if (!fields) fail("the header's line ##" + key + " is damaged: " + line);
      const auto id = fields->find("ID");
      if (!background_->of_scan() && (id == fields->end() || id->second != tag)) return;
      found = true;
      const std::string text =
          differences(*fields, "the VCF", background_->models().at(tag), "the background");
      if (!text.empty())
        fail(background_path_ + " is of another " + (background_->of_scan() ? "scan" : "run") +
             " than the scores; they differ in " + text);
    });
    if (!found)
      fail("the header has no line ##" + key + (background_->of_scan() ? "" : "=<ID=" + tag + ",...>") +
           ", so it does not say what " + tag + " was computed with: copy that line from the header of the " +
           (background_->of_scan() ? "scan" : "output of carbon vep") +
           " into a file, and add it with bcftools annotate -h");
  }

  std::string description(const std::string& tag) const {
    const std::string of = background_->of_scan() ? "SNVs" : "alleles";
    const std::string alike = by_ == kByTrinucleotide ? " of the same trinucleotide and ALT"
                              : by_ == kByType        ? " of the same type"
                                                      : "";
    return "-10 log10 of the share of " + of + alike + " in the background whose " + tag +
           " is as low or lower; 10 = the lowest 10 %, 20 = the lowest 1 %";
  }

  // ---- records

  /// A score or NaN for each ALT.
  std::vector<double> read_scores(carbon_record* record, const std::string& tag, size_t alts) {
    const carbon_values values = info(run_, record, tag);
    const bool missing = values.count == 0 || (values.count == 1 && std::isnan(values.numbers[0]));
    if (missing) return std::vector<double>(alts, std::numeric_limits<double>::quiet_NaN());
    if (values.per != CARBON_PER_ALT)
      fail("the header does not give " + tag + " one value for each ALT (Number=A)");
    if (values.count != alts)
      fail(place(run_, record) + ": " + std::to_string(values.count) + " values of " + tag + " for " +
           std::to_string(alts) + " alternative alleles");
    return {values.numbers, values.numbers + alts};
  }

  double without(Outcome why, RankedTag& tag) {
    ++tag.counts[why];
    return std::numeric_limits<double>::quiet_NaN();
  }
  double within(const Histogram* histogram, double score, RankedTag& tag) {
    if (!histogram) return without(kNoClass, tag);
    ++tag.counts[kRanked];
    return histogram->phred(score_bin(run_, score));
  }

  /// The value of one ALT among those of a scan, NaN if it has none.
  double rank_snv(carbon_record* record, size_t i, double score, std::string& context, RankedTag& tag) {
    const std::string ref = allele_text(run_, record, 0), alt = allele_text(run_, record, i + 1);
    if (!is_base(ref) || !is_base(alt) || ref == alt) return without(kNoSnv, tag);
    if (std::isnan(score)) return without(kNoScore, tag);
    if (by_ == kByNone)
      return within(background_->class_of("", [](const auto&, const auto&) { return true; }), score, tag);
    if (context.empty()) context = read_context(record, ref);
    if (context.find_first_not_of("ACGT") != std::string::npos) return without(kNoContext, tag);
    const auto same = [&](const std::string& trinucleotide, const std::string& other) {
      return trinucleotide == context && other == alt;
    };
    return within(background_->class_of(context + alt, same), score, tag);
  }

  /// The same among those of a run of vep.
  double rank_typed(carbon_record* record, size_t i, double score, RankedTag& tag) {
    if (std::isnan(score)) return without(kNoScore, tag);
    const std::optional<size_t> type = rank_type_of(run_, record, i);
    if (!type) return without(kNoType, tag);
    const std::string name = by_ == kByType ? carbon::kRankTypes[*type] : "";
    const auto same = [&](const std::string& of, const std::string& other) {
      return of == tag.score && (name.empty() || other == name);
    };
    const Histogram* histogram = background_->class_of(tag.score + "\t" + name, same);
    if (histogram && carbon::is_indel(*type)) ++indels_;
    return within(histogram, score, tag);
  }

  /// The base of an SNV with those beside it; N stands beyond the ends of the contig.
  std::string read_context(carbon_record* record, const std::string& ref) {
    const std::string contig = run_->api->record_contig(run_, record);
    const int64_t pos = run_->api->record_pos(run_, record);
    if (contig != reference_->contig()) reference_->enter(contig);
    const int64_t length = reference_->length();
    if (length < 0)
      fail(place(run_, record) + ": " + reference_->lacks(contig) + "; give the FASTA that was scanned");
    if (pos < 0 || pos >= length)
      fail(place(run_, record) + ": " + reference_->path() +
           " has no such base; give the FASTA that was scanned");
    const std::string bases = (pos == 0 ? "N" : "") +
                              reference_->bases(std::max<int64_t>(0, pos - 1), std::min(length, pos + 2)) +
                              (pos + 1 == length ? "N" : "");
    if (bases[1] != ref[0])
      fail(place(run_, record) + ": REF " + ref + " differs from " + reference_->path() + " (" + bases[1] +
           "); give the FASTA that was scanned");
    return bases;
  }

  carbon_run* run_;
  std::string background_path_, fasta_path_;
  int by_ = kByDefault;
  std::optional<Background> background_;
  std::optional<Reference> reference_;
  std::vector<RankedTag> tags_;
  uint64_t indels_ = 0;  // ranks of insertions and deletions
};

}  // namespace

CARBON_PLUGIN(Rank, "PHRED-scaled rank of scores among those of a scan or a run of vep",
              CARBON_READS_RECORDS | CARBON_WRITES_RECORDS)
