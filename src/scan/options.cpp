#include "src/scan/options.hpp"

#include "src/base/advice_topics.hpp"
#include "src/base/error.hpp"
#include "src/scan/grid.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

std::vector<int> frames_of(int count) {
  std::vector<int> frames;
  for (int i = 0; i < count; ++i) frames.push_back(i * kKmerLength / count);
  return frames;
}

void complete_scan_options(ScanOptions& options, size_t max_positions) {
  const bool first = options.level == ScanLevel::first;
  if (options.frames == 0) options.frames = first ? kKmerLength : 1;
  if (first && options.frames != kKmerLength)
    throw SettingError("scan", "frames",
                       "level first needs six frames, because each frame gives a value to one base in six",
                       {AdviceTopic::frames});
  if (options.context == 0) options.context = default_scan_context(max_positions);
}

}  // namespace carbon
