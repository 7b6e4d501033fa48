// The runs of a scheduler by what they compute, so that equal requests share one, and by request, so that
// children find their parent's keys and values.
#pragma once

#include <deque>
#include <unordered_map>

#include "src/engine/sequence_run.hpp"

namespace carbon {

class RunTable {
 public:
  /// True if one run may serve the request and others that ask for the same. One row of hidden states is
  /// worth keeping for repeats; copies of many rows would take memory without bound.
  static bool shareable(const Request& request);
  /// The run that computes what `request` asks for, with at least its rows, or null. A run that has not begun
  /// may get more wanted rows for it.
  RunPtr find_equal(const Request& request) const;
  /// The run of a request that may be a parent, or null.
  RunPtr run_of(const Request& request) const;

  /// Remembers a run and that it serves its first request.
  void add(const RunPtr& run);
  /// `run` serves `request` as well.
  void join(const RunPtr& run, const RequestPtr& request);
  /// Forgets the run.
  void remove(const RunPtr& run);

  /// Keeps a finished run, with keys and values if it has them, for later equal requests and for children.
  void keep_finished(const RunPtr& run);
  /// Drops the oldest finished runs until those that no child is to come for have at most `tokens` tokens in
  /// the cache. The two newest are kept in any case: a record that is split by allele has its two strands.
  void trim_finished(size_t tokens);
  /// Drops all finished runs that no child is to come for. False if there was none.
  bool drop_finished();
  void clear();

 private:
  static bool awaits_children(const SequenceRun& run);

  std::unordered_multimap<size_t, RunPtr> by_content_;
  std::unordered_map<const Request*, RunPtr> by_request_;
  std::deque<RunPtr> finished_;
};

}  // namespace carbon
