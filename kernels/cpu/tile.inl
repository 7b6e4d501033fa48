// The micro-kernel of every matrix product: included after kernels.inl.
//
// An output is a single chain of multiply-adds over ascending inner indices, in f32, from zero or from where
// an earlier call left it; which rows and columns share a tile changes no bit. The right-hand side is stored
// in rows of kStep interleaved inner indices, so that one load serves a vector of columns.

/// One inner index a step, f32 on the left; the right is widened as it is loaded.
template <class RightType>
struct FloatSteps {
  using Left = float;
  using Right = RightType;
  static constexpr size_t kStep = 1;
  INLINE static vf left(const float* p) { return set1(*p); }
  INLINE static vf right(const Right* p) { return load(p); }
  INLINE static vf mac(vf acc, vf a, vf b) { return fma(a, b, acc); }
};

#ifdef __AVX512BF16__
inline constexpr bool kPairs = true;
/// Two inner indices a step: products of bf16 pairs, summed in f32 by the CPU.
struct PairSteps {
  using Left = bf16;
  using Right = bf16;
  static constexpr size_t kStep = 2;
  INLINE static vpair left(const bf16* p) { return broadcast_pair(p); }
  INLINE static vpair right(const bf16* p) { return load_pairs(p); }
  /// The first of a pair alone, whatever is stored behind it.
  INLINE static vpair left_first(const bf16* p) { return broadcast_first(p); }
  INLINE static vpair right_first(const bf16* p) { return first_of_pairs(load_pairs(p)); }
  INLINE static vf mac(vf acc, vpair a, vpair b) { return pair_dot(acc, a, b); }
};
#else
inline constexpr bool kPairs = false;
#endif

/// What becomes of the sums of a tile.
enum class Sums {
  store,     // from zero
  resume,    // from what is stored: one chain with an earlier call's
  add_block  // from zero, and then added to what is stored
};

/// c[r, :] = a[r, :] . b, as `sums` says, for Rows rows and Vectors * kLanes columns, k inner indices; an odd
/// k leaves the second of its last pair out. b's rows of steps are ldb elements apart. With every step Lines
/// cache lines from `ahead` on are fetched.
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
#pragma GCC unroll 4
    for (size_t line = 0; line < Lines; ++line) __builtin_prefetch(ahead + line * 64);
    ahead += Lines * 64;
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

/// The tile compiled for `rows` rows, at most Rows.
template <class Steps, size_t Rows, size_t Vectors, size_t Lines = 0>
INLINE void outer_rows(size_t rows, const typename Steps::Left* a, size_t lda, const typename Steps::Right* b,
                       size_t ldb, size_t k, float* c, size_t ldc, Sums sums, const char* ahead = nullptr) {
  if (rows >= Rows)
    outer_tile<Steps, Rows, Vectors, Lines>(a, lda, b, ldb, k, c, ldc, sums, ahead);
  else if constexpr (Rows > 1)
    outer_rows<Steps, Rows - 1, Vectors, Lines>(rows, a, lda, b, ldb, k, c, ldc, sums, ahead);
}
