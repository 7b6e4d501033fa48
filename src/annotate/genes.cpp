#include "src/annotate/genes.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <tuple>

#include "src/base/letters.hpp"
#include "src/base/numbers.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

// Bases that are read at a time.
constexpr int64_t kPiece = int64_t{1} << 16;

// The sum in ascending order of the contig.
double sum_of(const Probabilities& probabilities, bool reverse, const Interval& segment) {
  double sum = 0;
  std::vector<float> values;
  for (int64_t begin = segment.begin; begin < segment.end; begin += kPiece) {
    values.resize(static_cast<size_t>(std::min(kPiece, segment.end - begin)));
    probabilities.read(reverse, begin, values);
    for (const float value : values) sum += value;
  }
  return sum;
}

void add_means(GeneCall& call, const Probabilities& probabilities) {
  double all = 0;
  for (const Interval& segment : call.segments) {
    const double sum = sum_of(probabilities, call.reverse, segment);
    call.means.push_back(sum / static_cast<double>(segment.size()));
    all += sum;
  }
  call.mean = all / static_cast<double>(call.coding_bases());
  call.least = *std::min_element(call.means.begin(), call.means.end());
}

void put_in_order(std::vector<GeneCall>& calls) {
  std::stable_sort(calls.begin(), calls.end(), [](const GeneCall& a, const GeneCall& b) {
    return std::tuple(a.begin(), a.end(), a.reverse) < std::tuple(b.begin(), b.end(), b.reverse);
  });
}

GeneCall call_of(const DecodedGene& gene, bool reverse, int64_t bases) {
  GeneCall call{.reverse = reverse,
                .segments = gene.segments,
                .has_start = gene.has_start,
                .has_stop = gene.has_stop,
                .phase = gene.phase};
  if (reverse) {
    std::reverse(call.segments.begin(), call.segments.end());
    for (Interval& segment : call.segments) segment = {bases - segment.end, bases - segment.begin};
  }
  return call;
}

}  // namespace

int64_t GeneCall::coding_bases() const {
  int64_t bases = 0;
  for (const Interval& segment : segments) bases += segment.size();
  return bases;
}

std::string GeneCall::coding_sequence(std::string_view contig) const {
  std::string bases;
  for (const Interval& segment : segments)
    bases += contig.substr(static_cast<size_t>(segment.begin), static_cast<size_t>(segment.size()));
  std::transform(bases.begin(), bases.end(), bases.begin(), capital_letter);
  return reverse ? reverse_complement(bases) : bases;
}

std::vector<GeneCall> call_genes(std::string_view contig, const Probabilities& probabilities,
                                 const GeneRules& rules, const GeneFilter& filter) {
  const std::vector<Interval> gaps = gaps_of(contig);
  std::vector<GeneCall> calls;
  for (const bool reverse : {false, true}) {
    const CodingStrand strand = {contig, gaps, reverse, [&](int64_t begin, std::span<float> values) {
                                   probabilities.read(reverse, begin, values);
                                 }};
    for (const DecodedGene& gene : decode_strand(strand, rules).genes) {
      GeneCall call = call_of(gene, reverse, static_cast<int64_t>(contig.size()));
      if (call.coding_bases() < filter.min_bases) continue;
      add_means(call, probabilities);
      if (call.mean >= filter.min_mean) calls.push_back(std::move(call));
    }
  }
  put_in_order(calls);
  return calls;
}

std::vector<GeneCall> call_runs(const Probabilities& probabilities, const RunRules& rules) {
  std::vector<GeneCall> calls;
  for (const bool reverse : {false, true}) {
    const auto read = [&](int64_t begin, std::span<float> values) {
      probabilities.read(reverse, begin, values);
    };
    for (const Interval& run : coding_runs(probabilities.bases(), read, rules)) {
      calls.push_back({.reverse = reverse, .segments = {run}});
      add_means(calls.back(), probabilities);
    }
  }
  put_in_order(calls);
  return calls;
}

namespace {

using Read = std::function<void(int64_t begin, std::span<float> values)>;

// Runs that lie in memory before those are united that belong together.
constexpr size_t kMostApart = size_t{1} << 16;

void find_raw_runs(int64_t bases, const Read& read, const std::function<void(const Interval&)>& found) {
  std::vector<float> values;
  bool coding = false;
  int64_t first = 0;
  for (int64_t begin = 0; begin < bases; begin += kPiece) {
    values.resize(static_cast<size_t>(std::min(kPiece, bases - begin)));
    read(begin, values);
    for (size_t i = 0; i < values.size(); ++i) {
      if ((values[i] > 0.5f) == coding) continue;
      coding = !coding;
      const int64_t at = begin + static_cast<int64_t>(i);
      if (coding)
        first = at;
      else
        found({first, at});
    }
  }
  if (coding) found({first, bases});
}

/// Where an end of a run goes. Positions and probabilities are those around the run.
class EndSearch {
 public:
  EndSearch(int64_t bases, const Read& read, const RunRules& rules)
      : bases_(bases), read_(read), rules_(rules) {}

