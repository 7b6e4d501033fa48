// One scheduler per device: it admits requests, packs their tokens into passes, runs these, reads the heads,
// draws 6-mers, and hands results over. It alone decides which requests share a pass, how many keys and
// values are kept, and what happens when memory runs out.
//
// The rule of a pass (packing.cpp): first the samples that are being generated, one row each and one for each
// drafted 6-mer; then prompts and windows, cut where the pass is full. Their owners have equal parts of it,
// and what one does not need is for the others; those of one owner go in the order of their arrival. While
// samples are being generated, prompts and windows get a quarter of a pass, so that a long one does not delay
// the samples; for a server, SlicePolicy says how many rows they get. No result depends on any of this.
//
// Not thread-safe: one thread calls it. Requests come from other threads through a RequestQueue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/engine/drafter.hpp"
#include "src/engine/draws.hpp"
#include "src/engine/loaded_model.hpp"
#include "src/engine/request_queue.hpp"
#include "src/engine/sequence_run.hpp"
#include "src/transformer/kv_cache.hpp"

namespace carbon {

/// Keys and values of prompts that are complete, kept for later prompts that begin with the same tokens.
///
/// It keeps only what was computed as a prompt, never drawn 6-mers: those have another row class, and so
/// other bits. A row that begins on kept keys and values therefore has the bits that it would have had
/// without.
class PrefixCache {
 public:
  /// Keeps the first `length` tokens of `sequence`, which are those of `tokens`. If they are the beginning of
  /// an entry, that entry serves for both; entries that they begin with are replaced.
  void keep(std::span<const uint32_t> tokens, size_t length, const Sequence& sequence);
  /// A fork of an entry that has as many of the first `most` of `tokens` as any, cut after them; none if no
  /// entry has a page of them.
  std::optional<Sequence> find(std::span<const uint32_t> tokens, size_t most);

  /// Drops the entry that was not used for longest. Returns false if there was none.
  bool drop_oldest();
  /// Drops entries until the rest have at most `most` tokens.
  void trim(size_t most);
  void clear() { entries_.clear(); }
  /// The sums over the entries. Those that begin alike share their pages, but count each.
  size_t tokens() const;
  size_t pages() const;

 private:
  struct Entry {
    std::vector<uint32_t> tokens;
    Sequence sequence;
  };
  std::deque<Entry> entries_;  // the last used comes last
};

/// How many rows of prompts and windows join a pass, for those who wait for the next 6-mer of a stream.
///
/// A command wants the most tokens per second, and its passes are as full as they may be. A server also wants
/// that streams go on evenly: one prompt may take as much time of a pass as the streams together. If more
/// prompts than streams want to go on, each of them gets as much time as a stream. No pass is so long that a
/// new request waits for it. The times are measured; the choice changes no result.
class SlicePolicy {
 public:
  /// Rows of prompts and windows for a pass with `samples` samples (may be 0) that has room for `limit`
  /// rows, at least 1; `waiting` prompts and windows want them. 0 for a pass of samples alone, whose time has
  /// to be measured first.
  size_t rows(size_t samples, size_t waiting, size_t limit) const;
  /// Called after a pass with its rows and its time.
  void record(size_t samples, size_t window_rows, double seconds);

 private:
  bool knows(size_t samples) const;

  size_t samples_ = 0;           // of the last pass of samples alone
  double sample_seconds_ = 0;    // its time
  double row_seconds_ = 0;       // of a row of a prompt or window beside samples; 0: not measured
  double lone_row_seconds_ = 0;  // of one in a pass without samples
};

struct SchedulerOptions {
  /// For a server: streams go on evenly, and no pass is long.
  bool interactive = false;
  /// For a server and a library: requests have several owners. Keys and values of one leave room for another.
  bool shared = false;
  /// The KV cache has room for this many times LoadedModel::batch_tokens() tokens, and on a device with its
  /// own memory for as many as that holds, if those are more. A sequence that is longer still runs, alone.
  size_t cached_batches = 8;
};

struct SchedulerCounts {
  uint64_t rows = 0;                              // run so far; a row is a token of one sequence
  uint64_t capacity = 0;                          // rows that the passes had room for
  uint64_t window_passes = 0, sample_passes = 0;  // without and with samples that are being generated
  double window_seconds = 0, sample_seconds = 0;  // time of these passes
  uint64_t drawn = 0;                             // 6-mers
  uint64_t shared = 0;                            // requests served by the run of an equal request
  uint64_t prefix_tokens = 0;  // of prompts that may begin with those of earlier ones (Request::keep_prefix)
  uint64_t prefix_hits = 0;    // of these, tokens that need not be computed again

  SchedulerCounts& operator+=(const SchedulerCounts& other);
};

/// What a scheduler is doing.
struct SchedulerState {
  SchedulerCounts counts;
  DraftCounts drafts;
  size_t waiting = 0;     // requests without keys and values yet, or suspended
  size_t running = 0;     // requests that are being computed
  size_t pages = 0;       // KV pages in use
  size_t kept_pages = 0;  // pages, at most, that are kept for later requests
  size_t page_limit = 0;

  SchedulerState& operator+=(const SchedulerState& other);
};

class Scheduler {
 public:
  /// `drafter` proposes 6-mers; null: no speculative decoding. Both must outlive the scheduler.
  explicit Scheduler(LoadedModel& model, Drafter* drafter = nullptr, const SchedulerOptions& options = {});
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;

  /// Takes requests from `queue` as device `device` and runs them until the queue is closed and empty, or
  /// stopped. After an error, which it throws, the requests that it had taken stay unfinished.
  void run(RequestQueue& queue, int device);

