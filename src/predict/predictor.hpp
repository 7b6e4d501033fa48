// From a sequence to its requests to the model, and from their results to the values of the labels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/engine/request.hpp"
#include "src/files/sequence_output.hpp"
#include "src/formats/sequence_inputs.hpp"
#include "src/model/config.hpp"
#include "src/pooling/label_values.hpp"
#include "src/pooling/pooled_rows.hpp"

namespace carbon {

/// A sequence on its way through the run.
struct PredictItem {
  std::string name;
  std::vector<RequestPtr> requests;  // one per strand
  SequencesDone done = {};           // this sequence and those before it in the run

  size_t bytes() const { return sizeof(*this) + name.capacity(); }
};

class Predictor {
 public:
  /// `labels` must outlive it. `pooling` is of one row. Throws Error as PooledRows does.
  Predictor(const ModelConfig& config, const LabelValues& labels, Pooling pooling, StrandChoice strand);

  /// Throws Error as PooledRows::check() does.
  PredictItem plan(std::string name, std::string_view bases) const;
  /// The values of the labels, from the finished requests of a sequence: those of one strand, or the mean
  /// over both. Throws Error, which names the sequence, for one that is not finite.
  std::vector<double> values(const PredictItem& item) const;

 private:
  const LabelValues& labels_;
  PooledRows rows_;
  StrandChoice strand_;
};

}  // namespace carbon
