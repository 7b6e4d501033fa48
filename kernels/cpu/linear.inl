// Matrix product with weights in panels: included after tile.inl.
//
// A panel has kPanelOutputs outputs: for each step of inputs, the weights of all these outputs. An output is
// computed in blocks of inputs, in ascending order: in each block a chain of multiply-adds from zero, and the
// sums of blocks are added in f32. That order depends only on K. A block of a panel is read from memory once,
// and all rows, a few at a time, use it from the cache.
//
// A simd_*.hpp header says by kFetchesAlone whether a single group of rows fetches what it reads. A Zen 4
// with AVX-512 notices by itself that a panel is read from beginning to end; a Zen 3 with AVX2 multiplied one
// row 1.2 and four rows 1.4 times as fast with fetches.

inline constexpr size_t kPanelOutputs = kPanelVectors * kLanes;
/// Inputs in a block: few enough to limit the rounding error of a chain and to fit the second-level cache.
inline constexpr size_t kPairBlock = 512, kFloatBlock = 256;
/// With two groups of rows up to this number, the time for a block is that of reading it from memory. Then it
/// is taken in chunks that fit the first-level cache; each chunk is fetched while the rows use the one before
/// it.
inline constexpr size_t kChunkGroups = 4, kChunkBytes = 16384;
/// Few rows read a panel from beginning to end, and fetch what they need so many bytes later. On AMD EPYCs
/// more or less than 2 to 4 KiB was slower.
inline constexpr size_t kReadAhead = 3072;

#ifndef TILES
/// A multiple of the rows of every tile.
inline constexpr size_t kTileHeights = 6;
#endif

/// Where the results of a panel are written.
struct PanelSums {
  float* data;
  size_t ld;
};

/// Inputs [0, n) of a panel, for rows in groups of nearly equal size. Meanwhile the first groups fetch the
/// memory that follows, Lines cache lines in fetch_steps().
template <class Steps, size_t Lines>
void panel_groups(const LinearRange& g, const typename Steps::Left* a, const typename Steps::Right* w,
                  size_t n, PanelSums to, Sums sums) {
  constexpr size_t ldb = kPanelOutputs * Steps::kStep;
  const size_t steps = (n + Steps::kStep - 1) / Steps::kStep;
  const char* ahead = reinterpret_cast<const char*>(w + steps * ldb);
  const char* const end = ahead + steps * ldb * sizeof(*w);
  size_t groups = (g.rows + kPanelRows - 1) / kPanelRows;
  for (size_t r = 0, rows; r < g.rows; r += rows, --groups) {
    rows = (g.rows - r + groups - 1) / groups;
    float* const c = to.data + r * to.ld;
    if (ahead < end)
      outer_rows<Steps, kPanelRows, kPanelVectors, Lines>(rows, a + r * g.k, g.k, w, ldb, n, c, to.ld, sums,
                                                          ahead);
    else
      outer_rows<Steps, kPanelRows, kPanelVectors>(rows, a + r * g.k, g.k, w, ldb, n, c, to.ld, sums);
    ahead += steps / fetch_steps<Steps>(kPanelVectors) * Lines * 64;
  }
}

