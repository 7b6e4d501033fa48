// One pass of rows through the decoder's blocks: what lives for a single call of Decoder::forward().
//
// Rows of one class that follow one another are a segment. A backend that sums in another order for each
// class gets the products and attention of each segment by themselves; one that does not gets all rows at
// once.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "src/transformer/decoder.hpp"

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
      down;  // two of [intermediate, hidden], one of [hidden, intermediate]
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

}  // namespace carbon
