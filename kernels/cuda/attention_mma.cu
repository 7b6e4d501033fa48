// Grouped-query attention, causal or not, on tensor cores, for bf16 and f16 and head sizes 64, 96 and 128.
//
// A block computes up to 128 query rows of one KV head, or 192 for heads of 96 and 128: consecutive positions
// of one sequence, and for each the heads of the group. Each warp has 16 rows. Keys and values are read page
// by page through two stages of shared memory; a page is a tile of 64 positions at an absolute multiple of
// 64. Scores, the running maximum and sum of the softmax, and the output stay in registers. Queries and
// softmax weights are rounded to the type of keys and values; sums are f32.
//
// If a block may not have the memory for that, only keys have two stages: the values of the next page are
// copied when those of this one have been used. That changes no sum.
//
// What a warp does for a page is one chain of products, exponentials and products, which waits most of the
// time. So the registers of a thread are limited to what leaves room for 16 warps of heads of 64 on a
// multiprocessor (two blocks), and for 12 of the others (one block).
//
// Sequences that begin with the same pages, as alleles that fork from one window, are often too short for a
// block. Then a block takes rows of several. It reads the pages that they share once, for all of its warps,
// and then those of each sequence, which only the warps with rows of that sequence compute.
//
// For generated tokens, of which a sequence has one or a few, there is attention_decode.cu: this kernel would
// have only one block per sequence and KV head, which would wait for memory for every page.
//
// The bits of a row do not depend on its place in the block or on the other rows: a tile after its last key
// multiplies by exactly 1 and adds exactly 0. A value that is not finite, in the last tile after the last key
// of the row, does reach the row (0 * NaN); but then the command stops with an error anyway.
#include <cmath>

#include "kernels/cuda/kernels.hpp"
#include "kernels/cuda/launch.hpp"
#include "kernels/cuda/tensor_cores.cuh"

namespace carbon::cuda {
inline namespace attention_mma_file {

constexpr int kPage = 64;

template <class T, int Dim, int ValueStages>
struct Head : HeadSizes<T, Dim> {
  static constexpr int kThreads = static_cast<int>(attention_warps(Dim)) * kWarp;
  static constexpr int kBlocks = static_cast<int>(attention_blocks(Dim));  // of a multiprocessor
  static constexpr int kTile =
      kPage * HeadSizes<T, Dim>::kStride;  // elements of the keys, or of the values, of a page
  static constexpr int kValueStages = ValueStages;
  static constexpr size_t kShared = size_t{2 + ValueStages} * kTile * sizeof(T);
};

/// The two rows of a fragment that a thread has: `row` and `row` + 8 of the block.
struct Rows {
  uint32_t position[2];
  bool valid[2];
  size_t at[2];    // the row in q and act
  size_t head[2];  // among all query heads
};

/// A row that is not valid gets the first position of the tile. It is computed like the others, but not
/// stored. Divisions are of 32 bits, which need far fewer instructions than those of 64 bits.
__device__ inline Rows locate_rows(const AttentionCall& call, const RowTile& tile, size_t kv_head,
                                   uint32_t row) {
  const uint32_t group = static_cast<uint32_t>(call.heads) / static_cast<uint32_t>(call.kv.kv_heads);
  Rows rows;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const uint32_t r = row + uint32_t(i) * 8;
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
      query[step][part] = pack<typename H::Element>(low[0], low[1]);
      query[step + H::kSteps / 2][part] = pack<typename H::Element>(high[0], high[1]);
    }
}

/// The last key to which a row at `position` of the tile attends.
__device__ inline uint32_t last_key(const RowTile& tile, uint32_t position) {
  return tile.keys > 0 ? tile.keys - 1 : position;
}

/// The pages of a block whose rows belong to one sequence. A place is that of a page.
class OneSequence {
 public:
  struct Place {
    uint32_t first = 0;  // the page has positions [first, first + 64)
    __device__ uint32_t stage() const { return first / kPage % 2; }
  };
  __device__ OneSequence(const RowTile* tile, uint32_t) : tile_(*tile) {}
  /// The rows of this warp: those of the tile from 16 * row_warp() on.
  __device__ const RowTile& rows() const { return tile_; }
  __device__ uint32_t row_warp(uint32_t warp) const { return warp; }
  /// The first position after the keys of the sequence.
  __device__ uint32_t end(Place) const { return last_key(tile_, tile_.position + tile_.positions - 1) + 1; }
  __device__ uint32_t pages(Place) const { return tile_.pages; }
  __device__ bool has(Place at) const { return at.first < end(at); }
  __device__ Place after(Place at) const { return {at.first + kPage}; }
  /// True if the rows of this warp belong to the sequence.
  __device__ bool is_own(Place) const { return true; }

