// +rank: where CARBON_SCAN of each allele stands among the SNVs of a scan, on a PHRED scale.
//
// An allele is ranked if it is an SNV with a score; all others get a missing value and are counted.
#include <array>
#include <optional>

#include "plugins/background.hpp"
#include "plugins/support.hpp"

namespace {

using namespace carbon_plugins;

constexpr const char* kScore = "CARBON_SCAN";
constexpr const char* kRank = "CARBON_PHRED";
constexpr const char* kModelKey = "carbon_scanModel";
constexpr int64_t kFetchedBases = 4096;  // about what a disk reads at once

bool is_base(const std::string& allele) {
  return allele.size() == 1 && allele.find_first_of("ACGT") == 0;
}

/// Bases of the reference and their neighbours, fetched in pieces, as records mostly come in order.
class Neighbours {
 public:
  Neighbours(carbon_run* run, const std::string& path)
      : run_(run), path_(path), fasta_(checked(run->api->fasta_open(run, path.c_str()))) {}

  /// The base with those beside it, in upper case; N stands beyond the ends of the contig.
  std::string around(const std::string& contig, int64_t pos) {
    if (contig != contig_) enter(contig);
    if (pos < 0 || pos >= length_)
      fail(contig + ":" + std::to_string(pos + 1) + ": " + path_ + " has no such base" +
           (length_ < 0 ? ", and no contig " + contig : "") + "; give the FASTA that was scanned");
    if (pos < begin_ || pos + 3 > begin_ + static_cast<int64_t>(bases_.size())) fetch(pos);
    return bases_.substr(static_cast<size_t>(pos - begin_), 3);
  }
  const std::string& path() const { return path_; }

 private:
  void enter(const std::string& contig) {
    contig_ = contig;
    length_ = run_->api->fasta_length(run_, fasta_, contig.c_str());
    bases_.clear();
  }

  /// The N before the first base of a contig makes bases_[i] the base before position begin_ + i.
  void fetch(int64_t pos) {
    const int64_t from = std::max<int64_t>(0, pos - 1), to = std::min(length_, pos + kFetchedBases);
    std::string fetched(static_cast<size_t>(to - from), 'N');
    checked(run_->api->fasta_fetch(run_, fasta_, contig_.c_str(), from, to, fetched.data()));
    bases_ = (pos == 0 ? "N" : "") + upper_case(std::move(fetched)) + (to == length_ ? "N" : "");
    begin_ = pos;
  }

  carbon_run* run_;
  std::string path_;
  carbon_fasta* fasta_;
  std::string contig_, bases_;
  int64_t length_ = -1, begin_ = 0;
};

class Rank {
 public:
  explicit Rank(carbon_run* run) : run_(run) {}

  void declare(Options& options) {
    options.text("background", "FILE", "histogram from carbon scan --histogram; required", background_path_);
    options.choice("by", {"none", "trinucleotide"},
                   "rank among all SNVs, or those of the same context (default: none)", by_);
    options.text("fasta-ref", "FILE", "the reference, for --by trinucleotide", fasta_path_);
    options.example("the rank of each scanned SNV among all of the genome",
                    "carbon +rank -o ranked.bcf annotated.bcf -- --background scan.hist");
    options.example(
        "among the SNVs of the same trinucleotide",
        "carbon +rank annotated.bcf -- --background scan.hist --by trinucleotide --fasta-ref ref.fa");
  }

  void start() {
    if (background_path_.empty())
      fail("--background is missing: name a histogram that carbon scan --histogram wrote");
    if (by_context() && fasta_path_.empty())
      fail("--by trinucleotide needs --fasta-ref, the FASTA that was scanned");
    if (!by_context() && !fasta_path_.empty()) fail("--fasta-ref is of use only with --by trinucleotide");
    check_tag();
    background_.emplace(run_, background_path_, by_context());
    check_models();
    if (by_context()) reference_.emplace(run_, fasta_path_);
    checked(run_->api->info_declare(run_, kRank, description().c_str()));
  }

  void record(carbon_record* record) {
    const size_t alts = run_->api->record_allele_count(run_, record) - 1;
    if (alts == 0) return;
    const std::vector<double> scores = read_scores(record, alts);
    const std::string ref = allele(record, 0);
    std::string context;  // of the position, read for the first allele that is to be ranked
    std::vector<double> ranks(alts);
    for (size_t i = 0; i < alts; ++i) ranks[i] = rank(record, ref, allele(record, i + 1), scores[i], context);
    checked(run_->api->info_set(run_, record, kRank, ranks.data(), alts));
  }

