// Matrix product of int8, and the choice among all products: included after linear.inl.
//
// An output is one chain over blocks of 32 inputs, in ascending order: the whole number that the products of
// a block sum up to, times the scale of the weights and that of the activations, is added in f32. Whole
// numbers have no rounding, so inside of a block every instruction set may have its own order.
//
// A panel has kPanelOutputs outputs. For each block of inputs it holds their weights in steps of kInt8Group
// inputs, then their scales as f16.
//
// What a simd_*.hpp header supplies for this file:
//  kInt8Vectors    vectors of outputs of a tile with many rows: half of the registers have sums of whole
//                  numbers, the others sums in f32
//  kInt8Group      inputs of a step; the weights of an output for them follow one another
//  kInt8Offset     what is added to a weight when it is packed into a byte: 0 or 128
//  Int8Act         how an activation is stored
//  vweights        the weights of kLanes outputs for a step, from load_weights(address)
//  broadcast_acts  the activations of a step, for every lane
//  vsums           sums of kLanes outputs, whole numbers below 2^24; int8_begin(n) has n in every lane
//  int8_dot        adds the products of a step to a vsums
//  int8_sum        a vsums as f32

/// The activations of a row for one block of inputs.
struct ActBlock {
  Int8Act value[kQ8Block];
  float scale;
  int32_t begin;  // where the sum begins, to make up for kInt8Offset
};

inline constexpr size_t kInt8Steps = kQ8Block / kInt8Group;
/// Bytes of the weights in a block of a panel, and of all of it.
inline constexpr size_t kInt8Weights = kPanelOutputs * kQ8Block;
inline constexpr size_t kInt8Block = kPanelOutputs * weight_format(WeightType::q8_0).block_bytes;
/// Blocks of a panel that all rows use before the next are read: 256 inputs, few enough for the first-level
/// cache.
inline constexpr size_t kInt8Chunk = 256 / kQ8Block;
/// Up to this number of rows take all outputs of a panel at once.
inline constexpr size_t kInt8WholeRows = 2;
/// A block of activations that are all smaller is taken for zeros, because 127 / magnitude must be finite.
inline constexpr float kLeastMagnitude = 1e-30f;

constexpr size_t int8_blocks(size_t k) {
  return (k + kQ8Block - 1) / kQ8Block;
}

/// The largest magnitude of a block; NaN if a value is not finite.
template <class T>
INLINE float largest_magnitude(const T* in) {
  vf largest = zero(), bad = zero();
  for (size_t i = 0; i < kQ8Block; i += kLanes) {
    const vf v = load(in + i);
    largest = vmax(vmax(v, sub(zero(), v)), largest);
    bad = add(bad, sub(v, v));
  }
  return hmax(largest) + hsum(bad);
}

/// Rounds a block of activations to whole numbers, to nearest even, of which the largest is 127. `bad`
/// becomes NaN in a lane if a value is not finite.
template <class Act>
INLINE void round_block(const Act* in, ActBlock* out, vf& bad) {
  constexpr size_t kVectors = kQ8Block / kLanes;
  vf values[kVectors], magnitude = zero();
#pragma GCC unroll 8
  for (size_t i = 0; i < kVectors; ++i) {
    values[i] = load(in + i * kLanes);
    magnitude = vmax(vmax(values[i], sub(zero(), values[i])), magnitude);
    bad = add(bad, sub(values[i], values[i]));
  }
  const float largest = hmax(magnitude);
  const bool zeros = largest < kLeastMagnitude;
  out->scale = zeros ? 0.0f : largest / 127.0f;
  const vf inverse = set1(zeros ? 0.0f : 127.0f / largest);
  // The addition rounds; the lowest byte of its result is that of the whole number.
  const vf magic = set1(12582912.0f);
  int32_t rounded[kQ8Block];
#pragma GCC unroll 8
  for (size_t i = 0; i < kVectors; ++i) {
    const vf v = add(mul(values[i], inverse), magic);
    __builtin_memcpy(rounded + i * kLanes, &v, sizeof v);
  }
  for (size_t i = 0; i < kQ8Block; ++i) out->value[i] = static_cast<Int8Act>(static_cast<int8_t>(rounded[i]));
  out->begin = 0;
  if (kInt8Offset == 0) return;
  // As numbers, the results are the whole numbers plus the bits of 1.5 * 2^23.
  uint32_t sum = 0;
  for (size_t i = 0; i < kQ8Block; ++i) sum += static_cast<uint32_t>(rounded[i]);
  sum -= static_cast<uint32_t>(kQ8Block) * 0x4b400000u;
  out->begin = static_cast<int32_t>(0u - static_cast<uint32_t>(kInt8Offset) * sum);
}

