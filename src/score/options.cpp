#include "src/score/options.hpp"

#include "src/base/error.hpp"
#include "src/files/file_name.hpp"
#include "src/score/windows.hpp"

namespace carbon {
namespace {

// Beyond any context.
constexpr int64_t kMostBases = 1'000'000'000;

void check_multiple(const std::string& name, size_t value, size_t bases) {
  if (value == 0 || value % bases != 0)
    throw SettingError("score", name,
                       "a " + name + " of " + std::to_string(value) +
                           " bp cannot be used; expected a positive multiple of " + std::to_string(bases),
                       {"set it with {--" + name + "}"});
}

}  // namespace

SettingList score_settings(ScoreOptions& options) {
  return {Setting("level", "LEVEL",
                  "bp (one value per base; default) or token (one value per 6-mer, over the full vocabulary)",
                  options.level, kScoreLevelWords),
          Setting("strand", "STRAND", "+ (default), - (reverse complement) or both (mean of the two)",
                  options.strand, kStrandWords),
          Setting("window", "BP", "window in bp, a multiple of 6", &options.window)
              .range(1, kMostBases)
              .otherwise("49140, or what fits the model's context"),
          Setting("stride", "BP", "distance between window starts in bp, a multiple of 6", &options.stride)
              .range(1, kMostBases)
              .otherwise("half a window")};
}

ScoreOutput score_output_type(const ScoreOptions& options) {
  const bool bedgraph = format_of_name(options.output) == "bedgraph";
  const ScoreOutput type = options.type.value_or(bedgraph ? ScoreOutput::bedgraph : ScoreOutput::summary);
  if (type == ScoreOutput::bedgraph) {
    check_output_name("score", options.output, {"bedgraph"}, "bedgraph by -O",
                      "choose with -O summary or tsv, or give another name");
  } else {
    check_output_name("score", options.output, {"tsv"}, "a table",
                      "choose with -O bedgraph, or give it a name that ends in .tsv");
  }
  return type;
}

void complete_score_options(ScoreOptions& options, size_t max_positions, size_t bases) {
  check_level("score", options.level, bases);
  if (options.level == ScoreLevel::token && options.strand == StrandChoice::both)
    throw SettingError("score", "strand",
                       "strand both cannot be used with level token, which has one value a 6-mer; "
                       "expected + or -");
  if (options.window == 0) options.window = default_window(max_positions, bases);
  const size_t largest = bases * (max_positions - 1);
  if (options.window > largest)
    throw SettingError("score", "window",
                       "a window of " + std::to_string(options.window) +
                           " bp does not fit the model's context of " + std::to_string(max_positions) +
                           " tokens; the largest that fits is " + std::to_string(largest) + " bp",
                       {"set it with {--window}"});
  check_multiple("window", options.window, bases);

  if (options.stride == 0) options.stride = default_stride(options.window, bases);
  check_multiple("stride", options.stride, bases);
  if (options.stride > options.window)
    throw SettingError("score", "stride",
                       "a stride of " + std::to_string(options.stride) +
                           " bp leaves bases without a score between " + "windows of " +
                           std::to_string(options.window) + " bp; the largest that fits is " +
                           std::to_string(options.window) + " bp",
                       {"set it with {--stride}"});
}

}  // namespace carbon
