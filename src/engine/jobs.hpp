// What every kind of work for the engine has in common: jobs that one run can serve are run as one, and jobs
// run in groups of about the batch limit.
//
// A Job has
//   std::vector<uint32_t> tokens               its sequence, which decides how many jobs make a group
//   size_t cost() const                        new tokens that running it takes
//   bool shares_with(const Job&) const         one run can serve both; then their tokens are equal
//   size_t cost_beside(const Job& first) const new tokens that it adds to the run of a job it shares with
//   void join(const Job&)                      ask for what another asks as well, which it shares with
//   void take_results(const Job& joined)       of a job that joined this one
// and when memory runs out, its group is run anew in smaller ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/base/error.hpp"
#include "src/engine/engine.hpp"

namespace carbon {

/// Jobs by their sequences.
template <class Job>
class DistinctJobs {
 public:
  /// A job added before that shares with `job`, or null.
  const Job* find(const Job& job) const {
    const auto [begin, end] = jobs_.equal_range(hash_of(job));
    for (auto at = begin; at != end; ++at)
      if (at->second->shares_with(job)) return at->second;
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

/// Jobs with those that share their run, in the order of the first of each.
template <class Job>
std::vector<std::vector<Job*>> group_by_run(std::span<Job* const> jobs) {
  DistinctJobs<Job> distinct;
  std::unordered_map<const Job*, size_t> group_of;
  std::vector<std::vector<Job*>> groups;
  for (Job* job : jobs) {
    const Job* first = distinct.find(*job);
    if (first == nullptr) {
      distinct.add(*job);
      group_of.emplace(job, groups.size());
      groups.emplace_back();
    }
    groups[group_of.at(first == nullptr ? job : first)].push_back(job);
  }
  return groups;
}

/// Runs the jobs by `run_group`, as many at a time as the engine's batch limit allows (at least one); of jobs
/// that share a run, one that asks for all that they ask. After an OutOfMemory goes on with
/// Engine::take_less(), so `run_group` must do with jobs that have been begun. Returns the new tokens run.
template <class Job, class RunGroup>
size_t run_jobs(Engine& engine, std::span<Job* const> jobs, RunGroup run_group) {
  const std::vector<std::vector<Job*>> sharing = group_by_run(jobs);
  std::vector<Job*> run;
  std::deque<Job> joined;  // keeps its elements where they are
  size_t tokens_run = 0;
  for (const std::vector<Job*>& members : sharing) {
    run.push_back(members.front());
    if (members.size() > 1) {
      run.back() = &joined.emplace_back(*members.front());
      for (const Job* member : std::span(members).subspan(1)) joined.back().join(*member);
    }
    tokens_run += run.back()->cost();
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
      engine.decoder().give_back();
      continue;
    }
    begin = end;
  }
  for (size_t i = 0; i < run.size(); ++i)
    if (sharing[i].size() > 1)
      for (Job* member : sharing[i]) member->take_results(*run[i]);
  return tokens_run;
}

}  // namespace carbon
