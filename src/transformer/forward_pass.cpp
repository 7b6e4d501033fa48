#include "src/transformer/forward_pass.hpp"

#include <algorithm>
#include <optional>

namespace carbon {

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
    norm(decoder_.final_norm_, wanted_.size(), buffers_.out.get());
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
    backend_.attention(queries, ld, *place.plan, index, act);
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

}  // namespace carbon
