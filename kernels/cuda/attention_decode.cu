// Causal grouped-query attention of few query rows on many keys (generation), on tensor cores, for bf16 and
// f16 and head sizes 64, 96 and 128.
//
// A tile has up to 16 query rows of one KV head: consecutive positions of one sequence, and for each the
// heads of the group. A block computes a tile against one chunk of 128 keys, which always begins at an
// absolute multiple of 128, and requests all pages of the chunk at once. Four warps multiply 32 keys each.
// After a softmax over the keys of the chunk, each warp multiplies all weights by a quarter of the elements
// of the values. Queries and weights are rounded to the type of keys and values; sums
// are f32.
//
// Where a multiprocessor has room for one such block only, the last values of a chunk wait in the L2 cache
// until the scores are complete, and then take the place of the keys. That leaves room for a second block,
// and changes no sum.
//
// If a tile has several chunks, each block stores a part of every row: the largest score, the sum of weights
// and the output, not normalised. Parts are combined in two levels, both in ascending order: first the chunks
// of 2,048 positions, then these groups, so that several blocks share this work for a long sequence. The
// block that finishes last, by a counter, combines the parts, without another launch. The counter decides
// which block does that, but not the order or the results.
//
// The bits of a row do not depend on the tile, the batch or the device. A chunk or a group after the last key
// of the row is skipped, keys after it in its last chunk have weight 0, and a row with one part is multiplied
// by exactly 1. A value that is not finite, in the last chunk after the last key of the row, does reach the
// row (0 * NaN); but then the command stops with an error anyway.
#include <cmath>

#include "kernels/cuda/kernels.hpp"
#include "kernels/cuda/launch.hpp"
#include "kernels/cuda/tensor_cores.cuh"

