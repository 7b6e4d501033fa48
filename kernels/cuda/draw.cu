// Draws 6-mers from rows of logits, with one block per draw. The arithmetic is that of kernels/draw_math.hpp,
// so the results have the same bits as on the host.
//
// A thread has the four 6-mers of every 256th block of random bits. Sums are taken in the same order as on
// the host. The largest logit and the race do not depend on an order, so the threads share them.
#include <cmath>

#include "kernels/cuda/device_math.cuh"
#include "kernels/cuda/kernels.hpp"
#include "kernels/cuda/launch.hpp"
#include "kernels/draw_math.hpp"

namespace carbon::cuda {
inline namespace draw_file {

using ops::DrawKind;
using ops::DrawOptions;
using ops::KmerDraw;
using ops::Race;

constexpr int kThreads = 256, kWarps = kThreads / kWarp;
constexpr int kKmers = static_cast<int>(ops::kKmers), kBases = static_cast<int>(ops::kBases);
constexpr int kLetters = static_cast<int>(ops::kLetters);
constexpr int kEach = kKmers / 4 / kThreads;  // blocks of random bits of a thread

struct DrawScratch {
  double sums[ops::level_offset(ops::kBases +
                                1)];  // of the joint distribution; the weights only for draws by base
  double marginals[ops::kMarginals];
  Race races[2][kWarps];
  float largest[kWarps], bad[kWarps], group_largest[kWarps];
  uint32_t kmer;
};
static_assert(sizeof(DrawScratch) <= 48 * 1024);

/// The part of the row that a thread has.
struct Share {
  float z[kEach][4];  // -inf for a 6-mer that is not allowed
  double weight[kEach][4];
  float largest;  // of the whole row

  __device__ static int block(int i) { return static_cast<int>(threadIdx.x) + i * kThreads; }
};

/// False if a logit of the row is not finite.
__device__ bool read_row(const float* logits, const ops::AllowedBases& allowed, DrawScratch& s, Share& row) {
  float top = -INFINITY, bad = 0.0f;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const Group<float, 4> four = load_group<4>(logits + 4 * Share::block(i));
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      bad += four.element[j] - four.element[j];  // becomes NaN if a logit is not finite
      row.z[i][j] =
          ops::allows(allowed, static_cast<size_t>(4 * Share::block(i) + j)) ? four.element[j] : -INFINITY;
      top = fmaxf(top, row.z[i][j]);
    }
  }
  row.largest = block_max<kThreads>(top, s.largest);
  return block_sum<kThreads>(bad, s.bad) == 0.0f;
}

/// Computes the weights and their sums over prefixes. The weights themselves are stored in `s` only for draws
/// by base.
__device__ void sum_prefixes(Share& row, bool by_base, DrawScratch& s) {
  double* const weights = s.sums + ops::level_offset(ops::kBases);
  double* const fives = s.sums + ops::level_offset(ops::kBases - 1);
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      row.weight[i][j] = ops::weight(row.z[i][j], row.largest);
      if (by_base) weights[4 * Share::block(i) + j] = row.weight[i][j];
    }
    fives[Share::block(i)] = ops::sum_of_four(row.weight[i]);
  }
  __syncthreads();
  for (int level = kBases - 2; level >= 0; --level) {
    double* const shorter = s.sums + ops::level_offset(static_cast<size_t>(level));
    const double* const longer = s.sums + ops::level_offset(static_cast<size_t>(level + 1));
    for (int i = static_cast<int>(threadIdx.x); i < 1 << 2 * level; i += kThreads)
      shorter[i] = ops::sum_of_four(longer + 4 * i);
    __syncthreads();
  }
}

/// The winner of the races of all threads; all threads get the same.
__device__ Race block_race(Race mine, Race* scratch) {
#pragma unroll
  for (int mask = kWarp / 2; mask > 0; mask /= 2) {
    const double time = shuffle_xor(mine.best, mask);
    const uint32_t kmer = shuffle_xor(mine.winner, mask);
    mine.arrive(time, kmer);
  }
  const int thread = static_cast<int>(threadIdx.x);
  if (thread % kWarp == 0) scratch[thread / kWarp] = mine;
  __syncthreads();
  Race all = scratch[0];
#pragma unroll
  for (int w = 1; w < kWarps; ++w) all.arrive(scratch[w].best, scratch[w].winner);
  return all;
}