  /// Runs whose ends would cross vanish.
  Interval moved(const Interval& run) {
    const int64_t first = new_first(run), last = new_last(run);
    return {first, std::max(first, last + 1)};
  }

 private:
  struct Step {
    int64_t at;
    float drop = 0;
  };

  // The first base of the run, after which probabilities rise from the base before.
  int64_t new_first(const Interval& run) {
    const int64_t first = run.begin, last = run.end - 1;
    const int64_t lowest = std::max<int64_t>(1, first - rules_.outward);
    const int64_t highest = std::min(last, first + rules_.inward);
    load(lowest - 1, highest + 1);
    const float own = at(first);
    Step outward{first}, inward{first};
    if (rules_.outward > 0) search(outward, own, first, lowest, -1, -1);
    if (rules_.inward > 0) search(inward, own, highest, std::max<int64_t>(1, first), -1, -1);
    return inward.drop > outward.drop ? inward.at : outward.at;
  }

  // The last base of the run, after which they fall.
  int64_t new_last(const Interval& run) {
    const int64_t first = run.begin, last = run.end - 1;
    const int64_t highest = std::min(bases_ - 1, last + rules_.outward) - 1;
    const int64_t lowest = std::max(first, last - rules_.inward);
    load(lowest, std::max(highest, last) + 2);
    const float own = at(last);
    Step outward{last}, inward{last};
    if (rules_.outward > 0) search(outward, own, last, highest, 1, 1);
    if (rules_.inward > 0) search(inward, own, lowest, last - 1, 1, 1);
    return inward.drop > outward.drop ? inward.at : outward.at;
  }

  // The largest drop from a base to its neighbour, over the bases from `from` to `to`.
  void search(Step& best, float own, int64_t from, int64_t to, int64_t step, int64_t neighbour) const {
    const double low = rules_.stop_ratio * static_cast<double>(own);
    int64_t run = 0;
    for (int64_t base = from; step > 0 ? base <= to : base >= to; base += step) {
      run = static_cast<double>(at(base)) <= low ? run + 1 : 0;
      if (rules_.stop_run > 0 && run == rules_.stop_run) return;
      const float drop = at(base) - at(base + neighbour);
      if (drop > best.drop) best = {base, drop};
    }
  }

  void load(int64_t begin, int64_t end) {
    begin_ = std::max<int64_t>(0, begin);
    values_.resize(static_cast<size_t>(std::min(end, bases_) - begin_));
    read_(begin_, values_);
  }
  float at(int64_t base) const { return values_[static_cast<size_t>(base - begin_)]; }

