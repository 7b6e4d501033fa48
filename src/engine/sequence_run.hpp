// The runs of a scheduler: each is a sequence that is being computed, with what is read from its rows; and
// the table that finds them, so that requests with the same tokens share a run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "src/engine/request.hpp"
#include "src/sampling/bounds.hpp"
#include "src/transformer/kv_cache.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

/// What one head reads from the rows of a sequence, for the requests that ask for the same.
struct Reading {
  Reading(const Request& request, size_t first_row, size_t end_row)
      : head(request.head),
        layer(request.layer),
        targets(request.targets),
        want_begin(first_row),
        want_end(end_row) {}

  HeadKind head;
  int layer;
  std::vector<uint32_t> targets;  // as those of the requests
  size_t want_begin, want_end;    // tokens of the run: the rows from the first to before the second are read

  // Results so far.
  std::shared_ptr<std::vector<double>> values = std::make_shared<std::vector<double>>();
  std::vector<float> states;
  std::vector<double> sums;  // for mean_hidden; empty without a row
  size_t summed = 0;         // rows in `sums`
  bool finite = true;        // true while all of them are finite

  bool serves(const Request& request) const {
    return head == request.head && layer == request.layer && targets == request.targets;
  }
  /// Keeps what the head gives for row `row`, counted from want_begin, and those after it. Rows that are
  /// there already come again after a pass that failed, with the same bits.
  void keep_values(size_t row, size_t width, std::span<const double> more);
  void keep_states(size_t row, size_t width, std::span<const float> more);
  /// For mean_hidden: after how many rows that are not in `sums` yet their sums are wanted, if row end - 1 is
  /// the last that is there. None if all are in them.
  std::vector<uint32_t> counts(size_t end) const;
  /// Keeps what counts() asked for, of counts().size() * width numbers. Each sum is over the rows in their
  /// order, so it does not depend on how they were divided among passes.
  void keep_sums(std::span<const uint32_t> counts, std::span<const double> more);
  /// Called after the last row: adds the mean over all rows to the states of mean_hidden.
  void end();
  /// Forgets all results.
  void clear();

 private:
  void add_mean();
};

/// A sequence that is being computed for one request, or for several with the same tokens: its tokens, how
/// many of them are done, its place in the KV cache, and what is read from its rows.
struct SequenceRun {
  std::vector<RequestPtr> requests;  // the first one made the run; a sample has only that one
  std::vector<Reading> readings;     // at least one, that of the first request
  size_t shared = 0;             // tokens of the request's parent that come before `tokens`; 0: stands alone
  std::vector<uint32_t> tokens;  // of the request, then the drawn 6-mers
  size_t request_begin = 0;      // where in `tokens` the request's own tokens begin
  size_t decode_begin = 0;       // tokens from here on were drawn and have the decode class
  size_t want_begin = 0;         // no reading reads rows before this one
  size_t done = 0;               // how many of `tokens` are in the cache
  std::optional<Sequence> sequence;  // none: not admitted, or suspended

  // Of a sample with speculative decoding.
  std::optional<Sequence> draft;   // the beginning of the same sequence in the draft's cache
  std::vector<uint16_t> proposed;  // 6-mers that the draft proposes after those drawn

  // Of a sample under bounds: the state after the first `bounded` of the drawn 6-mers.
  BoundState bound_state;
  size_t bounded = 0;

  Outcome outcome = Outcome::pending;

  bool has_children = false;  // one of its requests is a parent: keys and values outlast the run
  bool fork_counted = false;  // the parent's Request::forks has been lowered for its first request

