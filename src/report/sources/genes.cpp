// Which features of a gene model lie in the areas, and which gene each of them belongs to.
#include "src/report/sources/genes.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/numbers.hpp"
#include "src/base/words.hpp"
#include "src/formats/contig_spelling.hpp"
#include "src/formats/gene_models.hpp"
#include "src/report/sources/input.hpp"

namespace carbon {
namespace {

constexpr size_t kMostFeatures = 500'000;  // that are kept in memory
constexpr int kDeepest = 8;                // parents above a feature; hostile ones could be their own

struct Feature {
  enum Kind { exon, coding, gene, other } kind = other;
  std::string id, parent, name, score;
  char strand = '.';
  int64_t start = 1, end = 1;
};

Feature::Kind kind_of(const std::string& type) {
  if (type == "exon" || type.ends_with("UTR") || type.ends_with("utr")) return Feature::exon;
  // GTF leaves the stop codon out of CDS; runs are those of carbon annotate.
  if (type == "CDS" || type == "stop_codon" || type == "coding_region_of_exon") return Feature::coding;
  return type.ends_with("gene") ? Feature::gene : Feature::other;
}

// The Name of an exon is its own, not that of its gene.
std::string name_of(Feature::Kind kind, const GeneFeature& feature) {
  for (const std::string_view key : {"Name", "gene", "gene_name"}) {
    if (key == "Name" && (kind == Feature::exon || kind == Feature::coding)) continue;
    if (const auto value = feature.attribute(key); value && !value->empty()) return *value;
  }
  return {};
}

class GeneReader {
 public:
  GeneReader(const std::string& path, const std::vector<GeneArea>& areas)
      : input_(path, "read_genes"), areas_(areas), features_(areas.size()) {
    for (size_t a = 0; a < areas.size(); ++a) {
      starts_[areas[a].sequence].emplace(areas[a].start, a);
      longest_ = std::max(longest_, areas[a].end - areas[a].start);
    }
  }

  GeneFile read() {
    std::string line;
    for (GeneFeature feature; next_gene_feature(input_, line, feature);) take(feature);
    for (const std::vector<Feature>& features : features_) out_.genes.push_back(genes_of(features));
    out_.other_names = other_names();
    return std::move(out_);
  }

 private:
  using Starts = std::multimap<int64_t, size_t>;  // of areas, with their numbers

  void take(const GeneFeature& feature) {
    if (out_.other.empty()) out_.other = feature.contig;
    if (feature.contig != last_) {
      sequences_.insert(last_ = feature.contig);
      const auto found = starts_.find(last_);
      here_ = found == starts_.end() ? nullptr : &found->second;
    }
    if (!here_) return;
    out_.known_sequence = true;
    const int64_t start = feature.begin + 1;
    // Areas that begin before this end before the feature.
    auto area = here_->lower_bound(start - longest_);
    for (; area != here_->end() && area->first <= feature.end; ++area) {
      const size_t a = area->second;
      if (areas_[a].end < start) continue;
      if (++count_ > kMostFeatures)
        throw Error("read_genes",
                    input_.where() + ": more than 500,000 features lie in the parts that are drawn");
      const Feature::Kind kind = kind_of(feature.type);
      features_[a].push_back({kind, feature.id(), feature.parent(), name_of(kind, feature),
                              feature.score == "." ? "" : feature.score, feature.strand, start, feature.end});
    }
  }

  // "chrM (called MT there)": of the areas' sequences, those that the file has in another spelling.
  std::string other_names() const {
    const ContigSpellings theirs({sequences_.begin(), sequences_.end()});
    std::set<std::string> words;
    for (const GeneArea& area : areas_)
      if (const std::string other = theirs.other(area.sequence); !other.empty())
        words.insert(area.sequence + " (called " + other + " there)");
    return and_list({words.begin(), words.end()});
  }

  // The feature's outermost parent in the file, or the name of the one that the file lacks.
  static std::string root_of(const Feature& feature, const std::map<std::string, const Feature*>& by_id) {
    const Feature* at = &feature;
    for (int depth = 0; depth < kDeepest && !at->parent.empty(); ++depth) {
      const auto above = by_id.find(at->parent);
      if (above == by_id.end()) return at->parent;
      at = above->second;
    }
    return is_part(*at) ? at->name : at->id.empty() ? at->name : at->id;
  }

  static bool is_part(const Feature& feature) {
    return feature.kind == Feature::exon || feature.kind == Feature::coding;
  }

  static void add_to(Gene& gene, const Feature& feature) {
    gene.start = std::min(gene.start, feature.start);
    gene.end = std::max(gene.end, feature.end);
    if (is_part(feature)) gene.exons.push_back({feature.start, feature.end});
    if (feature.kind == Feature::coding) gene.coding.push_back({feature.start, feature.end});
  }

  static std::vector<Gene> genes_of(const std::vector<Feature>& features) {
    std::map<std::string, const Feature*> by_id;
    for (const Feature& feature : features)
      if (!feature.id.empty() && !is_part(feature)) by_id.emplace(feature.id, &feature);
    struct Found {
      Gene gene;
      std::string said;    // the gene's name by its parts
      bool drawn = false;  // others, such as whole chromosomes, are no genes
    };
    std::map<std::string, Found> found;
    std::vector<Gene> out;
    for (const Feature& feature : features) {
      const std::string root = root_of(feature, by_id);
      const Gene alone = {feature.name, feature.strand, feature.start, feature.end, {}, {}, feature.score};
      if (root.empty()) {  // it belongs to nothing
        if (is_part(feature)) add_to(out.emplace_back(alone), feature);
        continue;
      }
      const auto [entry, fresh] = found.try_emplace(root);
      Found& one = entry->second;
      if (fresh) one.gene = {"", feature.strand, feature.start, feature.end, {}, {}};
      add_to(one.gene, feature);
      if (is_part(feature))
        one.said = one.said.empty() ? feature.name : one.said;
      else if (feature.id == root)
        one.gene.name = feature.name, one.gene.score = feature.score;
      one.drawn = one.drawn || feature.kind != Feature::other;
    }
    for (auto& [root, one] : found) {
      if (!one.drawn) continue;
      if (one.gene.name.empty()) one.gene.name = one.said.empty() ? root : one.said;
      merge_parts(one.gene.exons);
      merge_parts(one.gene.coding);
      out.push_back(std::move(one.gene));
    }
    std::stable_sort(out.begin(), out.end(), [](const Gene& a, const Gene& b) { return a.start < b.start; });
    return out;
  }

