#include "src/score/run.hpp"

#include "src/base/error.hpp"
#include "src/engine/ordered_writer.hpp"
#include "src/score/assembler.hpp"

namespace carbon {
namespace {

using Emit = std::function<void(ScoredWindow)>;

// Cuts sequences into windows and makes their requests.
class Planner {
 public:
  Planner(const TokenLayout& layout, const ScoreOptions& options) : layout_(layout), options_(options) {}

  // Emits the windows of both strands in the order of the forward coordinates that they report.
  void plan(const std::shared_ptr<const ScoredSequence>& sequence, const Emit& emit) const {
    const std::vector<SlidingWindow> windows =
        sliding_windows(sequence->length(), options_.window, options_.stride);
    const size_t n = windows.size();
    size_t forward = options_.strand == StrandChoice::reverse ? n : 0;
    size_t reverse = options_.strand == StrandChoice::forward ? 0 : n;  // read from the last window down
    bool first = true;
    if (n == 0) return emit({sequence, {}, false, true, true, {}});
    while (forward < n || reverse > 0) {
      const bool take_reverse =
          forward == n ||
          (reverse > 0 && sequence->length() - windows[reverse - 1].end < windows[forward].take);
      const SlidingWindow& window = take_reverse ? windows[--reverse] : windows[forward++];
      ScoredWindow item{sequence, window, take_reverse, first, forward == n && reverse == 0, {}};
      if (RequestPtr request =
              window_request(sequence->strand(take_reverse), window, options_.level, layout_))
        item.requests.push_back(std::move(request));
      emit(std::move(item));
      first = false;
    }
  }

 private:
  TokenLayout layout_;
  const ScoreOptions& options_;
};

void check_window(const ScoreOptions& options, size_t max_positions) {
  const size_t largest = kKmerLength * (max_positions - 1);
  if (options.window > largest)
    throw Error("score",
                "a window of " + std::to_string(options.window) + " bp does not fit the model's context of " +
                    std::to_string(max_positions) + " tokens; the largest that fits is " +
                    std::to_string(largest) + " bp",
                {"window"});
  for (const auto& [name, value] : {std::pair("window", options.window), std::pair("stride", options.stride)})
    if (value == 0 || value % kKmerLength != 0)
      throw Error("score",
                  std::string("a ") + name + " of " + std::to_string(value) +
                      " bp cannot be used; expected a positive multiple of 6",
                  {name});
  if (options.stride > options.window)
    throw Error("score",
                "a stride of " + std::to_string(options.stride) +
                    " bp leaves bases without a score between " + "windows of " +
                    std::to_string(options.window) + " bp; the largest that fits is " +
                    std::to_string(options.window) + " bp",
                {"stride"});
}

}  // namespace

void run_score(Engine& engine, ScoreOptions options) {
  const ModelConfig& config = engine.config();
  if (options.window == 0) options.window = default_window(config.max_positions);
  if (options.stride == 0) options.stride = default_stride(options.window);
  check_window(options, config.max_positions);

  ScoreWriter writer(options.output, options.type, options.strand);
  ScoreAssembler assembler(options, writer);
  Progress progress(*options.log, options.progress, "score", "bp");
  uint64_t done = 0;
  const Planner planner(config.layout, options);
  run_ordered<ScoredWindow>(
      engine,
      [&](const Emit& emit) {
        read_sequences("score", options.inputs, *options.log,
                       [&](SequencePlace place, const std::string& bases) {
                         auto sequence = std::make_shared<ScoredSequence>();
                         sequence->place = std::move(place);
                         sequence->forward = to_upper(bases);
                         if (options.strand != StrandChoice::forward)
                           sequence->reverse = reverse_complement(sequence->forward);
                         planner.plan(sequence, emit);
                       });
      },
      [&](const ScoredWindow& item) {
        assembler.consume(item);
        done += item.window.end - item.window.take;
        progress.update(done, item.sequence->place.name);
      });
  progress.finish();
  report_passes(engine);
  writer.close();
}

}  // namespace carbon
