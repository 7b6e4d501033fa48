// A request to the model: which tokens to run, what to read from their rows, and where the results go. It is
// data. The scheduler (scheduler.hpp) decides when it runs and with which other requests; no result depends
// on that.
//
// A request for scores or states asks for the values of a head at some rows of a sequence; several requests
// for the same tokens ask for several heads, and the tokens run once. A request for a sample asks for new
// k-mers (tokens of k bases). A request may begin with the first tokens of another request, its parent: the
// parent's keys and values are then shared and not computed again.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/base/error.hpp"
#include "src/model/config.hpp"
#include "src/sampling/allowed_bases.hpp"
#include "src/sampling/bounds.hpp"
#include "src/sampling/joint.hpp"
#include "src/sampling/samplers.hpp"

namespace carbon {

struct Request;
using RequestPtr = std::shared_ptr<Request>;

/// What is read from the wanted rows.
enum class HeadKind : uint8_t {
  none,            // nothing: keys and values alone
  marginals,       // values [rows, k, 4]: natural logs of P_j(b) (technical report eq. S15)
  conditionals,    // values [rows, k, 4]: the same given the bases before j in its k-mer that `targets` have
  token_logprobs,  // values [rows]: ln softmax over the whole vocabulary at `targets`
  kmer_ranks,      // values [rows, kRankWidth]: the likeliest k-mers, and the k-mer at `targets` (joint.hpp)
  kmer_logits,     // states [rows, 4^k]: logits in the order of indices
  hidden,          // states [rows, hidden]: hidden states of `layer`
  class_logits,    // states [rows, 2, k, 2]: of an annotator, for each strand and base the logits of the
                   // classes
  mean_hidden,  // states [targets + 1, hidden]: their mean, summed in double from the first row to the last;
                // before it the means of the first `targets` rows
};

/// The sizes of a model that say how large its results are.
struct ResultSizes {
  size_t hidden = 0;  // width of a state
  size_t bases = 0;   // k, the bases of a token
};
inline ResultSizes result_sizes(const ModelConfig& config) {
  return {config.hidden, config.layout.bases()};
}
/// Values per row of a head.
size_t head_width(HeadKind head, const ResultSizes& sizes);
/// True for heads that give `values`, false for those that give `states`.
inline bool gives_doubles(HeadKind head) {
  return head == HeadKind::marginals || head == HeadKind::conditionals || head == HeadKind::token_logprobs ||
         head == HeadKind::kmer_ranks;
}

/// Request::layer for the state after the final norm. Layer n (1 or more) is the state after the first n
/// blocks.
inline constexpr int kFinalNorm = -1;

/// Request::want_end for all rows.
inline constexpr size_t kToTheLast = std::numeric_limits<size_t>::max();

/// New 6-mers after the tokens of a request, drawn one after the other.
struct Generation {
  std::shared_ptr<const NewBases> bases;
  SamplerOptions sampler;
  // The random numbers of a draw depend only on the seed, these two numbers and the position of the 6-mer.
  uint64_t record = 0;
  uint32_t sample = 0;
  /// The tokens before the new 6-mers, as ids of the draft model; null: no speculative decoding.
  std::shared_ptr<const std::vector<uint32_t>> draft_context;
  /// True: values() has a row of kRankWidth for each drawn 6-mer, among the 6-mers that were allowed there.
  bool rank = false;
  /// Bounds on the bases as a whole, made for `bases`, and the state before the first; null: there are none.
  std::shared_ptr<const BoundedBases> bounds = nullptr;
  BoundState bound_start = {};
};

enum class Outcome : uint8_t {
  pending,
  done,
  cancelled,
  not_finite,  // a logit or hidden state is NaN or infinite; for a sample, at the 6-mer after the last drawn
  refused,     // cannot be run; `problem` says why
};

/// For Outcome::not_finite, and for a value that is computed from results; `what` is "score at c1:17".
Error not_finite(const std::string& command, const std::string& what);

struct Request {
  // What is run: `tokens`, which follow the first `shared` tokens of `parent`, or begin the sequence if there
  // is no parent.
  RequestPtr parent;
  size_t shared = 0;
  std::vector<uint32_t> tokens;
  /// How many children (requests with this one as their parent) have not started yet. Keys and values are
  /// kept until it is 0. A caller that adds children later raises it beforehand, and lowers it for each child
  /// that is not sent after all.
  std::atomic<uint32_t> forks{0};

  // What is read from the rows.
  HeadKind head = HeadKind::none;
  // Rows [want_begin, want_end) are read; row i belongs to tokens[i]. They end with the last row at most.
  size_t want_begin = 0, want_end = kToTheLast;
  /// One per wanted row: for token_logprobs the id of a token; for kmer_ranks the index of a 6-mer, or
  /// kNoKmer; for conditionals the true letters of the 6-mer that the row predicts, as ops::KnownBases
  /// (known_bases() of src/sampling/base_scores.hpp). For mean_hidden ascending numbers of rows, fewer than
  /// are wanted.
  std::vector<uint32_t> targets;
  int layer = kFinalNorm;  // for hidden and mean_hidden
  std::optional<Generation> generation;

  /// True: the keys and values of `tokens` may begin later requests, and may be those of earlier ones
  /// (PrefixCache). Only for requests without a parent.
  bool keep_prefix = false;
  /// Whose it is: a client's request to a server, a call of the library. Owners have the device in turn.
  uint64_t owner = 0;
  std::atomic<bool> cancelled{false};  // any thread may set it; the pages are free within half a layer

  // Callbacks. The scheduler's thread calls them, and they must not throw.
  std::function<void()>
      started;  // once, when the request gets memory; not if an equal request's run serves it
  std::function<void(const Request&, size_t)> progressed;  // after each step: how many 6-mers were added
  std::function<void(Request&)> finished;                  // once, whatever the outcome

  // Results.
  Outcome outcome = Outcome::pending;
  std::string problem;  // why it was refused
  std::span<const double> values() const {
    return value_store ? std::span(*value_store).subspan(first_value, value_count)
                       : std::span<const double>();
  }
  std::vector<float> states;
  std::vector<uint16_t> kmers;  // drawn 6-mers
  double logp = 0;              // natural log of the probability of the new bases

  // Used by the scheduler. The values may be shared with other requests for the same tokens.
  std::shared_ptr<const std::vector<double>> value_store;
  size_t first_value = 0, value_count = std::dynamic_extent;
  int device = -1;  // which device has taken it; -1: none yet

  /// The tokens before `tokens`: the first `shared` tokens of the parent's whole sequence.
  std::vector<uint32_t> prefix() const;
  /// Rows that the request adds to passes, without new 6-mers.
  size_t rows() const { return std::max<size_t>(tokens.size(), 1); }
  /// How many of them are read.
  size_t wanted_rows() const {
    const size_t end = std::min(want_end, tokens.size());
    return end - std::min(want_begin, end);
  }
  /// Says that one child less is to start; `forks` never falls below 0.
  void lower_forks();
  /// Memory of the request and its results in bytes.
  size_t bytes(const ResultSizes& sizes) const;
};

/// True if both run the same tokens after the same ones, so that one run can serve them.
bool same_tokens(const Request& a, const Request& b);

}  // namespace carbon
