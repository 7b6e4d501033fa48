#include "src/embed/planner.hpp"

#include <cmath>
#include <utility>

#include "src/base/error.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

void check_layer(int layer, size_t layers) {
  if (layer == kFinalNorm || (layer >= 1 && static_cast<size_t>(layer) <= layers)) return;
  throw SettingError("embed", "layer",
                     "there is no layer " + std::to_string(layer) + ": the model has " +
                         std::to_string(layers) + " layers; expected 1 to " + std::to_string(layers) +
                         ", or -1 for the state after the final norm",
                     {"set it with {--layer}"});
}

// Returns the rows of a sequence: those of one strand, or the mean of both strands.
std::vector<float> rows_of(EmbedItem& item) {
  if (item.requests.empty()) return {};
  std::vector<float> rows = std::move(item.requests[0]->states);
  if (item.requests.size() == 2)
    for (size_t i = 0; i < rows.size(); ++i)
      rows[i] = static_cast<float>((double{rows[i]} + double{item.requests[1]->states[i]}) / 2);
  return rows;
}

void check_values(const EmbedItem& item, const std::vector<float>& rows, DType type) {
  for (const float value : rows) {
    if (!std::isfinite(value)) throw not_finite("embed", "hidden state in sequence " + item.name);
    if (type == DType::f16 && !std::isfinite(half_to_float(float_to_half(value))))
      throw Error("embed", "a hidden state of sequence " + item.name + " is too large for f16",
                  {"use {--dtype-out} f32"});
  }
}

}  // namespace

EmbedPlanner::EmbedPlanner(const ModelConfig& config, const EmbedOptions& options)
    : rows_("embed", config, options.pooling), layer_(options.layer), strand_(options.strand) {
  check_layer(layer_, config.layers);
}

EmbedItem EmbedPlanner::plan(std::string name, std::string_view bases) const {
  rows_.check(name, bases.size());
  EmbedItem item{std::move(name), {}, {}};
  const auto add = [&](const RequestPtr& request) {
    if (request) item.requests.push_back(request);
  };
  if (strand_ != StrandChoice::reverse) add(rows_.request(bases, layer_));
  if (strand_ != StrandChoice::forward) add(rows_.request(reverse_complement(bases), layer_));
  return item;
}

std::vector<float> take_rows(EmbedItem& item, DType type) {
  std::vector<float> rows = rows_of(item);
  check_values(item, rows, type);
  return rows;
}

}  // namespace carbon
