// +gene-summary: count, missing, min, mean and max of an INFO tag in each region of a file.
//
// Records are streamed in order past the regions, which are kept in memory; a record counts in every region
// that its reference bases overlap.
#include <algorithm>
#include <list>
#include <map>
#include <set>
#include <span>

#include "plugins/alleles.hpp"
#include "plugins/score_tags.hpp"
#include "plugins/support.hpp"
#include "src/formats/contig_spelling.hpp"

namespace {

using namespace carbon_plugins;

struct Region {
  std::string contig, name, strand;
  int64_t begin = 0, end = 0;
  uint64_t count = 0, missing = 0;  // alleles with a value and without
  double sum = 0, least = 0, most = 0;

  void add(double value) {
    if (std::isnan(value)) {
      ++missing;
      return;
    }
    least = count == 0 ? value : std::min(least, value);
    most = count == 0 ? value : std::max(most, value);
    sum += value;
    ++count;
  }
};

/// The regions of one contig, met from left to right.
class Sweep {
 public:
  void add(Region* region) {
    if (region->begin < region->end) waiting_.push_back(region);  // an empty one has no base to overlap
  }
  void sort() {
    std::stable_sort(waiting_.begin(), waiting_.end(),
                     [](const Region* a, const Region* b) { return a->begin < b->begin; });
  }
  /// Calls `f` for every region that overlaps [begin, end); `begin` never falls.
  template <class F>
  void overlapping(int64_t begin, int64_t end, F f) {
    // A long record may bring a region in early: those that follow test whether they reach it.
    for (; next_ < waiting_.size() && waiting_[next_]->begin < end; ++next_)
      active_.push_back(waiting_[next_]);
    for (auto at = active_.begin(); at != active_.end();) {
      if ((*at)->end <= begin) {
        at = active_.erase(at);
        continue;
      }
      if ((*at)->begin < end) f(**at);
      ++at;
    }
  }

 private:
  std::vector<Region*> waiting_;
  std::list<Region*> active_;
  size_t next_ = 0;
};

class GeneSummary {
 public:
  explicit GeneSummary(carbon_run* run) : run_(run) {}

  void declare(Options& options) {
    options.text("genes", "FILE", "genes of a GFF3 or GTF; this or -R is required", genes_path_);
    options
        .text("regions-file", "FILE",
              "regions from a file: CHROM POS or CHROM BEG END, or BED if named .bed[.gz]", path_)
        .letter('R');
    options.text("tag", "TAG", "the INFO tag to summarise (default: the only one with scores)", tag_);
    options.text("feature", "LIST", "GFF3 and GTF: types of feature, or all (default: gene)", features_);
    options.text("name", "LIST", "GFF3, GTF: attributes to name them by (default: Name,gene_name,gene,...)",
                 attributes_);
    options.text("json", "FILE", "write the result as JSON as well", json_);
    options.example("the genes with the lowest minimum scores",
                    "carbon +gene-summary scored.bcf -- --genes genes.gff3.gz | sort -t$'\\t' -k8,8g | head");
    options.example("the exons of a BED file, as JSON as well",
                    "carbon +gene-summary -o exons.tsv scored.bcf -- -R exons.bed --json exons.json");
  }

  void start() {
    if (path_.empty() == genes_path_.empty())
      fail(path_.empty() ? "--genes or --regions-file is missing: name a GFF3 or GTF, or a file such as BED"
                         : "--genes and --regions-file exclude each other: leave out one of them");
    if (path_.empty()) path_ = genes_path_;
    if (tag_.empty()) tag_ = only_score(run_, "tag");
    const int type = checked(run_->api->info_type(run_, tag_.c_str()));
    if (type != CARBON_TYPE_INTEGER && type != CARBON_TYPE_FLOAT)
      fail("--tag " + tag_ + ": the header has no INFO tag of that name that is a number");
    warn_of_demonstration(run_);
    read_regions();
    for (Region& region : regions_) sweeps_[region.contig].add(&region);
    for (auto& [contig, sweep] : sweeps_) sweep.sort();
    results_.open(run_, json_);
  }

  void record(carbon_record* record) {
    const std::string contig = run_->api->record_contig(run_, record);
    const int64_t pos = run_->api->record_pos(run_, record);
    check_order(contig, pos);
    const auto sweep = sweeps_.find(contig);
    if (sweep == sweeps_.end()) return;
    any_contig_ = true;
    const std::string ref = run_->api->record_allele(run_, record, 0);
    bool read = false;
    sweep->second.overlapping(pos, pos + static_cast<int64_t>(ref.size()), [&](Region& region) {
      if (!read) read_values(record);
      read = true;
      for (const double value : values_) region.add(value);
    });
  }

  void finish() {
    warn_of_contigs();
    results_.write(table(), [&] { return json(); });
  }

 private:
  // ---- regions

