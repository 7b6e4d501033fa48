// +genes: how well predicted genes agree with those of an annotation, by bases, intervals, exons and genes.
//
// Intervals are what the coding regions of a strand cover together, as the published script of the GENERanno
// models compares them.
#include <array>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "plugins/support.hpp"
#include "src/formats/contig_spelling.hpp"

namespace {

using namespace carbon_plugins;

using Interval = std::pair<int64_t, int64_t>;  // 0-based, half-open
using Intervals = std::vector<Interval>;
using Strand = std::pair<std::string, char>;  // of a contig
using Chain = std::pair<Strand, Intervals>;   // of a transcript

// Sorts, and unites what overlaps or touches.
void unite(Intervals& intervals) {
  std::sort(intervals.begin(), intervals.end());
  size_t kept = 0;
  for (const Interval& interval : intervals) {
    if (kept > 0 && interval.first <= intervals[kept - 1].second)
      intervals[kept - 1].second = std::max(intervals[kept - 1].second, interval.second);
    else
      intervals[kept++] = interval;
  }
  intervals.resize(kept);
}

/// What of a file is compared.
struct Annotation {
  std::map<Strand, Intervals> covered;           // by coding regions, on each strand
  std::map<std::string, std::set<Chain>> genes;  // by their names
  std::set<Chain> chains;                        // of all transcripts
  std::set<std::pair<Strand, Interval>> exons;
  bool has_runs = false;  // coding regions that belong to no transcript

  std::vector<std::string> contigs() const {
    std::vector<std::string> names;
    for (const auto& [strand, intervals] : covered) names.push_back(strand.first);
    return names;
  }
};

/// Reads an annotation through the program's reader of gene models, which gives one attribute at a time.
class AnnotationReader {
 public:
  AnnotationReader(carbon_run* run, const char* path) : run_(run), path_(path) {}

  Annotation read() {
    Annotation annotation;
    if (!has_features()) return annotation;
    const std::vector<Feature> regions = features(kCoding, "Parent,transcript_id");
    const std::vector<Feature> genes = features(kCoding, "gene_id");
    bool by_parent = false;
    for (size_t i = 0; i < regions.size(); ++i) {
      const Feature& region = regions[i];
      annotation.covered[region.strand].push_back(region.place);
      if (region.name.empty())
        annotation.has_runs = true;
      else
        by_parent |= genes[i].name.empty();
    }
    if (by_parent) read_parents();
    // Some files use a name on several contigs, such as that of a gene of both sex chromosomes.
    std::map<std::pair<std::string, Strand>, Intervals> transcripts;
    std::map<std::string, std::string> gene_of;
    for (size_t i = 0; i < regions.size(); ++i) {
      const Feature& region = regions[i];
      if (region.name.empty()) continue;
      for (const std::string& transcript : transcripts_of(region.name)) {
        transcripts[{transcript, region.strand}].push_back(region.place);
        gene_of[transcript] = genes[i].name.empty() ? parent_of(transcript) : genes[i].name;
      }
    }
    for (auto& [key, segments] : transcripts) {
      const auto& [name, strand] = key;
      unite(segments);  // with a stop codon that stands on a line of its own
      for (const Interval& exon : segments) annotation.exons.insert({strand, exon});
      annotation.chains.insert({strand, segments});
      annotation.genes[gene_of[name]].insert({strand, segments});
    }
    for (auto& [strand, intervals] : annotation.covered) unite(intervals);
    return annotation;
  }

 private:
  static constexpr const char* kCoding = "CDS,stop_codon,coding_region_of_exon";

  struct Feature {
    Strand strand;
    Interval place;
    std::string name;
  };

  // A file without features is an annotation without genes.
  bool has_features() {
    carbon_text* text = checked(run_->api->text_open(run_, path_.c_str()));
    const char* line = nullptr;
    size_t length = 0;
    while (checked(run_->api->text_line(run_, text, &line, &length)) == 1) {
      const std::string_view words(line, length);
      if (words.starts_with("##FASTA") || words.starts_with('>')) return false;
      if (!words.empty() && words[0] != '#') return true;
    }
    return false;
  }

