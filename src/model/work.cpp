#include "src/model/work.hpp"

#include "src/model/llama_tensors.hpp"

namespace carbon {
namespace {

// Elements of one layer's matrices: those for keys and values, and the others.
double key_value_elements(const ModelConfig& c) {
  return 2.0 * static_cast<double>(c.kv_heads * c.head_dim) * static_cast<double>(c.hidden);
}
double other_elements(const ModelConfig& c) {
  return static_cast<double>(c.hidden) * static_cast<double>(2 * c.heads * c.head_dim + 3 * c.intermediate);
}
double head_elements(const ModelConfig& c) {
  const auto hidden = static_cast<double>(c.hidden);
  if (c.annotator)
    return AnnotatorConfig::kStrands * hidden *
           (static_cast<double>(AnnotatorConfig::kClasses * c.layout.bases()) +
            (c.annotator->hidden_layer ? hidden : 0));
  return static_cast<double>(c.layout.kmers()) * hidden;
}

// The number of pairs of a query and a key that it attends to, for the last `queries` of `total` positions.
double keys_seen(const ModelConfig& c, double total, double queries) {
  if (!c.causal()) return queries * total;
  return queries * total - queries * (queries - 1) / 2;
}

}  // namespace

double parameters(const ModelConfig& config) {
  double count = 0;
  for (const TensorShape& tensor : architecture(config)) {
    double elements = 1;
    for (const uint64_t n : tensor.shape) elements *= static_cast<double>(n);
    count += elements;
  }
  return count;
}

double read_parameters(const ModelConfig& config) {
  return static_cast<double>(config.layers) * (key_value_elements(config) + other_elements(config)) +
         head_elements(config);
}

PassWork forward_work(const ModelConfig& config, const WorkUnits& units, std::span<const WorkChunk> chunks) {
  const auto layers = static_cast<double>(config.layers);
  const auto query_width = static_cast<double>(config.heads * config.head_dim);
  const double cached =
      layers * 2 * static_cast<double>(config.kv_heads * config.head_dim);  // elements per token
  PassWork work;
  work.bytes = read_parameters(config) * units.weight_bytes;
  for (const WorkChunk& chunk : chunks) {
    const auto tokens = static_cast<double>(chunk.tokens), wanted = static_cast<double>(chunk.wanted);
    const double total = static_cast<double>(chunk.past) + tokens;
    const double rows = (layers - 1) * tokens + wanted;  // summed over all layers
    work.flops += 2 * (layers * tokens * key_value_elements(config) + rows * other_elements(config) +
                       wanted * head_elements(config));
    // Two products per pair of query and key: for the score, and for the weighted sum of values.
    work.flops += 4 * query_width *
                  ((layers - 1) * keys_seen(config, total, tokens) + keys_seen(config, total, wanted));
    work.bytes += total * cached * static_cast<double>(units.cache_bytes);
  }
  return work;
}

}  // namespace carbon
