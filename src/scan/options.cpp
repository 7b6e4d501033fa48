#include "src/scan/options.hpp"

#include "src/base/advice_topics.hpp"
#include "src/base/counts.hpp"
#include "src/base/error.hpp"
#include "src/base/lists.hpp"
#include "src/scan/grid.hpp"

namespace carbon {

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
                       {AdviceTopic::frames});
  if (options.frames == 0) options.frames = first ? all : 1;
  if (first && options.frames != all)
    throw SettingError("scan", "frames",
                       "level first needs six frames, because each frame gives a value to one base in six",
                       {AdviceTopic::frames});
  if (options.context == 0) options.context = default_scan_context(max_positions, bases);
}

}  // namespace carbon
