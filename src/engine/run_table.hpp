// Finds the runs of a scheduler by their tokens, so that requests with the same ones share a run, also those
// that read other things from its rows, and by request, so that children find their parent's keys and values.
#pragma once

#include <deque>
#include <unordered_map>

#include "src/engine/sequence_run.hpp"

namespace carbon {

class RunTable {
 public:
  /// True if one run may serve the request and others like it. A single row of hidden states is shared, but
  /// not many rows, whose copies could take any amount of memory.
  static bool shareable(const Request& request);
  /// Returns a run that computes what `request` asks for, with at least its rows, or null. A run of the same
  /// tokens that has not begun counts too, because join() can add rows and another reading to it.
  RunPtr find_equal(const Request& request) const;
  /// Returns the run that serves the request, or null if it is not kept any more.
  RunPtr run_of(const Request& request) const;

  /// Adds a new run, which serves its first request.
  void add(const RunPtr& run);
  /// Makes `run` serve `request` as well.
  void join(const RunPtr& run, const RequestPtr& request);
  /// Forgets the run.
  void remove(const RunPtr& run);

  /// Keeps a finished run, with its keys and values if it has any, for later equal requests and for children.
  void keep_finished(const RunPtr& run);
  /// Drops the oldest finished runs without expected children until the rest of them have at most `tokens`
  /// tokens, whose results and perhaps keys and values are in memory. The two newest parents are always kept:
  /// they are the two strands of a site, and the next record may be another allele of it.
  void trim_finished(size_t tokens);
  /// Tokens whose keys and values finished runs keep for children to come.
  size_t kept_for_children() const;
  /// Pages that finished runs keep, at most: some may be shared.
  size_t kept_pages() const;
  /// Drops all finished runs without expected children. Returns false if there were none.
  bool drop_finished();
  void clear();

 private:
  static bool awaits_children(const SequenceRun& run);

  std::unordered_multimap<size_t, RunPtr> by_content_;
  std::unordered_map<const Request*, RunPtr> by_request_;
  std::deque<RunPtr> finished_;
};

}  // namespace carbon