namespace carbon::cuda {
inline namespace attention_decode_file {

constexpr int kRows = static_cast<int>(kDecodeRows), kWarps = 4, kThreads = kWarps * kWarp;
constexpr int kPage = 64, kChunk = static_cast<int>(kDecodeChunk), kWarpKeys = kChunk / kWarps;
constexpr uint32_t kGroup = 16;  // chunks that are combined in the first level

/// First are the values of a chunk that have memory of their own; those after them follow in the memory of
/// the keys.
template <class T, int Dim, int First>
struct Head : HeadSizes<T, Dim> {
  using HeadSizes<T, Dim>::kStride;
  static constexpr int kFirst = First;
  static constexpr int kColumns = Dim / kWarps;  // elements of the output that a warp computes
  static constexpr int kWeightStride = kChunk + 8;
  static constexpr int kKeys = kChunk * kStride, kValues = kFirst * kStride;  // elements
  // The weights use the memory of the queries.
  static constexpr int kQueries = kRows * (kStride > kWeightStride ? kStride : kWeightStride);
  static constexpr size_t kShared =
      (kKeys + kValues + kQueries) * sizeof(T) + 2 * kWarps * kRows * sizeof(float) + sizeof(uint32_t);
};

/// The shared memory of a block.
template <class H>
struct Shared {
  using E = typename H::Element;
  E* const keys = reinterpret_cast<E*>(shared_memory());                   // [kChunk][kStride]
  E* const values = keys + H::kKeys;                                       // [kFirst][kStride]
  E* const queries = values + H::kValues;                                  // [kRows][kStride]
  E* const weights = queries;                                              // [kRows][kWeightStride]
  float* const largest = reinterpret_cast<float*>(queries + H::kQueries);  // [kWarps][kRows]
  float* const sum = largest + kWarps * kRows;                             // [kWarps][kRows]
  uint32_t* const last = reinterpret_cast<uint32_t*>(sum + kWarps * kRows);
};

/// What a block works on.
struct Work {
  TileChunk tile;
  uint32_t kv_head, group;  // the KV head, and the number of query heads that share it
  uint32_t rows;            // of the tile
  uint32_t end;             // no row of the tile attends to keys from here on
  uint32_t chunks;          // of the tile
  size_t slot, stride;      // the slot of the first chunk of the tile, and the step from a chunk to the next

  __device__ uint32_t position(uint32_t row) const { return tile.position + row / group; }
  /// The number of chunks with keys of the row.
  __device__ uint32_t chunks_of(uint32_t row) const { return position(row) / kChunk + 1; }
  /// The index of the head of the row among all heads of all rows, as in act.
  __device__ size_t head(const AttentionCall& call, uint32_t row) const {
    return (tile.row + row / group) * call.heads + kv_head * group + row % group;
  }
};

__device__ inline Work find_work(const AttentionCall& call, const TileChunk* chunks) {
  const auto kv_heads = static_cast<uint32_t>(call.kv.kv_heads);
  const uint32_t index = blockIdx.x / kv_heads;
  Work work;
  work.tile = chunks[index];
  work.kv_head = blockIdx.x % kv_heads;
  work.group = static_cast<uint32_t>(call.heads) / kv_heads;
  work.rows = work.tile.positions * work.group;
  work.end = work.tile.position + work.tile.positions;
  work.chunks = (work.end - 1) / kChunk + 1;
  work.stride = kv_heads;
  work.slot = size_t{index - work.tile.chunk} * kv_heads + work.kv_head;
  return work;
}

/// Requests the keys and values of the chunk for the L2 cache. That is coherent with writes of the previous
/// kernel, which may still run.
template <class H>
__device__ void prefetch_pages(const Work& work, const typename H::Element* const pages[kChunkPages]) {
  constexpr int kLine = 64,
                kLines = kPage * H::kDim / kLine;  // elements of a line; lines of the keys of a page
  const uint32_t first = work.tile.chunk * kChunk;
#pragma unroll
  for (int i = 0; i < 4 * kLines; i += kThreads) {
    const int line = i + static_cast<int>(threadIdx.x), page = line / (2 * kLines);
    const int key = page * kPage + line % kLines * kLine / H::kDim;
    if (line < 4 * kLines && first + static_cast<uint32_t>(key) < work.end)
      prefetch((page == 0 ? pages[0] : pages[1]) + line % (2 * kLines) * kLine);
  }
}

/// Starts copying the keys [Begin, End) of the chunk, or their values, which are `offset` elements after
/// them. Elements after the last key of the tile become zeros.
template <class H, int Begin, int End>
__device__ void load_tile(const Work& work, const typename H::Element* const pages[kChunkPages], int offset,
                          typename H::Element* to) {
  constexpr int kUnits = H::kDim / 8;  // units of 16 bytes in a row
  static_assert((End - Begin) * kUnits % kThreads == 0);
  const uint32_t first = work.tile.chunk * kChunk;
#pragma unroll
  for (int i = 0; i < (End - Begin) * kUnits; i += kThreads) {
    const int unit = i + static_cast<int>(threadIdx.x);
    const int r = unit / kUnits, key = Begin + r, c = unit % kUnits * 8;
    const typename H::Element* const from =
        (key < kPage ? pages[0] : pages[1]) + offset + key % kPage * H::kDim + c;
    copy_async(to + r * H::kStride + c, from, first + static_cast<uint32_t>(key) < work.end);
  }
}

/// Stores the rotated and rounded queries; missing rows of the tile become zeros. Requests all elements
/// before it waits for any.
template <class H>
__device__ void load_queries(const AttentionCall& call, const Work& work, typename H::Element* to) {
  constexpr int kHalf = H::kDim / 2, kTimes = kRows * kHalf / kThreads;
  static_assert(kTimes * kThreads == kRows * kHalf);
  float a[kTimes], b[kTimes], cos[kTimes], sin[kTimes];
#pragma unroll
  for (int t = 0; t < kTimes; ++t) {
    const int i = t * kThreads + static_cast<int>(threadIdx.x), j = i % kHalf;
    const auto row = static_cast<uint32_t>(i / kHalf);
    a[t] = b[t] = cos[t] = sin[t] = 0.0f;
    if (row >= work.rows) continue;
    const size_t step = row / work.group, head = work.kv_head * work.group + row % work.group;
    const float* const x = call.q + (work.tile.row + step) * call.ld + head * H::kDim + j;
    const size_t angle = size_t{work.position(row)} * kHalf + static_cast<size_t>(j);
    a[t] = x[0];
    b[t] = x[kHalf];
    cos[t] = call.rotary.cos[angle];
    sin[t] = call.rotary.sin[angle];
  }
#pragma unroll
  for (int t = 0; t < kTimes; ++t) {
    const int i = t * kThreads + static_cast<int>(threadIdx.x);
    typename H::Element* const x = to + i / kHalf * H::kStride + i % kHalf;
    narrow(a[t] * cos[t] - b[t] * sin[t], x);
    narrow(b[t] * cos[t] + a[t] * sin[t], x + kHalf);
  }
}

/// The scores of the keys of this warp; -infinity for keys after the position of the row.
template <class H>
__device__ void score_keys(const Work& work, const Shared<H>& shared, float score[kWarpKeys / 8][4]) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp, warp = static_cast<int>(threadIdx.x) / kWarp;
  uint32_t query[H::kSteps][4];
#pragma unroll
  for (int step = 0; step < H::kSteps; ++step)
    // Matrices: rows 0-7 and 8-15 of elements 0-7, then of elements 8-15.
    load_matrices(query[step], shared.queries + lane % 16 * H::kStride + step * 16 + lane / 16 * 8);
  multiply_keys<H, kWarpKeys>(query, shared.keys + warp * kWarpKeys * H::kStride, score);
  const auto column = work.tile.chunk * kChunk + static_cast<uint32_t>(warp * kWarpKeys + lane % 4 * 2);
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const uint32_t position = work.position(static_cast<uint32_t>(lane / 4 + i * 8));
#pragma unroll
    for (int j = 0; j < kWarpKeys / 8; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e)
        if (column + static_cast<uint32_t>(j * 8 + e) > position) score[j][2 * i + e] = -INFINITY;
  }
}