  std::vector<Feature> features(const char* types, const char* attributes) {
    const carbon_named_region* found = nullptr;
    size_t count = 0;
    checked(run_->api->regions_read(run_, path_.c_str(), types, attributes, &found, &count));
    std::vector<Feature> features;
    for (const auto& [where, name, strand] : std::span(found, count))
      features.push_back({{where.contig, strand}, {where.begin, where.end}, name});
    return features;
  }

  void read_parents() {
    const std::vector<Feature> ids = features(nullptr, "ID"), parents = features(nullptr, "Parent");
    for (size_t i = 0; i < ids.size(); ++i)
      if (!ids[i].name.empty()) parents_.emplace(ids[i].name, parents[i].name);
  }
  // A feature may belong to several, with commas between them.
  std::vector<std::string> transcripts_of(const std::string& parents) const {
    if (parents_.contains(parents)) return {parents};
    return split(parents, ',');
  }
  // The gene of a transcript; the transcript itself, if nothing is said of it.
  std::string parent_of(const std::string& transcript) const {
    const auto found = parents_.find(transcript);
    return found == parents_.end() || found->second.empty() ? transcript : found->second;
  }

  carbon_run* run_;
  std::string path_;
  std::map<std::string, std::string> parents_;
};

/// How many of the predicted things are right, and how many of the true ones are found.
struct Measure {
  std::string name;
  uint64_t predicted = 0, right = 0, truth = 0, found = 0;

  double precision() const { return static_cast<double>(right) / static_cast<double>(predicted); }
  double recall() const { return static_cast<double>(found) / static_cast<double>(truth); }
  double f1() const {
    const double sum = precision() + recall();
    return sum == 0 ? 0 : 2 * precision() * recall() / sum;
  }
};

using Places = std::set<std::pair<Strand, int64_t>>;

/// The intervals of an annotation with their ends.
struct IntervalSet {
  std::set<std::pair<Strand, Interval>> all;
  Places starts, ends;
  uint64_t bases = 0;

  explicit IntervalSet(const Annotation& annotation) {
    for (const auto& [strand, intervals] : annotation.covered)
      for (const Interval& interval : intervals) {
        all.insert({strand, interval});
        starts.insert({strand, interval.first});
        ends.insert({strand, interval.second});
        bases += static_cast<uint64_t>(interval.second - interval.first);
      }
  }
  uint64_t with_ends_of(const IntervalSet& other) const {
    uint64_t count = 0;
    for (const auto& [strand, interval] : all)
      count +=
          other.starts.contains({strand, interval.first}) && other.ends.contains({strand, interval.second});
    return count;
  }
};

template <class T>
uint64_t common(const std::set<T>& a, const std::set<T>& b) {
  uint64_t count = 0;
  for (const T& item : a) count += b.contains(item);
  return count;
}

uint64_t common_bases(const Annotation& a, const Annotation& b) {
  uint64_t bases = 0;
  for (const auto& [strand, intervals] : a.covered) {
    const auto others = b.covered.find(strand);
    if (others == b.covered.end()) continue;
    auto other = others->second.begin();
    for (const auto& [begin, end] : intervals) {
      while (other != others->second.end() && other->second <= begin) ++other;
      for (auto at = other; at != others->second.end() && at->first < end; ++at)
        bases += static_cast<uint64_t>(std::min(end, at->second) - std::max(begin, at->first));
    }
  }
  return bases;
}

/// Of how many genes a transcript has a chain that is among `chains`.
uint64_t genes_with(const Annotation& annotation, const std::set<Chain>& chains) {
  uint64_t count = 0;
  for (const auto& [name, own] : annotation.genes) count += common(own, chains) > 0;
  return count;
}

template <class T>
Measure of_sets(const std::string& name, const std::set<T>& predicted, const std::set<T>& truth) {
  const uint64_t both = common(predicted, truth);
  return {name, predicted.size(), both, truth.size(), both};
}

std::vector<Measure> measures_of(const Annotation& predicted, const Annotation& truth) {
  const IntervalSet ours(predicted), theirs(truth);
  const uint64_t bases = common_bases(predicted, truth);
  std::vector<Measure> measures = {{"bases", ours.bases, bases, theirs.bases, bases},
                                   of_sets("starts", ours.starts, theirs.starts),
                                   of_sets("ends", ours.ends, theirs.ends),
                                   {"boundaries", ours.all.size(), ours.with_ends_of(theirs),
                                    theirs.all.size(), theirs.with_ends_of(ours)},
                                   of_sets("intervals", ours.all, theirs.all)};
  if (predicted.has_runs) return measures;
  measures.push_back(of_sets("exons", predicted.exons, truth.exons));
  measures.push_back({"genes", predicted.genes.size(), genes_with(predicted, truth.chains),
                      truth.genes.size(), genes_with(truth, predicted.chains)});
  return measures;
}

class Genes {
 public:
  explicit Genes(carbon_run* run) : run_(run) {}