template <class Act>
void round_rows(const Act* act, size_t rows, size_t k, ActBlock* out) {
  const size_t whole = k / kQ8Block * kQ8Block, blocks = int8_blocks(k);
  for (size_t row = 0; row < rows; ++row, act += k, out += blocks) {
    vf bad = zero();
    for (size_t i = 0; i < whole; i += kQ8Block) round_block(act + i, out + i / kQ8Block, bad);
    if (whole < k) {
      Act last[kQ8Block] = {};
      __builtin_memcpy(last, act + whole, (k - whole) * sizeof(Act));
      round_block(last, out + whole / kQ8Block, bad);
    }
    if (!(hsum(bad) == 0.0f))
      for (size_t i = 0; i < blocks; ++i) out[i].scale = __builtin_nanf("");
  }
}

void round_activations(const void* act, DType type, size_t rows, size_t k, void* blocks) {
  if (type == DType::bf16)
    round_rows(static_cast<const bf16*>(act), rows, k, static_cast<ActBlock*>(blocks));
  else
    round_rows(static_cast<const float*>(act), rows, k, static_cast<ActBlock*>(blocks));
}

void round_weights(const float* in, size_t n, int8_t* out, float* scales) {
  for (size_t i = 0; i < n; i += kQ8Block, ++scales) {
    *scales = largest_magnitude(in + i) / 127.0f;
    // False also for a NaN.
    const bool divides = *scales >= kLeastMagnitude && *scales < __builtin_inff();
    const float inverse = divides ? 1.0f / *scales : 0.0f;
    for (size_t j = i; j < i + kQ8Block; ++j) {
      const float quotient = divides ? in[j] * inverse : 0.0f;
      const auto toward_zero = static_cast<int32_t>(quotient);
      const float rest = quotient - static_cast<float>(toward_zero);
      out[j] = static_cast<int8_t>(toward_zero + (rest >= 0.5f) - (rest <= -0.5f));
    }
  }
}

