#include "src/transformer/decoder.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/base/error.hpp"
#include "src/model/llama_tensors.hpp"
#include "src/transformer/f16_exponents.hpp"

namespace carbon {

/// The weights of one decoder block, as the backend has prepared them.
struct Decoder::Layer {
  explicit Layer(ops::Backend& backend)
      : attention_norm(backend), mlp_norm(backend), q_norm(backend), k_norm(backend) {}
  DeviceBuffer attention_norm, mlp_norm;  // [hidden]
  DeviceBuffer q_norm, k_norm;            // [head_dim]; empty without ModelConfig::head_norm
  std::unique_ptr<ops::Weight> qkv;       // [(heads + 2 kv_heads) * head_dim, hidden]
  std::unique_ptr<ops::Weight> q, kv;     // its parts
  std::unique_ptr<ops::Weight> o;         // [hidden, heads * head_dim]
  std::unique_ptr<ops::Weight> gate, up,
      down;                // two of [intermediate, hidden], one of [hidden, intermediate]
  int score_exponent = 0;  // of products of queries and keys (ops::Backend::attention)
};

class ForwardPass {
 public:
  /// The chunks' sequences have room for their tokens.
  ForwardPass(Decoder& decoder, std::span<const Chunk> chunks, size_t blocks);

  /// Allocates all buffers, so that a pass that does not fit the memory fails before anything is computed.
  void allocate();
  /// Runs the pass and returns the wanted rows; nothing if `wanted` said before half a block that nobody
  /// wants them any more.
  std::optional<HiddenRows> run(const std::function<bool()>& wanted);

 private:
  /// Consecutive rows of one class. `wanted`: which of them are returned, counted from the pass's first row.
  struct Segment {
    ops::RowClass row_class = ops::RowClass::prefill;
    size_t first = 0, count = 0;                // rows of the pass
    size_t first_wanted = 0, count_wanted = 0;  // rows of those returned
    std::vector<ops::RowRun> runs, wanted_runs;
    std::unique_ptr<ops::RowPlan> plan, wanted_plan;
  };
  /// Where the rows of a segment lie in buffers of `all` rows or of the wanted ones.
  struct Place {
    size_t first, count;
    const ops::RowPlan* plan;
    ops::RowClass row_class;
  };

  void add(const Chunk& chunk);
  std::vector<Place> places(bool wanted_only) const;
  void* act_row(size_t row, size_t width) const;
  void norm_heads(float* x, const DeviceBuffer& weight, size_t rows, size_t heads, size_t ld);
  void project(const Decoder::Layer& layer, const ops::Weight& projection, size_t index,
               const std::vector<Place>& rows);
  void attend(const Decoder::Layer& layer, size_t index, size_t ld, const std::vector<Place>& rows, float* x);
  void feed_forward(const Decoder::Layer& layer, const std::vector<Place>& rows, float* x);

