// From token sequences to base distributions, many at a time.
//
// A job is one sequence, of which some rows are wanted, and suffixes that share its beginning: the reference
// window of a variant and its alternative alleles, or a single window with none. Marginals, or
// full-vocabulary log-probabilities.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/engine/engine.hpp"
#include "src/engine/jobs.hpp"

namespace carbon {

/// Tokens that replace what follows the first `shared` tokens of the job. All their rows are wanted.
struct SuffixJob {
  size_t shared = 0;
  std::vector<uint32_t> tokens;
};

struct ScoreJob {
  std::vector<uint32_t> tokens;
  size_t want_begin = 0;  // rows [want_begin, tokens.size()) are wanted; equal: none
  std::vector<SuffixJob> suffixes;
  /// Token level: ln P over the full vocabulary of targets[i] at wanted row i. Empty: base level.
  std::vector<uint32_t> targets;

  // Results. Base level: [rows, 6, 4] natural logs (ops::Backend::marginals); token level: one value a wanted
  // row.
  std::vector<double> rows;
  std::vector<std::vector<double>> suffix_rows;

  // As jobs.hpp wants them.
  size_t cost() const;
  bool shares_with(const ScoreJob& other) const;
  size_t cost_beside(const ScoreJob& first) const;
  void join(const ScoreJob& other);
  void take_results(const ScoreJob& joined);
};

/// Runs the jobs, as many at a time as the engine's batch limit allows (at least one), and fills in their
/// results. Keys and values are dropped afterwards. Jobs of one call are all base level or all token level,
/// suffixes only at base level. Jobs of one sequence, as the records of a split multi-allelic site have, run
/// it once. Returns the new tokens run.
size_t score_jobs(Engine& engine, std::span<ScoreJob* const> jobs);

}  // namespace carbon
