// Causal grouped-query attention on tensor cores, for bf16 and head sizes 64, 96 and 128.
//
// A block computes up to 128 query rows of one KV head, or 192 for heads of 96 and 128: consecutive positions
// of one sequence, and for each the heads of the group. Each warp has 16 rows. Keys and values are read page
// by page through two stages of shared memory; a page is a tile of 64 positions at an absolute multiple of
// 64. Scores, the running maximum and sum of the softmax, and the output stay in registers. Queries and
// softmax weights are rounded to bf16; sums are f32.
//
// What a warp does for a page is one chain of products, exponentials and products, which waits most of the
// time. So the registers of a thread are limited to what leaves room for 16 warps of heads of 64 on a
// multiprocessor (two blocks), and for 12 of the others (one block).
//
// For generated tokens, of which a sequence has one or a few, there is attention_decode.cu: this kernel would
// have only one block per sequence and KV head, which would wait for memory for every page.
//
// The bits of a row do not depend on its place in the block or on the other rows: a tile after its last key
// multiplies by exactly 1 and adds exactly 0. A value that is not finite, in the last tile after the last key
// of the row, does reach the row (0 * NaN); but then the command stops with an error anyway.
#include <cmath>

#include "kernels/cuda/attention.cuh"
#include "kernels/cuda/kernels.hpp"
#include "kernels/cuda/launch.hpp"

namespace carbon::cuda {
inline namespace attention_mma_file {

constexpr int kPage = 64;

template <int Dim>
struct Head : HeadSizes<Dim> {
  static constexpr int kThreads = static_cast<int>(attention_rows(Dim)) / 16 * kWarp;
  static constexpr int kBlocks = Dim == 64 ? 2 : 1;  // of a multiprocessor
  static constexpr int kTile =
      kPage * HeadSizes<Dim>::kStride;  // elements of the keys, or of the values, of a page
  static constexpr size_t kShared = size_t{2} * 2 * kTile * sizeof(Bf16);
};

/// The two rows of a fragment that a thread has: `row` and `row` + 8 of the block.
struct Rows {
  uint32_t position[2];  // of the last key that the row attends to
  bool valid[2];
  size_t at[2];    // the row in q and act
  size_t head[2];  // among all query heads
};

/// A row that is not valid gets the first position of the tile. It is computed like the others, but not
/// stored. Divisions are of 32 bits, which need far fewer instructions than those of 64 bits.
__device__ inline Rows locate_rows(const AttentionCall& call, const RowTile& tile, size_t kv_head, int row) {
  const uint32_t group = static_cast<uint32_t>(call.heads) / static_cast<uint32_t>(call.kv.kv_heads);
  Rows rows;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const uint32_t r = static_cast<uint32_t>(row) + uint32_t(i) * 8;
    rows.valid[i] = r / group < tile.positions;
    const uint32_t step = rows.valid[i] ? r / group : 0;
    rows.position[i] = tile.position + step;
    rows.at[i] = size_t{tile.row} + step;
    rows.head[i] = kv_head * group + r % group;
  }
  return rows;
}

/// The rotated queries as fragments `a` of mma. Elements j and j + Dim / 2, which rotate together, belong to
/// the same thread. There is no branch, so that all loads can overlap.
template <class H>
__device__ void load_queries(const AttentionCall& call, const Rows& rows, uint32_t query[H::kSteps][4]) {
  constexpr int kHalf = H::kDim / 2;
  const int pair = static_cast<int>(threadIdx.x) % 4 * 2;
#pragma unroll
  for (int step = 0; step < H::kSteps / 2; ++step)
#pragma unroll
    for (int part = 0; part < 4; ++part) {
      const int which = part % 2, j = step * 16 + pair + part / 2 * 8;
      const float* const x = call.q + rows.at[which] * call.ld + rows.head[which] * H::kDim + j;
      const size_t angle = size_t{rows.position[which]} * kHalf + j;
      const Group<float, 2> a = load_group<2>(x), b = load_group<2>(x + kHalf),
                            cos = load_group<2>(call.rotary.cos + angle),
                            sin = load_group<2>(call.rotary.sin + angle);
      float low[2], high[2];
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        low[e] = a.element[e] * cos.element[e] - b.element[e] * sin.element[e];
        high[e] = b.element[e] * cos.element[e] + a.element[e] * sin.element[e];
      }
      query[step][part] = pack_bf16(low[0], low[1]);
      query[step + H::kSteps / 2][part] = pack_bf16(high[0], high[1]);
    }
}

