#include "src/pipeline/scorer.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "src/util/error.hpp"

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

size_t hash_of(const ScoreJob& job) {
  const std::string_view bytes(reinterpret_cast<const char*>(job.tokens.data()),
                               job.tokens.size() * sizeof(job.tokens[0]));
  return std::hash<std::string_view>()(bytes);
}

bool same_suffix(const SuffixJob& a, const SuffixJob& b) {
  return a.shared == b.shared && a.tokens == b.tokens;
}

bool ask_the_same(const ScoreJob& a, const ScoreJob& b) {
  return a.want_begin == b.want_begin && a.tokens == b.tokens && a.targets == b.targets &&
         std::equal(a.suffixes.begin(), a.suffixes.end(), b.suffixes.begin(), b.suffixes.end(), same_suffix);
}

}  // namespace

size_t ScoreJob::cost() const {
  size_t tokens_run = tokens.size();
  for (const SuffixJob& suffix : suffixes) tokens_run += suffix.tokens.size();
  return tokens_run;
}

const ScoreJob* DistinctJobs::find(const ScoreJob& job) const {
  const auto [begin, end] = jobs_.equal_range(hash_of(job));
  for (auto at = begin; at != end; ++at)
    if (ask_the_same(*at->second, job)) return at->second;
  return nullptr;
}

void DistinctJobs::add(const ScoreJob& job) {
  jobs_.emplace(hash_of(job), &job);
}

size_t score_jobs(Engine& engine, std::span<ScoreJob* const> jobs) {
  DistinctJobs distinct;
  std::vector<ScoreJob*> run;
  std::vector<std::pair<ScoreJob*, const ScoreJob*>> copies;  // (job, the one it repeats)
  size_t tokens_run = 0;
  for (ScoreJob* job : jobs) {
    if (const ScoreJob* first = distinct.find(*job)) {
      copies.emplace_back(job, first);
      continue;
    }
    distinct.add(*job);
    run.push_back(job);
    tokens_run += job->cost();
  }
  for (size_t begin = 0; begin < run.size();) {
    size_t end = begin, tokens = 0;
    do tokens += run[end++]->tokens.size();
    while (end < run.size() && tokens + run[end]->tokens.size() <= engine.batch_tokens());
    try {
      score_group(engine, std::span(run).subspan(begin, end - begin));
    } catch (const OutOfMemory&) {
      // What the group had taken is free again; its jobs are run anew in smaller groups, with the same
      // results.
      if (!engine.take_less()) throw;
      continue;
    }
    begin = end;
  }
  for (const auto& [job, first] : copies) {
    job->rows = first->rows;
    job->suffix_rows = first->suffix_rows;
  }
  return tokens_run;
}

}  // namespace carbon