/// The largest score over all warps, for the two rows of this thread. After the barrier in it queries and
/// keys are not needed any more.
template <class H>
__device__ void find_largest(const Shared<H>& shared, const float score[kWarpKeys / 8][4], float largest[2]) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp, warp = static_cast<int>(threadIdx.x) / kWarp;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    float mine = -INFINITY;
#pragma unroll
    for (int j = 0; j < kWarpKeys / 8; ++j) mine = fmaxf(mine, fmaxf(score[j][2 * i], score[j][2 * i + 1]));
    // The four threads of a row are neighbours.
    mine = fmaxf(mine, shuffle_xor(mine, 1));
    mine = fmaxf(mine, shuffle_xor(mine, 2));
    if (lane % 4 == 0) shared.largest[warp * kRows + lane / 4 + i * 8] = mine;
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    largest[i] = shared.largest[lane / 4 + i * 8];
#pragma unroll
    for (int w = 1; w < kWarps; ++w)
      largest[i] = fmaxf(largest[i], shared.largest[w * kRows + lane / 4 + i * 8]);
  }
}

/// Stores the weights relative to `largest` in shared memory, and their sum for each warp.
template <class H>
__device__ void weigh(const Shared<H>& shared, const float score[kWarpKeys / 8][4], const float largest[2],
                      float scale) {
  using E = typename H::Element;
  const int lane = static_cast<int>(threadIdx.x) % kWarp, warp = static_cast<int>(threadIdx.x) / kWarp;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int row = lane / 4 + i * 8;
    E* const to = shared.weights + row * H::kWeightStride + warp * kWarpKeys + lane % 4 * 2;
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < kWarpKeys / 8; ++j) {
      const float a = exp2_approximate((score[j][2 * i] - largest[i]) * scale);
      const float b = exp2_approximate((score[j][2 * i + 1] - largest[i]) * scale);
      sum += a;
      sum += b;
      *reinterpret_cast<uint32_t*>(to + j * 8) = pack<E>(a, b);
    }
    sum += shuffle_xor(sum, 1);
    sum += shuffle_xor(sum, 2);
    if (lane % 4 == 0) shared.sum[warp * kRows + row] = sum;
  }
}