/// The keys of the KV head in the page for positions [first, first + 64), which its values follow.
template <class H>
__device__ const Bf16* find_page(const AttentionCall& call, const RowTile& tile, size_t kv_head,
                                 uint32_t first) {
  const char* const page =
      static_cast<const char*>(call.kv.pages[call.page_list[tile.pages + first / kPage]]);
  return reinterpret_cast<const Bf16*>(page + call.kv.offset) + kv_head * 2 * kPage * H::kDim;
}

/// Starts copying keys and values of the page for positions [first, first + 64) to a stage. Positions from
/// `end` on become zeros.
template <class H>
__device__ void load_page(const Bf16* from, uint32_t first, uint32_t end, Bf16* stage) {
  constexpr int kUnits = H::kDim / 8, kStep = H::kThreads / kUnits;  // units of 16 bytes in a row
  static_assert(H::kThreads % kUnits == 0);
  const int row = static_cast<int>(threadIdx.x) / kUnits, c = static_cast<int>(threadIdx.x) % kUnits * 8;
  from += row * H::kDim + c;
  stage += row * H::kStride + c;
#pragma unroll
  for (int r = 0; r < 2 * kPage; r += kStep) {  // rows 0-63 are keys, 64-127 values
    if (2 * kPage % kStep != 0 && row + r >= 2 * kPage) break;
    const bool valid = first + static_cast<uint32_t>((row + r) % kPage) < end;
    copy_async(stage + r * H::kStride, from + r * H::kDim, valid);
  }
}

/// The state of the online softmax for the two rows of a thread.
struct Softmax {
  float largest[2] = {-INFINITY, -INFINITY};
  float sum[2] = {0.0f, 0.0f};  // over the columns of this thread
};

/// Turns scores into weights relative to the new maximum. Earlier sums and outputs must be multiplied by
/// factor[i].
__device__ inline void softmax_tile(Softmax& state, const uint32_t position[2], uint32_t first, bool masked,
                                    float scale, float score[kPage / 8][4], float factor[2]) {
  const uint32_t column = first + threadIdx.x % 4 * 2;
  float largest[2] = {state.largest[0], state.largest[1]}, scaled[2];
#pragma unroll
  for (int j = 0; j < kPage / 8; ++j)
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      if (masked && column + j * 8 + e % 2 > position[e / 2]) score[j][e] = -INFINITY;
      largest[e / 2] = fmaxf(largest[e / 2], score[j][e]);
    }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    // The four threads of a row are neighbours.
    largest[i] = fmaxf(largest[i], shuffle_xor(largest[i], 1));
    largest[i] = fmaxf(largest[i], shuffle_xor(largest[i], 2));
    factor[i] = exp2_approximate((state.largest[i] - largest[i]) * scale);
    scaled[i] = largest[i] * scale;
    state.largest[i] = largest[i];
    state.sum[i] *= factor[i];
  }
#pragma unroll
  for (int j = 0; j < kPage / 8; ++j)
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      score[j][e] = exp2_approximate(fmaf(score[j][e], scale, -scaled[e / 2]));
      state.sum[e / 2] += score[j][e];
    }
}

/// out += weights . values.
template <class H>
__device__ void multiply_values(const float weight[kPage / 8][4], const Bf16* values,
                                float out[H::kDim / 8][4]) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
#pragma unroll
  for (int step = 0; step < kPage / 16; ++step) {
    // The results of two products have the layout of the left factor of one product.
    const float* const w0 = weight[2 * step];
    const float* const w1 = weight[2 * step + 1];
    const uint32_t a[4] = {pack_bf16(w0[0], w0[1]), pack_bf16(w0[2], w0[3]), pack_bf16(w1[0], w1[1]),
                           pack_bf16(w1[2], w1[3])};
#pragma unroll
    for (int d = 0; d < H::kDim / 8; d += 2) {
      // Matrices: keys 0-7 and 8-15 of elements 0-7, then of elements 8-15.
      uint32_t b[4];
      const int key = step * 16 + lane % 8 + lane / 8 % 2 * 8;
      load_matrices_transposed(b, values + key * H::kStride + d * 8 + lane / 16 * 8);
      mma_bf16(out[d], a, b[0], b[1]);
      mma_bf16(out[d + 1], a, b[2], b[3]);
    }
  }
}