  const Request& request() const { return *requests.front(); }
  Request& request() { return *requests.front(); }
  /// The reading that serves a request with the run's tokens; null if it has none.
  Reading* reading_of(const Request& request) {
    const auto found = std::find_if(readings.begin(), readings.end(),
                                    [&](const Reading& reading) { return reading.serves(request); });
    return found == readings.end() ? nullptr : &*found;
  }
  /// Where the rows of a request with the run's tokens end.
  size_t end_for(const Request& request) const {
    return std::min(request.want_end, request.tokens.size()) + request_begin;
  }
  /// Makes a reading for a request with the run's tokens, or lets the one that it has begin early enough and
  /// end late enough.
  void read_for(const Request& request) {
    const bool nothing = request.head == HeadKind::none;
    const size_t begin = nothing ? tokens.size() : request.want_begin + request_begin;
    const size_t end = nothing ? tokens.size() : end_for(request);
    Reading* reading = reading_of(request);
    if (!reading) reading = &readings.emplace_back(request, begin, end);
    reading->want_begin = std::min(reading->want_begin, begin);
    reading->want_end = std::max(reading->want_end, end);
    want_begin = std::min(want_begin, begin);
  }
  /// Whether a request still waits for it that was not cancelled.
  bool is_wanted() const {
    return std::any_of(requests.begin(), requests.end(), [](const RequestPtr& request) {
      return request->outcome == Outcome::pending && !request->cancelled;
    });
  }
  bool generates() const { return request().generation.has_value(); }
  size_t remaining() const { return tokens.size() - done; }
  /// True for a sample whose tokens are all in the cache except the last: it draws a 6-mer in every pass.
  bool generating() const { return generates() && !request().kmers.empty() && remaining() == 1; }

  /// New 6-mers that are not drawn yet.
  size_t missing() const { return request().generation->bases->kmers() - request().kmers.size(); }
  /// The state of the bounds before new 6-mer number `position` (from 0), after those drawn and proposed. To
  /// be asked for in the order of positions.
  BoundState bounds_before(size_t position) {
    const Generation& generation = *request().generation;
    const std::vector<uint16_t>& kmers = request().kmers;
    if (bounded == 0) bound_state = generation.bound_start;
    for (; bounded < std::min(position, kmers.size()); ++bounded)
      bound_state = generation.bounds->next(bound_state, bounded, kmers[bounded]);
    BoundState state = bound_state;
    for (size_t at = bounded; at < position; ++at)
      state = generation.bounds->next(state, at, proposed[at - kmers.size()]);
    return state;
  }
  /// The options and random numbers for drawing new 6-mer number `position`.
  SampleDraw draw(size_t position) {
    const Generation& generation = *request().generation;
    SampleDraw draw;
    draw.options = generation.sampler;
    draw.counter = draw_counter({generation.record, generation.sample, static_cast<uint32_t>(position)});
    draw.allowed = generation.bases->allowed(position);
    draw.first = static_cast<uint8_t>(generation.bases->first(position));
    draw.last = static_cast<uint8_t>(generation.bases->last(position));
    draw.bounds = generation.bounds.get();
    draw.position = position;
    if (draw.bounds != nullptr) draw.state = bounds_before(position);
    return draw;
  }
  /// Appends the ranks of new 6-mer number `position`, which was drawn from `logits`, to the values.
  void rank_drawn(std::span<const float> logits, size_t position) {
    const Generation& generation = *request().generation;
    const auto& values = readings.front().values;
    values->resize((position + 1) * kRankWidth);
    KmerSet among;
    if (generation.bounds) among = generation.bounds->allowed(bounds_before(position), position);
    rank_kmers(logits, generation.bases->allowed(position), request().kmers[position],
               values->data() + position * kRankWidth, generation.bounds ? &among : nullptr);
    request().value_store = values;
  }
  /// Appends the 6-mer drawn for the next position. Returns false if the logits were not finite.
  bool take(const ops::DrawnKmer& drawn, const TokenLayout& layout) {
    if (drawn.finite == 0) {
      outcome = Outcome::not_finite;
      return false;
    }
    request().logp += drawn.logp;
    request().kmers.push_back(static_cast<uint16_t>(drawn.kmer));
    tokens.push_back(layout.kmer_id(drawn.kmer));
    return true;
  }
};

using RunPtr = std::shared_ptr<SequenceRun>;

/// Finds the runs of a scheduler by their tokens, so that requests with the same ones share a run, also those
/// that read other things from its rows, and by request, so that children find their parent's keys and
/// values.
class RunTable {
 public:
  /// True if one run may serve the request and others like it. Hidden states of the last row are shared, and
  /// those of rows whose end the request names, but not those of all rows up to the last, whose copies could
  /// take any amount of memory.
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
