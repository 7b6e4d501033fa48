// A sequence that is being computed for one request, or for several with the same tokens: its tokens, how
// many of them are done, its place in the KV cache, and what is read from its rows.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "src/engine/reading.hpp"
#include "src/engine/request.hpp"
#include "src/sampling/bounds.hpp"
#include "src/transformer/kv_cache.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

struct SequenceRun {
  std::vector<RequestPtr> requests;  // the first one made the run; a sample has only that one
  std::vector<Reading> readings;     // at least one, that of the first request
  size_t shared = 0;             // tokens of the request's parent that come before `tokens`; 0: stands alone
  std::vector<uint32_t> tokens;  // of the request, then the drawn 6-mers
  size_t request_begin = 0;      // where in `tokens` the request's own tokens begin
  size_t decode_begin = 0;       // tokens from here on were drawn and have the decode class
  size_t want_begin = 0;         // rows [want_begin, tokens.size()) are read by some reading
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
  /// Makes a reading for a request with the run's tokens, or lets the one that it has begin early enough.
  void read_for(const Request& request) {
    const bool nothing = request.head == HeadKind::none;
    const size_t begin = nothing ? tokens.size() : request.want_begin + request_begin;
    Reading* reading = reading_of(request);
    if (!reading) reading = &readings.emplace_back(request, begin);
    reading->want_begin = std::min(reading->want_begin, begin);
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

}  // namespace carbon