  void read_regions() {
    const char* const types = features_ == "all" ? nullptr : features_.c_str();
    const carbon_named_region* found = nullptr;
    size_t count = 0;
    checked(run_->api->regions_read(run_, path_.c_str(), types, attributes_.c_str(), &found, &count));
    for (const auto& [where, name, strand] : std::span(found, count)) {
      const auto [contig, begin, end] = where;
      if (begin < 0 || end == INT64_MAX)
        fail(path_ + ": a region on " + contig +
             " has no end or begins before position 1; write BEG and END");
      const std::string place =
          std::string(contig) + ":" + std::to_string(begin + 1) + "-" + std::to_string(end);
      regions_.push_back({contig, *name ? name : place, {strand}, begin, end});
    }
  }

  // ---- records

  /// Warns of records that lie on no contig of the regions because it has another name there, or none at all.
  void warn_of_contigs() {
    std::vector<std::string> contigs;
    for (const auto& [contig, sweep] : sweeps_) contigs.push_back(contig);
    const carbon::ContigSpellings spellings(contigs);
    std::string other;
    for (const std::string& contig : seen_)
      if (const std::string known = spellings.other(contig); !known.empty())
        other += (other.empty() ? "" : ", ") + contig + " (" + known + " in " + path_ + ")";
    if (!other.empty())
      warn("the records on " + other + " count in no region; " + std::string(carbon::kRenameContigs));
    else if (!seen_.empty() && !any_contig_)
      warn("no record lies on a contig of " + path_ + " (" + regions_.front().contig +
           (sweeps_.size() > 1 ? ", ..." : "") + "); the records name " + last_contig_);
  }

  void warn(const std::string& text) const { run_->api->message(run_, CARBON_WARNING, text.c_str()); }

  void check_order(const std::string& contig, int64_t pos) {
    const bool same = contig == last_contig_;
    if (same ? pos < last_pos_ : !seen_.insert(contig).second)
      fail(contig + ":" + std::to_string(pos + 1) +
           ": the records are not sorted; sort the input with bcftools sort");
    last_contig_ = contig;
    last_pos_ = pos;
  }

  void read_values(carbon_record* record) {
    const size_t alts = run_->api->record_allele_count(run_, record) - 1;
    carbon_values values{};
    checked(run_->api->record_info(run_, record, tag_.c_str(), &values));
    const bool of_alleles = values.per == CARBON_PER_ALLELE && values.count == alts + 1;
    const double* first = values.numbers + (of_alleles ? 1 : 0);
    const double* last = values.numbers + values.count;
    // A record without the tag, or with a single '.', lacks the value of each of its alleles.
    if (values.count == 0 || (values.count == 1 && std::isnan(*first)))
      values_.assign(alts, std::numeric_limits<double>::quiet_NaN());
    else
      values_.assign(first, last);
  }

  // ---- output

  std::string table() const {
    std::string out = "#contig\tstart\tend\tname\tstrand\tcount\tmissing\tmin\tmean\tmax\n";
    for (const Region& region : regions_) {
      out += region.contig + "\t" + std::to_string(region.begin) + "\t" + std::to_string(region.end) + "\t" +
             region.name + "\t" + region.strand + "\t" + std::to_string(region.count) + "\t" +
             std::to_string(region.missing);
      // As many digits as the values have in a VCF: more would be those of their binary form.
      for (const double value : summary(region)) out += "\t" + to_text(value, 6);
      out += "\n";
    }
    return out;
  }

  /// min, mean, max.
  static std::vector<double> summary(const Region& region) {
    if (region.count == 0) return std::vector<double>(3, std::numeric_limits<double>::quiet_NaN());
    return {region.least, region.sum / static_cast<double>(region.count), region.most};
  }

  std::string json() const {
    Json out;
    out.open('{').name("tag").value(tag_).name("regions").open('[');
    for (const Region& region : regions_) {
      const std::vector<double> values = summary(region);
      out.open('{').name("contig").value(region.contig);
      out.name("start").value(static_cast<uint64_t>(region.begin));
      out.name("end").value(static_cast<uint64_t>(region.end));
      out.name("name").value(region.name).name("strand").value(region.strand);
      out.name("count").value(region.count).name("missing").value(region.missing);
      out.name("min").value(values[0]).name("mean").value(values[1]).name("max").value(values[2]).close('}');
    }
    return out.close(']').close('}').text();
  }

  carbon_run* run_;
  std::string genes_path_, path_, tag_, features_ = "gene", attributes_ = "Name,gene_name,gene,ID,gene_id",
                                        json_;
  Results results_;
  std::vector<Region> regions_;  // as in the file
  std::map<std::string, Sweep> sweeps_;
  std::set<std::string> seen_;  // contigs of the records
  std::string last_contig_;
  int64_t last_pos_ = -1;
  bool any_contig_ = false;
  std::vector<double> values_;  // of the record at hand, one an allele
};

}  // namespace

CARBON_PLUGIN(GeneSummary, "min, mean and max of an INFO tag per region of a BED, GFF3 or GTF",
              CARBON_READS_RECORDS)
