// GFF3: which features lie in the areas, and which gene each of them belongs to.

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string_view>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/files/text_input.hpp"
#include "src/formats/bed.hpp"
#include "src/report/sources/genes.hpp"

namespace carbon {
namespace {

constexpr const char* kFunction = "read_genes";
constexpr int64_t kLastPosition = int64_t{1}
                                  << 40;   // no sequence is as long, and sums stay far from overflow
constexpr size_t kMostFeatures = 500'000;  // that are kept in memory
constexpr int kDeepest = 8;                // parents above a feature; hostile ones could be their own

struct Feature {
  enum Kind { exon, coding, gene, other } kind = other;
  std::string id, parent, name;
  char strand = '.';
  int64_t start = 1, end = 1;
};

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// %XX is a byte; other text stays as it is.
std::string unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
    if (text[i] == '%' && high >= 0 && low >= 0) {
      out += static_cast<char>(16 * high + low);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

// The value of an attribute, as it is written; nothing if it is not there.
std::string_view attribute(std::string_view attributes, std::string_view key) {
  while (!attributes.empty()) {
    const size_t end = std::min(attributes.find(';'), attributes.size());
    std::string_view one = attributes.substr(0, end);
    attributes.remove_prefix(std::min(end + 1, attributes.size()));
    one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
    if (one.size() > key.size() && one.starts_with(key) && one[key.size()] == '=')
      return one.substr(key.size() + 1);
  }
  return {};
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
      return unescape(value);
  return {};
}

class GeneReader {
 public:
  GeneReader(const std::string& path, const std::vector<GeneArea>& areas)
      : input_(path, kFunction), path_(path), areas_(areas), features_(areas.size()) {}

  GeneFile read() {
    while (input_.line(line_)) {
      if (ends_gff3_features(line_)) break;
      if (line_.empty() || line_[0] == '#' || is_gff3_header(line_)) continue;
      take_line();
    }
    for (const std::vector<Feature>& features : features_) out_.genes.push_back(genes_of(features));
    return std::move(out_);
  }

 private:
  using Columns = std::array<std::string_view, 9>;

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(kFunction, input_.where() + ": " + what);
  }

  Columns split() const {
    Columns out;
    std::string_view rest = line_;
    for (size_t i = 0; i < out.size(); ++i) {
      const size_t tab = rest.find('\t');
      if ((tab == std::string_view::npos) != (i + 1 == out.size()))
        fail("a line of GFF3 has nine columns between tabs: '" + printable(line_) + "'");
      out[i] = rest.substr(0, tab);
      if (tab != std::string_view::npos) rest.remove_prefix(tab + 1);
    }
    return out;
  }

  int64_t position(std::string_view text) const {
    int64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || end != text.data() + text.size() || value < 1 || value > kLastPosition)
      fail("'" + printable(text) + "' is not a position; positions are whole numbers from 1");
    return value;
  }

  void take_line() {
    const Columns columns = split();
    const std::string sequence = unescape(columns[0]);
    if (out_.other.empty()) out_.other = sequence;
    const int64_t start = position(columns[3]), end = position(columns[4]);
    if (start > end) fail("the start lies behind the end");
    if (columns[8] != "." && columns[8].find('=') == std::string_view::npos &&
        columns[8].find(" \"") != std::string_view::npos)
      fail("this is GTF; exons are read from GFF3, whose attributes are written as ID=...;Parent=...");
    for (size_t a = 0; a < areas_.size(); ++a) {
      if (areas_[a].sequence != sequence) continue;
      out_.known_sequence = true;
      if (start > areas_[a].end || end < areas_[a].start) continue;
      if (++count_ > kMostFeatures) fail("more than 500,000 features lie in the parts that are drawn");
      add(features_[a], columns, start, end);
    }
  }

  static void add(std::vector<Feature>& features, const Columns& columns, int64_t start, int64_t end) {
    const std::string_view parents = attribute(columns[8], "Parent");
    const char strand = columns[6].size() == 1 ? columns[6][0] : '.';
    const Feature::Kind kind = kind_of(columns[2]);
    features.push_back({kind, unescape(attribute(columns[8], "ID")),
                        unescape(parents.substr(0, parents.find(','))), name_of(kind, columns[8]), strand,
                        start, end});
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

  TextInput input_;
  const std::string path_;
  const std::vector<GeneArea>& areas_;
  std::vector<std::vector<Feature>> features_;
  std::string line_;
  size_t count_ = 0;
  GeneFile out_;
};

}  // namespace

GeneFile read_genes(const std::string& path, const std::vector<GeneArea>& areas) {
  return GeneReader(path, areas).read();
}

}  // namespace carbon
