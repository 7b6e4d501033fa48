// The CUDA kernels as host functions. Each puts its work on a stream and returns.
//
// All pointers are device memory unless a comment says otherwise; shapes are row-major. Callers check sizes.
// A value depends only on its own row, with an order of sums that the shapes fix, never on the number of rows
// or blocks. No sum uses atomics; attention_decode.cu and selftest.cu use them to count.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/mma_plan.hpp"
#include "kernels/ops.hpp"
#include "kernels/tensor.hpp"

namespace carbon::cuda {

class Stream;

// rows.cu. If the width is a multiple of four, rows must be aligned: to 16 bytes for f32, to 8 for bf16 and
// f16; and to 16 for the bf16 of SwiGLU if it is a multiple of eight.

/// x[i, :] = table[slots[i], :] as f32; table [., width] of f32, bf16 or f16.
void run_gather(Stream& stream, const void* table, WeightType type, const uint32_t* slots, size_t n,
                size_t width, float* x);
/// to[i] = factor * from[i] as f32, or rounded to nearest even as bf16 or f16. The factor is a power of two.
void run_convert(Stream& stream, const void* from, WeightType type, size_t n, void* to, WeightType to_type,
                 float factor = 1.0f);
/// act = x * rsqrt(mean(x^2) + eps) * weight; act of any type.
void run_norm(Stream& stream, const float* x, const float* weight, float eps, size_t n, size_t width,
              void* act, DType act_type);
/// The same for each of `heads` vectors of head_dim numbers that follow one another in a row of x [n, .], in
/// place, with leading dimension ld. If head_dim is a multiple of four, so must ld be.
void run_norm_heads(Stream& stream, float* x, const float* weight, float eps, size_t n, size_t heads,
                    size_t head_dim, size_t ld);
/// act[i, j] = silu(gate_up[i, j]) * gate_up[i, width + j]; gate_up is f32, or may be bf16 if act is bf16.
void run_swiglu(Stream& stream, const void* gate_up, DType type, size_t n, size_t width, void* act,
                DType act_type);
/// out[i, :] = x[rows[i], :].
void run_select_rows(Stream& stream, const float* x, const uint32_t* rows, size_t n, size_t width,
                     float* out);

// row_sums.cu: in double, with the bits of the CPU. Rows of x are aligned as for rows.cu.

/// scale[i] = 1 / sqrt(mean(x[i]^2) + eps).
void run_norm_scales(Stream& stream, const float* x, float eps, size_t n, size_t width, double* scale);
/// out[i] = x[i] * scale[i] * weight, rounded once.
void run_scale_rows(Stream& stream, const float* x, const double* scale, const float* weight, size_t n,
                    size_t width, float* out);
/// One of ops::RowSums: its counts begin at counts[counts_at], its sums at sums[sums_at * width].
struct RowSumPlace {
  uint32_t first_row, count, counts_at, sums_at;
};
/// ops::Backend::sum_rows. scale [.] has that of every row of x; without a norm, scale and weight are null.
void run_sum_rows(Stream& stream, const float* x, const double* scale, const float* weight, size_t width,
                  const RowSumPlace* rows, const uint32_t* counts, size_t n, double* sums);

// linear_plain.cu, linear_mma.cu and linear_stream.cu

struct LinearCall {
  const void* act;     // [n, k]
  const void* weight;  // [outputs, k]
  size_t n, outputs, k;
  float* out;  // leading dimension ld_out
  size_t ld_out;
  bool add = false;  // add to `out` instead of overwriting it
  /// Of f16: factors of the outputs, powers of two by which sums are multiplied. Null for other types.
  const float* scales = nullptr;
};
/// out[i, j] = sum_k act[i, k] * weight[j, k] as one chain of fused multiply-adds over ascending k. f32
/// activations can be multiplied by weights of any type, those of bf16 and f16 by their own.
void run_linear_plain(Stream& stream, const LinearCall& call, DType act_type, WeightType weight_type);
/// The same for bf16 and f16 on tensor cores, with the order of sums of mma_plan.hpp; for many rows. k must
/// be a multiple of 8, and act and weight aligned to 16 bytes.
void run_linear_mma(Stream& stream, const LinearCall& call);
/// The same bits as run_linear_mma, for few rows. `tile` is one of kStreamTiles.
void run_linear_stream(Stream& stream, const LinearCall& call, const MmaTile& tile);

/// The same bits as run_linear_stream by two weights followed by run_swiglu: out [n, outputs] like act. The
/// outputs of a block, at least kSwigluOutputs, belong in equal parts to the two weights.
struct SwigluCall {
  const void* act;  // [n, k]
  const void* gate;
  const void* up;
  size_t n, outputs, k;                // outputs of each weight
  void* out;                           // does not overlap act
  const float* gate_scales = nullptr;  // as in LinearCall
  const float* up_scales = nullptr;
};
void run_swiglu_stream(Stream& stream, const SwigluCall& call, const MmaTile& tile);
/// Throws the Error of these two for another tile.
[[noreturn]] void refuse_tile(const MmaTile& tile);
inline constexpr size_t kSwigluOutputs = 16;

// attention_plain.cu, attention_mma.cu and attention_decode.cu

/// The place of a row in the cache, from plan.hpp. Rows of q, k, v and act have the same indices.
struct RowPlace {
  uint32_t row, position;
  uint32_t pages;  // index in the page list of the page for positions [0, 64) of the sequence of this row
  uint32_t last;   // the last key to which the row attends
};
/// Consecutive rows of one sequence that attention computes together.
struct RowTile {
  uint32_t row, position, pages, positions;
  uint32_t keys;  // to which every row attends, from position 0 on; 0: each to those up to its own
};

/// One layer of the paged cache. For each KV head a page has keys [64][head_dim], then values of the same
/// shape.
struct KvLayer {
  void* const* pages;  // the addresses of all pages
  size_t offset;       // bytes from the address of a page to the first head of this layer
  size_t kv_heads, head_dim;
};
struct Rotary {
  const float* cos;  // [positions, head_dim / 2]
  const float* sin;
};

/// Rotates k, and writes k and v of `n` rows to their pages, whose elements have type `type`.
void run_append(Stream& stream, const float* k, const float* v, size_t ld, const RowPlace* places, size_t n,
                const uint32_t* page_list, const KvLayer& kv, DType type, const Rotary& rotary);

struct AttentionCall {
  const float* q;  // [., ld]
  size_t ld, heads;
  const uint32_t* page_list;
  KvLayer kv;
  Rotary rotary;
  void* act;  // [., heads * head_dim], in the type of the cache
};
/// What decides which kernel runs, and the factor of its scores, 2^exponent.
struct AttentionKind {
  DType type;           // of the cache
  int exponent;         // 0 unless it is f16
  size_t block_shared;  // bytes of shared memory that a block of the device may have
};
/// For all head sizes up to kMaxPlainHead, in f32 arithmetic.
void run_attention_plain(Stream& stream, const AttentionCall& call, const AttentionKind& kind,
                         const RowPlace* places, size_t n);
inline constexpr size_t kMaxPlainHead = 256;

/// True for the head sizes that run_attention_mma and run_attention_decode can compute, in bf16 and f16.
constexpr bool has_attention_mma(size_t head_dim) {
  return head_dim == 64 || head_dim == 96 || head_dim == 128;
}
/// The largest number of query rows (positions times the heads of a group) in a tile of run_attention_mma,
/// and the largest for any head size.
constexpr size_t attention_rows(size_t head_dim) {
  return head_dim == 64 ? 128 : 192;
}
/// A warp has 16 of them. And the blocks of a multiprocessor.
constexpr size_t attention_warps(size_t head_dim) {
  return attention_rows(head_dim) / 16;
}
constexpr size_t attention_blocks(size_t head_dim) {
  return head_dim == 64 ? 2 : 1;
}
/// heads / kv_heads times `positions` of a tile must be at most attention_rows(). The results do not depend
/// on kind.block_shared, nor do those of run_attention_decode.
void run_attention_mma(Stream& stream, const AttentionCall& call, const AttentionKind& kind,
                       const RowTile* tiles, size_t n);

/// Tiles of sequences that begin with the same pages, which one block computes together; or one tile.
struct JoinedTile {
  static constexpr size_t kParts = 8;
  uint32_t parts;
  uint32_t shared;        // pages with which all parts begin; no part has a row in them
  uint32_t warps;         // that have rows
  uint32_t warp[kParts];  // the first warp of a part, 0 for the first part
  RowTile part[kParts];
};
void run_attention_mma(Stream& stream, const AttentionCall& call, const AttentionKind& kind,
                       const JoinedTile* tiles, size_t n);

/// The largest number of query rows in a tile of run_attention_decode, and the number of keys that a block
/// takes, which begin at multiples of it.
inline constexpr size_t kDecodeRows = 16, kDecodeChunk = 128, kChunkPages = kDecodeChunk / 64;
/// A tile and one of its chunks of keys.
struct TileChunk {
  uint32_t row, position, positions;  // as in RowTile; with 0 positions there is nothing to do
  uint32_t chunk;
  uint32_t pages[kChunkPages];  // of the chunk; after the page of the last key, that page again
};
/// What the blocks of one launch store for each other. [2] are the levels of combining (attention_decode.cu).
struct DecodeParts {
  float* out;          // [slots][kDecodeRows][head_dim]
  float* largest;      // [2][slots][kDecodeRows]
  float* sum;          // [2][slots][kDecodeRows]
  uint32_t* counters;  // [2][slots], all 0 between launches
  size_t slots;        // at least kv_heads for each chunk of a tile with several chunks
};
/// For the same head sizes, few rows and many keys: heads / kv_heads times `positions` of a tile must be at
/// most kDecodeRows. The `n` chunks contain all chunks of each tile, in ascending order, and tiles with
/// several chunks come first. call.page_list is not used.
void run_attention_decode(Stream& stream, const AttentionCall& call, const AttentionKind& kind,
                          const TileChunk* chunks, size_t n, const DecodeParts& parts);

// heads.cu

/// ops::Backend::marginals of logits [n, 4096]; out [n, 6, 4].
void run_marginals(Stream& stream, const float* logits, size_t n, double* out);
/// ops::Backend::conditionals of logits [n, 4096]; known [n], out [n, 6, 4].
void run_conditionals(Stream& stream, const float* logits, const ops::KnownBases* known, size_t n,
                      double* out);
/// ops::Backend::logsumexp over logits [n, columns]; the arrays are [n].
void run_logsumexp(Stream& stream, const float* logits, size_t n, size_t columns, const int64_t* targets,
                   double* maximum, double* sum, double* target_logit);

// draw.cu

/// ops::Backend::draw from rows of logits [., 4096], aligned to 16 bytes, without top-k and top-p; draws [n],
/// out [n].
void run_draw(Stream& stream, const float* logits, const ops::KmerDraw* draws, size_t n, ops::DrawnKmer* out);

// selftest.cu, for selftest.hpp

/// Fills n bf16 with numbers in [-1, 1), always the same.
void run_fill(Stream& stream, void* to, size_t n);
/// Fills bf16 [rows, k] with such numbers, the second half of a row being the first half times `sign`.
void run_fill_opposite(Stream& stream, void* to, size_t rows, size_t k, int sign);
/// Two matrices of words [rows, width] with these leading dimensions.
struct Compared {
  const uint32_t* a;
  size_t a_step;
  const uint32_t* b;
  size_t b_step, rows, width;
};
/// Adds to `found` if any word differs.
void run_compare(Stream& stream, const Compared& compared, uint32_t* found);

}  // namespace carbon::cuda
