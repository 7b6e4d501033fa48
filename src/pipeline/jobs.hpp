// What every kind of work for the engine has in common: jobs that ask for the same are run once, and jobs run
// in groups of about the batch limit.
//
// A Job has
//   size_t cost() const                     new tokens that running it takes
//   std::vector<uint32_t> tokens            its sequence, which decides how many jobs make a group
//   bool asks_the_same(const Job&) const    everything but the results is equal
//   void take_results(const Job&)           of a job that asks for the same
// and when memory runs out, its group is run anew in smaller ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/pipeline/engine.hpp"
#include "src/util/error.hpp"

namespace carbon {

/// Jobs by what they ask for.
template <class Job>
class DistinctJobs {
 public:
  /// A job added before that asks for the same as `job`, or null.
  const Job* find(const Job& job) const {
    const auto [begin, end] = jobs_.equal_range(hash_of(job));
    for (auto at = begin; at != end; ++at)
      if (at->second->asks_the_same(job)) return at->second;
    return nullptr;
  }
  /// Remembers the address of `job`.
  void add(const Job& job) { jobs_.emplace(hash_of(job), &job); }

 private:
  static size_t hash_of(const Job& job) {
    const std::string_view bytes(reinterpret_cast<const char*>(job.tokens.data()),
                                 job.tokens.size() * sizeof(job.tokens[0]));
    return std::hash<std::string_view>()(bytes);
  }

  std::unordered_multimap<size_t, const Job*> jobs_;  // by a hash
};

/// Runs the jobs by `run_group`, as many at a time as the engine's batch limit allows (at least one). Of jobs
/// that ask for the same, one is run and the others get its results. After an OutOfMemory goes on with
/// Engine::take_less(), so `run_group` must do with jobs that have been begun. Returns the new tokens run.
template <class Job, class RunGroup>
size_t run_jobs(Engine& engine, std::span<Job* const> jobs, RunGroup run_group) {
  DistinctJobs<Job> distinct;
  std::vector<Job*> run;
  std::vector<std::pair<Job*, const Job*>> copies;  // (job, the one it repeats)
  size_t tokens_run = 0;
  for (Job* job : jobs) {
    if (const Job* first = distinct.find(*job)) {
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
      run_group(std::span<Job* const>(run).subspan(begin, end - begin));
    } catch (const OutOfMemory&) {
      // What the group had taken is free again.
      if (!engine.take_less()) throw;
      continue;
    }
    begin = end;
  }
  for (const auto& [job, first] : copies) job->take_results(*first);
  return tokens_run;
}

}  // namespace carbon
