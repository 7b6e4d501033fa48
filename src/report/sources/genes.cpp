// Which features of a GFF3 lie in the areas, and which gene each of them belongs to.
#include "src/report/sources/genes.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "src/base/json.hpp"
#include "src/formats/gff3.hpp"
#include "src/report/sources/table.hpp"

namespace carbon {
namespace {

constexpr size_t kMostFeatures = 500'000;  // that are kept in memory
constexpr int kDeepest = 8;                // parents above a feature; hostile ones could be their own

struct Feature {
  enum Kind { exon, coding, gene, other } kind = other;
  std::string id, parent, name;
  char strand = '.';
  int64_t start = 1, end = 1;
};

// An empty text for an attribute that is not there.
std::string_view attribute(std::string_view attributes, std::string_view key) {
  return gff3_attribute(attributes, key).value_or(std::string_view());
}

Feature::Kind kind_of(std::string_view type) {
  if (type == "exon" || type.ends_with("UTR")) return Feature::exon;
  if (type == "CDS") return Feature::coding;
  return type.ends_with("gene") ? Feature::gene : Feature::other;
}

// The Name of an exon is its own, not that of its gene.
std::string name_of(Feature::Kind kind, std::string_view attributes) {
  for (const std::string_view key : {"Name", "gene", "gene_name"})
    if (key == "Name" && (kind == Feature::exon || kind == Feature::coding))
      continue;
    else if (const std::string_view value = attribute(attributes, key); !value.empty())
      return gff3_text(value);
  return {};
}

class GeneReader {
 public:
  GeneReader(const std::string& path, const std::vector<GeneArea>& areas)
      : table_(path, "read_genes"), areas_(areas), features_(areas.size()) {}

  GeneFile read() {
    while (table_.next() && !ends_gff3_features(table_.line())) {
      const std::string& line = table_.line();
      if (line.empty() || line[0] == '#' || is_gff3_header(line)) continue;
      take_line();
    }
    for (const std::vector<Feature>& features : features_) out_.genes.push_back(genes_of(features));
    return std::move(out_);
  }

 private:
  void take_line() {
    if (table_.size() != 9)
      table_.fail("a line of GFF3 has nine columns between tabs: '" + printable(table_.line()) + "'");
    const std::string sequence = gff3_text(table_[0]);
    if (out_.other.empty()) out_.other = sequence;
    const int64_t start = table_.position(3), end = table_.position(4);
    if (start > end) table_.fail("the start lies behind the end");
    if (table_[8] != "." && table_[8].find('=') == std::string_view::npos &&
        table_[8].find(" \"") != std::string_view::npos)
      table_.fail("this is GTF; exons are read from GFF3, whose attributes are written as ID=...;Parent=...");
    for (size_t a = 0; a < areas_.size(); ++a) {
      if (areas_[a].sequence != sequence) continue;
      out_.known_sequence = true;
      if (start > areas_[a].end || end < areas_[a].start) continue;
      if (++count_ > kMostFeatures) table_.fail("more than 500,000 features lie in the parts that are drawn");
      features_[a].push_back(feature(start, end));
    }
  }

  Feature feature(int64_t start, int64_t end) const {
    const std::string_view parents = attribute(table_[8], "Parent");
    const Feature::Kind kind = kind_of(table_[2]);
    return {kind,
            gff3_text(attribute(table_[8], "ID")),
            gff3_text(parents.substr(0, parents.find(','))),
            name_of(kind, table_[8]),
            table_[6].size() == 1 ? table_[6][0] : '.',
            start,
            end};
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

  static void merge(std::vector<GenePart>& parts) {
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
      const Gene alone = {feature.name, feature.strand, feature.start, feature.end, {}, {}};
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
        one.gene.name = feature.name;
      one.drawn = one.drawn || feature.kind != Feature::other;
    }
    for (auto& [root, one] : found) {
      if (!one.drawn) continue;
      if (one.gene.name.empty()) one.gene.name = one.said.empty() ? root : one.said;
      merge(one.gene.exons);
      merge(one.gene.coding);
      out.push_back(std::move(one.gene));
    }
    std::stable_sort(out.begin(), out.end(), [](const Gene& a, const Gene& b) { return a.start < b.start; });
    return out;
  }

  TableReader table_;
  const std::vector<GeneArea>& areas_;
  std::vector<std::vector<Feature>> features_;
  size_t count_ = 0;
  GeneFile out_;
};

}  // namespace

std::string no_sequence_words(const GeneFile& file, const std::string& mine) {
  return "such as '" + mine + "'; " +
         (file.other.empty() ? "it has no feature" : "its first feature is on '" + file.other + "'");
}

GeneFile read_genes(const std::string& path, const std::vector<GeneArea>& areas) {
  return GeneReader(path, areas).read();
}

}  // namespace carbon
