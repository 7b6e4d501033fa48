// src/transformer/: the forward pass of a Llama or Qwen3, with its KV cache and its heads: chunks of tokens
// come in, and final hidden states of the rows that were asked for go out, or what a head makes of them.
//
// It is the one primitive that every command stands on (docs/model.md, "Forward pass").
//
//   rows = decoder.forward(chunks)     chunk = (sequence, new tokens, which of their rows to return, class)
//
// It runs ragged chunks on a paged KV cache as one pass. It does not decide how many tokens make a pass; that
// is the scheduler's work (engine/scheduler.hpp). Heads are separate (head.hpp). It knows no files and no
// variants.
//
// Invariance: a returned row depends on the tokens of its sequence up to it, or on all of them if the model
// is not causal, and on the class that each of them was given (ops::RowClass). It never depends on the other
// chunks, on how its sequence was cut into chunks, or on the number of threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kernels/ops.hpp"
#include "src/base/error.hpp"
#include "src/model/checkpoint.hpp"
#include "src/transformer/kv_cache.hpp"

namespace carbon {

/// Device memory that is owned by an object and kept for reuse.
class DeviceBuffer {
 public:
  explicit DeviceBuffer(ops::Backend& backend) : backend_(&backend) {}
  ~DeviceBuffer() { reset(); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  /// Returns memory for at least `bytes`. The contents are lost when the buffer grows. Throws OutOfMemory;
  /// the buffer is empty then.
  ///
  /// A buffer that grows doubles, up to `most` bytes, if there is memory for it: a device repeats kernels
  /// faster if their buffers stay where they are.
  void* ensure(size_t bytes, size_t most = 0) {
    if (bytes <= bytes_) return memory_;
    const size_t larger = std::max(bytes, std::min(2 * bytes_, most));
    reset();
    try {
      take(larger);
    } catch (const OutOfMemory&) {
      if (larger == bytes) throw;
      take(bytes);
    }
    return memory_;
  }
  /// Frees the memory.
  void reset() {
    backend_->release(memory_);
    memory_ = nullptr;
    bytes_ = 0;
  }
  float* floats(size_t count) { return static_cast<float*>(ensure(count * sizeof(float))); }
  void* get() const { return memory_; }
  size_t bytes() const { return bytes_; }
  float* floats() const { return static_cast<float*>(memory_); }

 private:
  void take(size_t bytes) {
    memory_ = backend_->allocate(bytes);
    bytes_ = bytes;
  }

  ops::Backend* backend_;
  void* memory_ = nullptr;
  size_t bytes_ = 0;
};

/// New tokens of one sequence. Rows [want_begin, want_end) of `tokens` are returned. A sequence may appear
/// once in a forward. A fork may appear only after its parent's tokens have been through an earlier forward.
/// With a model that is not causal, a chunk is the whole sequence.
struct Chunk {
  Sequence* sequence = nullptr;
  std::span<const uint32_t> tokens;
  size_t want_begin = 0, want_end = 0;
  ops::RowClass row_class = ops::RowClass::prefill;
};

/// The wanted rows of one forward, or a part of them that has one class. Valid until the next forward.
struct HiddenRows {
  /// Final norm, [count, hidden] in the activation type; in f16 with final_exponent(). Device memory.
  const void* act = nullptr;
  const float* residual = nullptr;  // residual stream before the final norm, [count, hidden]; device memory
  size_t count = 0;
  ops::RowClass row_class = ops::RowClass::prefill;  // the class of the rows, which heads need
};

class Decoder {
 public:
  /// The checkpoint must outlive the decoder.
  Decoder(ops::Backend& backend, const Checkpoint& checkpoint);
  ~Decoder();

  /// Runs all chunks as one pass through the first `blocks` blocks (0: all of them), appends their tokens to
  /// their sequences, and returns the wanted rows in the order of the chunks. With fewer blocks than the
  /// model has, `act` is null, and a sequence must go on with the same number of blocks. Throws Error for a
  /// chunk that check() refuses, and OutOfMemory; no sequence has changed its length then.
  HiddenRows forward(std::span<const Chunk> chunks, size_t blocks = 0);
  /// The same, but before each half of a block it asks whether anybody still wants the rows. If nobody does,
  /// it gives up and returns nothing, and no sequence has changed its length. What it asks changes no bit.
  std::optional<HiddenRows> forward_while(std::span<const Chunk> chunks, size_t blocks,
                                          const std::function<bool()>& wanted);

  /// Rows [first, first + count) of `rows`, which all have the class `row_class`.
  HiddenRows part(const HiddenRows& rows, size_t first, size_t count, ops::RowClass row_class) const;

  /// Throws Error if `tokens` cannot follow the first `position` tokens of a sequence: for a token outside
  /// the vocabulary, and for a sequence longer than max_position_embeddings.
  void check(size_t position, std::span<const uint32_t> tokens) const;

  /// Copies the residual stream of `rows` to host memory, [count, hidden].
  void download_residual(const HiddenRows& rows, float* out);

  /// The same after the final norm. It is computed in double and rounded once, unlike HiddenRows::act, which
  /// has the activation type.
  void download_final(const HiddenRows& rows, float* out);

  /// ops::Backend::sum_rows() of the residual stream of `rows`, after the final norm if `final`.
  void sum_states(const HiddenRows& rows, bool final, std::span<const ops::RowSums> sums, double* out);

  /// Bytes of memory that a pass of `rows` rows allocates, at most, beside the buffers that are kept from
  /// earlier passes and the pages of new tokens.
  size_t bytes_lacking(size_t rows) const;

  /// Frees the memory that is not needed between two forwards. The rows of the last one are lost.
  void free_unused_memory();

  KvCache& kv() { return kv_; }
  const ModelConfig& config() const { return config_; }

 private:
  friend class ForwardPass;
  struct Layer;
  /// The buffers of a pass, kept from one to the next.
  struct Workspace {
    explicit Workspace(ops::Backend& backend);
    void reset();
    DeviceBuffer x, selected, act, qkv, gate_up, gated, out;
    const std::array<DeviceBuffer*, 7> all{&x, &selected, &act, &qkv, &gate_up, &gated, &out};
  };
  using BufferBytes = std::array<size_t, 7>;  // in the order of Workspace::all
  /// What a pass needs that runs `rows` rows and returns `wanted` of them, with `swiglu` floats for products
  /// of the feed-forward block.
  BufferBytes buffer_bytes(size_t rows, size_t wanted, size_t blocks, size_t swiglu) const;
  /// The most that a pass of `rows` rows needs.
  BufferBytes most_bytes(size_t rows) const;

  void ensure_rope(size_t positions);

  ops::Backend& backend_;
  ModelConfig config_;
  TensorView embedding_;
  std::vector<std::unique_ptr<Layer>> layers_;
  DeviceBuffer final_norm_, final_norm_act_;  // the second for HiddenRows::act, with the scale of f16
  KvCache kv_;
  size_t rope_positions_ = 0;
  Workspace workspace_;
};

}  // namespace carbon
