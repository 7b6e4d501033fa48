// The micro-kernel of all matrix products: included after kernels.inl.
//
// An output is one chain of multiply-adds in f32 over ascending inner indices, from zero or from the result
// of an earlier call. It does not depend on which rows and columns share a tile. The right-hand side is
// stored in rows of kStep interleaved inner indices, so that one load reads a vector of columns. PAIRS is
// defined for an instruction set with products of bf16 pairs.

/// Begins to read a cache line into the second-level cache. The first-level one is small, and a CPU waits for
/// few lines at a time there: on an AMD EPYC, decoding was 15 to 30 % slower with that as the target.
INLINE void fetch(const char* line) {
  __builtin_prefetch(line, 0, 2);
}

/// One inner index per step, with f32 on the left. The right side is widened when it is loaded.
template <class RightType>
struct FloatSteps {
  using Left = float;
  using Right = RightType;
  static constexpr size_t kStep = 1;
  INLINE static vf left(const float* p) { return set1(*p); }
  INLINE static vf right(const Right* p) { return load(p); }
  INLINE static vf mac(vf acc, vf a, vf b) { return fma(a, b, acc); }
};

#ifdef PAIRS
inline constexpr bool kPairs = true;
/// Two inner indices per step: products of bf16 pairs, which the CPU adds in f32.
struct PairSteps {
  using Left = bf16;
  using Right = bf16;
  static constexpr size_t kStep = 2;
  INLINE static vleft left(const bf16* p) { return broadcast_pair(p); }
  INLINE static vpair right(const bf16* p) { return load_pairs(p); }
  /// Only the first of a pair; the second counts as zero, whatever is stored there.
  INLINE static vleft left_first(const bf16* p) { return broadcast_first(p); }
  INLINE static vpair right_first(const bf16* p) { return first_of_pairs(load_pairs(p)); }
  INLINE static vf mac(vf acc, vleft a, vpair b) { return pair_dot(acc, a, b); }
};
#else
inline constexpr bool kPairs = false;
#endif

/// The steps of a number of vectors of columns that fill a cache line together: one, if one does.
template <class Steps>
constexpr size_t fetch_steps(size_t vectors) {
  const size_t bytes = vectors * kLanes * Steps::kStep * sizeof(typename Steps::Right);
  return bytes < 64 ? 64 / bytes : 1;
}

/// Where the sums of a tile begin, and what is stored.
enum class Sums {
  store,     // from zero
  resume,    // from the stored value, which continues the chain of an earlier call
  add_block  // from zero, and then added to the stored value
};

/// c[r, :] = a[r, :] . b for Rows rows, Vectors * kLanes columns and k inner indices, in the way of `sums`.
/// With an odd k the second of the last pair is not used. The steps of b are ldb elements apart. Every
/// fetch_steps() of them also fetch Lines cache lines from `ahead` on into the second-level cache.
template <class Steps, size_t Rows, size_t Vectors, size_t Lines>
void outer_tile(const typename Steps::Left* a, size_t lda, const typename Steps::Right* b, size_t ldb,
                size_t k, float* c, size_t ldc, Sums sums, [[maybe_unused]] const char* ahead) {
  constexpr size_t step = Steps::kStep;
  vf acc[Rows][Vectors];
#pragma GCC unroll 8
  for (size_t r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (size_t v = 0; v < Vectors; ++v)
      acc[r][v] = sums == Sums::resume ? load(c + r * ldc + v * kLanes) : zero();
  size_t i = 0;
  for (; i + step <= k; i += step, b += ldb) {
    if (Lines > 0 && i / step % fetch_steps<Steps>(Vectors) == 0) {
#pragma GCC unroll 4
      for (size_t line = 0; line < Lines; ++line) fetch(ahead + line * 64);
      ahead += Lines * 64;
    }
    decltype(Steps::right(b)) row[Vectors];
#pragma GCC unroll 4
    for (size_t v = 0; v < Vectors; ++v) row[v] = Steps::right(b + v * kLanes * step);
#pragma GCC unroll 8
    for (size_t r = 0; r < Rows; ++r) {
      const auto x = Steps::left(a + r * lda + i);
#pragma GCC unroll 4
      for (size_t v = 0; v < Vectors; ++v) acc[r][v] = Steps::mac(acc[r][v], x, row[v]);
    }
  }
  if constexpr (step == 2)
    if (i < k)
#pragma GCC unroll 4
      for (size_t v = 0; v < Vectors; ++v) {
        const auto last = Steps::right_first(b + v * kLanes * step);
#pragma GCC unroll 8
        for (size_t r = 0; r < Rows; ++r)
          acc[r][v] = Steps::mac(acc[r][v], Steps::left_first(a + r * lda + i), last);
      }
  if (sums == Sums::add_block) {
#pragma GCC unroll 8
    for (size_t r = 0; r < Rows; ++r)
#pragma GCC unroll 4
      for (size_t v = 0; v < Vectors; ++v) acc[r][v] = add(load(c + r * ldc + v * kLanes), acc[r][v]);
  }
#pragma GCC unroll 8
  for (size_t r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (size_t v = 0; v < Vectors; ++v) store(c + r * ldc + v * kLanes, acc[r][v]);
}

/// outer_tile() for `rows` rows, but for Rows rows if there are more.
template <class Steps, size_t Rows, size_t Vectors, size_t Lines = 0>
INLINE void outer_rows(size_t rows, const typename Steps::Left* a, size_t lda, const typename Steps::Right* b,
                       size_t ldb, size_t k, float* c, size_t ldc, Sums sums, const char* ahead = nullptr) {
  if (rows >= Rows)
    outer_tile<Steps, Rows, Vectors, Lines>(a, lda, b, ldb, k, c, ldc, sums, ahead);
  else if constexpr (Rows > 1)
    outer_rows<Steps, Rows - 1, Vectors, Lines>(rows, a, lda, b, ldb, k, c, ldc, sums, ahead);
}
