#include "src/scan/estimate.hpp"

#include "src/base/counts.hpp"
#include "src/base/numbers.hpp"
#include "src/model/work.hpp"

namespace carbon {
namespace {

std::string scaled(double value, const char* unit) {
  constexpr const char* prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  size_t power = 0;
  for (; value >= 1000 && power + 1 < std::size(prefixes); ++power) value /= 1000;
  return general_text(value, 4) + " " + prefixes[power] + unit;
}

}  // namespace

ScanCost scan_cost(const std::vector<ScanPiece>& pieces, const ScanPlanner& planner,
                   const ModelConfig& config, const ScanOutputType& output) {
  ScanCost cost;
  cost.bases = total_bases(pieces);
  for (const ScanPiece& piece : pieces) {
    cost.output_bytes += static_cast<uint64_t>(piece.end - piece.begin) * output.bytes_per_base(piece);
    planner.spans(piece, [&](const TrackSpan& span) {
      const auto row_of = [&](int64_t base) {
        return static_cast<size_t>(base - span.window.begin) / config.layout.bases();
      };
      const size_t tokens = row_of(span.end - 1) + 1, wanted = tokens - row_of(span.begin);
      const WorkChunk chunk{0, tokens, wanted};
      ++cost.windows;
      cost.tokens += tokens;
      cost.operations += forward_work(config, {}, {&chunk, 1}).flops;
    });
  }
  return cost;
}

std::string cost_text(const ScanCost& cost) {
  return count_of(cost.bases, "base") + " in " + count_of(cost.windows, "window") + " with " +
         count_of(cost.tokens, "token") + ", which take " + scaled(cost.operations, "FLOP") +
         "; the output has at most " + scaled(static_cast<double>(cost.output_bytes), "B") +
         " before compression";
}

}  // namespace carbon