  Decoder& decoder_;
  ops::Backend& backend_;
  const ModelConfig& config_;
  Decoder::Workspace& buffers_;
  size_t blocks_;
  std::vector<uint32_t> tokens_, wanted_;
  std::vector<Segment> segments_;
};

ForwardPass::ForwardPass(Decoder& decoder, std::span<const Chunk> chunks, size_t blocks)
    : decoder_(decoder),
      backend_(decoder.backend_),
      config_(decoder.config_),
      buffers_(decoder.workspace_),
      blocks_(blocks) {
  for (const Chunk& chunk : chunks) add(chunk);
}

void ForwardPass::add(const Chunk& chunk) {
  if (chunk.tokens.empty()) return;
  const bool one_class = !backend_.separates_classes();
  if (segments_.empty() || (!one_class && segments_.back().row_class != chunk.row_class)) {
    Segment& next = segments_.emplace_back();
    next.row_class = chunk.row_class;
    next.first = tokens_.size();
    next.first_wanted = wanted_.size();
  }
  Segment& segment = segments_.back();
  const size_t position = chunk.sequence->length();
  const size_t keys = config_.causal() ? 0 : chunk.tokens.size();
  segment.runs.push_back({chunk.sequence->pages(), segment.count, chunk.tokens.size(), position, keys});
  if (chunk.want_begin < chunk.want_end)
    segment.wanted_runs.push_back({chunk.sequence->pages(), segment.count_wanted,
                                   chunk.want_end - chunk.want_begin, position + chunk.want_begin, keys});
  const auto first_row = static_cast<uint32_t>(tokens_.size());
  for (size_t i = chunk.want_begin; i < chunk.want_end; ++i)
    wanted_.push_back(first_row + static_cast<uint32_t>(i));
  tokens_.insert(tokens_.end(), chunk.tokens.begin(), chunk.tokens.end());
  segment.count += chunk.tokens.size();
  segment.count_wanted += chunk.want_end - chunk.want_begin;
}

void ForwardPass::allocate() {
  const Decoder::Layer& layer = *decoder_.layers_.front();
  size_t swiglu = 0;
  for (const Segment& segment : segments_)
    for (const size_t count : {blocks_ == 1 ? size_t{0} : segment.count, segment.count_wanted})
      swiglu = std::max(swiglu, backend_.swiglu_scratch(count, *layer.gate, *layer.up, segment.row_class));
  const Decoder::BufferBytes needed = decoder_.buffer_bytes(tokens_.size(), wanted_.size(), blocks_, swiglu);
  std::optional<Decoder::BufferBytes> most;
  for (size_t i = 0; i < needed.size(); ++i) {
    DeviceBuffer& buffer = *buffers_.all[i];
    if (needed[i] <= buffer.bytes()) continue;
    if (!most) most = decoder_.most_bytes(backend_.pass_rows());
    buffer.ensure(needed[i], (*most)[i]);
  }
}

std::vector<ForwardPass::Place> ForwardPass::places(bool wanted_only) const {
  std::vector<Place> out;
  for (const Segment& s : segments_) {
    if (!wanted_only) out.push_back({s.first, s.count, s.plan.get(), s.row_class});
    if (wanted_only && s.count_wanted > 0)
      out.push_back({s.first_wanted, s.count_wanted, s.wanted_plan.get(), s.row_class});
  }
  return out;
}

std::optional<HiddenRows> ForwardPass::run(const std::function<bool()>& still_wanted) {
  const size_t hidden = config_.hidden;
  const bool all = wanted_.size() == tokens_.size();
  const auto plan = [&](const std::vector<ops::RowRun>& runs, ops::RowClass row_class) {
    return backend_.plan(runs, config_.heads, decoder_.kv_.store(), row_class);
  };
  for (Segment& segment : segments_) {
    segment.plan = plan(segment.runs, segment.row_class);
    if (all)
      continue;
    else if (segment.count_wanted > 0)
      segment.wanted_plan = plan(segment.wanted_runs, segment.row_class);
  }
  const std::vector<Place> every = places(false), wanted = all ? every : places(true);
  float* x = buffers_.x.floats();
  const auto norm = [&](const DeviceBuffer& weight, size_t n, void* to) {
    backend_.norm(x, weight.floats(), config_.rms_eps, n, hidden, to);
  };
  backend_.embed(decoder_.embedding_, tokens_, x);

  for (size_t i = 0; i < blocks_; ++i) {
    // What attends to whole sequences never comes back to a layer, so that all of them keep keys in one.
    const size_t kept = config_.causal() ? i : 0;
    if (!still_wanted()) return std::nullopt;
    const Decoder::Layer& layer = *decoder_.layers_[i];
    // The last layer's keys and values are needed from every row, the rest of it only from the rows returned.
    // Its products stay apart whichever those are, so that bits do not depend on what is asked for.
    const bool last = i + 1 == blocks_;
    norm(layer.attention_norm, tokens_.size(), buffers_.act.get());
    project(layer, last ? *layer.kv : *layer.qkv, kept, every);
    const std::vector<Place>& rows = last ? wanted : every;
    size_t n = tokens_.size();
    if (last) {
      if (wanted_.empty()) return HiddenRows{};
      if (!all) {
        backend_.select_rows(x, wanted_, hidden, buffers_.selected.floats());
        x = buffers_.selected.floats();
        n = wanted_.size();
        norm(layer.attention_norm, n, buffers_.act.get());
      }
      for (const Place& place : rows)
        backend_.linear(act_row(place.first, hidden), place.count, *layer.q,
                        buffers_.qkv.floats() + place.first * layer.q->rows(), layer.q->rows(),
                        place.row_class);
    }
    attend(layer, kept, last ? layer.q->rows() : layer.qkv->rows(), rows, x);
    if (!still_wanted()) return std::nullopt;
    norm(layer.mlp_norm, n, buffers_.act.get());
    feed_forward(layer, rows, x);
  }
  HiddenRows result{nullptr, x, wanted_.size(), segments_.front().row_class};
  if (blocks_ == decoder_.layers_.size()) {
    norm(decoder_.final_norm_act_, wanted_.size(), buffers_.out.get());
    result.act = buffers_.out.get();
  }
  return result;
}

void* ForwardPass::act_row(size_t row, size_t width) const {
  return static_cast<char*>(buffers_.act.get()) + row * width * dtype_size(backend_.dtype());
}

// Queries or keys of some rows, before they are rotated.
void ForwardPass::norm_heads(float* x, const DeviceBuffer& weight, size_t rows, size_t heads, size_t ld) {
  if (config_.head_norm)
    backend_.norm_heads(x, weight.floats(), config_.rms_eps, rows, heads, config_.head_dim, ld);
}

// act -> qkv, whose last columns are keys and values of layer `index`; those go to the cache.
void ForwardPass::project(const Decoder::Layer& layer, const ops::Weight& projection, size_t index,
                          const std::vector<Place>& rows) {
  const size_t width = config_.kv_heads * config_.head_dim, ld = projection.rows();
  for (const Place& place : rows) {
    float* const out = buffers_.qkv.floats() + place.first * ld;
    backend_.linear(act_row(place.first, config_.hidden), place.count, projection, out, ld, place.row_class);
    float* const keys = out + ld - 2 * width;
    norm_heads(keys, layer.k_norm, place.count, config_.kv_heads, ld);
    backend_.append_kv(keys, keys + width, ld, *place.plan, index);
  }
}

// Queries in qkv, with leading dimension ld, through the attention block; the result is added to x.
void ForwardPass::attend(const Decoder::Layer& layer, size_t index, size_t ld, const std::vector<Place>& rows,
                         float* x) {
  const size_t width = config_.heads * config_.head_dim;
  for (const Place& place : rows) {
    void* const act = act_row(place.first, width);
    float* const queries = buffers_.qkv.floats() + place.first * ld;
    norm_heads(queries, layer.q_norm, place.count, config_.heads, ld);
    backend_.attention(queries, ld, *place.plan, index, act, layer.score_exponent);
    backend_.linear_add(act, place.count, *layer.o, x + place.first * config_.hidden, place.row_class);
  }
}

// act through the SwiGLU block; the result is added to x.
void ForwardPass::feed_forward(const Decoder::Layer& layer, const std::vector<Place>& rows, float* x) {
  for (const Place& place : rows) {
    void* const gated = static_cast<char*>(buffers_.gated.get()) +
                        place.first * config_.intermediate * dtype_size(backend_.dtype());
    backend_.linear_swiglu(act_row(place.first, config_.hidden), place.count, *layer.gate, *layer.up,
                           buffers_.gate_up.floats(), gated, place.row_class);
    backend_.linear_add(gated, place.count, *layer.down, x + place.first * config_.hidden, place.row_class);
  }
}

namespace {

// A vector of the checkpoint as f32 in device memory, times 2^-exponent.
void load_vector(ops::Backend& backend, const TensorView& view, DeviceBuffer& out, int exponent = 0) {
  const uint32_t row = 0;
  float* const to = out.floats(view.cols);
  backend.embed(view, std::span(&row, 1), to);
  if (exponent == 0) return;
  std::vector<float> values(view.cols);
  backend.download(to, values.size(), values.data());
  for (float& value : values) value = std::ldexp(value, -exponent);
  backend.upload(values.data(), values.size(), to);
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
      final_norm_act_(backend),
      kv_(backend, {config_.causal() ? config_.layers : 1, config_.kv_heads, config_.head_dim}),
      workspace_(backend) {
  const DecoderTensors tensors = decoder_tensors(checkpoint);
  embedding_ = tensors.embedding;
  for (const LayerTensors& from : tensors.layers) {
    auto layer = std::make_unique<Layer>(backend);
    const LayerExponents scale =
        backend.dtype() == DType::f16 ? f16_exponents(config_, from) : LayerExponents{};
    load_vector(backend, from.attention_norm, layer->attention_norm, scale.attention_norm);
    load_vector(backend, from.mlp_norm, layer->mlp_norm, scale.mlp_norm);
    if (config_.head_norm) {
      load_vector(backend, from.q_norm, layer->q_norm, scale.query);
      load_vector(backend, from.k_norm, layer->k_norm, scale.key);
    }
    layer->score_exponent = scale.query + scale.key;
    // Of queries and keys, either the norm of heads has the scale or the product.
    const int query = config_.head_norm ? 0 : scale.query, key = config_.head_norm ? 0 : scale.key;
    const TensorView qkv[] = {from.q, from.k, from.v};
    const int exponents[] = {scale.attention_norm - query, scale.attention_norm - key,
                             scale.attention_norm - scale.value};
    layer->qkv = backend.prepare(qkv, exponents);
    layer->q = backend.part(*layer->qkv, 0, 1);
    layer->kv = backend.part(*layer->qkv, 1, 2);
    layer->o = backend.prepare(from.o, scale.value);
    layer->gate = backend.prepare(from.gate, scale.mlp_norm);
    layer->up = backend.prepare(from.up, scale.mlp_norm - scale.gated);
    layer->down = backend.prepare(from.down, scale.gated);
    layers_.push_back(std::move(layer));
  }
  load_vector(backend, tensors.final_norm, final_norm_);
  load_vector(backend, tensors.final_norm, final_norm_act_, final_exponent(backend.dtype(), tensors));
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
