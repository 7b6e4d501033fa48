// src/pooling/: what embed, predict, the server and the recipe head share: a sequence comes in, and the
// request for the hidden states that stand for it, or values of the labels of a head, go out.
//
// Here is which rows of a sequence stand for it (docs/conventions.md, "Embeddings").
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "src/base/words.hpp"
#include "src/engine/request.hpp"
#include "src/model/config.hpp"

namespace carbon {

/// The row of the separator (</dna>, or a second <s>), the row of the last k-mer, the mean over the rows of
/// all k-mers, or every k-mer's row. k are the bases of a token.
enum class Pool { separator, last, mean, none };
inline constexpr Word<Pool> kPoolWords[] = {
    {"separator", Pool::separator}, {"last", Pool::last}, {"mean", Pool::mean}, {"none", Pool::none}};
/// Those that are one row, as a classification head needs it.
inline constexpr Word<Pool> kRowPoolWords[] = {{"separator", Pool::separator}, {"last", Pool::last}};

struct Pooling {
  std::optional<Pool> pool;  // none: pool_of() says which
  bool pad_tail = false;     // a partial k-mer at the end is padded with A; otherwise it is left out
};
/// The pool: by default the separator, or the mean for a family that has none.
Pool pool_of(const Pooling& pooling, const TokenLayout& layout);
/// The values of pad_tail, in header lines.
inline constexpr Word<bool> kTailWords[] = {{"cut", false}, {"pad", true}};

class PooledRows {
 public:
  /// `command` is the name of the caller in messages. Throws Error for a tail to pad where the model's family
  /// pads none, and for the pool separator where it has none.
  PooledRows(std::string command, const ModelConfig& config, Pooling pooling);

  /// The k-mers that are read of `length` bases.
  size_t kmers(size_t length) const;
  /// The most bases whose tokens fit the model's context.
  size_t largest() const;
  /// Throws Error, which has `name` in its message, for a sequence that does not fit the model's context, and
  /// for one without a k-mer to take the state from.
  void check(const std::string& name, size_t length) const;
  /// The request for the rows of a sequence, which check() accepts, at a layer; null if it has none.
  RequestPtr request(std::string_view bases, int layer = kFinalNorm) const;

 private:
  /// Tokens before and after the k-mers.
  size_t around() const { return layout_.has_separator() ? 2 : 1; }

  std::string command_;
  size_t positions_;  // ModelConfig::sequence_positions()
  TokenLayout layout_;
  Pool pool_;
  bool pad_tail_;
};

}  // namespace carbon
