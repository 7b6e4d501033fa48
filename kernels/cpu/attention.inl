// Rotary embedding, the KV page layout and causal attention: included after linear.inl. Ends with the table.
//
// Attention is computed in f32, for a block of rows (positions x heads of a group) against one page of keys
// at a time, in ascending order, with the running maximum and sum of an online softmax. Both products run
// through one micro-kernel in which an element is a single chain of fma over ascending k, so a row's result
// does not depend on the rows beside it. A row never touches a key that it may not see, not even with weight
// zero (a NaN there stays there).

/// out = the rotated head: (x1 c - x2 s, x2 c + x1 s) for the two halves, times `scale`.
void rotate(const float* x, const float* cos, const float* sin, size_t head_dim, float scale, float* out) {
  const size_t half = head_dim / 2;
  for (size_t j = 0; j < half; ++j) {
    const float a = x[j], b = x[half + j];
    out[j] = (a * cos[j] - b * sin[j]) * scale;
    out[half + j] = (b * cos[j] + a * sin[j]) * scale;
  }
}

inline void round_head(const float* in, size_t n, float* out) {
  __builtin_memcpy(out, in, n * sizeof(float));
}
inline void round_head(const float* in, size_t n, bf16* out) {
  narrow(in, n, out);
}

template <class T>
void append_typed(const AppendRange& g, T* k_page, T* v_page) {
  float rotated[kMaxHeadDim];
  T rounded[kMaxHeadDim];
  for (size_t row = 0; row < g.rows; ++row) {
    const size_t slot = g.slot + row, angle = row * (g.head_dim / 2);
    rotate(g.k + row * g.ld, g.cos + angle, g.sin + angle, g.head_dim, 1.0f, rotated);
    round_head(rotated, g.head_dim, rounded);
    for (size_t d = 0; d < g.head_dim; ++d) k_page[d * kPage + slot] = rounded[d];
    round_head(g.v + row * g.ld, g.head_dim, v_page + slot * g.value_dim);
  }
}

void append_kv(const AppendRange& g) {
  if (g.type == DType::bf16)
    append_typed(g, static_cast<bf16*>(g.k_page), static_cast<bf16*>(g.v_page));
  else
    append_typed(g, static_cast<float*>(g.k_page), static_cast<float*>(g.v_page));
}

