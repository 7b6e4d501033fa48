// The Llama forward pass: the one primitive every command stands on (carbon_model 2.2).
//
//   rows = decoder.forward(chunks)     chunk = (sequence, new tokens, which of them to return)
//
// over ragged chunks on a paged KV cache. Heads are separate (decoder/head.hpp). Knows no files and no
// variants.
//
// Invariance: a returned row depends on the tokens of its sequence up to it and the class that each was given
// (ops::RowClass), never on the other chunks, on how its sequence was cut into chunks, or on the number of
// threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/ops.hpp"
#include "src/model/checkpoint.hpp"
#include "src/transformer/kv_cache.hpp"

namespace carbon {

/// New tokens for one sequence. Rows [want_begin, want_end) of `tokens` are returned. A sequence may appear
/// once in a forward, and a fork only after its parent's tokens have been through one.
struct Chunk {
  Sequence* sequence = nullptr;
  std::span<const uint32_t> tokens;
  size_t want_begin = 0, want_end = 0;
};

/// Final-norm hidden states in the backend's activation type, [count, hidden], in the order of the chunks;
/// valid until the next forward.
struct HiddenRows {
  const void* act = nullptr;  // device memory
  size_t count = 0;
  ops::RowClass row_class = ops::RowClass::prefill;  // as they were made, and as heads read them
};

/// Memory from a backend, owned.
class DeviceBuffer {
 public:
  explicit DeviceBuffer(ops::Backend& backend) : backend_(&backend) {}
  ~DeviceBuffer() { reset(); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  /// At least `bytes`; contents are lost when it grows.
  void* ensure(size_t bytes);
  /// Gives the memory back.
  void reset();
  float* floats(size_t count) { return static_cast<float*>(ensure(count * sizeof(float))); }
  void* get() const { return memory_; }
  float* floats() const { return static_cast<float*>(memory_); }

 private:
  ops::Backend* backend_;
  void* memory_ = nullptr;
  size_t bytes_ = 0;
};

class Decoder {
 public:
  /// The checkpoint must outlive the decoder.
  Decoder(ops::Backend& backend, const Checkpoint& checkpoint);
  ~Decoder();

  /// Appends the chunks' tokens to their sequences and returns the rows asked for. Throws Error for a token
  /// outside the vocabulary or a sequence longer than max_position_embeddings, before anything is appended.
  HiddenRows forward(std::span<const Chunk> chunks, ops::RowClass row_class = ops::RowClass::prefill);

  /// As forward(), but runs the first `blocks` blocks alone (1 to layers) and gives the residual stream
  /// behind them, in f32: `out` is host memory, [wanted rows, hidden]. The keys and values of later blocks
  /// are not computed, so a sequence goes on with the same `blocks` or not at all.
  void residual(std::span<const Chunk> chunks, size_t blocks, float* out);

  /// The final norm of rows of the residual stream, in place: x [n, hidden] in host memory. Computed in
  /// double and rounded once, unlike the rows of forward(), which have the activation type.
  void final_norm(float* x, size_t n);

  /// Gives memory back that is not needed between two forwards: what nothing reads, the rows of the last one
  /// too.
  void give_back();

  KvCache& kv() { return kv_; }
  const ModelConfig& config() const { return config_; }

 private:
  struct Layer;
  struct Rows;  // of one pass
  struct Place {
    size_t chunk = 0, token = 0;
  };
  struct Pass {
    size_t blocks;  // how many run
    bool residual;  // out_ gets the residual stream, f32, and not its final norm
    ops::RowClass row_class;
  };
  void check(std::span<const Chunk> chunks) const;
  void ensure_rope(size_t positions);
  size_t run(std::span<const Chunk> chunks, const Pass& pass);
  size_t make_ready(std::span<const Chunk> chunks, const Pass& pass);
  Rows next_rows(std::span<const Chunk> chunks, Place& from) const;
  void make_room(const Rows& rows, const Pass& pass);
  void give_room_back();  // a pass's
  void run_pass(const Rows& rows, const Pass& pass, size_t out_row);
  void project(const ops::Weight& projection, size_t index, const ops::RowPlan& plan, size_t n,
               ops::RowClass row_class);
  void attend(const Layer& layer, size_t index, const ops::RowPlan& queries, size_t n, size_t ld,
              ops::RowClass row_class, float* x);
  void feed_forward(const Layer& layer, size_t n, ops::RowClass row_class, float* x);

  ops::Backend& backend_;
  ModelConfig config_;
  TensorView embedding_;
  size_t pass_rows_;  // at most; fewer after a pass that did not fit the memory
  std::vector<std::unique_ptr<Layer>> layers_;
  DeviceBuffer final_norm_;
  std::vector<float> host_norm_;  // final_norm_, from the first final_norm() on
  KvCache kv_;
  size_t rope_positions_ = 0;
  // One pass's activations, [rows, .] each.
  DeviceBuffer x_, selected_, act_, qkv_, gate_up_, gated_, out_;
};

}  // namespace carbon
