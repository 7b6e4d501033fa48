#include "src/engine/scorer.hpp"

#include <algorithm>
#include <utility>

namespace carbon {
namespace {

// One forward over `chunks`, whose wanted rows go in order to the vectors of `results`.
void forward_marginals(Engine& engine, std::span<const Chunk> chunks,
                       std::span<std::vector<double>* const> results) {
  const HiddenRows rows = engine.decoder().forward(chunks);
  std::vector<double> all(rows.count * ops::kMarginals);
  engine.head().marginals(rows, all.data());
  auto from = all.begin();
  for (size_t i = 0; i < chunks.size(); ++i) {
    const auto to =
        from + static_cast<ptrdiff_t>((chunks[i].want_end - chunks[i].want_begin) * ops::kMarginals);
    results[i]->assign(from, to);
    from = to;
  }
}

void forward_tokens(Engine& engine, std::span<const Chunk> chunks, std::span<ScoreJob* const> jobs) {
  const HiddenRows rows = engine.decoder().forward(chunks);
  std::vector<uint32_t> targets;
  for (const ScoreJob* job : jobs) targets.insert(targets.end(), job->targets.begin(), job->targets.end());
  std::vector<double> all(rows.count);
  engine.head().token_logprob(rows, targets, all.data());
  auto from = all.begin();
  for (ScoreJob* job : jobs) {
    const auto to = from + static_cast<ptrdiff_t>(job->targets.size());
    job->rows.assign(from, to);
    from = to;
  }
}

// The suffixes of `jobs`, whose own tokens are in `sequences`, in groups of about the batch limit.
void forward_suffixes(Engine& engine, std::span<ScoreJob* const> jobs,
                      const std::vector<Sequence>& sequences) {
  std::vector<Sequence> forks;
  std::vector<std::pair<size_t, size_t>> members;  // (job, suffix) of each fork
  size_t tokens = 0;
  const auto flush = [&] {
    std::vector<Chunk> chunks;
    std::vector<std::vector<double>*> results;
    for (size_t i = 0; i < forks.size(); ++i) {
      const auto [j, s] = members[i];
      const SuffixJob& suffix = jobs[j]->suffixes[s];
      chunks.push_back({&forks[i], suffix.tokens, 0, suffix.tokens.size()});
      results.push_back(&jobs[j]->suffix_rows[s]);
    }
    forward_marginals(engine, chunks, results);
    forks.clear();
    members.clear();
    tokens = 0;
  };
  for (size_t j = 0; j < jobs.size(); ++j) {
    for (size_t s = 0; s < jobs[j]->suffixes.size(); ++s) {
      const SuffixJob& suffix = jobs[j]->suffixes[s];
      if (!forks.empty() && tokens + suffix.tokens.size() > engine.batch_tokens()) flush();
      forks.push_back(sequences[j].fork());
      forks.back().truncate(suffix.shared);
      members.emplace_back(j, s);
      tokens += suffix.tokens.size();
    }
  }
  if (!forks.empty()) flush();
}

// Jobs that fit one forward.
void score_group(Engine& engine, std::span<ScoreJob* const> jobs) {
  std::vector<Sequence> sequences;
  sequences.reserve(jobs.size());
  std::vector<Chunk> chunks;
  std::vector<std::vector<double>*> results;
  for (ScoreJob* job : jobs) {
    sequences.push_back(engine.decoder().kv().make_sequence());
    chunks.push_back({&sequences.back(), job->tokens, job->want_begin, job->tokens.size()});
    results.push_back(&job->rows);
    job->suffix_rows.resize(job->suffixes.size());
  }
  if (!jobs.front()->targets.empty()) return forward_tokens(engine, chunks, jobs);
  forward_marginals(engine, chunks, results);
  forward_suffixes(engine, jobs, sequences);
}

// The index of `suffix` in `suffixes`, or their number.
size_t index_of(const SuffixJob& suffix, const std::vector<SuffixJob>& suffixes) {
  const auto same = [&](const SuffixJob& other) {
    return suffix.shared == other.shared && suffix.tokens == other.tokens;
  };
  return static_cast<size_t>(std::find_if(suffixes.begin(), suffixes.end(), same) - suffixes.begin());
}

}  // namespace

size_t ScoreJob::cost() const {
  size_t tokens_run = tokens.size();
  for (const SuffixJob& suffix : suffixes) tokens_run += suffix.tokens.size();
  return tokens_run;
}

bool ScoreJob::shares_with(const ScoreJob& other) const {
  return tokens == other.tokens && targets == other.targets &&
         (targets.empty() || want_begin == other.want_begin);
}

size_t ScoreJob::cost_beside(const ScoreJob& first) const {
  size_t tokens_run = 0;
  for (const SuffixJob& suffix : suffixes)
    if (index_of(suffix, first.suffixes) == first.suffixes.size()) tokens_run += suffix.tokens.size();
  return tokens_run;
}

void ScoreJob::join(const ScoreJob& other) {
  want_begin = std::min(want_begin, other.want_begin);
  for (const SuffixJob& suffix : other.suffixes)
    if (index_of(suffix, suffixes) == suffixes.size()) suffixes.push_back(suffix);
}

void ScoreJob::take_results(const ScoreJob& joined) {
  const size_t row = targets.empty() ? ops::kMarginals : 1;
  rows.assign(joined.rows.begin() + static_cast<ptrdiff_t>((want_begin - joined.want_begin) * row),
              joined.rows.end());
  suffix_rows.clear();
  for (const SuffixJob& suffix : suffixes)
    suffix_rows.push_back(joined.suffix_rows[index_of(suffix, joined.suffixes)]);
}

size_t score_jobs(Engine& engine, std::span<ScoreJob* const> jobs) {
  return run_jobs(engine, jobs, [&](std::span<ScoreJob* const> group) { score_group(engine, group); });
}

}  // namespace carbon
