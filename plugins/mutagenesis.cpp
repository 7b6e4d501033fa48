// +mutagenesis: every SNV, or every single-base insertion and deletion, of regions of a FASTA, with its
// score.
//
// The scores are those that `carbon vep` gives the same records, to the bit: the program's planner computes
// them.
#include <algorithm>
#include <deque>
#include <map>
#include <optional>

#include "plugins/support.hpp"

namespace {

using namespace carbon_plugins;

constexpr char kLetters[] = "ACGT";
// In one call of the program: enough for full batches, few enough for a bar that moves.
constexpr int64_t kPositionsPerCall = 128;
// The same for recipe anchored, in records. Only those of one call share windows, so a call has as many as
// carbon vep takes at a time; each costs so much less that the bar still moves.
constexpr int64_t kAnchoredRecordsPerCall = 2048;

struct Range {
  int64_t begin = 0, end = 0;
};

/// One record of the output. `columns` are those of the matrix that its ALTs belong to, `values` those of all
/// ALTs for each tag.
struct Site {
  int64_t pos = 0;  // of REF
  std::string ref;
  std::vector<std::string> alts;
  int64_t row = 0;  // position that the matrix shows it under
  std::vector<size_t> columns;
  std::vector<double> values;
};

class Mutagenesis {
 public:
  explicit Mutagenesis(carbon_run* run) : run_(run) {}

  void declare(Options& options) {
    options.text("fasta-ref", "FILE", "the reference, plain or BGZF; required", fasta_path_).letter('f');
    options
        .list("regions", "REGION", "regions to change: chr, chr:beg-end, ...; may be given several times",
              regions_)
        .letter('r');
    options
        .list("regions-file", "FILE",
              "like -r, with regions from a file: CHROM POS or CHROM BEG END, or BED if named .bed[.gz]",
              region_files_)
        .letter('R');
    options.choice("type", {"snv", "indel"}, "which variants", type_).shows_default();
    options.text("matrix", "FILE", "write a table as well: one line per position, one column per change",
                 matrix_path_);
    options.text("recipe", "LIST",
                 "how to score, as in carbon vep: centered, next-token or anchored (default: centered)",
                 recipe_);
    options.text("strand", "STRAND", "strand to read: +, - or both, as in carbon vep (default: the recipe's)",
                 strand_);
    options.text("window", "BP", "centered: window (default: 8192)", window_);
    options.text("context", "BP", "left context (default: next-token as vep, anchored 4098)", context_);
    options.list("horizon", "BP[,BP...]",
                 "anchored: bases after the allele (default: 768); a tag for each of several", horizons_);
    options.example(
        "fifty bases of the TERT promoter, with a table for a picture",
        "carbon +mutagenesis -o tert.vcf.gz -- -f hg38.fa -r chr5:1,295,100-1,295,149 --matrix tert.tsv");
    options.example("single-base deletions and insertions of regions in a BED file",
                    "carbon +mutagenesis -o indels.bcf -- -f hg38.fa -R promoters.bed --type indel");
  }

  void start() {
    if (regions_.empty() && region_files_.empty())
      fail("--regions or --regions-file is missing: say which bases to change");
    if (recipe_ == "next-token" && indels())
      fail("--recipe next-token scores single bases: use it with --type snv");
    choose_fasta();
    fasta_ = checked(run_->api->fasta_open(run_, fasta_path_.c_str()));
    for (const std::string& text : regions_) add_regions(text, false);
    for (const std::string& path : region_files_) add_regions(path, true);
    merge();
    open_recipes();  // loads the model, and so comes last
  }

