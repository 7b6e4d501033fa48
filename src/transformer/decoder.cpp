#include "src/transformer/decoder.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "src/base/error.hpp"

namespace carbon {
namespace {

// A pass that does not fit the memory is not divided further than this: too little would be gained.
constexpr size_t kLeastRows = 256;

// A vector of the checkpoint as f32 in device memory.
void load_vector(ops::Backend& backend, const Checkpoint& checkpoint, const std::string& name, size_t n,
                 DeviceBuffer& out) {
  const TensorView view = checkpoint.tensor(name, 1, n);
  const uint32_t row = 0;
  backend.embed(view, std::span(&row, 1), out.floats(n));
}

}  // namespace

void DeviceBuffer::reset() {
  backend_->release(memory_);
  memory_ = nullptr;
  bytes_ = 0;
}

void* DeviceBuffer::ensure(size_t bytes) {
  if (bytes <= bytes_) return memory_;
  reset();
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

struct Decoder::Rows {
  std::vector<uint32_t> tokens, wanted;  // wanted: which of the rows are returned
  std::vector<ops::RowRun> runs, wanted_runs;
};

Decoder::Decoder(ops::Backend& backend, const Checkpoint& checkpoint)
    : backend_(backend),
      config_(checkpoint.config()),
      embedding_(checkpoint.embedding()),
      pass_rows_(backend.pass_rows()),
      final_norm_(backend),
      kv_(backend, {config_.layers, config_.kv_heads, config_.head_dim}),
      x_(backend),
      selected_(backend),
      act_(backend),
      qkv_(backend),
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
  const size_t wanted = make_ready(chunks, pass);
  size_t out_row = 0;
  for (Place at; at.chunk < chunks.size();) {
    Place behind = at;
    const Rows rows = next_rows(chunks, behind);
    if (rows.tokens.empty()) break;
    // A pass that has failed can be run again: nothing but the pages behind its sequences has been written.
    try {
      make_room(rows, pass);
      run_pass(rows, pass, out_row);
    } catch (const OutOfMemory&) {
      give_room_back();
      if (rows.tokens.size() <= kLeastRows) {
        out_.reset();
        throw;
      }
      pass_rows_ = std::max(rows.tokens.size() / 2, kLeastRows);
      continue;
    }
    at = behind;
    out_row += rows.wanted.size();
  }
  for (const Chunk& chunk : chunks) chunk.sequence->advance(chunk.tokens.size());
  return wanted;
}

// Room for what outlives a pass: pages, the rotary table, and the wanted rows, whose number is returned.
size_t Decoder::make_ready(std::span<const Chunk> chunks, const Pass& pass) {
  size_t wanted = 0, last_position = 0;
  for (const Chunk& chunk : chunks) {
    wanted += chunk.want_end - chunk.want_begin;
    last_position = std::max(last_position, chunk.sequence->length() + chunk.tokens.size());
    chunk.sequence->reserve(chunk.tokens.size());
  }
  ensure_rope(last_position);
  out_.ensure(std::max<size_t>(wanted, 1) * config_.hidden *
              dtype_size(pass.residual ? DType::f32 : backend_.dtype()));
  return wanted;
}

// The rows of the next pass, from `from` on, which is moved behind them.
Decoder::Rows Decoder::next_rows(std::span<const Chunk> chunks, Place& from) const {
  Rows rows;
  while (from.chunk < chunks.size() && rows.tokens.size() < pass_rows_) {
    const Chunk& chunk = chunks[from.chunk];
    const size_t begin = from.token, first_row = rows.tokens.size();
    const size_t end = std::min(chunk.tokens.size(), begin + pass_rows_ - first_row);
    const size_t want_begin = std::clamp(chunk.want_begin, begin, end);
    const size_t want_end = std::clamp(chunk.want_end, want_begin, end);
    const size_t position = chunk.sequence->length();
    if (begin < end) rows.runs.push_back({chunk.sequence->pages(), first_row, end - begin, position + begin});
    if (want_begin < want_end)
      rows.wanted_runs.push_back(
          {chunk.sequence->pages(), rows.wanted.size(), want_end - want_begin, position + want_begin});
    for (size_t i = begin; i < end; ++i) rows.tokens.push_back(chunk.tokens[i]);
    for (size_t i = want_begin; i < want_end; ++i)
      rows.wanted.push_back(static_cast<uint32_t>(first_row + i - begin));
    from = end == chunk.tokens.size() ? Place{from.chunk + 1, 0} : Place{from.chunk, end};
  }
  return rows;
}

// All buffers of a pass, so that what does not fit is known before anything is computed.
void Decoder::make_room(const Rows& rows, const Pass& pass) {
  const Layer& layer = *layers_.front();
  const size_t n = rows.tokens.size(), wanted = rows.wanted.size(), type = dtype_size(backend_.dtype());
  const bool one = pass.blocks == 1;
  const size_t most = one ? wanted : n;  // rows that go beyond keys and values
  const auto scratch = [&](size_t count) {
    return backend_.swiglu_scratch(count, *layer.gate, *layer.up, pass.row_class);
  };
  x_.floats(n * config_.hidden);
  act_.ensure(std::max(n * config_.hidden, most * config_.heads * config_.head_dim) * type);
  qkv_.floats(one ? std::max(n * layer.kv->rows(), wanted * layer.q->rows()) : n * layer.qkv->rows());
  gate_up_.floats(std::max(scratch(most), scratch(wanted)));
  gated_.ensure(most * config_.intermediate * type);
  if (wanted < n && !pass.residual) selected_.floats(wanted * config_.hidden);
}

void Decoder::give_room_back() {
  for (DeviceBuffer* buffer : {&x_, &selected_, &act_, &qkv_, &gate_up_, &gated_}) buffer->reset();
}

void Decoder::give_back() {
  give_room_back();
  out_.reset();
  kv_.give_back();
}

// Runs the rows through the blocks and writes what is asked for of the wanted ones from row `out_row` of out_
// on.
void Decoder::run_pass(const Rows& rows, const Pass& pass, size_t out_row) {
  const size_t hidden = config_.hidden;
  const bool all = rows.wanted.size() == rows.tokens.size();
  float* const residual = pass.residual ? out_.floats() + out_row * hidden : nullptr;
  float* x = all && pass.residual ? residual : x_.floats();
  void* const act = act_.get();
  const auto plan = [&](const std::vector<ops::RowRun>& runs) {
    return backend_.plan(runs, config_.heads, kv_.store(), pass.row_class);
  };
  const std::unique_ptr<ops::RowPlan> every = plan(rows.runs), some = all ? nullptr : plan(rows.wanted_runs);
  const ops::RowPlan* queries = every.get();
  size_t n = rows.tokens.size();
  const auto norm = [&](const DeviceBuffer& weight, void* to) {
    backend_.norm(x, weight.floats(), config_.rms_eps, n, hidden, to);
  };
  backend_.embed(embedding_, rows.tokens, x);

  for (size_t i = 0; i < pass.blocks; ++i) {
    const Layer& layer = *layers_[i];
    norm(layer.attention_norm, act);
    // The last layer's keys and values are needed from every row, the rest of it only from the rows returned.
    // Its products stay apart whichever those are, so that bits do not depend on what is asked for.
    const bool last = i + 1 == pass.blocks;
    const ops::Weight* projection = last ? layer.kv.get() : layer.qkv.get();
    project(*projection, i, *every, n, pass.row_class);
    if (last) {
      if (rows.wanted.empty()) return;
      if (!all) {
        float* const selected = pass.residual ? residual : selected_.floats();
        backend_.select_rows(x, rows.wanted, hidden, selected);
        x = selected;
        queries = some.get();
        n = rows.wanted.size();
        norm(layer.attention_norm, act);
      }
      projection = layer.q.get();
      backend_.linear(act, n, *projection, qkv_.floats(), projection->rows(), pass.row_class);
    }
    attend(layer, i, *queries, n, projection->rows(), pass.row_class, x);
    norm(layer.mlp_norm, act);
    feed_forward(layer, n, pass.row_class, x);
  }
  if (!pass.residual)
    norm(final_norm_, static_cast<char*>(out_.get()) + out_row * hidden * dtype_size(backend_.dtype()));
}

// act -> qkv_, whose last columns are keys and values of layer `index`; those go to the cache.
void Decoder::project(const ops::Weight& projection, size_t index, const ops::RowPlan& plan, size_t n,
                      ops::RowClass row_class) {
  const size_t width = config_.kv_heads * config_.head_dim, ld = projection.rows();
  backend_.linear(act_.get(), n, projection, qkv_.floats(), ld, row_class);
  const float* keys = qkv_.floats() + ld - 2 * width;
  backend_.append_kv(keys, keys + width, ld, plan, index);
}

// Queries in qkv_, with leading dimension ld, through the attention block; the result is added to x.
void Decoder::attend(const Layer& layer, size_t index, const ops::RowPlan& queries, size_t n, size_t ld,
                     ops::RowClass row_class, float* x) {
  backend_.attention(qkv_.floats(), ld, queries, index, act_.get());
  backend_.linear_add(act_.get(), n, *layer.o, x, row_class);
}

// act through the SwiGLU block; the result is added to x.
void Decoder::feed_forward(const Layer& layer, size_t n, ops::RowClass row_class, float* x) {
  backend_.linear_swiglu(act_.get(), n, *layer.gate, *layer.up, gate_up_.floats(), gated_.get(), row_class);
  backend_.linear_add(gated_.get(), n, *layer.down, x, row_class);
}

}  // namespace carbon