/// c[r, :] = a[r, :] . b (or +=) for Rows rows and Vectors * kLanes columns.
template <size_t Rows, size_t Vectors>
void outer_tile(const float* a, size_t lda, const float* b, size_t ldb, size_t k, float* c, size_t ldc,
                bool add_to) {
  vf acc[Rows][Vectors];
#pragma GCC unroll 8
  for (size_t r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (size_t v = 0; v < Vectors; ++v) acc[r][v] = add_to ? load(c + r * ldc + v * kLanes) : zero();
  for (size_t i = 0; i < k; ++i) {
    vf row[Vectors];
#pragma GCC unroll 4
    for (size_t v = 0; v < Vectors; ++v) row[v] = load(b + i * ldb + v * kLanes);
#pragma GCC unroll 8
    for (size_t r = 0; r < Rows; ++r) {
      const vf x = set1(a[r * lda + i]);
#pragma GCC unroll 4
      for (size_t v = 0; v < Vectors; ++v) acc[r][v] = fma(x, row[v], acc[r][v]);
    }
  }
#pragma GCC unroll 8
  for (size_t r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (size_t v = 0; v < Vectors; ++v) store(c + r * ldc + v * kLanes, acc[r][v]);
}

template <size_t Vectors, size_t Rows = kTileRows>
INLINE void outer_rows(size_t rows, const float* a, size_t lda, const float* b, size_t ldb, size_t k,
                       float* c, size_t ldc, bool add_to) {
  if (rows >= Rows)
    outer_tile<Rows, Vectors>(a, lda, b, ldb, k, c, ldc, add_to);
  else if constexpr (Rows > 1)
    outer_rows<Vectors, Rows - 1>(rows, a, lda, b, ldb, k, c, ldc, add_to);
}

/// c [rows, n] = a [rows, k] . b [k, n], or added to c; n is a multiple of kValuePad, hence of kLanes.
void outer_product(size_t rows, const float* a, size_t lda, const float* b, size_t ldb, size_t n, size_t k,
                   float* c, size_t ldc, bool add_to) {
  static_assert(kValuePad % kLanes == 0 && kPage % (4 * kLanes) == 0);
  size_t column = 0;
  for (; column + 4 * kLanes <= n; column += 4 * kLanes)
    for (size_t r = 0; r < rows; r += kTileRows)
      outer_rows<4>(rows - r, a + r * lda, lda, b + column, ldb, k, c + r * ldc + column, ldc, add_to);
  for (; column + 2 * kLanes <= n; column += 2 * kLanes)
    for (size_t r = 0; r < rows; r += kTileRows)
      outer_rows<2>(rows - r, a + r * lda, lda, b + column, ldb, k, c + r * ldc + column, ldc, add_to);
  for (; column < n; column += kLanes)
    for (size_t r = 0; r < rows; r += kTileRows)
      outer_rows<1>(rows - r, a + r * lda, lda, b + column, ldb, k, c + r * ldc + column, ldc, add_to);
}

/// Where a block's working set lies in scratch; every part begins at a multiple of 16 floats.
struct AttentionScratch {
  float *q, *p, *o, *largest, *sum, *keys, *values;
  size_t total;

  AttentionScratch(float* base, size_t rows, size_t head_dim, size_t value_dim) {
    size_t at = 0;
    const auto take = [&](size_t n) {
      const size_t here = at;
      at += round_up(n, 16);
      return base + here;
    };
    q = take(rows * head_dim);
    p = take(rows * kPage);
    o = take(rows * value_dim);
    largest = take(rows);
    sum = take(rows);
    keys = take(head_dim * kPage);
    values = take(kPage * value_dim);
    total = at;
  }
};

size_t attention_scratch(size_t rows, size_t head_dim, size_t value_dim) {
  return AttentionScratch(nullptr, rows, head_dim, value_dim).total;
}

/// One row of scores to softmax numerators against the running maximum; the first `visible` keys count.
/// Returns the new maximum and adds nothing: `*sum` is the sum of this tile's numerators.
INLINE float softmax_row(float* p, size_t visible, float largest, float* sum) {
  for (size_t i = visible; i < kPage; ++i) p[i] = -__builtin_inff();
  vf m = set1(largest);
  for (size_t i = 0; i < kPage; i += kLanes) m = vmax(load(p + i), m);
  const float next = hmax(m);
  const vf shift = set1(next);
  vf total = zero();
  for (size_t i = 0; i < kPage; i += kLanes) {
    const vf e = exp_vector(sub(load(p + i), shift));
    store(p + i, e);
    total = add(total, e);
  }
  *sum = hsum(total);
  return next;
}

/// The page's keys and values as f32: the page itself, or a widened copy in scratch.
struct Tile {
  const float *keys, *values;
};
INLINE Tile load_tile(const AttentionRange& g, const AttentionScratch& s, size_t tile) {
  const char* const page = static_cast<const char*>(g.page_base[g.pages[tile]]);
  const char* const k = page + g.k_offset;
  const char* const v = page + g.v_offset;
  if (g.kv_type == DType::f32) return {reinterpret_cast<const float*>(k), reinterpret_cast<const float*>(v)};
  widen_typed(reinterpret_cast<const bf16*>(k), g.head_dim * kPage, s.keys);
  widen_typed(reinterpret_cast<const bf16*>(v), kPage * g.value_dim, s.values);
  return {s.keys, s.values};
}

/// The keys of the tile from `first` on that position g.position + i may see.
INLINE size_t visible_keys(const AttentionRange& g, size_t i, size_t first) {
  return least(kPage, g.position + i + 1 - first);
}

/// The tile of keys from `first` on, for the positions [i, g.positions) that see at least one of them.
void attend_tile(const AttentionRange& g, const AttentionScratch& s, size_t first, size_t i) {
  const Tile tile = load_tile(g, s, first / kPage);
  const size_t dim = g.value_dim, rows = g.positions * g.group;
  outer_product(rows - i * g.group, s.q + i * g.group * g.head_dim, g.head_dim, tile.keys, kPage, kPage,
                g.head_dim, s.p + i * g.group * kPage, kPage, false);
  for (size_t r = i * g.group; r < rows; ++r) {
    float sum;
    const float before = s.largest[r];
    s.largest[r] = softmax_row(s.p + r * kPage, visible_keys(g, r / g.group, first), before, &sum);
    const vf scale = exp_vector(set1(before - s.largest[r]));
    float* const o = s.o + r * dim;
    for (size_t d = 0; d < dim; d += kLanes) store(o + d, mul(load(o + d), scale));
    float factor;
    store_part(&factor, scale, 1);
    s.sum[r] = s.sum[r] * factor + sum;
  }
  while (i < g.positions) {
    const size_t visible = visible_keys(g, i, first);
    const size_t n = visible == kPage ? rows - i * g.group : g.group;
    outer_product(n, s.p + i * g.group * kPage, kPage, tile.values, dim, dim, visible,
                  s.o + i * g.group * dim, dim, true);
    i += n / g.group;
  }
}

template <class Act>
void attention_typed(const AttentionRange& g, Act* act) {
  const size_t rows = g.positions * g.group;
  const AttentionScratch s(g.scratch, rows, g.head_dim, g.value_dim);
  const float scale = static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(g.head_dim)));
  for (size_t i = 0; i < g.positions; ++i)
    for (size_t h = 0; h < g.group; ++h) {
      const size_t angle = i * (g.head_dim / 2);
      rotate(g.q + i * g.ld + h * g.head_dim, g.cos + angle, g.sin + angle, g.head_dim, scale,
             s.q + (i * g.group + h) * g.head_dim);
    }
  for (size_t r = 0; r < rows; ++r) {
    s.largest[r] = -__builtin_inff();
    s.sum[r] = 0.0f;
  }
  __builtin_memset(s.o, 0, rows * g.value_dim * sizeof(float));

  const size_t end = g.position + g.positions;  // keys that the last position sees
  for (size_t first = 0; first < end; first += kPage)
    attend_tile(g, s, first, first > g.position ? first - g.position : 0);

  for (size_t i = 0; i < g.positions; ++i)
    for (size_t h = 0; h < g.group; ++h) {
      const size_t r = i * g.group + h;
      const vf sum = set1(s.sum[r]);
      const float* const o = s.o + r * g.value_dim;
      Act* const out = act + i * g.ld_act + h * g.head_dim;
      size_t d = 0;
      for (; d + kLanes <= g.head_dim; d += kLanes) store(out + d, div(load(o + d), sum));
      if (d < g.head_dim) store_part(out + d, div(load(o + d), sum), g.head_dim - d);
    }
}

void attention(const AttentionRange& g) {
  if (g.act_type == DType::bf16)
    attention_typed(g, static_cast<bf16*>(g.act));
  else
    attention_typed(g, static_cast<float*>(g.act));
}

constexpr Kernels make_table(const char* name) {
  return {name,      linear_scratch,    linear,    widen,      narrow,      add_norm,     swiglu,
          append_kv, attention_scratch, attention, finite_max, exp_shifted, multiply_adds};
}
