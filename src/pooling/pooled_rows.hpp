// Which rows of a sequence stand for it, and the request for their hidden states: what embeddings and the
// values of a classification head are read from (docs/conventions.md, "Embeddings").
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "src/base/words.hpp"
#include "src/engine/request.hpp"
#include "src/model/config.hpp"

namespace carbon {

/// The row of the separator (</dna>, or a second <s>), the row of the last 6-mer, the mean over the rows of
/// all 6-mers, or every 6-mer's row.
enum class Pool { separator, last, mean, none };
inline constexpr Word<Pool> kPoolWords[] = {
    {"separator", Pool::separator}, {"last", Pool::last}, {"mean", Pool::mean}, {"none", Pool::none}};
/// Those that are one row, as a classification head needs it.
inline constexpr Word<Pool> kRowPoolWords[] = {{"separator", Pool::separator}, {"last", Pool::last}};

struct Pooling {
  Pool pool = Pool::separator;
  bool pad_tail = false;  // a partial 6-mer at the end is padded with A; otherwise it is left out
};
/// The values of pad_tail, in header lines.
inline constexpr Word<bool> kTailWords[] = {{"cut", false}, {"pad", true}};

class PooledRows {
 public:
  /// `command` is the name of the caller in messages. Throws Error for a tail to pad where the model's family
  /// pads none.
  PooledRows(std::string command, const ModelConfig& config, Pooling pooling);

  /// The 6-mers that are read of `length` bases.
  size_t kmers(size_t length) const;
  /// The most bases whose tokens fit the model's context.
  size_t largest() const;
  /// Throws Error, which has `name` in its message, for a sequence that does not fit the model's context, and
  /// for one without a 6-mer to take the state from.
  void check(const std::string& name, size_t length) const;
  /// The request for the rows of a sequence, which check() accepts, at a layer; null if it has none.
  RequestPtr request(std::string_view bases, int layer = kFinalNorm) const;

 private:
  std::string command_;
  size_t positions_;  // ModelConfig::sequence_positions()
  TokenLayout layout_;
  Pooling pooling_;
};

}  // namespace carbon