 private:
  RowTile tile_;
};

/// The same with rows of several sequences: all pages of the first one, then those of each other one without
/// the shared ones.
class SeveralSequences {
 public:
  struct Place {
    uint32_t first = 0;  // of the sequence of this part
    uint32_t part = 0, count = 0;
    __device__ uint32_t stage() const { return count % 2; }
  };
  __device__ SeveralSequences(const JoinedTile* tile, uint32_t warp)
      : tile_(tile), shared_(tile->shared * kPage), idle_(warp >= tile->warps) {
    for (uint32_t part = 1; part < tile->parts; ++part)
      if (tile->warp[part] <= warp) own_ = part;
  }
  __device__ const RowTile& rows() const { return tile_->part[own_]; }
  __device__ uint32_t row_warp(uint32_t warp) const { return warp - tile_->warp[own_]; }
  __device__ uint32_t end(Place at) const {
    const RowTile& part = tile_->part[at.part];
    return last_key(part, part.position + part.positions - 1) + 1;
  }
  __device__ uint32_t pages(Place at) const { return tile_->part[at.part].pages; }
  __device__ bool has(Place at) const { return at.part < tile_->parts; }
  __device__ Place after(Place at) const {
    at.first += kPage;
    ++at.count;
    return at.first < end(at) ? at : Place{shared_, at.part + 1, at.count};
  }
  __device__ bool is_own(Place at) const { return !idle_ && (at.part == own_ || at.first < shared_); }