  void declare(Options& options) {
    options.text("truth", "FILE", "the annotation to compare with, GFF3 or GTF; required", truth_path_);
    options.text("json", "FILE", "write the result as JSON as well", json_path_);
    options.example("genes of carbon annotate beside those of RefSeq",
                    "carbon +genes genes.gff3 -- --truth refseq.gff3.gz");
    options.example("runs of coding bases beside a GTF, as JSON as well",
                    "carbon +genes -o runs.tsv runs.gff3 -- --truth ref.gtf --json runs.json");
  }

  void start() {
    if (truth_path_.empty()) fail("--truth is missing: name the GFF3 or GTF of the genes to compare with");
    input_ = only_input(run_);
    results_.open(run_, json_path_);
  }

  void finish() {
    const Annotation predicted = AnnotationReader(run_, input_).read();
    const Annotation truth = AnnotationReader(run_, truth_path_.c_str()).read();
    if (truth.covered.empty())
      fail(truth_path_ + ": there is no coding region in this file, so there is nothing to compare with");
    warn_of_contigs(predicted, truth);
    measures_ = measures_of(predicted, truth);
    results_.write(table(), [&] { return json(); });
  }

 private:
  void warn_of_contigs(const Annotation& predicted, const Annotation& truth) const {
    const std::vector<std::string> names = truth.contigs();
    const carbon::ContigSpellings spellings(names);
    for (const std::string& contig : predicted.contigs())
      if (const std::string other = spellings.other(contig); !other.empty()) {
        const std::string text = "the genes on " + contig + " are compared with nothing: " + truth_path_ +
                                 " calls it " + other + "; rename it in one of the files";
        return run_->api->message(run_, CARBON_WARNING, text.c_str());
      }
  }

  std::string table() const {
    std::string out = "#measure\tprecision\trecall\tf1\tpredicted\tright\ttrue\tfound\n";
    for (const Measure& measure : measures_) {
      out += measure.name;
      for (const double share : {measure.precision(), measure.recall(), measure.f1()})
        out += "\t" + to_text(share, 4);
      for (const uint64_t count : {measure.predicted, measure.right, measure.truth, measure.found})
        out += "\t" + std::to_string(count);
      out += "\n";
    }
    return out;
  }

  std::string json() const {
    Json out;
    out.open('{').name("truth").value(truth_path_).name("measures").open('[');
    for (const Measure& measure : measures_) {
      out.open('{').name("measure").value(measure.name);
      out.name("precision").value(measure.precision()).name("recall").value(measure.recall());
      out.name("f1").value(measure.f1()).name("predicted").value(measure.predicted);
      out.name("right").value(measure.right).name("true").value(measure.truth);
      out.name("found").value(measure.found).close('}');
    }
    return out.close(']').close('}').text();
  }

  carbon_run* run_;
  std::string truth_path_, json_path_;
  const char* input_ = nullptr;
  Results results_;
  std::vector<Measure> measures_;
};

}  // namespace

CARBON_PLUGIN(Genes, "precision and recall of predicted genes by bases, exons and genes", CARBON_READS_INPUTS)