  const int64_t bases_;
  const Read& read_;
  const RunRules& rules_;
  int64_t begin_ = 0;
  std::vector<float> values_;
};

// Sorts, and unites runs that overlap or are nearer than `gap` bases.
void unite(std::vector<Interval>& runs, int64_t gap) {
  std::sort(runs.begin(), runs.end(), [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  size_t kept = 0;
  for (const Interval& run : runs) {
    if (kept > 0 && run.begin - runs[kept - 1].end < std::max<int64_t>(gap, 1))
      runs[kept - 1].end = std::max(runs[kept - 1].end, run.end);
    else
      runs[kept++] = run;
  }
  runs.resize(kept);
}

}  // namespace

std::vector<Interval> coding_runs(int64_t bases, const Read& read, const RunRules& rules) {
  std::vector<Interval> runs;
  size_t most = kMostApart;
  EndSearch search(bases, read, rules);
  const auto is_short = [&](const Interval& run) { return run.size() < rules.min_run; };
  // A contig may have a run every few bases before they are united and short ones are dropped. Those found so
  // far may be united at any time, because later runs then join them as they would have joined their parts;
  // and short ones may be dropped that no later run reaches.
  find_raw_runs(bases, read, [&](const Interval& raw) {
    const Interval run = search.moved(raw);
    if (run.size() == 0) return;
    runs.push_back(run);
    if (runs.size() < most) return;
    unite(runs, rules.min_gap);
    const int64_t reached = raw.end - rules.outward - std::max<int64_t>(rules.min_gap, 1);
    std::erase_if(runs, [&](const Interval& early) { return early.end <= reached && is_short(early); });
    most = std::max(kMostApart, 2 * runs.size());
  });
  unite(runs, rules.min_gap);
  std::erase_if(runs, is_short);
  return runs;
}

namespace {

constexpr size_t kNumberDigits = 6, kScoreDigits = 4, kLineLetters = 60;

std::string numbered(std::string_view name, size_t number) {
  const std::string digits = std::to_string(number);
  const size_t zeros = digits.size() < kNumberDigits ? kNumberDigits - digits.size() : 0;
  return std::string(name) + "_" + std::string(zeros, '0') + digits;
}

/// The columns of one contig and one strand.
class Lines {
 public:
  Lines(std::string_view name, bool reverse, std::string& text)
      : name_(gff3_name(name)), strand_(reverse ? '-' : '+'), text_(text) {}

  void add(const char* type, const Interval& place, double score, char phase, const std::string& attributes) {
    text_ += name_ + "\tcarbon\t" + type + "\t" + std::to_string(place.begin + 1) + "\t" +
             std::to_string(place.end) + "\t";
    append_general(score, kScoreDigits, text_);
    text_ += {'\t', strand_, '\t', phase, '\t'};
    text_ += attributes + "\n";
  }

 private:
  std::string name_;
  char strand_;
  std::string& text_;
};

std::string partial_attributes(const GeneCall& gene) {
  if (gene.has_start && gene.has_stop) return "";
  const bool low = gene.reverse ? !gene.has_stop : !gene.has_start;
  const bool high = gene.reverse ? !gene.has_start : !gene.has_stop;
  std::string text = ";partial=true";
  if (low) text += ";start_range=.," + std::to_string(gene.begin() + 1);
  if (high) text += ";end_range=" + std::to_string(gene.end()) + ",.";
  return text;
}

// The bases of each segment before its first whole codon, in the order of the contig.
std::vector<int64_t> phases(const GeneCall& gene) {
  std::vector<int64_t> phases;
  int64_t phase = gene.phase;
  const auto add = [&](const Interval& segment) {
    phases.push_back(phase);
    phase = ((phase - segment.size()) % 3 + 3) % 3;
  };
  if (!gene.reverse) {
    std::for_each(gene.segments.begin(), gene.segments.end(), add);
  } else {
    std::for_each(gene.segments.rbegin(), gene.segments.rend(), add);
    std::reverse(phases.begin(), phases.end());
  }
  return phases;
}

void append_fasta(const std::string& name, std::string_view letters, std::string& text) {
  text += ">" + name + "\n";
  for (size_t begin = 0; begin < letters.size(); begin += kLineLetters) {
    text += letters.substr(begin, kLineLetters);
    text += '\n';
  }
}

}  // namespace

std::string gff3_name(std::string_view name) {
  constexpr std::string_view kAlsoAllowed = ".:^*$@!+_?|-";
  std::string text;
  for (const char c : name) {
    if (is_letter_or_digit(c) || kAlsoAllowed.find(c) != std::string_view::npos) {
      text += c;
      continue;
    }
    std::string hex = hex_text(static_cast<unsigned char>(c), 2);
    std::transform(hex.begin(), hex.end(), hex.begin(), capital_letter);
    text += "%" + hex;
  }
  return text;
}

std::string gff3_region(std::string_view name, int64_t bases) {
  return "##sequence-region " + gff3_name(name) + " 1 " + std::to_string(bases) + "\n";
}

void append_gene(const GeneCall& gene, std::string_view name, size_t number, std::string& text) {
  const std::string id = numbered(gff3_name(name), number), transcript = "transcript:" + id + ".1";
  const std::string partial = partial_attributes(gene);
  const Interval whole = {gene.begin(), gene.end()};
  Lines lines(name, gene.reverse, text);
  std::string attributes = "ID=gene:" + id +
                           ";biotype=protein_coding;status=" + (partial.empty() ? "complete" : "partial") +
                           ";min_exon_p=";
  append_general(gene.least, kScoreDigits, attributes);
  lines.add("gene", whole, gene.mean, '.', attributes + partial);
  lines.add("mRNA", whole, gene.mean, '.',
            "ID=" + transcript + ";Parent=gene:" + id + ";biotype=protein_coding" + partial);
  const std::vector<int64_t> phase = phases(gene);
  for (size_t i = 0; i < gene.segments.size(); ++i) {
    lines.add("exon", gene.segments[i], gene.means[i], '.', "Parent=" + transcript);
    lines.add("CDS", gene.segments[i], gene.means[i], static_cast<char>('0' + phase[i]),
              "ID=CDS:" + id + ".1;Parent=" + transcript + partial);
  }
  text += "###\n";
}

void append_run(const GeneCall& run, std::string_view name, size_t number, std::string& text) {
  Lines(name, run.reverse, text)
      .add("coding_region_of_exon", run.segments.front(), run.mean, '.',
           "ID=run:" + numbered(gff3_name(name), number));
}

void append_coding_sequence(const GeneCall& gene, std::string_view name, size_t number,
                            std::string_view contig, std::string& text) {
  append_fasta(numbered(name, number) + ".1", gene.coding_sequence(contig), text);
}

void append_protein(const GeneCall& gene, std::string_view name, size_t number, std::string_view contig,
                    const GeneticCode& code, std::string& text) {
  const std::string bases = gene.coding_sequence(contig);
  const size_t end = bases.size() - (gene.has_stop ? 3 : 0);
  std::string protein;
  for (auto at = static_cast<size_t>(gene.phase); at + 3 <= end; at += 3) {
    const Codon codon = {letter_number(bases[at]), letter_number(bases[at + 1]),
                         letter_number(bases[at + 2])};
    protein += gene.has_start && at == 0 ? 'M' : code.amino_acid(codon);
  }
  append_fasta(numbered(name, number) + ".1", protein, text);
}

}  // namespace carbon