  TextInput input_;
  const std::vector<GeneArea>& areas_;
  std::unordered_map<std::string, Starts> starts_;  // by sequence
  int64_t longest_ = 0;                             // from the start of an area to its end
  std::vector<std::vector<Feature>> features_;      // of each area
  size_t count_ = 0;
  std::set<std::string> sequences_;
  std::string last_;              // the sequence of the last feature
  const Starts* here_ = nullptr;  // on this sequence
  GeneFile out_;
};

// Gene by gene: each has the lines of its parts behind it.
class AnnotationReader {
 public:
  AnnotationReader(const std::string& path, const std::function<void(const AnnotatedGene&)>& use)
      : input_(path, "read_annotation"), use_(use) {}

  std::vector<std::string> read() {
    for (std::string line; input_.line(line); line.clear()) {
      if (line.empty()) continue;
      line[0] == '#' ? take_comment(line) : take(line);
    }
    end_gene();
    return std::move(header_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error("read_annotation", input_.where() + ": " + what);
  }

  double share(std::string_view text) const {
    double value = 0;
    if (!parse_number(text, value) || !(value >= 0 && value <= 1))
      fail("'" + printable(text) + "' is not a probability");
    return value;
  }

  void take_comment(const std::string& line) {
    if (line.starts_with("#!carbon_")) {
      if (header_.size() == kHeaderLines) fail("the header has more than 10,000 lines of carbon");
      header_.push_back("##" + line.substr(2));
    }
    const std::vector<std::string_view> words = split(line, ' ');
    if (words[0] != "##sequence-region") return;
    end_gene();
    region_ = words.size() == 4 ? gff3_text(words[1]) : "";
    if (region_.empty() || !parse_number(words[3], length_) || length_ < 1)
      fail("this is not a line of a sequence and its length");
  }

  void take(const std::string& line) {
    GeneFeature feature;
    parse_gene_feature(line, input_.where(), feature);
    const bool run = feature.type == "coding_region_of_exon";
    if (run || feature.type == "gene") {
      end_gene();
      const double score = share(feature.score);
      const auto least = feature.attribute("min_exon_p");
      if (!run && !least) fail("the gene has no min_exon_p, the least probability of its exons");
      gene_ = {.sequence = feature.contig,
               .length = feature.contig == region_ ? length_ : 0,
               .gene = {feature.id(), feature.strand, feature.begin + 1, feature.end, {}, {}},
               .run = run,
               .partial = feature.attribute("partial") == "true",
               .score = score,
               .least = run ? score : share(*least)};
      open_ = true;
      if (gene_.length > 0 && feature.end > gene_.length) fail("the feature ends after its sequence");
      if (!run) return;
    } else if (feature.type != "CDS") {
      return;
    }
    if (!open_ || feature.contig != gene_.sequence || feature.begin + 1 < gene_.gene.start ||
        feature.end > gene_.gene.end)
      fail("a coding part does not lie in the gene before it");
    if (gene_.gene.coding.size() == kMostFeatures) fail("a gene has more than 500,000 coding parts");
    gene_.gene.coding.push_back({feature.begin + 1, feature.end});
  }

  void end_gene() {
    if (!open_) return;
    if (gene_.gene.coding.empty()) fail("the gene before this line has no coding part");
    gene_.gene.exons = gene_.gene.coding;
    use_(gene_);
    open_ = false;
  }

  TextInput input_;
  const std::function<void(const AnnotatedGene&)>& use_;
  std::vector<std::string> header_;
  std::string region_;
  int64_t length_ = 0;
  AnnotatedGene gene_;
  bool open_ = false;  // whether there is one whose parts may follow
};

}  // namespace

void merge_parts(std::vector<GenePart>& parts) {
  std::sort(parts.begin(), parts.end(),
            [](const GenePart& a, const GenePart& b) { return a.start < b.start; });
  std::vector<GenePart> kept;
  for (const GenePart& part : parts) {
    if (!kept.empty() && part.start <= kept.back().end + 1)
      kept.back().end = std::max(kept.back().end, part.end);
    else
      kept.push_back(part);
  }
  parts = std::move(kept);
}

std::string no_sequence_words(const GeneFile& file, const std::string& mine) {
  if (!file.other_names.empty()) return "such as " + file.other_names + "; " + std::string(kRenameContigs);
  return "such as '" + mine + "'; " +
         (file.other.empty() ? "it has no feature" : "its first feature is on '" + file.other + "'");
}

GeneFile read_genes(const std::string& path, const std::vector<GeneArea>& areas) {
  return GeneReader(path, areas).read();
}

int64_t AnnotatedGene::coding_bases() const {
  int64_t bases = 0;
  for (const GenePart& part : gene.coding) bases += part.end - part.start + 1;
  return bases;
}

std::vector<std::string> read_annotation(const std::string& path,
                                         const std::function<void(const AnnotatedGene&)>& use) {
  return AnnotationReader(path, use).read();
}

}  // namespace carbon
