// A request to the model: what to run, what to read from it, and where results go. It is data; the scheduler
// (scheduler.hpp) decides when and beside which other requests it runs. No result depends on that.
//
// Scores ask for a head's values at some rows of a sequence. Samples ask for new 6-mers. A request may begin
// with the first tokens of another request, its parent: the parent's keys and values are then used and not
// computed again.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/sampling/new_bases.hpp"
#include "src/sampling/samplers.hpp"

namespace carbon {

struct Request;
using RequestPtr = std::shared_ptr<Request>;

/// What is read from the wanted rows.
enum class HeadKind : uint8_t {
  none,            // nothing: keys and values alone
  marginals,       // values [rows, 6, 4]: natural logs of P_j(b) (technical report eq. S15)
  token_logprobs,  // values [rows]: ln softmax over the whole vocabulary at `targets`
  kmer_logits,     // states [rows, 4096]: logits in 6-mer order
  hidden,          // states [rows, hidden]: hidden states of `layer`
  mean_hidden,     // states [1, hidden]: their mean, summed in double from the first row to the last
};

/// HiddenStates::layer of the state after the final norm. Other layers count blocks from 1 on.
inline constexpr int kFinalNorm = -1;

/// New 6-mers that follow the tokens of a request, each drawn from the one before.
struct Generation {
  std::shared_ptr<const NewBases> bases;
  SamplerOptions sampler;
  // The random numbers of a draw depend on the seed, these two and the position of the 6-mer alone.
  uint64_t record = 0;
  uint32_t sample = 0;
  /// The tokens before the new 6-mers in the ids of the draft model; null: not drafted.
  std::shared_ptr<const std::vector<uint32_t>> draft_context;
};

enum class Outcome : uint8_t {
  pending,
  done,
  cancelled,
  not_finite,  // a logit or hidden state is NaN or infinite; for a sample, at the 6-mer after the last drawn
  refused,     // cannot be run; `problem` says why
};

struct Request {
  // What is run: `tokens` after the first `shared` tokens of `parent`, or from the start without a parent.
  RequestPtr parent;
  size_t shared = 0;
  std::vector<uint32_t> tokens;
  /// How many requests that name this one as their parent are still to start. Keys and values are kept while
  /// it is not 0. Whoever adds children later raises it before and lowers it for a child that is not sent.
  std::atomic<uint32_t> forks{0};

  // What is read.
  HeadKind head = HeadKind::none;
  size_t want_begin = 0;          // rows [want_begin, tokens.size()) are wanted; row i is that of tokens[i]
  std::vector<uint32_t> targets;  // for token_logprobs: one per wanted row
  int layer = kFinalNorm;         // for hidden and mean_hidden
  std::optional<Generation> generation;

  int priority = 0;                    // larger ones are taken first
  std::atomic<bool> cancelled{false};  // any thread may set it; the pages are free after the next pass

  // Where results go. Both are called by the scheduler's thread and must not throw.
  std::function<void(const Request&, size_t)> progressed;  // after each step, how many 6-mers it has added
  std::function<void(Request&)> finished;                  // once, whatever the outcome

  // Results.
  Outcome outcome = Outcome::pending;
  std::string problem;
  std::span<const double> values() const {
    return value_store ? std::span(*value_store).subspan(first_value) : std::span<const double>();
  }
  std::vector<float> states;
  std::vector<uint16_t> kmers;  // drawn 6-mers
  double logp = 0;              // natural log of the probability of the new bases

  // For the scheduler: values may be shared with requests that have asked for the same.
  std::shared_ptr<const std::vector<double>> value_store;
  size_t first_value = 0;
  int device = -1;  // the scheduler that has taken it

  /// The first `shared` tokens of the parent, and of its parents.
  std::vector<uint32_t> prefix() const;
  /// Rows that it adds to passes at first.
  size_t rows() const { return std::max<size_t>(tokens.size(), 1); }
  /// Bytes that it holds until it is consumed, results included; `hidden` is the model's width.
  size_t bytes(size_t hidden) const;
};

}  // namespace carbon
