#include "src/score/sequence_scores.hpp"

#include <limits>
#include <string>

#include "src/base/error.hpp"
#include "src/engine/engine.hpp"
#include "src/engine/ordered_writer.hpp"
#include "src/score/assembler.hpp"
#include "src/score/planner.hpp"

namespace carbon {
namespace {

using Emit = std::function<void(ScoredWindow)>;

std::string name_of(size_t index) {
  return "sequence " + std::to_string(index + 1) + " of a batch";
}

SequencePlace place_of(size_t index, std::string_view bases) {
  return {name_of(index), 0, static_cast<int64_t>(bases.size())};
}

// Scores `count` sequences, of which `plan` makes the windows.
void score_planned(Engine& engine, const ScoreOptions& options, size_t count,
                   const std::function<void(const ScorePlanner&, size_t, const Emit&)>& plan,
                   const TakeSequenceScores& take) {
  const TokenLayout& layout = engine.config().layout;
  const ScorePlanner planner(layout, options);
  ScoreCollector collector(options.level, layout.bases());
  ScoreAssembler assembler(options, layout.bases(), collector);
  size_t index = 0;
  run_ordered<ScoredWindow>(
      engine,
      [&](const Emit& emit) {
        for (size_t i = 0; i < count; ++i) plan(planner, i, emit);
      },
      [&](const ScoredWindow& window) {
        assembler.consume(window);
        if (window.last) take(index++, collector.take());
      });
}

ScoreOptions completed(const Engine& engine, ScoreOptions options) {
  complete_score_options(options, engine.config().sequence_positions(), engine.config().layout.bases());
  return options;
}

// The model's inputs are what begins a sequence and all k-mers except the last.
void check_end(const SequenceEnd& end, size_t index, const ModelConfig& config) {
  const size_t max_positions = config.sequence_positions(), bases = config.layout.bases();
  const std::string name = name_of(index);
  if (end.from % bases != 0 || end.from >= end.sequence.size())
    throw Error("score", name + " has " + std::to_string(end.sequence.size()) +
                             " bp and cannot be scored from base " + std::to_string(end.from) +
                             " on; expected a multiple of " + std::to_string(bases) + " below its length");
  const size_t most = max_positions - 1 + config.layout.past_context();
  if ((end.sequence.size() + bases - 1) / bases > most)
    throw Error("score", name + " has " + std::to_string(end.sequence.size()) +
                             " bp and does not fit the model's context of " + std::to_string(max_positions) +
                             " tokens; the longest sequence that fits has " + std::to_string(bases * most) +
                             " bp");
}

}  // namespace

ScoreCollector::ScoreCollector(ScoreLevel level, size_t bases)
    : width_(level == ScoreLevel::token ? static_cast<int64_t>(bases) : 1) {}

void ScoreCollector::begin(const SequencePlace& sequence) {
  begin_ = sequence.begin;
  scores_ = {};
  scores_.values.assign(static_cast<size_t>((sequence.end - sequence.begin) / width_),
                        std::numeric_limits<double>::quiet_NaN());
}

void ScoreCollector::value(const ScoredValue& value) {
  // k-mers of the reverse strand begin up to k - 1 bases after multiples of k, which the division drops.
  scores_.values[static_cast<size_t>((value.begin - begin_) / width_)] = value.logp;
  scores_.sum += value.logp;
  ++scores_.scored;
}

void score_sequences(Engine& engine, ScoreOptions options, std::span<const std::string_view> sequences,
                     const TakeSequenceScores& take) {
  score_planned(
      engine, completed(engine, std::move(options)), sequences.size(),
      [&](const ScorePlanner& planner, size_t i, const Emit& emit) {
        planner.plan(place_of(i, sequences[i]), sequences[i], emit);
      },
      take);
}

void score_ends(Engine& engine, ScoreLevel level, std::span<const SequenceEnd> ends,
                const TakeSequenceScores& take) {
  ScoreOptions options;
  options.level = level;
  for (size_t i = 0; i < ends.size(); ++i) check_end(ends[i], i, engine.config());
  const size_t width = level == ScoreLevel::token ? engine.config().layout.bases() : 1;
  score_planned(
      engine, completed(engine, std::move(options)), ends.size(),
      [&](const ScorePlanner& planner, size_t i, const Emit& emit) {
        planner.plan_end(place_of(i, ends[i].sequence), ends[i].sequence, ends[i].from, emit);
      },
      [&](size_t i, SequenceScores scores) {
        // There is none before.
        scores.values.erase(scores.values.begin(),
                            scores.values.begin() + static_cast<ptrdiff_t>(ends[i].from / width));
        take(i, scores);
      });
}

}  // namespace carbon