template <class H>
__device__ void store_rows(const AttentionCall& call, const Rows& rows, const Softmax& state,
                           const float out[H::kDim / 8][4]) {
  const int pair = static_cast<int>(threadIdx.x) % 4 * 2;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    float sum = state.sum[i];
    sum += shuffle_xor(sum, 1);
    sum += shuffle_xor(sum, 2);
    if (!rows.valid[i]) continue;
    const float share = 1.0f / sum;
    Bf16* const to = static_cast<Bf16*>(call.act) + (rows.at[i] * call.heads + rows.head[i]) * H::kDim + pair;
#pragma unroll
    for (int d = 0; d < H::kDim / 8; ++d)
      *reinterpret_cast<uint32_t*>(to + d * 8) = pack_bf16(out[d][2 * i] * share, out[d][2 * i + 1] * share);
  }
}

template <class H>
__global__ void __launch_bounds__(H::kThreads, H::kBlocks)
    attention_kernel(AttentionCall call, const RowTile* tiles, float scale) {
  begin_kernel();
  Bf16* const stages = reinterpret_cast<Bf16*>(shared_memory());  // [2][keys, values][kStride]
  const auto kv_heads = static_cast<uint32_t>(call.kv.kv_heads);
  const RowTile tile = tiles[blockIdx.x / kv_heads];
  const size_t kv_head = blockIdx.x % kv_heads;
  const uint32_t end = tile.position + tile.positions;  // no row attends to keys from here on
  const int warp = static_cast<int>(threadIdx.x) / kWarp, lane = static_cast<int>(threadIdx.x) % kWarp;
  const int row = warp * 16 + lane / 4;

  load_page<H>(find_page<H>(call, tile, kv_head, 0), 0, end, stages);
  copy_async_commit();
  const Bf16* next = kPage < end ? find_page<H>(call, tile, kv_head, kPage) : nullptr;
  uint32_t query[H::kSteps][4], position[2];
  {
    const Rows rows = locate_rows(call, tile, kv_head, row);
    load_queries<H>(call, rows, query);
    position[0] = rows.position[0], position[1] = rows.position[1];
  }
  Softmax state;
  float out[H::kDim / 8][4] = {};
  for (uint32_t first = 0; first < end; first += kPage) {
    const uint32_t stage = first / kPage % 2;
    copy_async_wait<0>();
    // Now the copies of this page by all threads are complete, and all warps are done with the other stage.
    __syncthreads();
    if (first + kPage < end) load_page<H>(next, first + kPage, end, stages + (1 - stage) * 2 * H::kTile);
    copy_async_commit();
    // Two reads, one after the other, whose time passes while this page is computed.
    if (first + 2 * kPage < end) next = find_page<H>(call, tile, kv_head, first + 2 * kPage);
    const Bf16* const keys = stages + stage * 2 * H::kTile;
    float score[kPage / 8][4], factor[2];
    multiply_keys<H, kPage>(query, keys, score);
    softmax_tile(state, position, first, first + kPage - 1 > tile.position, scale, score, factor);
#pragma unroll
    for (int d = 0; d < H::kDim / 8; ++d)
#pragma unroll
      for (int e = 0; e < 4; ++e) out[d][e] *= factor[e / 2];
    multiply_values<H>(score, keys + H::kTile, out);
  }
  // Found again, so that the places of the rows need no registers meanwhile.
  store_rows<H>(call, locate_rows(call, tiles[blockIdx.x / kv_heads], kv_head, row), state, out);
}

template <class H>
void run_head(Stream& stream, const AttentionCall& call, const RowTile* tiles, size_t n) {
  launch(attention_kernel<H>, dim3(static_cast<unsigned>(n * call.kv.kv_heads)), H::kThreads, H::kShared,
         stream, call, tiles, score_scale(H::kDim));
}

}  // namespace attention_mma_file

void run_attention_mma(Stream& stream, const AttentionCall& call, const RowTile* tiles, size_t n) {
  if (call.kv.head_dim == 64)
    run_head<Head<64>>(stream, call, tiles, n);
  else if (call.kv.head_dim == 96)
    run_head<Head<96>>(stream, call, tiles, n);
  else
    run_head<Head<128>>(stream, call, tiles, n);
}

}  // namespace carbon::cuda
