#include "src/transformer/decoder.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "src/base/error.hpp"
#include "src/model/llama_tensors.hpp"
#include "src/transformer/forward_pass.hpp"

namespace carbon {
namespace {

// A vector of the checkpoint as f32 in device memory.
void load_vector(ops::Backend& backend, const TensorView& view, DeviceBuffer& out) {
  const uint32_t row = 0;
  backend.embed(view, std::span(&row, 1), out.floats(view.cols));
}

}  // namespace

Decoder::Workspace::Workspace(ops::Backend& backend)
    : x(backend),
      selected(backend),
      act(backend),
      qkv(backend),
      gate_up(backend),
      gated(backend),
      out(backend) {}

void Decoder::Workspace::reset() {
  for (DeviceBuffer* buffer : all) buffer->reset();
}

Decoder::Decoder(ops::Backend& backend, const Checkpoint& checkpoint)
    : backend_(backend),
      config_(checkpoint.config()),
      final_norm_(backend),
      kv_(backend, {config_.causal() ? config_.layers : 1, config_.kv_heads, config_.head_dim}),
      workspace_(backend) {
  const DecoderTensors tensors = decoder_tensors(checkpoint);
  embedding_ = tensors.embedding;
  for (const LayerTensors& from : tensors.layers) {
    auto layer = std::make_unique<Layer>(backend);
    load_vector(backend, from.attention_norm, layer->attention_norm);
    load_vector(backend, from.mlp_norm, layer->mlp_norm);
    if (config_.head_norm) {
      load_vector(backend, from.q_norm, layer->q_norm);
      load_vector(backend, from.k_norm, layer->k_norm);
    }
    const TensorView qkv[] = {from.q, from.k, from.v};
    layer->qkv = backend.prepare(qkv);
    layer->q = backend.part(*layer->qkv, 0, 1);
    layer->kv = backend.part(*layer->qkv, 1, 2);
    layer->o = backend.prepare(from.o);
    layer->gate = backend.prepare(from.gate);
    layer->up = backend.prepare(from.up);
    layer->down = backend.prepare(from.down);
    layers_.push_back(std::move(layer));
  }
  load_vector(backend, tensors.final_norm, final_norm_);
}

Decoder::~Decoder() = default;

void Decoder::check(size_t position, std::span<const uint32_t> tokens) const {
  const size_t end = position + tokens.size();
  if (end > config_.max_positions)
    throw Error("decoder", "a sequence of " + std::to_string(end) +
                               " tokens does not fit the model's context of " +
                               std::to_string(config_.max_positions) + " tokens");
  for (const uint32_t token : tokens)
    if (token >= embedding_.rows)
      throw Error("decoder", "token id " + std::to_string(token) + " is outside the model's vocabulary of " +
                                 std::to_string(embedding_.rows));
}

void Decoder::ensure_rope(size_t positions) {
  if (positions <= rope_positions_) return;
  const size_t wanted = std::min(std::max<size_t>(std::max<size_t>(positions, 1024), 2 * rope_positions_),
                                 config_.max_positions);
  const std::vector<double> inv_freq = rope_inv_freq(config_);
  backend_.set_rope({inv_freq, rope_attention_factor(config_)}, wanted);
  rope_positions_ = wanted;  // not if that ran out of memory
}

Decoder::BufferBytes Decoder::buffer_bytes(size_t rows, size_t wanted, size_t blocks, size_t swiglu) const {
  const Layer& layer = *layers_.front();
  const size_t type = dtype_size(backend_.dtype()), hidden = config_.hidden;
  const bool one = blocks == 1;
  const size_t beyond = one ? wanted : rows;  // rows that go beyond keys and values
  const size_t x = rows * hidden * sizeof(float);
  const size_t selected = wanted < rows ? wanted * hidden * sizeof(float) : 0;
  const size_t act = std::max(rows * hidden, beyond * config_.heads * config_.head_dim) * type;
  const size_t qkv =
      one ? std::max(rows * layer.kv->rows(), wanted * layer.q->rows()) : rows * layer.qkv->rows();
  const size_t gated = beyond * config_.intermediate * type;
  const size_t out = std::max<size_t>(wanted, 1) * hidden * type;
  return {x, selected, act, qkv * sizeof(float), swiglu * sizeof(float), gated, out};
}

Decoder::BufferBytes Decoder::most_bytes(size_t rows) const {
  const Layer& layer = *layers_.front();
  size_t swiglu = 0;
  for (const ops::RowClass row_class : {ops::RowClass::prefill, ops::RowClass::decode})
    swiglu = std::max(swiglu, backend_.swiglu_scratch(rows, *layer.gate, *layer.up, row_class));
  // Rows that are returned are copied unless all are, so that all but one take the most.
  return buffer_bytes(rows, rows - std::min<size_t>(rows, 1), layers_.size(), swiglu);
}

size_t Decoder::bytes_lacking(size_t rows) const {
  const BufferBytes most = most_bytes(rows);
  size_t sum = 0;
  for (size_t i = 0; i < most.size(); ++i) {
    const size_t there = workspace_.all[i]->bytes();
    sum += most[i] - std::min(most[i], there);
  }
  return sum;
}

HiddenRows Decoder::forward(std::span<const Chunk> chunks, size_t blocks) {
  return *forward_while(chunks, blocks, [] { return true; });
}

std::optional<HiddenRows> Decoder::forward_while(std::span<const Chunk> chunks, size_t blocks,
                                                 const std::function<bool()>& wanted) {
  size_t last_position = 0;
  for (const Chunk& chunk : chunks) {
    check(chunk.sequence->length(), chunk.tokens);
    if (!config_.causal() && chunk.sequence->length() > 0)
      throw Error("decoder", "this model sees a sequence as a whole, which cannot go on after a pass");
    last_position = std::max(last_position, chunk.sequence->length() + chunk.tokens.size());
  }
  for (const Chunk& chunk : chunks) chunk.sequence->reserve(chunk.tokens.size());
  if (last_position == 0) return HiddenRows{};
  ensure_rope(last_position);
  ForwardPass pass(*this, chunks, blocks == 0 ? layers_.size() : blocks);
  std::optional<HiddenRows> rows;
  try {
    pass.allocate();
    rows = pass.run(wanted);
  } catch (const OutOfMemory&) {
    workspace_.reset();
    throw;
  }
  if (rows)
    for (const Chunk& chunk : chunks) chunk.sequence->advance(chunk.tokens.size());
  return rows;
}

HiddenRows Decoder::part(const HiddenRows& rows, size_t first, size_t count, ops::RowClass row_class) const {
  const size_t offset = first * config_.hidden;
  const char* const act = static_cast<const char*>(rows.act);
  return {act ? act + offset * dtype_size(backend_.dtype()) : nullptr, rows.residual + offset, count,
          row_class};
}

void Decoder::download_residual(const HiddenRows& rows, float* out) {
  backend_.download(rows.residual, rows.count * config_.hidden, out);
}

void Decoder::download_final(const HiddenRows& rows, float* out) {
  backend_.final_norm(rows.residual, final_norm_.floats(), config_.rms_eps, rows.count, config_.hidden, out);
}

void Decoder::sum_states(const HiddenRows& rows, bool final, std::span<const ops::RowSums> sums,
                         double* out) {
  backend_.sum_rows(rows.residual, final ? final_norm_.floats() : nullptr, config_.rms_eps, config_.hidden,
                    sums, out);
}

void Decoder::free_unused_memory() {
  workspace_.reset();
  kv_.free_unused_pages();
}

}  // namespace carbon