  void finish() {
    uint64_t alleles = 0;
    for (const uint64_t count : counts_) alleles += count;
    const uint64_t ranked = counts_[kRanked];
    std::string text = std::to_string(ranked) + " of " + std::to_string(alleles) + " alleles have a rank";
    constexpr const char* reasons[] = {"", " not an SNV of A, C, G and T", " without a score",
                                       " beside an unknown base", " of a class that the background lacks"};
    const char* separator = "; the others: ";
    for (size_t i = kRanked + 1; i < kOutcomes; ++i) {
      if (counts_[i] == 0) continue;
      text += separator + std::to_string(counts_[i]) + reasons[i];
      separator = ", ";
    }
    run_->api->message(run_, ranked == alleles ? CARBON_INFO : CARBON_WARNING, text.c_str());
  }

 private:
  enum Outcome : size_t { kRanked, kNoSnv, kNoScore, kNoContext, kNoClass, kOutcomes };

  bool by_context() const { return by_ == 1; }

  // ---- what the scores are

  void check_tag() const {
    const int type = checked(run_->api->info_type(run_, kScore));
    if (type == CARBON_TYPE_NONE)
      fail(std::string("the header has no INFO tag ") + kScore +
           ": annotate the file with the output of carbon scan first");
    if (type != CARBON_TYPE_FLOAT) fail(std::string("the INFO tag ") + kScore + " is not of type Float");
  }

  /// A header may have several lines after files were merged; then each has to be that of the background.
  void check_models() const {
    for (size_t i = 0;; ++i) {
      const char* line = nullptr;
      checked(run_->api->header_line(run_, kModelKey, i, &line));
      if (!line && i > 0) return;
      if (!line)
        fail(std::string("the header has no line ##") + kModelKey + ", so it does not say what " + kScore +
             " was computed with: copy that line from the header of the scan into a file, and add it with "
             "bcftools annotate -h");
      const std::optional<HeaderFields> fields = header_fields(line);
      if (!fields) fail(std::string("the header's line ##") + kModelKey + " is damaged: " + line);
      const std::string text = differences(*fields, "the VCF", background_->model(), "the background");
      if (!text.empty())
        fail(background_path_ + " is of another scan than the scores; they differ in " + text);
    }
  }

  std::string description() const {
    return std::string("-10 log10 of the share of SNVs") +
           (by_context() ? " of the same trinucleotide and ALT" : "") +
           " in the background whose CARBON_SCAN is as low or lower; 10 = the lowest 10 %, 20 = the lowest 1 "
           "%";
  }

  // ---- records

  std::string place(carbon_record* record) const {
    return std::string(run_->api->record_contig(run_, record)) + ":" +
           std::to_string(run_->api->record_pos(run_, record) + 1);
  }
  std::string allele(carbon_record* record, size_t index) {
    return upper_case(checked(run_->api->record_allele(run_, record, index)));
  }

  /// A score or NaN for each ALT.
  std::vector<double> read_scores(carbon_record* record, size_t alts) {
    carbon_values values{};
    checked(run_->api->record_info(run_, record, kScore, &values));
    const bool missing = values.count == 0 || (values.count == 1 && std::isnan(values.numbers[0]));
    if (missing) return std::vector<double>(alts, std::numeric_limits<double>::quiet_NaN());
    if (values.per != CARBON_PER_ALT)
      fail(std::string("the header does not give ") + kScore + " one value for each ALT (Number=A)");
    if (values.count != alts)
      fail(place(record) + ": " + std::to_string(values.count) + " values of " + kScore + " for " +
           std::to_string(alts) + " alternative alleles");
    return {values.numbers, values.numbers + alts};
  }

  /// The value of one allele, NaN if it has none.
  double rank(carbon_record* record, const std::string& ref, const std::string& alt, double score,
              std::string& context) {
    const auto without = [&](Outcome why) {
      ++counts_[why];
      return std::numeric_limits<double>::quiet_NaN();
    };
    if (!is_base(ref) || !is_base(alt) || ref == alt) return without(kNoSnv);
    if (std::isnan(score)) return without(kNoScore);
    if (by_context() && context.empty()) context = read_context(record, ref);
    if (by_context() && context.find_first_not_of("ACGT") != std::string::npos) return without(kNoContext);
    const Histogram* histogram = background_->find(context, alt[0]);
    if (!histogram) return without(kNoClass);
    ++counts_[kRanked];
    return histogram->phred(score_bin(run_, score));
  }

  std::string read_context(carbon_record* record, const std::string& ref) {
    const std::string bases =
        reference_->around(run_->api->record_contig(run_, record), run_->api->record_pos(run_, record));
    if (bases[1] != ref[0])
      fail(place(record) + ": REF " + ref + " differs from " + reference_->path() + " (" + bases[1] +
           "); give the FASTA that was scanned");
    return bases;
  }

  carbon_run* run_;
  std::string background_path_, fasta_path_;
  int by_ = 0;
  std::optional<Background> background_;
  std::optional<Neighbours> reference_;
  std::array<uint64_t, kOutcomes> counts_{};
};

}  // namespace

CARBON_PLUGIN(Rank, "PHRED-scaled rank of CARBON_SCAN among the SNVs of a scan",
              CARBON_READS_RECORDS | CARBON_WRITES_RECORDS)