/// One block of a panel for all rows.
template <class Steps>
void panel_block(const LinearRange& g, const typename Steps::Left* a, const typename Steps::Right* w,
                 size_t k, PanelSums to, Sums sums) {
  constexpr size_t step_bytes = kPanelOutputs * Steps::kStep * sizeof(*w),
                   lines = step_bytes * fetch_steps<Steps>(kPanelVectors) / 64;
  const size_t groups = (g.rows + kPanelRows - 1) / kPanelRows;
  if (groups == 1) {
    constexpr size_t alone = kFetchesAlone ? lines : 0;
    return outer_rows<Steps, kPanelRows, kPanelVectors, alone>(
        g.rows, a, g.k, w, kPanelOutputs * Steps::kStep, k, to.data, to.ld, sums,
        reinterpret_cast<const char*>(w) + kReadAhead);
  }
  if (groups > kChunkGroups) return panel_groups<Steps, (lines + 3) / 4>(g, a, w, k, to, sums);
  constexpr size_t chunk = kChunkBytes / step_bytes * Steps::kStep;
  const auto run =
      groups < kChunkGroups ? panel_groups<Steps, (lines + 1) / 2> : panel_groups<Steps, (lines + 3) / 4>;
  alignas(64) float own[kChunkGroups * kPanelRows * kPanelOutputs];
  for (size_t i = 0; i < k; i += chunk, w += chunk * kPanelOutputs)
    run(g, a + i, w, least(chunk, k - i), {own, kPanelOutputs}, i == 0 ? Sums::store : Sums::resume);
  for (size_t r = 0; r < g.rows; ++r)
    for (size_t j = 0; j < kPanelOutputs; j += kLanes) {
      float* const out = to.data + r * to.ld + j;
      const vf sum = load(own + r * kPanelOutputs + j);
      store(out, sums == Sums::store ? sum : add(load(out), sum));
    }
}

/// One panel. The last panel may have fewer outputs, which are computed in a buffer.
template <class Steps>
void linear_panel(const LinearRange& g, const typename Steps::Right* w, float* out, size_t outputs) {
  constexpr size_t size = Steps::kStep == 2 ? kPairBlock : kFloatBlock;
  alignas(64) float last[kLinearRows * kPanelOutputs];
  const bool whole = outputs == kPanelOutputs;
  const PanelSums to = whole ? PanelSums{out, g.ld_out} : PanelSums{last, kPanelOutputs};
  for (size_t i = 0; i < g.k; i += size)
    panel_block<Steps>(g, static_cast<const typename Steps::Left*>(g.act) + i, w + i * kPanelOutputs,
                       least(size, g.k - i), to, i == 0 ? Sums::store : Sums::add_block);
  if (whole) return;
  for (size_t r = 0; r < g.rows; ++r)
    __builtin_memcpy(out + r * g.ld_out, last + r * kPanelOutputs, outputs * sizeof(float));
}

template <class Steps>
void linear_typed(const LinearRange& g) {
  const auto* const panels = static_cast<const typename Steps::Right*>(g.panels);
  for (size_t column = 0; column < g.outputs; column += kPanelOutputs)
    linear_panel<Steps>(g, panels + column * round_up(g.k, Steps::kStep), g.out + column,
                        least(kPanelOutputs, g.outputs - column));
}

/// The same value, of which a compiler knows nothing. Where a multiply-add is two instructions, it would
/// otherwise multiply once for all chains.
template <class Vector>
INLINE Vector unknown(Vector value) {
  __asm__("" : VECTOR_OPERAND(value));
  return value;
}

/// The inner loop of a product without its loads, with the chains of a tile, which hide the latency of each.
template <class Steps>
size_t multiply_add_chains(size_t rounds, float* values) {
  constexpr size_t kChains = kPanelRows * kPanelVectors;
  static_assert((kChains + 2) * kLanes <= kPeakValues);
  float* const inputs = values + kChains * kLanes;
  auto a = Steps::left(reinterpret_cast<const typename Steps::Left*>(inputs));
  const auto w = Steps::right(reinterpret_cast<const typename Steps::Right*>(inputs + kLanes));
  vf acc[kChains];
#pragma GCC unroll 24
  for (size_t j = 0; j < kChains; ++j) acc[j] = load(values + j * kLanes);
  for (size_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 24
    for (size_t j = 0; j < kChains; ++j) {
      a = unknown(a);
      acc[j] = Steps::mac(acc[j], a, w);
    }
  }
#pragma GCC unroll 24
  for (size_t j = 0; j < kChains; ++j) store(values + j * kLanes, acc[j]);
  return rounds * kChains * kLanes * Steps::kStep;
}