/// Blocks [0, blocks) of a panel for Rows rows and Vectors * kLanes outputs from output `first` of the panel
/// on. The sums go on from those in c. Each step fetches Lines cache lines of the memory `ahead`. Not
/// inlined, so that a compiler has no more in registers than this.
template <size_t Rows, size_t Vectors, size_t Lines>
[[gnu::noinline]] void int8_tile(const ActBlock* a, size_t lda, const char* w, size_t first, size_t blocks,
                                 float* c, size_t ldc, [[maybe_unused]] const char* ahead) {
  vf sums[Rows][Vectors];
#pragma GCC unroll 8
  for (size_t r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (size_t v = 0; v < Vectors; ++v) sums[r][v] = load(c + r * ldc + v * kLanes);
  for (size_t block = 0; block < blocks; ++block, ++a, w += kInt8Block) {
    vsums acc[Rows][Vectors];
#pragma GCC unroll 8
    for (size_t r = 0; r < Rows; ++r)
#pragma GCC unroll 4
      for (size_t v = 0; v < Vectors; ++v) acc[r][v] = int8_begin(a[r * lda].begin);
#pragma GCC unroll 2
    for (size_t step = 0; step < kInt8Steps; ++step) {
#pragma GCC unroll 6
      for (size_t line = 0; line < Lines; ++line) fetch(ahead + line * 64);
      ahead += kInt8Block / kInt8Steps;
      vweights row[Vectors];
#pragma GCC unroll 4
      for (size_t v = 0; v < Vectors; ++v)
        row[v] = load_weights(w + (step * kPanelOutputs + first + v * kLanes) * kInt8Group);
#pragma GCC unroll 8
      for (size_t r = 0; r < Rows; ++r) {
        const auto x = broadcast_acts(a[r * lda].value + step * kInt8Group);
#pragma GCC unroll 4
        for (size_t v = 0; v < Vectors; ++v) acc[r][v] = int8_dot(acc[r][v], row[v], x);
      }
    }
    vf scale[Vectors];
#pragma GCC unroll 4
    for (size_t v = 0; v < Vectors; ++v)
      scale[v] = load(reinterpret_cast<const f16*>(w + kInt8Weights) + first + v * kLanes);
#pragma GCC unroll 8
    for (size_t r = 0; r < Rows; ++r) {
      const vf act_scale = set1(a[r * lda].scale);
#pragma GCC unroll 4
      for (size_t v = 0; v < Vectors; ++v)
        sums[r][v] = fma(int8_sum(acc[r][v]), mul(scale[v], act_scale), sums[r][v]);
    }
  }
#pragma GCC unroll 8
  for (size_t r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (size_t v = 0; v < Vectors; ++v) store(c + r * ldc + v * kLanes, sums[r][v]);
}

/// The cache lines of a step of a panel, and where the next ones to fetch are.
inline constexpr size_t kInt8StepLines = (kInt8Block / kInt8Steps + 63) / 64;
struct Int8Fetch {
  const char* ahead;
  size_t line;  // of each step, up to kInt8StepLines
};

/// int8_tile() for all outputs of a panel and `rows` rows, but for Rows rows if there are more. Few rows take
/// all outputs at once, and so read the weights in the order of memory. Each tile fetches Lines lines of a
/// step, until all are fetched.
template <size_t Rows, size_t Lines>
INLINE void int8_rows(size_t rows, const ActBlock* a, size_t lda, const char* w, size_t blocks, float* c,
                      size_t ldc, Int8Fetch& fetches) {
  if (rows >= Rows) {
    constexpr size_t kVectors = Rows <= kInt8WholeRows ? kPanelVectors : kInt8Vectors;
    for (size_t first = 0; first < kPanelOutputs; first += kVectors * kLanes) {
      if (fetches.line < kInt8StepLines)
        int8_tile<Rows, kVectors, Lines>(a, lda, w, first, blocks, c + first, ldc,
                                         fetches.ahead + fetches.line * 64);
      else
        int8_tile<Rows, kVectors, 0>(a, lda, w, first, blocks, c + first, ldc, w);
      fetches.line += Lines;
    }
  } else if constexpr (Rows > 1) {
    int8_rows<Rows - 1, Lines>(rows, a, lda, w, blocks, c, ldc, fetches);
  }
}

/// A chunk of a panel for rows in groups of nearly equal size. Meanwhile the memory that follows is fetched.
template <size_t Lines>
void int8_groups(const LinearRange& g, const ActBlock* a, const char* w, size_t blocks, PanelSums to) {
  const size_t lda = int8_blocks(g.k);
  Int8Fetch fetches = {w + (g.rows <= kInt8WholeRows ? kReadAhead : blocks * kInt8Block), 0};
  size_t groups = (g.rows + kPanelRows - 1) / kPanelRows;
  for (size_t r = 0, rows; r < g.rows; r += rows, --groups) {
    rows = (g.rows - r + groups - 1) / groups;
    int8_rows<kPanelRows, Lines>(rows, a + r * lda, lda, w, blocks, to.data + r * to.ld, to.ld, fetches);
  }
}

/// One panel. The last panel may have fewer outputs, which are computed in a buffer.
void int8_panel(const LinearRange& g, const char* w, float* out, size_t outputs) {
  constexpr size_t lines = kInt8StepLines, halves = kPanelVectors / kInt8Vectors;
  const auto* const a = static_cast<const ActBlock*>(g.act);
  const size_t blocks = int8_blocks(g.k), groups = (g.rows + kPanelRows - 1) / kPanelRows;
  alignas(64) float last[kLinearRows * kPanelOutputs];
  const bool whole = outputs == kPanelOutputs;
  const PanelSums to = whole ? PanelSums{out, g.ld_out} : PanelSums{last, kPanelOutputs};
  for (size_t r = 0; r < g.rows; ++r)
    for (size_t j = 0; j < kPanelOutputs; j += kLanes) store(to.data + r * to.ld + j, zero());
  const auto run = g.rows <= kInt8WholeRows ? int8_groups<lines>
                   : groups == 1            ? int8_groups<(lines + halves - 1) / halves>
                   : groups == 2            ? int8_groups<(lines + 2 * halves - 1) / (2 * halves)>
                                            : int8_groups<(lines + 3 * halves - 1) / (3 * halves)>;
  for (size_t i = 0; i < blocks; i += kInt8Chunk)
    run(g, a + i, w + i * kInt8Block, least(kInt8Chunk, blocks - i), to);
  if (whole) return;
  for (size_t r = 0; r < g.rows; ++r)
    __builtin_memcpy(out + r * g.ld_out, last + r * kPanelOutputs, outputs * sizeof(float));
}

void linear_int8(const LinearRange& g) {
  const auto* const panels = static_cast<const char*>(g.panels);
  for (size_t column = 0; column < g.outputs; column += kPanelOutputs)
    int8_panel(g, panels + column / kPanelOutputs * int8_blocks(g.k) * kInt8Block, g.out + column,
               least(kPanelOutputs, g.outputs - column));
}

void linear(const LinearRange& g) {
  if (g.weight_type == WeightType::q8_0) return linear_int8(g);
#ifdef TILES
  if (g.act_type == DType::bf16 && g.k % kTileInner == 0) return tile_linear(g);
#endif
#ifdef PAIRS
  if (g.act_type == DType::bf16) return linear_typed<PairSteps>(g);
#endif
  if (g.weight_type == WeightType::f32) return linear_typed<FloatSteps<float>>(g);
  if (g.weight_type == WeightType::bf16) return linear_typed<FloatSteps<bf16>>(g);
  return linear_typed<FloatSteps<f16>>(g);
}

/// As multiply_add_chains(), for the products of int8_tile().
size_t int8_chains(size_t rounds, float* values) {
  constexpr size_t kChains = kPanelRows * kPanelVectors;
  alignas(64) char bytes[kLanes * kInt8Group];
  alignas(64) Int8Act acts[kInt8Group] = {};
  __builtin_memcpy(bytes, values, sizeof bytes);
  const auto w = load_weights(bytes);
  auto x = broadcast_acts(acts);
  vsums acc[kChains];
#pragma GCC unroll 24
  for (size_t j = 0; j < kChains; ++j) acc[j] = int8_begin(static_cast<int32_t>(j));
  for (size_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 24
    for (size_t j = 0; j < kChains; ++j) {
      x = unknown(x);
      acc[j] = int8_dot(acc[j], w, x);
    }
  }
#pragma GCC unroll 24
  for (size_t j = 0; j < kChains; ++j) store(values + j * kLanes, int8_sum(acc[j]));
  return rounds * kChains * kLanes * kInt8Group;
}

size_t multiply_adds([[maybe_unused]] WeightType type, size_t rounds, float* values) {
  if (type == WeightType::q8_0) return int8_chains(rounds, values);
#ifdef TILES
  if (type == WeightType::bf16) return tile_chains(rounds, values);
#endif
#ifdef PAIRS
  if (type == WeightType::bf16) return multiply_add_chains<PairSteps>(rounds, values);
#endif
  return multiply_add_chains<FloatSteps<float>>(rounds, values);
}
