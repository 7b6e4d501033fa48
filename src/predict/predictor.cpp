#include "src/predict/predictor.hpp"

#include <cmath>
#include <utility>

#include "tokenizer/kmer.hpp"

namespace carbon {

Predictor::Predictor(const ModelConfig& config, const LabelValues& labels, Pooling pooling,
                     StrandChoice strand)
    : labels_(labels), rows_("predict", config, pooling), strand_(strand) {}

PredictItem Predictor::plan(std::string name, std::string_view bases) const {
  rows_.check(name, bases.size());
  PredictItem item{std::move(name), {}, {}};
  if (strand_ != StrandChoice::reverse) item.requests.push_back(rows_.request(bases));
  if (strand_ != StrandChoice::forward) item.requests.push_back(rows_.request(reverse_complement(bases)));
  return item;
}

std::vector<double> Predictor::values(const PredictItem& item) const {
  std::vector<double> mean(labels_.names().size(), 0.0);
  for (const RequestPtr& request : item.requests) {
    const std::vector<double> values = labels_.values(request->states);
    for (size_t i = 0; i < mean.size(); ++i) mean[i] += values[i];
  }
  for (double& value : mean) {
    value /= static_cast<double>(item.requests.size());
    if (!std::isfinite(value)) throw not_finite("predict", "value of a label in sequence " + item.name);
  }
  return mean;
}

}  // namespace carbon