/// out += weights . values, for the columns of this warp and the keys [Begin, End) of the chunk, whose values
/// are at `values`.
template <class H, int Begin, int End>
__device__ void multiply_values(const Shared<H>& shared, const typename H::Element* values,
                                float out[H::kColumns / 8][4]) {
  using E = typename H::Element;
  static_assert((End - Begin) % 32 == 0);
  const int lane = static_cast<int>(threadIdx.x) % kWarp, warp = static_cast<int>(threadIdx.x) / kWarp;
#pragma unroll
  for (int key = Begin; key < End; key += 32) {
    uint32_t a[2][4];
    for (int i = 0; i < 2; ++i)
      load_matrices(a[i], shared.weights + lane % 16 * H::kWeightStride + key + i * 16 + lane / 16 * 8);
#pragma unroll
    for (int d = 0; d < H::kColumns / 8; ++d) {
      // Matrices: keys 0-7, 8-15, 16-23 and 24-31 of eight elements.
      uint32_t b[4];
      load_matrices_transposed(b, values + (key - Begin + lane) * H::kStride + warp * H::kColumns + d * 8);
      mma<E>(out[d], a[0], b[0], b[1]);
      mma<E>(out[d], a[1], b[2], b[3]);
    }
  }
}

/// Four elements of the output of a row, not normalised, with the largest score and the sum of weights of the
/// row.
struct Part {
  float largest, sum;
  Group<float, 4> out;
};

/// Writes the elements to act, from element c of the head of the row on.
template <class H>
__device__ void store_quotient(const AttentionCall& call, const Work& work, uint32_t row, int c,
                               const Part& part) {
  using E = typename H::Element;
  auto* const to = reinterpret_cast<uint32_t*>(static_cast<E*>(call.act) + work.head(call, row) * H::kDim +
                                               static_cast<size_t>(c));
  to[0] = pack<E>(part.out.element[0] / part.sum, part.out.element[1] / part.sum);
  to[1] = pack<E>(part.out.element[2] / part.sum, part.out.element[3] / part.sum);
}

/// The parts of one level, for chunks from `chunk` on.
struct Parts {
  float* out;
  float* largest;
  float* sum;
};
template <class H>
__device__ Parts parts_at(const DecodeParts& parts, const Work& work, int level, uint32_t chunk) {
  const size_t slot = work.slot + chunk * work.stride, row = (level * parts.slots + slot) * kRows;
  return {parts.out + slot * kRows * H::kDim, parts.largest + row, parts.sum + row};
}

/// Writes the results of multiply_values and weigh of this thread: to act if the tile has only this chunk,
/// otherwise as a part.
template <class H>
__device__ void store_rows(const AttentionCall& call, const Work& work, const Shared<H>& shared,
                           const DecodeParts& parts, const float largest[2],
                           const float out[H::kColumns / 8][4]) {
  using E = typename H::Element;
  const int lane = static_cast<int>(threadIdx.x) % kWarp, warp = static_cast<int>(threadIdx.x) / kWarp;
  const int column = warp * H::kColumns + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int r = lane / 4 + i * 8;
    const auto row = static_cast<uint32_t>(r);
    if (row >= work.rows || work.tile.chunk >= work.chunks_of(row)) continue;
    float sum = shared.sum[r];
#pragma unroll
    for (int w = 1; w < kWarps; ++w) sum += shared.sum[w * kRows + r];
    if (work.chunks == 1) {
      E* const to = static_cast<E*>(call.act) + work.head(call, row) * H::kDim + column;
#pragma unroll
      for (int d = 0; d < H::kColumns / 8; ++d)
        *reinterpret_cast<uint32_t*>(to + d * 8) = pack<E>(out[d][2 * i] / sum, out[d][2 * i + 1] / sum);
      continue;
    }
    const Parts to = parts_at<H>(parts, work, 0, work.tile.chunk);
#pragma unroll
    for (int d = 0; d < H::kColumns / 8; ++d)
      store_group(Group<float, 2>{{out[d][2 * i], out[d][2 * i + 1]}}, to.out + r * H::kDim + column + d * 8);
    if (warp == 0 && lane % 4 == 0) {
      to.largest[r] = largest[i];
      to.sum[r] = sum;
    }
  }
}