  void finish() {
    vcf_.emplace(run_, nullptr);
    vcf_->write(header());
    if (!matrix_path_.empty()) {
      matrix_.emplace(run_, matrix_path_.c_str());
      for (size_t i = 0; const char* line = run_->api->version_line(run_, i); ++i)
        matrix_->write(std::string(line) + "\n");
      matrix_->write(model_lines());
      matrix_->write(std::string("#CHROM\tPOS\tREF") + (indels() ? "\tdel" : "") + "\tA\tC\tG\tT\n");
    }
    // In the order of the FASTA, so that the records are sorted as its contigs are.
    for (size_t i = 0; const char* contig = run_->api->fasta_contig(run_, fasta_, i); ++i)
      for (const Range& range : ranges_[contig])
        for (int64_t begin = range.begin; begin < range.end; begin += positions_per_call())
          change(contig, begin, std::min(range.end, begin + positions_per_call()));
    if (skipped_ > 0)
      run_->api->message(
          run_, CARBON_WARNING,
          (skipped_ == 1 ? "1 position has no base A, C, G or T and is left out"
                         : std::to_string(skipped_) + " positions have no base A, C, G or T and are left out")
              .c_str());
    if (matrix_path_.empty())
      run_->api->message(run_, CARBON_INFO, "carbon report draws the table that --matrix FILE writes");
    else
      name_report(run_, shell_word(matrix_path_));
  }

 private:
  bool indels() const { return type_ == 1; }

  // Until 0.2 the FASTA was the input.
  void choose_fasta() {
    const char* const input = run_->api->input(run_, 0);
    if (fasta_path_.empty() && !input)
      fail("--fasta-ref is missing: name the FASTA whose bases are to be changed, as -f FILE");
    if (input && (!fasta_path_.empty() || run_->api->input(run_, 1)))
      fail("one FASTA file is expected, not several");
    if (!input) return;
    fasta_path_ = input;
    run_->api->message(run_, CARBON_WARNING,
                       "the FASTA before -- is now called --fasta-ref (-f); the next version will not read "
                       "the old name");
  }

  int64_t positions_per_call() const {
    if (recipe_ != "anchored") return kPositionsPerCall;
    return indels() ? kAnchoredRecordsPerCall / 2 : kAnchoredRecordsPerCall;
  }

  void open_recipes() {
    std::string horizons, settings;
    for (const std::string& text : horizons_) horizons += (horizons.empty() ? "" : ",") + text;
    const std::pair<const char*, std::string> given[] = {{"recipe", recipe_},
                                                         {"strand", strand_ == "default" ? "" : strand_},
                                                         {"window", window_},
                                                         {"context", context_},
                                                         {"horizon", horizons}};
    for (const auto& [name, text] : given) {
      if (text.find_first_of(" \t\n") != std::string::npos)
        fail(std::string("--") + name + " '" + text + "': a value has no blanks");
      if (!text.empty()) settings += std::string(name) + "=" + text + " ";
    }
    recipes_ = checked(run_->api->recipes_open(run_, settings.c_str()));
    while (run_->api->recipes_tag(run_, recipes_, tags_, nullptr)) ++tags_;
    if (tags_ > 1 && !matrix_path_.empty())
      fail(
          "--matrix has one number for each change: give one recipe and one --horizon with it, or leave it "
          "out");
  }

  void add_regions(const std::string& text, bool is_file) {
    const carbon_region* found = nullptr;
    size_t count = 0;
    checked(run_->api->fasta_regions(run_, fasta_, text.c_str(), is_file, &found, &count));
    for (size_t i = 0; i < count; ++i) ranges_[found[i].contig].push_back({found[i].begin, found[i].end});
  }

  // A position comes once, however many regions it is in.
  void merge() {
    for (auto& [contig, ranges] : ranges_) {
      std::sort(ranges.begin(), ranges.end(),
                [](const Range& a, const Range& b) { return a.begin < b.begin; });
      std::vector<Range> merged;
      for (const Range& range : ranges) {
        if (!merged.empty() && range.begin <= merged.back().end)
          merged.back().end = std::max(merged.back().end, range.end);
        else
          merged.push_back(range);
      }
      ranges = std::move(merged);
    }
  }

