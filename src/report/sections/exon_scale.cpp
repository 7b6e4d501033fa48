#include "src/report/sections/exon_scale.hpp"

#include <algorithm>

#include "src/base/words.hpp"

namespace carbon {
namespace {

constexpr double kIntrons = 0.3;  // of the scale that is left for exons, what all introns together take

// The exons with their splice sites, within the gene; those that then touch are one.
std::vector<GenePart> kept_parts(const Gene& gene) {
  std::vector<GenePart> out;
  for (const GenePart& exon : gene.exons) {
    const GenePart kept = {std::max(gene.start, exon.start - ExonScale::kSplice),
                           std::min(gene.end, exon.end + ExonScale::kSplice)};
    if (kept.start > kept.end) continue;
    if (!out.empty() && kept.start <= out.back().end + 1)
      out.back().end = std::max(out.back().end, kept.end);
    else
      out.push_back(kept);
  }
  return out;
}

}  // namespace

ExonScale::ExonScale(const Gene& gene) : bases_(static_cast<double>(gene.end - gene.start + 1)) {
  const std::vector<GenePart> kept = kept_parts(gene);
  for (const GenePart& exon : gene.exons) exons_.push_back(exon.start);
  double exonic = 0;
  for (const GenePart& part : kept) exonic += static_cast<double>(part.end - part.start + 1);
  // Each intron as long as the others, but none longer than it is.
  const double gap = kIntrons * exonic / static_cast<double>(std::max<size_t>(1, kept.size()));
  const auto add = [&](int64_t start, int64_t end, bool whole) {
    if (start > end) return;
    const auto bases = static_cast<double>(end - start + 1);
    const double taken = whole ? bases : std::min(bases, gap);
    parts_.push_back({start, length_, taken / bases});
    length_ += taken;
  };
  int64_t next = gene.start;
  for (const GenePart& part : kept) {
    add(next, part.start - 1, false);
    add(part.start, part.end, true);
    next = part.end + 1;
  }
  add(next, gene.end, false);
}

double ExonScale::edge(int64_t base) const {
  auto after = std::upper_bound(parts_.begin(), parts_.end(), base,
                                [](int64_t value, const Part& part) { return value < part.start; });
  if (after == parts_.begin()) return 0;
  const Part& part = *(after - 1);
  return std::min(length_, part.at + part.unit * static_cast<double>(base - part.start));
}

std::vector<std::pair<double, std::string>> ExonScale::ticks() const {
  std::vector<std::pair<double, std::string>> out;
  for (const int64_t start : exons_)
    out.emplace_back(edge(start), count_text(static_cast<uint64_t>(std::max<int64_t>(0, start))));
  return out;
}

}  // namespace carbon
