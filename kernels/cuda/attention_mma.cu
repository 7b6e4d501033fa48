// Causal grouped-query attention on tensor cores, for bf16 and head sizes 64, 96 and 128.
//
// A block computes up to 128 query rows of one KV head: consecutive positions of one sequence, and for each
// the heads of the group. Each of eight warps has 16 rows. Keys and values are read page by page through two
// stages of shared memory; a page is a tile of 64 positions at an absolute multiple of 64. Scores, the
// running maximum and sum of the softmax, and the output stay in registers. Queries and softmax weights are
// rounded to bf16; sums are f32.
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

constexpr int kRows = static_cast<int>(kAttentionRows), kThreads = kRows / 16 * kWarp;
constexpr int kPage = 64;

template <int Dim>
struct Head : HeadSizes<Dim> {
  static constexpr int kTile =
      kPage * HeadSizes<Dim>::kStride;  // elements of the keys, or of the values, of a page
  static constexpr size_t kShared = size_t{2} * 2 * kTile * sizeof(Bf16);
};

/// The two rows of a fragment that a thread has: `row` and `row` + 8 of the block.
struct Rows {
  uint32_t position[2];  // of the last key that the row attends to
  bool valid[2];
  size_t query[2];  // the first element of the head in q
  size_t out[2];    // the first element of the head in act
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
    const size_t at = size_t{tile.row} + step, head = kv_head * group + r % group;
    rows.position[i] = tile.position + step;
    rows.query[i] = at * call.ld + head * call.kv.head_dim;
    rows.out[i] = (at * call.heads + head) * call.kv.head_dim;
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
      const float* const x = call.q + rows.query[which] + j;
      const float* const cos = call.rotary.cos + size_t{rows.position[which]} * kHalf + j;
      const float* const sin = call.rotary.sin + size_t{rows.position[which]} * kHalf + j;
      float low[2], high[2];
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const float a = x[e], b = x[kHalf + e];
        low[e] = a * cos[e] - b * sin[e];
        high[e] = b * cos[e] + a * sin[e];
      }
      query[step][part] = pack_bf16(low[0], low[1]);
      query[step + H::kSteps / 2][part] = pack_bf16(high[0], high[1]);
    }
}

/// Starts copying keys and values of the page for positions [first, first + 64) to a stage. Positions from
/// `end` on become zeros.
template <class H>
__device__ void load_page(const AttentionCall& call, const RowTile& tile, size_t kv_head, uint32_t first,
                          uint32_t end, Bf16* stage) {
  constexpr int kChunks = H::kDim / 8,
                kEach = 2 * kPage * kChunks / kThreads;  // units of 16 bytes: of a row, of a thread
  static_assert(kEach * kThreads == 2 * kPage * kChunks);
  const char* const page =
      static_cast<const char*>(call.kv.pages[call.page_list[tile.pages + first / kPage]]);
  const Bf16* const from =
      reinterpret_cast<const Bf16*>(page + call.kv.offset) + kv_head * 2 * kPage * H::kDim;
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    const int i = static_cast<int>(threadIdx.x) + e * kThreads;
    const int r = i / kChunks, c = i % kChunks * 8;  // rows 0-63 are keys, 64-127 values
    const bool valid = first + static_cast<uint32_t>(r % kPage) < end;
    copy_async(stage + r * H::kStride + c, from + r * H::kDim + c, valid);
  }
}

/// The state of the online softmax for the two rows of a thread.
struct Softmax {
  float largest[2] = {-INFINITY, -INFINITY};
  float sum[2] = {0.0f, 0.0f};  // over the columns of this thread
};

/// Turns scores into weights relative to the new maximum. Earlier sums and outputs must be multiplied by
/// factor[i].
__device__ inline void softmax_tile(Softmax& state, const Rows& rows, uint32_t first, bool masked,
                                    float scale, float score[kPage / 8][4], float factor[2]) {
  const uint32_t column = first + threadIdx.x % 4 * 2;
  float largest[2] = {state.largest[0], state.largest[1]};
#pragma unroll
  for (int j = 0; j < kPage / 8; ++j)
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      if (masked && column + j * 8 + e % 2 > rows.position[e / 2]) score[j][e] = -INFINITY;
      largest[e / 2] = fmaxf(largest[e / 2], score[j][e]);
    }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    // The four threads of a row are neighbours.
    largest[i] = fmaxf(largest[i], shuffle_xor(largest[i], 1));
    largest[i] = fmaxf(largest[i], shuffle_xor(largest[i], 2));
    factor[i] = exp2_nonpositive((state.largest[i] - largest[i]) * scale);
    state.largest[i] = largest[i];
    state.sum[i] *= factor[i];
  }
#pragma unroll
  for (int j = 0; j < kPage / 8; ++j)
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      score[j][e] = exp2_nonpositive((score[j][e] - largest[e / 2]) * scale);
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
    Bf16* const to = static_cast<Bf16*>(call.act) + rows.out[i] + pair;
#pragma unroll
    for (int d = 0; d < H::kDim / 8; ++d)
      *reinterpret_cast<uint32_t*>(to + d * 8) = pack_bf16(out[d][2 * i] / sum, out[d][2 * i + 1] / sum);
  }
}

template <class H>
__global__ void __launch_bounds__(kThreads)
    attention_kernel(AttentionCall call, const RowTile* tiles, float scale) {
  begin_kernel();
  Bf16* const stages = reinterpret_cast<Bf16*>(shared_memory());  // [2][keys, values][kStride]
  const auto kv_heads = static_cast<uint32_t>(call.kv.kv_heads);
  const RowTile tile = tiles[blockIdx.x / kv_heads];
  const size_t kv_head = blockIdx.x % kv_heads;
  const uint32_t end = tile.position + tile.positions;  // no row attends to keys from here on
  const int warp = static_cast<int>(threadIdx.x) / kWarp, lane = static_cast<int>(threadIdx.x) % kWarp;
  const Rows rows = locate_rows(call, tile, kv_head, warp * 16 + lane / 4);

  load_page<H>(call, tile, kv_head, 0, end, stages);
  copy_async_commit();
  uint32_t query[H::kSteps][4];
  load_queries<H>(call, rows, query);
  Softmax state;
  float out[H::kDim / 8][4] = {};
  for (uint32_t first = 0; first < end; first += kPage) {
    const uint32_t stage = first / kPage % 2;
    copy_async_wait<0>();
    // Now the copies of this page by all threads are complete, and all warps are done with the other stage.
    __syncthreads();
    if (first + kPage < end)
      load_page<H>(call, tile, kv_head, first + kPage, end, stages + (1 - stage) * 2 * H::kTile);
    copy_async_commit();
    const Bf16* const keys = stages + stage * 2 * H::kTile;
    float score[kPage / 8][4], factor[2];
    multiply_keys<H, kPage>(query, keys, score);
    softmax_tile(state, rows, first, first + kPage - 1 > tile.position, scale, score, factor);
#pragma unroll
    for (int d = 0; d < H::kDim / 8; ++d)
#pragma unroll
      for (int e = 0; e < 4; ++e) out[d][e] *= factor[e / 2];
    multiply_values<H>(score, keys + H::kTile, out);
  }
  store_rows<H>(call, rows, state, out);
}

template <class H>
void run_head(Stream& stream, const AttentionCall& call, const RowTile* tiles, size_t n) {
  launch(attention_kernel<H>, dim3(static_cast<unsigned>(n * call.kv.kv_heads)), kThreads, H::kShared, stream,
         call, tiles, score_scale(H::kDim));
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