__device__ uint32_t likeliest(const Share& row, DrawScratch& s) {
  Race mine;
#pragma unroll
  for (int i = 0; i < kEach; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
      mine.arrive(-static_cast<double>(row.z[i][j]), static_cast<uint32_t>(4 * Share::block(i) + j));
  return block_race(mine, s.races[0]).winner;
}

/// The same race as on the host, in two rounds. A lane that skips a logarithm gains nothing if its neighbours
/// need theirs. So first each thread computes the time only of its 6-mer with the smallest (1 - u) / w. Then
/// all 6-mers enter against the best of these times, which few can beat.
__device__ uint32_t race(const Share& row, const DrawOptions& options, const ops::DrawCounter& counter,
                         DrawScratch& s) {
  double u[kEach][4], weight[kEach][4];
  double least = 1, heaviest = 0, first_u = 0;
  uint32_t first = 0;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const PhiloxBlock bits = ops::noise(counter, options.seed, static_cast<uint32_t>(Share::block(i)));
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      u[i][j] = uniform32(bits[static_cast<size_t>(j)]);
      weight[i][j] = options.temperature == 1 ? row.weight[i][j]
                                              : ops::weight(row.z[i][j], row.largest, options.temperature);
      if ((1.0 - u[i][j]) * heaviest >= least * weight[i][j]) continue;
      least = 1.0 - u[i][j];
      heaviest = weight[i][j];
      first_u = u[i][j];
      first = static_cast<uint32_t>(4 * Share::block(i) + j);
    }
  }
  Race mine;
  mine.enter(heaviest, first_u, first);
  mine = block_race(mine, s.races[0]);
#pragma unroll
  for (int i = 0; i < kEach; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
      mine.enter(weight[i][j], u[i][j], static_cast<uint32_t>(4 * Share::block(i) + j));
  return block_race(mine, s.races[1]).winner;
}

/// Draws six bases, one after the other. A single thread does that, with the sums that all threads computed.
__device__ uint32_t draw_by_base(const DrawOptions& options, const ops::DrawCounter& counter,
                                 DrawScratch& s) {
  const auto thread = threadIdx.x;
  if (options.kind == DrawKind::marginal) {
    if (thread < kBases) ops::marginal_weights(s.sums, thread, s.marginals + thread * kLetters);
    __syncthreads();
  }
  if (thread == 0)
    s.kmer = static_cast<uint32_t>(ops::draw_bases(s.sums,
                                                   options.kind == DrawKind::marginal ? s.marginals : nullptr,
                                                   options, counter, [](double*) {}));
  __syncthreads();
  return s.kmer;
}

/// ln of the probability of the 6-mers that have the wanted bases of `kmer`. Only thread 0 may use the
/// result.
__device__ double log_share(const float* z, const KmerDraw& draw, uint32_t kmer, float largest,
                            DrawScratch& s) {
  const ops::KmerGroup group(kmer, draw.first, draw.last);
  const auto logit = [&](size_t i) { return ops::allows(draw.allowed, group[i]) ? z[group[i]] : -INFINITY; };
  float top = -INFINITY;
  for (size_t i = threadIdx.x; i < group.size(); i += kThreads) top = fmaxf(top, logit(i));
  top = block_max<kThreads>(top, s.group_largest);
  // The weights are not read any more.
  double* const terms = s.sums + ops::level_offset(ops::kBases);
  for (size_t i = threadIdx.x; i < group.size(); i += kThreads) terms[i] = ops::weight(logit(i), top);
  __syncthreads();
  if (threadIdx.x != 0) return 0;
  double sum = 0;
  for (size_t i = 0; i < group.size(); ++i) sum += terms[i];
  return ops::log_share(top, sum, largest, s.sums[0]);
}

__global__ void __launch_bounds__(kThreads)
    draw_kernel(const float* logits, const KmerDraw* draws, ops::DrawnKmer* out) {
  begin_kernel();
  auto& s = *reinterpret_cast<DrawScratch*>(shared_memory());
  const KmerDraw draw = draws[blockIdx.x];
  const DrawOptions& options = draw.options;
  const DrawKind kind = options.kind;
  const float* const z = logits + size_t{draw.row} * ops::kKmers;
  ops::DrawnKmer& drawn = out[blockIdx.x];
  Share row;
  if (!read_row(z, draw.allowed, s, row)) {
    if (threadIdx.x == 0) drawn = {};
    return;
  }
  sum_prefixes(row, kind != DrawKind::kmer, s);
  const uint32_t kmer = kind != DrawKind::kmer ? draw_by_base(options, draw.counter, s)
                        : options.greedy       ? likeliest(row, s)
                                               : race(row, options, draw.counter, s);
  const double logp = kind == DrawKind::marginal
                          ? ops::log_marginals(s.marginals, s.sums[0], kmer, draw.first, draw.last)
                          : log_share(z, draw, kmer, row.largest, s);
  if (threadIdx.x == 0) drawn = {logp, kmer, 1};
}

}  // namespace draw_file

void run_draw(Stream& stream, const float* logits, const KmerDraw* draws, size_t n, ops::DrawnKmer* out) {
  launch(draw_kernel, dim3(static_cast<unsigned>(n)), kThreads, sizeof(DrawScratch), stream, logits, draws,
         out);
}

}  // namespace carbon::cuda