  /// Scores and writes the changes of contig bases [begin, end).
  void change(const char* contig, int64_t begin, int64_t end) {
    const int64_t length = run_->api->fasta_length(run_, fasta_, contig);
    const int64_t from = std::max<int64_t>(0, begin - 1), to = std::min(length, end + 1);
    std::string bases(static_cast<size_t>(to - from), 'N');
    checked(run_->api->fasta_fetch(run_, fasta_, contig, from, to, bases.data()));
    for (char& base : bases)
      if (base >= 'a' && base <= 'z') base = static_cast<char>(base - 'a' + 'A');
    std::vector<Site> sites;
    for (int64_t pos = begin; pos < end; ++pos) {
      const auto at = static_cast<size_t>(pos - from);
      if (!is_base(bases[at])) {
        ++skipped_;
      } else if (indels()) {
        add_indels(bases, at, pos, sites);
      } else {
        add_snvs(bases[at], pos, sites);
      }
    }
    score(contig, sites);
    write_records(contig, sites);
    if (matrix_) write_rows(contig, bases.substr(static_cast<size_t>(begin - from)), begin, end, sites);
    run_->api->progress(run_, done_ += static_cast<uint64_t>(end - begin), "positions",
                        (std::string(contig) + ":" + std::to_string(end)).c_str());
  }

  static bool is_base(char letter) {
    return letter != '\0' && std::string_view(kLetters).find(letter) != std::string_view::npos;
  }

  static void add_snvs(char base, int64_t pos, std::vector<Site>& sites) {
    Site site{pos, std::string(1, base), {}, pos, {}, {}};
    for (size_t i = 0; i < 4; ++i) {
      if (kLetters[i] == base) continue;
      site.alts.emplace_back(1, kLetters[i]);
      site.columns.push_back(i);
    }
    sites.push_back(std::move(site));
  }

  // The deletion of the base, anchored on the one before it (on the one after it at the start of a contig),
  // and the four insertions after it.
  static void add_indels(const std::string& bases, size_t at, int64_t pos, std::vector<Site>& sites) {
    if (at > 0 && is_base(bases[at - 1]))
      sites.push_back({pos - 1, bases.substr(at - 1, 2), {bases.substr(at - 1, 1)}, pos, {0}, {}});
    else if (pos == 0 && bases.size() > 1 && is_base(bases[1]))
      sites.push_back({0, bases.substr(0, 2), {bases.substr(1, 1)}, pos, {0}, {}});
    Site site{pos, bases.substr(at, 1), {}, pos, {1, 2, 3, 4}, {}};
    for (size_t i = 0; i < 4; ++i) site.alts.push_back(site.ref + kLetters[i]);
    sites.push_back(std::move(site));
  }

  void score(const char* contig, std::vector<Site>& sites) {
    std::vector<carbon_variant> variants;
    std::deque<std::vector<const char*>> alts;
    for (Site& site : sites) {
      std::vector<const char*>& texts = alts.emplace_back();
      for (const std::string& alt : site.alts) texts.push_back(alt.c_str());
      site.values.resize(texts.size() * tags_);
      variants.push_back(
          {contig, site.pos, site.ref.c_str(), texts.data(), texts.size(), site.values.data(), nullptr});
    }
    checked(run_->api->score_variants(run_, recipes_, fasta_, variants.data(), variants.size()));
  }

  std::string shown(double value) const {
    if (std::isnan(value)) return ".";
    char text[32];
    return std::string(text, run_->api->format_float(static_cast<float>(value), text));
  }

  void write_records(const char* contig, const std::vector<Site>& sites) {
    std::string text;
    for (const Site& site : sites) {
      text += contig;
      text += "\t" + std::to_string(site.pos + 1) + "\t.\t" + site.ref + "\t";
      for (size_t i = 0; i < site.alts.size(); ++i) text += (i ? "," : "") + site.alts[i];
      text += "\t.\t.\t";
      const double* value = site.values.data();
      for (size_t t = 0; t < tags_; ++t) {
        text += t ? ";" : "";
        text += std::string(run_->api->recipes_tag(run_, recipes_, t, nullptr)) + "=";
        for (size_t i = 0; i < site.alts.size(); ++i) text += (i ? "," : "") + shown(*value++);
      }
      text += "\n";
    }
    vcf_->write(text);
  }

