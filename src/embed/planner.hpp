// From a sequence to its requests to the model, and from their results to the rows of the sequence.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "src/embed/run.hpp"
#include "src/engine/request.hpp"
#include "src/files/sequence_output.hpp"
#include "src/model/config.hpp"

namespace carbon {

/// A sequence on its way through the run.
struct EmbedItem {
  std::string name;
  std::vector<RequestPtr> requests;  // one per strand, or none where it has no rows
  SequencesDone done = {};           // this sequence and those before it in the run

  size_t bytes() const { return sizeof(*this) + name.capacity(); }
};

class EmbedPlanner {
 public:
  /// Throws Error for a layer that the model lacks, and for a tail to pad where the model's family pads none.
  /// `options` are those that check_embed_options() accepts.
  EmbedPlanner(const ModelConfig& config, const EmbedOptions& options);

  /// Throws Error, which has `name` in its message, for a sequence that does not fit the model's context, and
  /// for one without a k-mer to take the state from.
  EmbedItem plan(std::string name, std::string_view bases) const;

 private:
  PooledRows rows_;
  int layer_;
  StrandChoice strand_;
};

/// Takes the rows [n, hidden] out of the finished requests of a sequence: those of one strand, or the mean of
/// both strands. Throws Error for a value that is not finite, or would not be as `type` (f32 or f16).
std::vector<float> take_rows(EmbedItem& item, DType type);

}  // namespace carbon