/// Combines four elements of a row from `n` parts that are `stride` slots apart. Reads several parts at a
/// time, so that there are few waits for memory.
template <class H>
__device__ Part add_parts(const Parts& from, size_t stride, uint32_t n, uint32_t row, uint32_t c,
                          float scale) {
  constexpr uint32_t kTogether = 8;
  const float* const largest = from.largest + row;
  const float* const sum = from.sum + row;
  const float* const out = from.out + row * H::kDim + c;
  // Sums begin with -0, so that the sign of a zero is kept. Adding the empty places after the last part
  // changes nothing.
  Part all{-INFINITY, 0.0f, {{-0.0f, -0.0f, -0.0f, -0.0f}}};
  for (uint32_t first = 0; first < n; first += kGroup)
#pragma unroll
    for (uint32_t i = first; i < first + kGroup; ++i)
      all.largest = fmaxf(all.largest, i < n ? largest[i * stride * kRows] : -INFINITY);
  for (uint32_t first = 0; first < n; first += kTogether) {
    Part part[kTogether];
#pragma unroll
    for (uint32_t i = 0; i < kTogether; ++i) {
      const size_t slot = (first + i) * stride;
      part[i] = {-INFINITY, 0.0f, {{-0.0f, -0.0f, -0.0f, -0.0f}}};
      if (first + i >= n) continue;
      part[i].largest = largest[slot * kRows];
      part[i].sum = sum[slot * kRows];
      part[i].out = load_group<4>(out + slot * kRows * H::kDim);
    }
#pragma unroll
    for (uint32_t i = 0; i < kTogether; ++i) {
      const float factor = exp2_approximate((part[i].largest - all.largest) * scale);
      all.sum = fmaf(factor, part[i].sum, all.sum);
#pragma unroll
      for (int e = 0; e < 4; ++e)
        all.out.element[e] = fmaf(factor, part[i].out.element[e], all.out.element[e]);
    }
  }
  return all;
}

/// Combines the parts of the group that begins at chunk `first` (level 0), or those of all groups (level 1,
/// `first` is 0). The result is written to act if these are all parts of the tile, otherwise to the part of
/// the group, whose output uses the memory of its first chunk.
template <class H>
__device__ void combine(const AttentionCall& call, const Work& work, const DecodeParts& parts, int level,
                        uint32_t first, bool all, float scale) {
  constexpr uint32_t kQuads = H::kDim / 4;
  const Parts from = parts_at<H>(parts, work, level, first), to = parts_at<H>(parts, work, 1, first);
  for (uint32_t i = threadIdx.x; i < work.rows * kQuads; i += kThreads) {
    const uint32_t row = i / kQuads, c = i % kQuads * 4, chunks = work.chunks_of(row);
    if (chunks <= first) continue;
    const uint32_t left = chunks - first;
    const uint32_t n = level == 1 ? (left + kGroup - 1) / kGroup : left < kGroup ? left : kGroup;
    const Part part = add_parts<H>(from, level == 1 ? kGroup * work.stride : work.stride, n, row, c, scale);
    if (all) {
      store_quotient<H>(call, work, row, c, part);
      continue;
    }
    store_group(part.out, to.out + row * H::kDim + c);
    if (c == 0) {
      to.largest[row] = part.largest;
      to.sum[row] = part.sum;
    }
  }
}

/// True if this block is the last of `n` to store its part. Then it can read the parts of the others.
__device__ inline bool is_last(uint32_t* counter, uint32_t n, uint32_t* shared) {
  __syncthreads();  // now the part of the block is written, and `shared` is free
  if (threadIdx.x == 0) *shared = arrive(counter, n);
  __syncthreads();
  return *shared != 0;
}

template <class H>
__device__ void combine_if_last(const AttentionCall& call, const Work& work, const Shared<H>& shared,
                                const DecodeParts& parts, float scale) {
  const uint32_t groups = (work.chunks + kGroup - 1) / kGroup, first = work.tile.chunk / kGroup * kGroup;
  const uint32_t left = work.chunks - first;
  uint32_t* const counters = parts.counters + work.slot;
  if (!is_last(counters + first * work.stride, left < kGroup ? left : kGroup, shared.last)) return;
  combine<H>(call, work, parts, 0, first, groups == 1, scale);
  if (groups == 1 || !is_last(counters + parts.slots, groups, shared.last)) return;
  combine<H>(call, work, parts, 1, 0, true, scale);
}