  // `bases` begins at `begin`. The letter that is there already differs by nothing.
  void write_rows(const char* contig, const std::string& bases, int64_t begin, int64_t end,
                  const std::vector<Site>& sites) {
    const size_t columns = indels() ? 5 : 4;
    std::string text;
    size_t site = 0;
    for (int64_t pos = begin; pos < end; ++pos) {
      const char base = bases[static_cast<size_t>(pos - begin)];
      std::vector<std::string> cells(columns, ".");
      if (const size_t own = std::string_view(kLetters).find(base);
          !indels() && own != std::string_view::npos)
        cells[own] = "0";
      for (; site < sites.size() && sites[site].row == pos; ++site)
        for (size_t i = 0; i < sites[site].columns.size(); ++i)
          cells[sites[site].columns[i]] = shown(sites[site].values[i]);
      text += contig;
      text += "\t" + std::to_string(pos + 1) + "\t" + base;
      for (const std::string& cell : cells) text += "\t" + cell;
      text += "\n";
    }
    matrix_->write(text);
  }

  std::string property(int which) const { return checked(run_->api->property(run_, which)); }

  std::string header() const {
    std::string out = "##fileformat=VCFv4.2\n##FILTER=<ID=PASS,Description=\"All filters passed\">\n";
    out += "##source=carbon " + property(CARBON_VERSION_TEXT) + " +mutagenesis\n";
    for (size_t i = 0; const char* contig = run_->api->fasta_contig(run_, fasta_, i); ++i)
      out += std::string("##contig=<ID=") + contig +
             ",length=" + std::to_string(run_->api->fasta_length(run_, fasta_, contig)) + ">\n";
    const char* description = nullptr;
    for (size_t t = 0; t < tags_; ++t) {
      out += std::string("##INFO=<ID=") + run_->api->recipes_tag(run_, recipes_, t, &description) +
             ",Number=A,Type=Float,Description=\"";
      out += std::string(description) + "\">\n";
    }
    return out + model_lines() + "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n";
  }

  /// What the scores of each tag depend on.
  std::string model_lines() const {
    const std::string model =
        ",Model=\"" + property(CARBON_MODEL_ID) + "\",SHA256=" + property(CARBON_MODEL_SHA256) +
        ",Dtype=" + property(CARBON_MODEL_DTYPE) + ",Device=\"" + property(CARBON_DEVICE_KIND) + "\",";
    std::string out;
    for (size_t t = 0; t < tags_; ++t)
      out += std::string("##carbon_mutagenesisModel=<ID=") +
             run_->api->recipes_tag(run_, recipes_, t, nullptr) + model +
             run_->api->recipes_text(run_, recipes_, t) + ">\n";
    return out;
  }

  carbon_run* run_;
  std::vector<std::string> regions_, region_files_, horizons_;
  std::string fasta_path_, matrix_path_, recipe_, strand_, window_, context_;  // "": the default
  int type_ = 0;

  const carbon_recipes* recipes_ = nullptr;
  size_t tags_ = 0;  // of a record
  carbon_indexed_fasta* fasta_ = nullptr;
  std::map<std::string, std::vector<Range>> ranges_;  // by contig
  std::optional<Output> vcf_, matrix_;
  uint64_t done_ = 0, skipped_ = 0;
};

}  // namespace

CARBON_PLUGIN(Mutagenesis, "score every SNV or single-base indel of regions of a FASTA",
              CARBON_USES_MODEL | CARBON_READS_INPUTS | CARBON_LACKS_INPUTS | CARBON_WRITES_VCF)
