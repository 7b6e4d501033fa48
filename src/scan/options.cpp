#include "src/scan/options.hpp"

#include "src/base/counts.hpp"
#include "src/base/error.hpp"
#include "src/base/lists.hpp"
#include "src/scan/grid.hpp"

namespace carbon {

SettingList scan_settings(ScanOptions& options) {
  constexpr int64_t kMostBases = 1'000'000'000;  // beyond any context
  return {
      Setting("level", "LEVEL",
              "marginal (bases before it in the 6-mer summed over; default), chain (given these bases) or "
              "first (each base as the first of its 6-mer)",
              options.level, kScanLevelWords),
      Setting("frames", "N", "take the mean over 1, 2, 3 or 6 frames of the 6-mers", &options.frames)
          .range(1, 6)
          .one_of({"1", "2", "3", "6"})
          .otherwise("1; 6 with --level first"),
      Setting("context", "BP", "least left context in bp, a multiple of 6", &options.context)
          .range(1, kMostBases)
          .otherwise("24000, or what the model's context allows"),
      Setting("strand", "STRAND", "+, - or both (mean of the two; default)", options.strand, kStrandWords)};
}

std::vector<std::string> frame_counts(size_t bases) {
  std::vector<std::string> counts;
  for (size_t count = 1; count <= bases; ++count)
    if (bases % count == 0) counts.push_back(std::to_string(count));
  return counts;
}

std::vector<int> frames_of(int count, size_t bases) {
  std::vector<int> frames;
  for (int i = 0; i < count; ++i) frames.push_back(i * static_cast<int>(bases) / count);
  return frames;
}

void complete_scan_options(ScanOptions& options, size_t max_positions, size_t bases) {
  const bool first = options.level == ScanLevel::first;
  const int all = static_cast<int>(bases);
  if (bases == 1 && options.level != ScanLevel::marginal)
    throw SettingError(
        "scan", "level",
        std::string("level ") + word_of(kScanLevelWords, options.level) +
            " cannot be used with a model of one base a token, which has no bases before it in a "
            "token; expected marginal");
  if (options.frames > 0 && all % options.frames != 0)
    throw SettingError("scan", "frames",
                       std::to_string(options.frames) + " frames cannot be read with tokens of " +
                           count_of(bases, "base") + "; expected " + or_list(frame_counts(bases)),
                       {"leave out {--frames}, or choose another {--level}"});
  if (options.frames == 0) options.frames = first ? all : 1;
  if (first && options.frames != all)
    throw SettingError("scan", "frames",
                       "level first needs six frames, because each frame gives a value to one base in six",
                       {"leave out {--frames}, or choose another {--level}"});
  if (options.context == 0) options.context = default_scan_context(max_positions, bases);
}

}  // namespace carbon
