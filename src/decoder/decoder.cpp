#include "src/decoder/decoder.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "src/util/error.hpp"

namespace carbon {
namespace {

// Rows of one pass over the layers: enough to reach the matrix products' full rate, few enough that a long
// chunk's activations stay small. A chunk is cut at pass boundaries, which no row can see.
constexpr size_t kPassRows = 2048;

// A vector of the checkpoint as f32 in device memory.
void load_vector(ops::Backend& backend, const Checkpoint& checkpoint, const std::string& name, size_t n,
                 DeviceBuffer& out) {
  const TensorView view = checkpoint.tensor(name, 1, n);
  const uint32_t row = 0;
  backend.embed(view, std::span(&row, 1), out.floats(n));
}

}  // namespace

void* DeviceBuffer::ensure(size_t bytes) {
  if (bytes <= bytes_) return memory_;
  backend_->release(memory_);
  memory_ = nullptr;
  bytes_ = 0;
  memory_ = backend_->allocate(bytes);
  bytes_ = bytes;
  return memory_;
}

struct Decoder::Layer {
  explicit Layer(ops::Backend& backend) : attention_norm(backend), mlp_norm(backend) {}
  DeviceBuffer attention_norm, mlp_norm;        // [hidden]
  std::unique_ptr<ops::Weight> qkv;             // [(heads + 2 kv)*d, hidden]
  std::unique_ptr<ops::Weight> q, kv;           // its parts
  std::unique_ptr<ops::Weight> o;               // [hidden, heads*d]
  std::unique_ptr<ops::Weight> gate, up, down;  // [ff, hidden] x2 [hidden, ff]
};

struct Decoder::Piece {
  const Chunk* chunk = nullptr;
  size_t begin = 0, end = 0;  // tokens of the chunk
  size_t position = 0;        // of the chunk's first token
};

Decoder::Decoder(ops::Backend& backend, const Checkpoint& checkpoint)
    : backend_(backend),
      config_(checkpoint.config()),
      embedding_(checkpoint.embedding()),
      final_norm_(backend),
      kv_(backend, {config_.layers, config_.kv_heads, config_.head_dim}),
      x_(backend),
      selected_(backend),
      act_(backend),
      qkv_(backend),
      delta_(backend),
      gate_up_(backend),
      gated_(backend),
      out_(backend) {
  const ModelConfig& c = config_;
  const size_t q_width = c.heads * c.head_dim, kv_width = c.kv_heads * c.head_dim;
  for (size_t i = 0; i < c.layers; ++i) {
    const std::string prefix = "model.layers." + std::to_string(i) + ".";
    const auto view = [&](const char* name, size_t rows, size_t cols) {
      return checkpoint.tensor(prefix + name + ".weight", rows, cols);
    };
    const auto matrix = [&](const char* name, size_t rows, size_t cols) {
      return backend.prepare(view(name, rows, cols));
    };
    auto layer = std::make_unique<Layer>(backend);
    load_vector(backend, checkpoint, prefix + "input_layernorm.weight", c.hidden, layer->attention_norm);
    load_vector(backend, checkpoint, prefix + "post_attention_layernorm.weight", c.hidden, layer->mlp_norm);
    const TensorView qkv[] = {view("self_attn.q_proj", q_width, c.hidden),
                              view("self_attn.k_proj", kv_width, c.hidden),
                              view("self_attn.v_proj", kv_width, c.hidden)};
    layer->qkv = backend.prepare(qkv);
    layer->q = backend.part(*layer->qkv, 0, 1);
    layer->kv = backend.part(*layer->qkv, 1, 2);
    layer->o = matrix("self_attn.o_proj", c.hidden, q_width);
    layer->gate = matrix("mlp.gate_proj", c.intermediate, c.hidden);
    layer->up = matrix("mlp.up_proj", c.intermediate, c.hidden);
    layer->down = matrix("mlp.down_proj", c.hidden, c.intermediate);
    layers_.push_back(std::move(layer));
  }
  load_vector(backend, checkpoint, "model.norm.weight", c.hidden, final_norm_);
}

Decoder::~Decoder() = default;

void Decoder::check(std::span<const Chunk> chunks) const {
  for (const Chunk& chunk : chunks) {
    const size_t end = chunk.sequence->length() + chunk.tokens.size();
    if (end > config_.max_positions)
      throw Error("decoder", "a sequence of " + std::to_string(end) +
                                 " tokens does not fit the model's context of " +
                                 std::to_string(config_.max_positions) + " tokens");
    for (const uint32_t token : chunk.tokens)
      if (token >= embedding_.rows)
        throw Error("decoder", "token id " + std::to_string(token) +
                                   " is outside the model's vocabulary of " +
                                   std::to_string(embedding_.rows));
  }
}

void Decoder::ensure_rope(size_t positions) {
  if (positions <= rope_positions_) return;
  const size_t wanted = std::min(std::max<size_t>(std::max<size_t>(positions, 1024), 2 * rope_positions_),
                                 config_.max_positions);
  const std::vector<double> inv_freq = rope_inv_freq(config_);
  backend_.set_rope({inv_freq, rope_attention_factor(config_)}, wanted);
  rope_positions_ = wanted;  // not if that ran out of memory
}

HiddenRows Decoder::forward(std::span<const Chunk> chunks, ops::RowClass row_class) {
  const size_t count = run(chunks, {layers_.size(), false, row_class});
  return {out_.get(), count, row_class};
}

void Decoder::residual(std::span<const Chunk> chunks, size_t blocks, float* out) {
  const size_t count = run(chunks, {blocks, true, ops::RowClass::prefill});
  backend_.download(out_.floats(), count * config_.hidden, out);
}

void Decoder::final_norm(float* x, size_t n) {
  const size_t width = config_.hidden;
  if (host_norm_.empty()) {
    host_norm_.resize(width);
    backend_.download(final_norm_.floats(), width, host_norm_.data());
  }
  for (size_t i = 0; i < n; ++i, x += width) {
    double squares = 0;
    for (size_t j = 0; j < width; ++j) squares += double{x[j]} * x[j];
    const double scale = 1 / std::sqrt(squares / static_cast<double>(width) + double{config_.rms_eps});
    for (size_t j = 0; j < width; ++j) x[j] = static_cast<float>(x[j] * scale * host_norm_[j]);
  }
}

// Runs the chunks and returns how many rows out_ holds.
size_t Decoder::run(std::span<const Chunk> chunks, const Pass& pass) {
  check(chunks);
  size_t wanted = 0, last_position = 0;
  for (const Chunk& chunk : chunks) {
    wanted += chunk.want_end - chunk.want_begin;
    last_position = std::max(last_position, chunk.sequence->length() + chunk.tokens.size());
    chunk.sequence->reserve(chunk.tokens.size());
  }
  ensure_rope(last_position);
  out_.ensure(std::max<size_t>(wanted, 1) * config_.hidden *
              dtype_size(pass.residual ? DType::f32 : backend_.dtype()));

  size_t out_row = 0, rows = 0;
  std::vector<Piece> pieces;
  const auto flush = [&] {
    if (rows > 0) out_row = run_pass(pieces, rows, pass, out_row);
    pieces.clear();
    rows = 0;
  };
  for (const Chunk& chunk : chunks) {
    for (size_t begin = 0; begin < chunk.tokens.size();) {
      const size_t take = std::min(chunk.tokens.size() - begin, kPassRows - rows);
      pieces.push_back({&chunk, begin, begin + take, chunk.sequence->length()});
      begin += take;
      rows += take;
      if (rows == kPassRows) flush();
    }
  }
  flush();
  for (const Chunk& chunk : chunks) chunk.sequence->advance(chunk.tokens.size());
  return wanted;
}

// Runs the pieces' rows through the blocks and writes what is asked for of the wanted ones from row `out_row`
// of out_ on. Returns the next free row of out_.
size_t Decoder::run_pass(std::span<const Piece> pieces, size_t rows, const Pass& pass, size_t out_row) {
  std::vector<uint32_t> tokens, wanted;
  std::vector<ops::RowRun> runs, wanted_runs;
  for (const Piece& piece : pieces) {
    const Chunk& chunk = *piece.chunk;
    const size_t first_row = tokens.size();
    const size_t from = std::clamp(chunk.want_begin, piece.begin, piece.end);
    const size_t to = std::clamp(chunk.want_end, from, piece.end);
    runs.push_back(
        {chunk.sequence->pages(), first_row, piece.end - piece.begin, piece.position + piece.begin});
    if (from < to)
      wanted_runs.push_back({chunk.sequence->pages(), wanted.size(), to - from, piece.position + from});
    for (size_t i = piece.begin; i < piece.end; ++i) tokens.push_back(chunk.tokens[i]);
    for (size_t i = from; i < to; ++i) wanted.push_back(static_cast<uint32_t>(first_row + i - piece.begin));
  }

  const size_t hidden = config_.hidden;
  float* x = x_.floats(rows * hidden);
  void* act =
      act_.ensure(rows * std::max(hidden, config_.heads * config_.head_dim) * dtype_size(backend_.dtype()));
  float* delta = delta_.floats(rows * hidden);
  qkv_.floats(rows * layers_.front()->qkv->rows());
  backend_.embed(embedding_, tokens, x);

  std::span<const ops::RowRun> queries = runs;
  size_t n = rows;
  for (size_t i = 0; i < pass.blocks; ++i) {
    const Layer& layer = *layers_[i];
    backend_.add_norm(x, i == 0 ? nullptr : delta, layer.attention_norm.floats(), config_.rms_eps, rows,
                      hidden, act);
    // The last layer's keys and values are needed from every row, the rest of it only from the rows returned.
    // Its products stay apart whichever those are, so that bits do not depend on what is asked for.
    const bool last = i + 1 == pass.blocks;
    const ops::Weight* projection = last ? layer.kv.get() : layer.qkv.get();
    project(*projection, i, runs, rows, pass.row_class);
    if (last) {
      if (wanted.empty()) return out_row;
      float* selected =
          pass.residual ? out_.floats() + out_row * hidden : selected_.floats(wanted.size() * hidden);
      backend_.select_rows(x, wanted, hidden, selected);
      x = selected;
      queries = wanted_runs;
      n = wanted.size();
      backend_.add_norm(x, nullptr, layer.attention_norm.floats(), config_.rms_eps, n, hidden, act);
      projection = layer.q.get();
      backend_.linear(act, n, *projection, qkv_.floats(), projection->rows(), pass.row_class);
    }
    attend(layer, i, queries, n, projection->rows(), pass.row_class);
    backend_.add_norm(x, delta, layer.mlp_norm.floats(), config_.rms_eps, n, hidden, act);
    feed_forward(layer, n, pass.row_class);
  }
  // The residual stream is in its place and lacks the last delta; a backend adds it only with a norm.
  void* out = act;
  if (!pass.residual) out = static_cast<char*>(out_.get()) + out_row * hidden * dtype_size(backend_.dtype());
  backend_.add_norm(x, delta, final_norm_.floats(), config_.rms_eps, n, hidden, out);
  return out_row + n;
}

// act -> qkv_, whose last columns are keys and values of layer `index`; those go to the cache.
void Decoder::project(const ops::Weight& projection, size_t index, std::span<const ops::RowRun> runs,
                      size_t n, ops::RowClass row_class) {
  const size_t width = config_.kv_heads * config_.head_dim, ld = projection.rows();
  backend_.linear(act_.get(), n, projection, qkv_.floats(), ld, row_class);
  const float* keys = qkv_.floats() + ld - 2 * width;
  backend_.append_kv(keys, keys + width, ld, runs, index, kv_.store());
}

// Queries in qkv_, with leading dimension ld -> delta through the attention block.
void Decoder::attend(const Layer& layer, size_t index, std::span<const ops::RowRun> queries, size_t n,
                     size_t ld, ops::RowClass row_class) {
  backend_.attention(qkv_.floats(), ld, config_.heads, queries, index, kv_.store(), act_.get(), row_class);
  backend_.linear(act_.get(), n, *layer.o, delta_.floats(), config_.hidden, row_class);
}

// act -> delta through the SwiGLU block.
void Decoder::feed_forward(const Layer& layer, size_t n, ops::RowClass row_class) {
  const size_t width = config_.intermediate;
  void* gated = gated_.ensure(n * width * dtype_size(backend_.dtype()));
  backend_.linear_swiglu(act_.get(), n, *layer.gate, *layer.up, gate_up_.floats(n * 2 * width), gated,
                         row_class);
  backend_.linear(gated, n, *layer.down, delta_.floats(), config_.hidden, row_class);
}

}  // namespace carbon
