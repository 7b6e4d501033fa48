// The CUDA kernels as host functions: each puts its work on a stream and returns.
//
// All pointers are device memory unless said otherwise; shapes are row-major. Sizes are checked by the
// callers. Every value written depends on its own row alone, in an order fixed by the shapes, never on the
// number of rows or blocks. Nothing here adds with atomics; attention_decode.cu counts with them.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/mma_plan.hpp"
#include "kernels/cuda/stream.hpp"
#include "kernels/ops.hpp"
#include "kernels/tensor.hpp"

namespace carbon::cuda {

// rows.cu. Where four divides the width, rows of f32 begin at multiples of 16 bytes, of bf16 and f16 of 8.

/// x[i, :] = table[slots[i], :] widened to f32; table [., width] of f32, bf16 or f16.
void run_gather(Stream& stream, const void* table, DType type, const uint32_t* slots, size_t n, size_t width,
                float* x);
/// to[i] = from[i] as f32, or as bf16 to nearest even.
void run_convert(Stream& stream, const void* from, DType type, size_t n, void* to, DType to_type);
/// act = x * rsqrt(mean(x^2) + eps) * weight; act of f32 or bf16.
void run_norm(Stream& stream, const float* x, const float* weight, float eps, size_t n, size_t width,
              void* act, DType act_type);
/// act[i, j] = silu(gate_up[i, j]) * gate_up[i, width + j]; gate_up of f32, or of bf16 when act is.
void run_swiglu(Stream& stream, const void* gate_up, DType type, size_t n, size_t width, void* act,
                DType act_type);
/// out[i, :] = x[rows[i], :].
void run_select_rows(Stream& stream, const float* x, const uint32_t* rows, size_t n, size_t width,
                     float* out);

// linear_plain.cu, linear_mma.cu and linear_stream.cu

struct LinearCall {
  const void* act;     // [n, k]
  const void* weight;  // [outputs, k]
  size_t n, outputs, k;
  float* out;  // leading dimension ld_out
  size_t ld_out;
  bool add = false;  // to what `out` holds
};
/// out[i, j] = sum_k act[i, k] * weight[j, k], one chain of fused multiply-adds over ascending k. f32
/// activations go with weights of any type, bf16 activations with bf16.
void run_linear_plain(Stream& stream, const LinearCall& call, DType act_type, DType weight_type);
/// The same for bf16 on tensor cores, in the order of mma_plan.hpp; for many rows. k is a multiple of 8, act
/// and weight are aligned to 16 bytes.
void run_linear_mma(Stream& stream, const LinearCall& call);
/// To the same bits, for few rows; `tile` is one of kStreamTiles.
void run_linear_stream(Stream& stream, const LinearCall& call, const MmaTile& tile);

/// run_linear_stream by two weights and run_swiglu of their results, to the same bits: out bf16 [n, outputs].
/// A block's outputs, kSwigluOutputs at least, are shared equally by the two.
struct SwigluCall {
  const void* act;  // [n, k]
  const void* gate;
  const void* up;
  size_t n, outputs, k;  // outputs of either weight
  void* out;             // does not overlap act
};
void run_swiglu_stream(Stream& stream, const SwigluCall& call, const MmaTile& tile);
inline constexpr size_t kSwigluOutputs = 16;

// attention_append.cu, attention_plain.cu, attention_mma.cu and attention_decode.cu

/// Where rows stand in the cache; made by plan.hpp. A row of q, k, v and act is named by its index there.
struct RowPlace {
  uint32_t row, position;
  uint32_t pages;  // index into the page list of the entry for positions [0, 64) of this row's sequence
};
/// Consecutive rows of one sequence that attention takes together.
struct RowTile {
  uint32_t row, position, pages, positions;
};

/// One layer of the paged cache. A page of a KV head is keys [64][head_dim], then values of the same shape.
struct KvLayer {
  void* const* pages;  // address of every page
  size_t offset;       // bytes from a page's address to this layer's first head
  size_t kv_heads, head_dim;
};
struct Rotary {
  const float* cos;  // [positions, head_dim / 2]
  const float* sin;
};

/// Rotates k and writes k, v of `n` rows to their pages, whose elements are of `type`.
void run_append(Stream& stream, const float* k, const float* v, size_t ld, const RowPlace* places, size_t n,
                const uint32_t* page_list, const KvLayer& kv, DType type, const Rotary& rotary);

struct AttentionCall {
  const float* q;  // [., ld]
  size_t ld, heads;
  const uint32_t* page_list;
  KvLayer kv;
  Rotary rotary;
  void* act;  // [., heads * head_dim], of the cache's type
};
/// Any head size up to kMaxPlainHead; f32 arithmetic. `type` of the cache.
void run_attention_plain(Stream& stream, const AttentionCall& call, DType type, const RowPlace* places,
                         size_t n);
inline constexpr size_t kMaxPlainHead = 256;

/// Head sizes for which run_attention_mma exists, in bf16.
constexpr bool has_attention_mma(size_t head_dim) {
  return head_dim == 64 || head_dim == 96 || head_dim == 128;
}
/// Query rows (positions times the heads of a group) of a tile of run_attention_mma.
inline constexpr size_t kAttentionRows = 128;
/// heads / kv_heads times the tiles' `positions` is at most kAttentionRows.
void run_attention_mma(Stream& stream, const AttentionCall& call, const RowTile* tiles, size_t n);

/// Query rows of a tile of run_attention_decode, and the keys that a block takes: [i, i + 1) * kDecodeChunk.
inline constexpr size_t kDecodeRows = 16, kDecodeChunk = 128, kChunkPages = kDecodeChunk / 64;
/// A tile and one of its chunks of keys.
struct TileChunk {
  uint32_t row, position, positions;  // as of RowTile; no positions: nothing to do
  uint32_t chunk;
  uint32_t pages[kChunkPages];  // of the chunk; behind the last key its page again
};
/// What blocks of one launch leave for each other; [2] is a level of combining (attention_decode.cu).
struct DecodeParts {
  float* out;          // [slots][kDecodeRows][head_dim]
  float* largest;      // [2][slots][kDecodeRows]
  float* sum;          // [2][slots][kDecodeRows]
  uint32_t* counters;  // [2][slots], all 0 between launches
  size_t slots;        // at least kv_heads for each chunk of a tile with several
};
/// For the same head sizes, few rows and many keys: heads / kv_heads times the tiles' `positions` is at most
/// kDecodeRows. Of `n` chunks, those of a tile are all there, in ascending order, and tiles with several come
/// first; call.page_list is not used.
void run_attention_decode(Stream& stream, const AttentionCall& call, const TileChunk* chunks, size_t n,
                          const DecodeParts& parts);

// heads.cu

/// ops::Backend::marginals of logits [n, 4096]; out [n, 6, 4].
void run_marginals(Stream& stream, const float* logits, size_t n, double* out);
/// ops::Backend::logsumexp over logits [n, columns]; the arrays are [n].
void run_logsumexp(Stream& stream, const float* logits, size_t n, size_t columns, const int64_t* targets,
                   double* maximum, double* sum, double* target_logit);

// draw.cu

/// ops::Backend::draw from rows of logits [., 4096], aligned to 16 bytes, without top-k and top-p; draws and
/// out are [n].
void run_draw(Stream& stream, const float* logits, const ops::KmerDraw* draws, size_t n,
              const ops::DrawOptions& options, ops::DrawnKmer* out);

}  // namespace carbon::cuda