  /// Accepts a request. A parent comes before its children.
  void add(const RequestPtr& request);
  /// Runs one pass. Returns false if nothing is left to run.
  bool step();
  bool idle() const { return waiting_.empty() && reading_.empty() && generating_.empty(); }
  /// Forgets all requests, also those that are not finished, and frees their keys and values.
  void clear();

  /// Rows of one pass, at most.
  size_t pass_limit() const;
  /// Rows of each owner that wait for a pass.
  std::map<uint64_t, size_t> known_rows() const;
  const SchedulerCounts& counts() const { return counts_; }
  /// As it was after the last step. Any thread may call it.
  SchedulerState state() const;

 private:
  /// The part of a sequence that one pass runs: new tokens, whose rows from want_begin on are read.
  struct Slice {
    RunPtr run;
    std::vector<uint32_t> tokens;
    size_t want_begin = 0;
    ops::RowClass row_class = ops::RowClass::prefill;

    size_t wanted() const { return tokens.size() - want_begin; }
  };
  /// Rows of a pass that one reading reads.
  struct Part {
    Reading* reading = nullptr;
    size_t row = 0;  // of the reading, counted from its first
    size_t at = 0;   // among the rows of the slices
    size_t count = 0;
  };
  struct Pass {
    std::vector<Slice> slices;  // prefill class first; within a class, slices of one head together
    size_t rows = 0;
    size_t blocks = 0;            // how many blocks of the decoder it runs
    std::vector<RunPtr> samples;  // the samples that are being generated, whose slices come last
  };

  // scheduler.cpp: what a step does.
  void run_pass(Pass& pass);
  static bool is_wanted(const Pass& pass);
  void move_runs();
  void forget_owners();
  void publish();

  // packing.cpp: which tokens run next.
  Pass pack();
  void pack_samples(Pass& pass, size_t limit);
  size_t window_limit(const Pass& pass, size_t limit) const;
  static void add_slice(Pass& pass, const RunPtr& run, size_t tokens);
  void pack_whole(Pass& pass, size_t limit);
  void pack_windows(Pass& pass, size_t limit);
  std::map<uint64_t, size_t> divide(std::span<const size_t> remaining, size_t limit) const;
  RunPtr next_of_reading() const;
  size_t blocks_of(const SequenceRun& run) const;

  // admission.cpp: which runs have memory.
  void admit();
  bool ready(const SequenceRun& run) const;
  bool draws_from_parent(const SequenceRun& run) const;
  bool has_room(const SequenceRun& run, size_t pages, bool more) const;
  std::string problem_of(const Request& request) const;
  size_t page_limit() const;
  size_t free_room() const;
  bool lower_room();
  size_t suspend_surplus();
  size_t pages_of(const SequenceRun& run) const;
  size_t pages_taken() const;
  size_t final_length(const SequenceRun& run) const;
  void start(const RunPtr& run);
  void begin_on_kept_prefix(SequenceRun& run);
  void keep_prefix(const SequenceRun& run);
  bool free_kept();
  void draw_first(const std::vector<RunPtr>& runs);
  void count_fork(SequenceRun& run);
  void stand_alone(SequenceRun& run);
  void recover(size_t rows);
  void suspend(const RunPtr& run);
  void drop_cancelled();

  // results.cpp: how results are read and handed over.
  void read_heads(const Pass& pass, const HiddenRows& rows);
  static std::vector<Part> parts_of(std::span<const Slice> slices);
  void read_windows(std::span<const Slice> slices, const HiddenRows& rows);
  void read_parts(std::span<const Part> parts, const HiddenRows& rows);
  void sum_parts(std::span<const Part> parts, const HiddenRows& rows);
  void run_head(std::span<const Part> parts, const HiddenRows& rows);
  void draw(std::span<const Slice> slices, const HiddenRows& rows);
  void classify_rows(const HiddenRows& rows, float* out);
  void rank_rows(const HiddenRows& rows, std::span<const uint32_t> targets, double* out);
  void rank_drawn(SequenceRun& run, const HiddenRows& rows, size_t drawn_before);
  void deliver(SequenceRun& run, Request& request);
  void finish(const RunPtr& run);
  void refuse(const RequestPtr& request, const std::string& problem);

  LoadedModel& model_;
  Drafter* drafter_;
  SchedulerOptions options_;
  KmerDraws draws_;
  // Pages that the device's memory has room for, found after the first pass. 0 before it, on a CPU, and once
  // memory has run out so often that the KV cache has no more room than without it.
  size_t room_ = 0;
  bool room_known_ = false;
  size_t pass_rows_;           // rows of a pass: the backend's, fewer after one that did not fit the memory
  bool windows_turn_ = false;  // if passes of two depths are needed, they take turns
  std::map<uint64_t, uint64_t> served_;  // rows that each owner with runs has had since it came, or more
  RunTable table_;
  PrefixCache prefixes_;
  SlicePolicy slices_;
  std::deque<RunPtr> waiting_;     // runs without keys and values: not admitted yet, or suspended
  std::deque<RunPtr> reading_;     // windows and prompts that are being run
  std::deque<RunPtr> generating_;  // samples that are being generated
  // What the head of the last group of slices has given, kept for the memory: a GPU waits while it is
  // cleared.
  std::vector<double> values_;
  std::vector<float> states_;
  SchedulerCounts counts_;
  mutable std::mutex state_mutex_;
  SchedulerState state_;
};

}  // namespace carbon
