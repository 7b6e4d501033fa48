// +gene-summary: count, missing, min, mean and max of an INFO tag in each region of a BED or GFF3 file.
//
// Records are streamed in order past the regions, which are kept in memory; a record counts in every region
// that its reference bases overlap.
#include <algorithm>
#include <list>
#include <map>
#include <set>

#include "plugins/alleles.hpp"
#include "plugins/support.hpp"
#include "src/formats/gff3.hpp"

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

bool ends_with_any(const std::string& text, std::initializer_list<const char*> suffixes) {
  return std::any_of(suffixes.begin(), suffixes.end(),
                     [&](const char* suffix) { return std::string_view(text).ends_with(suffix); });
}

class GeneSummary {
 public:
  explicit GeneSummary(carbon_run* run) : run_(run) {}

  void declare(Options& options) {
    options.text("regions", "FILE", "BED, or GFF3 named .gff, .gff3 or so with .gz; required", path_);
    options.text("tag", "TAG", "the INFO tag to summarise (default: CARBON_LLR)", tag_);
    options.text("feature", "LIST", "GFF3: types of feature, or all (default: gene)", features_);
    options.text("name", "LIST", "GFF3: attributes to name them by (default: Name,gene,ID)", attributes_);
    options.text("json", "FILE", "write the result as JSON as well", json_);
    options.example(
        "the genes with the lowest minimum scores",
        "carbon +gene-summary scored.bcf -- --regions genes.gff3.gz | sort -t$'\\t' -k8,8g | head");
    options.example("the exons of a BED file, as JSON as well",
                    "carbon +gene-summary -o exons.tsv scored.bcf -- --regions exons.bed --json exons.json");
  }

  void start() {
    if (path_.empty()) fail("--regions is missing: name a BED or GFF3 file");
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
    if (!last_contig_.empty() && !any_contig_)
      run_->api->message(run_, CARBON_WARNING,
                         ("no record lies on a contig of " + path_ + " (" + regions_.front().contig +
                          (sweeps_.size() > 1 ? ", ..." : "") + "); the records name " + last_contig_)
                             .c_str());
    results_.write(table(), [&] { return json(); });
  }

 private:
  // ---- regions

  void read_regions() {
    const bool gff = ends_with_any(path_, {".gff", ".gff3", ".gff.gz", ".gff3.gz", ".gff.bgz", ".gff3.bgz"});
    carbon_text* text = checked(run_->api->text_open(run_, path_.c_str()));
    const char* bytes = nullptr;
    size_t length = 0;
    std::set<std::string> types;  // of features, for the message
    while (checked(run_->api->text_line(run_, text, &bytes, &length)) == 1) {
      const std::string line(bytes, length);
      if (gff && carbon::ends_gff3_features(line)) break;
      const bool heads = gff ? carbon::is_gff3_header(line) : carbon::is_bed_header(line);
      if (line.empty() || line[0] == '#' || heads) continue;
      const std::string where = checked(run_->api->text_where(run_, text));
      const std::vector<std::string> fields = split(line, '\t');
      if (gff)
        add_feature(fields, where, types);
      else
        add_bed(fields, where);
    }
    if (!regions_.empty()) return;
    std::string seen;
    for (const std::string& type : types) seen += (seen.empty() ? "" : ", ") + type;
    fail(path_ + ": no regions" +
         (types.empty() ? "" : " of type " + features_ + "; --feature takes " + seen + " or all"));
  }

  void add_region(Region region, const std::string& where) {
    if (region.begin < 0 || region.end < region.begin)
      fail(where + ": the region begins after its end or before the contig");
    if (region.name.empty())
      region.name = region.contig + ":" + std::to_string(region.begin + 1) + "-" + std::to_string(region.end);
    regions_.push_back(std::move(region));
  }

  void add_bed(const std::vector<std::string>& fields, const std::string& where) {
    Region region;
    if (fields.size() < 3 || !parse_number(fields[1], region.begin) || !parse_number(fields[2], region.end))
      fail(where + ": expected CHROM, BEG and END, separated by tabs");
    region.contig = fields[0];
    if (fields.size() > 3 && fields[3] != ".") region.name = fields[3];
    region.strand = fields.size() > 5 ? fields[5] : ".";
    add_region(std::move(region), where);
  }

  void add_feature(const std::vector<std::string>& fields, const std::string& where,
                   std::set<std::string>& types) {
    Region region;
    if (fields.size() != 9 || !parse_number(fields[3], region.begin) || !parse_number(fields[4], region.end))
      fail(where + ": expected the nine columns of GFF3, separated by tabs");
    types.insert(fields[2]);
    const std::vector<std::string> wanted = split(features_, ',');
    if (features_ != "all" && std::find(wanted.begin(), wanted.end(), fields[2]) == wanted.end()) return;
    --region.begin;
    region.contig = carbon::gff3_text(fields[0]);
    region.strand = fields[6];
    region.name = attribute(fields[8]);
    add_region(std::move(region), where);
  }

  /// The first of the wanted attributes that is there.
  std::string attribute(const std::string& column) const {
    for (const std::string& name : split(attributes_, ','))
      if (const auto value = carbon::gff3_attribute(column, name)) return carbon::gff3_text(*value);
    return "";
  }

  // ---- records

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
  std::string path_, tag_ = "CARBON_LLR", features_ = "gene", attributes_ = "Name,gene,ID", json_;
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

CARBON_PLUGIN(GeneSummary, "min, mean and max of an INFO tag per region of a BED or GFF3",
              CARBON_READS_RECORDS)
