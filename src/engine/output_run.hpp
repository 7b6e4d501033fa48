// A command's run from its input to its output: run_ordered(), with what is said, kept and completed when it
// ends, is stopped or fails.
#pragma once

#include <algorithm>
#include <exception>
#include <functional>
#include <string>

#include "src/base/log.hpp"
#include "src/base/long_run.hpp"
#include "src/base/progress.hpp"
#include "src/base/words.hpp"
#include "src/engine/engine.hpp"
#include "src/engine/ordered_writer.hpp"

namespace carbon {

/// How many threads may compress an output or make its lines, beside the one that writes: as many as compute
/// on a CPU. No GPU needs more than the most. They sleep while there is nothing for them.
inline int output_threads(const Engine& engine) {
  constexpr int kMost = 16;
  return std::min(engine.model().pool().size() * static_cast<int>(engine.devices()), kMost);
}

/// A run as its messages call it, and what it shares with OrderedRun and EarlyEnd.
struct OutputRun {
  std::string command;                // "score"
  std::function<std::string()> done;  // what is written so far: "17 sequences"
  Log& log;
  StopRequests* stop = nullptr;
  std::function<void()> idle = nullptr;
  size_t least_items = 0;
  std::string save_point = {};
};

/// Runs as run_ordered() does, completes the output, and says what is kept if that fails or is stopped.
/// Output has to_file(), saved_in(), flush_finished() and close(), as SequenceOutput has them; Progress has
/// finish(), after which it shows nothing.
template <class Item, class Output, class Progress>
void run_to_output(Engine& engine, const OutputRun& run, Output& output, Progress& progress,
                   const std::function<void(const std::function<void(Item)>&)>& produce,
                   const std::function<void(Item&)>& consume) {
  const KeptWork kept{run.command, [&] { return output.saved_in(); }, run.log};
  OrderedRun ordered;
  ordered.least_items = run.least_items;
  ordered.idle = run.idle;
  ordered.stop = run.stop;
  ordered.stopping = [&] { say_stopping(*run.stop, run.command, run.log); };
  ordered.stopped = [&](const std::exception_ptr& failure) {
    progress.finish();
    end_early(
        *run.stop,
        {run.command, run.done(), kept.saved_in, failure, [&] { output.flush_finished(); }, run.save_point},
        run.log);
  };
  if (output.to_file()) ordered.finishing = [&] { say_finishing(kept); };
  run_keeping(kept, [&] {
    try {
      run_ordered<Item>(engine, produce, consume, ordered);
    } catch (...) {
      progress.finish();  // what is said of the error begins a line
      throw;
    }
    progress.finish();
    report_passes(engine);
    output.close();
  });
}

/// The same for a run in which each item is one sequence, as in embed and predict. `produce` gets the
/// progress too, because it may learn the total; `write` writes an item. Options has log, progress and stop;
/// Output also has continued(), flush_for_reader() and end_sequence(); an item has `name`, and `done`: this
/// sequence and those before it.
template <class Item, class Options, class Output>
void run_sequences(Engine& engine, const std::string& command, const Options& options, Output& output,
                   const std::function<void(const std::function<void(Item)>&, Progress&)>& produce,
                   const std::function<void(Item&)>& write) {
  Progress progress(*options.log, options.progress, command, "sequences");
  uint64_t done = output.continued() ? output.continued()->count : 0;
  progress.begin_at(done);
  // A heading alone is kept back, because there may be no input.
  const auto flush_for_reader = [&] {
    if (done > 0) output.flush_for_reader();
  };
  run_to_output<Item>(
      engine,
      {command, [&] { return count_of(done, "sequence"); }, *options.log, options.stop, flush_for_reader},
      output, progress, [&](const std::function<void(Item)>& emit) { produce(emit, progress); },
      [&](Item& item) {
        write(item);
        output.end_sequence(item.done);
        progress.update(++done, item.name);
      });
}

}  // namespace carbon