 private:
  const JoinedTile* tile_;
  uint32_t shared_, own_ = 0;
  bool idle_;
};

/// The keys of the KV head in the page, which its values follow.
template <class H>
__device__ const typename H::Element* find_page(const AttentionCall& call, size_t kv_head, uint32_t index) {
  const char* const page = static_cast<const char*>(call.kv.pages[call.page_list[index]]);
  return reinterpret_cast<const typename H::Element*>(page + call.kv.offset) + kv_head * 2 * kPage * H::kDim;
}

/// Starts copying the rows [Begin, End) of the page for positions [first, first + 64) to a stage: 0 to 63 are
/// keys, 64 to 127 values. Positions from `end` on become zeros.
template <class H, int Begin, int End>
__device__ void load_rows(const typename H::Element* from, uint32_t first, uint32_t end,
                          typename H::Element* stage) {
  constexpr int kUnits = H::kDim / 8, kStep = H::kThreads / kUnits;  // units of 16 bytes in a row
  static_assert(H::kThreads % kUnits == 0);
  const int row = static_cast<int>(threadIdx.x) / kUnits, c = static_cast<int>(threadIdx.x) % kUnits * 8;
  from += row * H::kDim + c;
  stage += row * H::kStride + c;
#pragma unroll
  for (int r = Begin; r < End; r += kStep) {
    if ((End - Begin) % kStep != 0 && row + r >= End) break;
    const bool valid = first + static_cast<uint32_t>((row + r) % kPage) < end;
    copy_async(stage + r * H::kStride, from + r * H::kDim, valid);
  }
}

/// The state of the online softmax for the two rows of a thread.
struct Softmax {
  float largest[2] = {-INFINITY, -INFINITY};
  float sum[2] = {0.0f, 0.0f};  // over the columns of this thread
};

/// Turns scores into weights relative to the new maximum; `last` are the last keys of the rows. Earlier sums
/// and outputs must be multiplied by factor[i].
__device__ inline void softmax_tile(Softmax& state, const uint32_t last[2], uint32_t first, bool masked,
                                    float scale, float score[kPage / 8][4], float factor[2]) {
  const uint32_t column = first + threadIdx.x % 4 * 2;
  float largest[2] = {state.largest[0], state.largest[1]}, scaled[2];
#pragma unroll
  for (int j = 0; j < kPage / 8; ++j)
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      if (masked && column + j * 8 + e % 2 > last[e / 2]) score[j][e] = -INFINITY;
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
__device__ void multiply_values(const float weight[kPage / 8][4], const typename H::Element* values,
                                float out[H::kDim / 8][4]) {
  using E = typename H::Element;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
#pragma unroll
  for (int step = 0; step < kPage / 16; ++step) {
    // The results of two products have the layout of the left factor of one product.
    const float* const w0 = weight[2 * step];
    const float* const w1 = weight[2 * step + 1];
    const uint32_t a[4] = {pack<E>(w0[0], w0[1]), pack<E>(w0[2], w0[3]), pack<E>(w1[0], w1[1]),
                           pack<E>(w1[2], w1[3])};
#pragma unroll
    for (int d = 0; d < H::kDim / 8; d += 2) {
      // Matrices: keys 0-7 and 8-15 of elements 0-7, then of elements 8-15.
      uint32_t b[4];
      const int key = step * 16 + lane % 8 + lane / 8 % 2 * 8;
      load_matrices_transposed(b, values + key * H::kStride + d * 8 + lane / 16 * 8);
      mma<E>(out[d], a, b[0], b[1]);
      mma<E>(out[d + 1], a, b[2], b[3]);
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
    using E = typename H::Element;
    E* const to = static_cast<E*>(call.act) + (rows.at[i] * call.heads + rows.head[i]) * H::kDim + pair;
#pragma unroll
    for (int d = 0; d < H::kDim / 8; ++d)
      *reinterpret_cast<uint32_t*>(to + d * 8) = pack<E>(out[d][2 * i] * share, out[d][2 * i + 1] * share);
  }
}

template <class H, class Sequences, class Tile>
__global__ void __launch_bounds__(H::kThreads, H::kBlocks)
    attention_kernel(AttentionCall call, const Tile* tiles, float scale) {
  begin_kernel();
  using E = typename H::Element;
  constexpr bool kTwo = H::kValueStages == 2;
  // [2][keys, values][kStride], or [keys, keys, values][kStride]
  E* const stages = reinterpret_cast<E*>(shared_memory());
  const auto kv_heads = static_cast<uint32_t>(call.kv.kv_heads);
  const size_t kv_head = blockIdx.x % kv_heads;
  const auto warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  const Sequences sequences(tiles + blockIdx.x / kv_heads, warp);
  using Place = typename Sequences::Place;
  const auto page_at = [&](Place at) {
    return find_page<H>(call, kv_head, sequences.pages(at) + at.first / kPage);
  };

  const auto load_values = [&](const E* page, Place at) {
    load_rows<H, kPage, 2 * kPage>(page, at.first, sequences.end(at), stages + H::kTile);
  };
  // Of two stages of values, the values too.
  const auto load_page = [&](const E* page, Place at) {
    if constexpr (kTwo)
      load_rows<H, 0, 2 * kPage>(page, at.first, sequences.end(at), stages + at.stage() * 2 * H::kTile);
    else
      load_rows<H, 0, kPage>(page, at.first, sequences.end(at), stages + at.stage() * H::kTile);
  };

  load_page(page_at({}), {});
  if (!kTwo) load_values(page_at({}), {});
  copy_async_commit();
  const Place second = sequences.after({});
  const E* next_page = sequences.has(second) ? page_at(second) : nullptr;
  uint32_t query[H::kSteps][4], last[2];
  {
    const Rows rows = locate_rows(call, sequences.rows(), kv_head, sequences.row_warp(warp) * 16 + lane / 4);
    load_queries<H>(call, rows, query);
    for (int i = 0; i < 2; ++i) last[i] = last_key(sequences.rows(), rows.position[i]);
  }
  Softmax state;
  float out[H::kDim / 8][4] = {};
  for (Place at; sequences.has(at); at = sequences.after(at)) {
    const uint32_t stage = at.stage();
    copy_async_wait<0>();
    // Now the copies of this page by all threads are complete, and all warps are done with the other stage.
    __syncthreads();
    const Place next = sequences.after(at);
    const bool more = sequences.has(next);
    if (more) load_page(next_page, next);
    copy_async_commit();
    const E* const page = next_page;
    // Two reads, one after the other, whose time passes while this page is computed.
    if (more && sequences.has(sequences.after(next))) next_page = page_at(sequences.after(next));
    if (sequences.is_own(at)) {
      float score[kPage / 8][4], factor[2];
      const E* const keys = stages + stage * (kTwo ? 2 : 1) * H::kTile;
      multiply_keys<H, kPage>(query, keys, score);
      const uint32_t least = last_key(sequences.rows(), sequences.rows().position);
      softmax_tile(state, last, at.first, at.first + kPage - 1 > least, scale, score, factor);
#pragma unroll
      for (int d = 0; d < H::kDim / 8; ++d)
#pragma unroll
        for (int e = 0; e < 4; ++e) out[d][e] *= factor[e / 2];
      multiply_values<H>(score, kTwo ? keys + H::kTile : stages + 2 * H::kTile, out);
    }
    if (!kTwo && more) {
      __syncthreads();  // now all warps are done with the values of this page
      load_values(page, next);
      copy_async_commit();
    }
  }
  // Found again, so that the places of the rows need no registers meanwhile.
  const Sequences again(tiles + blockIdx.x / kv_heads, warp);
  store_rows<H>(call, locate_rows(call, again.rows(), kv_head, again.row_warp(warp) * 16 + lane / 4), state,
                out);
}

template <class T, class Sequences, class Tile>
void run_typed(Stream& stream, const AttentionCall& call, const AttentionKind& kind, const Tile* tiles,
               size_t n) {
  const auto run = [&]<class H>(H) {
    launch(attention_kernel<H, Sequences, Tile>, dim3(static_cast<unsigned>(n * call.kv.kv_heads)),
           H::kThreads, H::kShared, stream, call, tiles, score_scale(H::kDim, kind.exponent));
  };
  if (call.kv.head_dim == 64) return run(Head<T, 64, 2>{});
  if (call.kv.head_dim == 96) return run(Head<T, 96, 2>{});
  // Only sm_75, which has no tensor cores for bf16, is too small for two stages.
  if constexpr (std::is_same_v<T, F16>)
    if (kind.block_shared < Head<T, 128, 2>::kShared) return run(Head<T, 128, 1>{});
  run(Head<T, 128, 2>{});
}

template <class Sequences, class Tile>
void run_tiles(Stream& stream, const AttentionCall& call, const AttentionKind& kind, const Tile* tiles,
               size_t n) {
  if (kind.type == DType::f16)
    run_typed<F16, Sequences>(stream, call, kind, tiles, n);
  else
    run_typed<Bf16, Sequences>(stream, call, kind, tiles, n);
}

}  // namespace attention_mma_file

void run_attention_mma(Stream& stream, const AttentionCall& call, const AttentionKind& kind,
                       const RowTile* tiles, size_t n) {
  run_tiles<OneSequence>(stream, call, kind, tiles, n);
}

void run_attention_mma(Stream& stream, const AttentionCall& call, const AttentionKind& kind,
                       const JoinedTile* tiles, size_t n) {
  run_tiles<SeveralSequences>(stream, call, kind, tiles, n);
}

}  // namespace carbon::cuda
