#include "src/annotate/genes.hpp"

#include <algorithm>
#include <string>
#include <tuple>

#include "src/base/letters.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

// The sum in ascending order of the contig.
double sum_of(const Probabilities& probabilities, bool reverse, const Interval& segment) {
  constexpr int64_t kPiece = int64_t{1} << 16;
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

}  // namespace carbon