template <class H>
__global__ void __launch_bounds__(kThreads, 3)
    attention_kernel(AttentionCall call, const TileChunk* chunks, DecodeParts parts, float scale) {
  start_next_kernel();
  // The tables were copied by the host, not written by a kernel, so they may be read before the wait.
  const Work work = find_work(call, chunks);
  if (work.tile.positions == 0) return wait_for_last_kernel();
  const Shared<H> shared;
  using E = typename H::Element;
  const E* pages[kChunkPages];
#pragma unroll
  for (size_t i = 0; i < kChunkPages; ++i)
    pages[i] = reinterpret_cast<const E*>(static_cast<const char*>(call.kv.pages[work.tile.pages[i]]) +
                                          call.kv.offset) +
               work.kv_head * 2 * kPage * H::kDim;
  prefetch_pages<H>(work, pages);
  wait_for_last_kernel();
  load_tile<H, 0, kChunk>(work, pages, 0, shared.keys);
  copy_async_commit();
  load_tile<H, 0, H::kFirst>(work, pages, kPage * H::kDim, shared.values);
  copy_async_commit();
  load_queries<H>(call, work, shared.queries);
  copy_async_wait<1>();
  __syncthreads();  // now keys and queries are complete

  float score[kWarpKeys / 8][4], largest[2], out[H::kColumns / 8][4] = {};
  score_keys(work, shared, score);
  find_largest(shared, score, largest);
  constexpr bool kRest = H::kFirst < kChunk;
  if constexpr (kRest) {
    load_tile<H, H::kFirst, kChunk>(work, pages, kPage * H::kDim, shared.keys);
    copy_async_commit();
  }
  weigh(shared, score, largest, scale);
  copy_async_wait<kRest ? 1 : 0>();
  __syncthreads();  // now weights and the first values are complete
  multiply_values<H, 0, H::kFirst>(shared, shared.values, out);
  if constexpr (kRest) {
    copy_async_wait<0>();
    __syncthreads();  // now all values are
    multiply_values<H, H::kFirst, kChunk>(shared, shared.keys, out);
  }
  store_rows(call, work, shared, parts, largest, out);
  if (work.chunks > 1) combine_if_last(call, work, shared, parts, scale);
}

/// The number of blocks for which a multiprocessor has shared memory, if a block may have `block_shared`
/// bytes of it: 1 KiB less than a multiprocessor has, and as much is kept for every block.
template <class H>
constexpr size_t blocks_of(size_t block_shared) {
  return (block_shared + 1024) / (H::kShared + 1024);
}

template <class H>
void run_head(Stream& stream, const AttentionCall& call, const AttentionKind& kind, const TileChunk* chunks,
              size_t n, const DecodeParts& parts) {
  launch(attention_kernel<H>, dim3(static_cast<unsigned>(n * call.kv.kv_heads)), kThreads, H::kShared, stream,
         call, chunks, parts, score_scale(H::kDim, kind.exponent));
}

/// With memory for all values if that leaves room for two blocks, otherwise for the first ones.
template <class T, int Dim, int First>
void run_dim(Stream& stream, const AttentionCall& call, const AttentionKind& kind, const TileChunk* chunks,
             size_t n, const DecodeParts& parts) {
  using Whole = Head<T, Dim, kChunk>;
  using Cut = Head<T, Dim, First>;
  constexpr size_t kSmall = size_t{99} << 10, kTuring = size_t{64} << 10;  // of sm_86 and its like; of sm_75
  static_assert(blocks_of<Cut>(kSmall) >= 2 && Cut::kShared <= kTuring);
  if constexpr (First < kChunk)
    if (blocks_of<Whole>(kind.block_shared) < 2) return run_head<Cut>(stream, call, kind, chunks, n, parts);
  run_head<Whole>(stream, call, kind, chunks, n, parts);
}

template <class T>
void run_typed(Stream& stream, const AttentionCall& call, const AttentionKind& kind, const TileChunk* chunks,
               size_t n, const DecodeParts& parts) {
  if (call.kv.head_dim == 64)
    run_dim<T, 64, kChunk>(stream, call, kind, chunks, n, parts);
  else if (call.kv.head_dim == 96)
    run_dim<T, 96, 64>(stream, call, kind, chunks, n, parts);
  else
    run_dim<T, 128, 32>(stream, call, kind, chunks, n, parts);
}

}  // namespace attention_decode_file

void run_attention_decode(Stream& stream, const AttentionCall& call, const AttentionKind& kind,
                          const TileChunk* chunks, size_t n, const DecodeParts& parts) {
  if (kind.type == DType::f16)
    run_typed<F16>(stream, call, kind, chunks, n, parts);
  else
    run_typed<Bf16>(stream, call, kind, chunks, n, parts);
}

}  // namespace carbon::cuda
