// Causal attention: included after kv_page.inl. Ends with the table of kernels.
//
// A block of rows (positions x heads of a group) takes one page of keys at a time, in ascending order, with
// the running maximum and sum of an online softmax. Scores and sums are f32. The result of a row does not
// depend on the other rows. A row never uses a later key, not even with weight zero, so a NaN there does not
// reach it.

/// c [rows, n] = a [rows, k] . b [k, n], or c += that with Sums::resume. n is a multiple of kValuePad, and so
/// of kLanes. The rows of b are interleaved in groups of kStep; with an odd k the second row of the last pair
/// is not used.
template <class Products>
void outer_product(size_t rows, const typename Products::Element* a, size_t lda,
                   const typename Products::Element* b, size_t n, size_t k, float* c, size_t ldc, Sums sums) {
  static_assert(kValuePad % kLanes == 0 && kPage % (4 * kLanes) == 0);
  constexpr size_t step = Products::kStep;
  const size_t ldb = n * step;
  size_t column = 0;
  for (; column + 4 * kLanes <= n; column += 4 * kLanes)
    for (size_t r = 0; r < rows; r += kTileRows)
      outer_rows<Products, kTileRows, 4>(rows - r, a + r * lda, lda, b + column * step, ldb, k,
                                         c + r * ldc + column, ldc, sums);
  for (; column + 2 * kLanes <= n; column += 2 * kLanes)
    for (size_t r = 0; r < rows; r += kTileRows)
      outer_rows<Products, kTileRows, 2>(rows - r, a + r * lda, lda, b + column * step, ldb, k,
                                         c + r * ldc + column, ldc, sums);
  for (; column < n; column += kLanes)
    for (size_t r = 0; r < rows; r += kTileRows)
      outer_rows<Products, kTileRows, 1>(rows - r, a + r * lda, lda, b + column * step, ldb, k,
                                         c + r * ldc + column, ldc, sums);
}

/// The places of the data of a block in scratch. Every part begins at a multiple of 16 floats. `sums` has one
/// sum per lane, and the lanes are added at the end.
struct AttentionScratch {
  float *q, *scores, *weights, *out, *largest, *next, *factor, *sums, *keys, *values;
  size_t total;

  AttentionScratch(float* base, size_t rows, size_t head_dim, size_t value_dim) {
    size_t at = 0;
    const auto take = [&](size_t n) {
      const size_t here = at;
      at += round_up(n, 16);
      return base + here;
    };
    q = take(rows * head_dim);
    scores = take(rows * kPage);
    weights = take(rows * kPage);
    out = take(rows * value_dim);
    largest = take(rows);
    next = take(rows);
    factor = take(rows);
    sums = take(rows * kLanes);
    keys = take(head_dim * kPage);
    values = take(kPage * value_dim);
    total = at;
  }
};

size_t attention_scratch(size_t rows, size_t head_dim, size_t value_dim) {
  return AttentionScratch(nullptr, rows, head_dim, value_dim).total;
}

/// A block of rows, which goes through the pages of keys in order.
template <class Products>
struct AttentionBlock {
  using Page = typename Products::Page;
  using Element = typename Products::Element;

  const AttentionRange& g;
  const AttentionScratch s;
  const size_t rows;
  Element *const q, *const weights;

  explicit AttentionBlock(const AttentionRange& range)
      : g(range),
        s(range.scratch, range.positions * range.group, range.head_dim, range.value_dim),
        rows(range.positions * range.group),
        q(reinterpret_cast<Element*>(s.q)),
        weights(reinterpret_cast<Element*>(s.weights)) {}

  /// The number of keys of the tile from `first` on that position g.position + i attends to.
  size_t visible_keys(size_t i, size_t first) const { return least(kPage, g.position + i + 1 - first); }

  /// Rotates and scales the queries, and sets the softmax and the outputs to empty.
  void begin() {
    const float scale = static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(g.head_dim)));
    float rotated[kMaxHeadDim + kLanes];
    for (size_t i = 0; i < g.positions; ++i)
      for (size_t h = 0; h < g.group; ++h) {
        const size_t angle = i * (g.head_dim / 2);
        rotate(g.q + i * g.ld + h * g.head_dim, g.cos + angle, g.sin + angle, g.head_dim, scale, rotated);
        keep_row(rotated, g.head_dim, q + (i * g.group + h) * g.head_dim);
      }
    for (size_t r = 0; r < rows; ++r) s.largest[r] = -__builtin_inff();
    __builtin_memset(s.sums, 0, rows * kLanes * sizeof(float));
    __builtin_memset(s.out, 0, rows * g.value_dim * sizeof(float));
  }

  /// Takes the tile of keys from `first` on, for the positions [i, g.positions), which attend to at least one
  /// of them.
  void tile(size_t first, size_t i) {
    const char* const page = static_cast<const char*>(g.page_base[g.pages[first / kPage]]);
    const size_t begin = i * g.group;
    const Element* const keys = Products::operand(reinterpret_cast<const Page*>(page + g.k_offset),
                                                  g.head_dim * kPage, reinterpret_cast<Element*>(s.keys));
    outer_product<Products>(rows - begin, q + begin * g.head_dim, g.head_dim, keys, kPage, g.head_dim,
                            s.scores + begin * kPage, kPage, Sums::store);
    raise_maxima(first, begin);
    for (size_t r = begin; r < rows; ++r) weigh(r);
    const Element* const values =
        Products::operand(reinterpret_cast<const Page*>(page + g.v_offset), kPage * g.value_dim,
                          reinterpret_cast<Element*>(s.values));
    while (i < g.positions) {
      const size_t visible = visible_keys(i, first);
      const size_t n = visible == kPage ? rows - i * g.group : g.group;
      outer_product<Products>(n, weights + i * g.group * kPage, kPage, values, g.value_dim, visible,
                              s.out + i * g.group * g.value_dim, g.value_dim, Sums::resume);
      i += n / g.group;
    }
  }

  template <class Act>
  void finish(Act* act) const {
    for (size_t i = 0; i < g.positions; ++i)
      for (size_t h = 0; h < g.group; ++h) {
        const size_t r = i * g.group + h;
        const vf sum = set1(hsum(load(s.sums + r * kLanes)));
        const float* const o = s.out + r * g.value_dim;
        Act* const out = act + i * g.ld_act + h * g.head_dim;
        size_t d = 0;
        for (; d + kLanes <= g.head_dim; d += kLanes) store(out + d, div(load(o + d), sum));
        if (d < g.head_dim) store_part(out + d, div(load(o + d), sum), g.head_dim - d);
      }
  }

 private:
  static void keep_row(const float* in, size_t n, Element* out) {
    size_t d = 0;
    for (; d + kLanes <= n; d += kLanes) Products::keep(out + d, load(in + d));
    if (d == n) return;
    Element last[kLanes];
    Products::keep(last, load_part(in + d, n - d));
    __builtin_memcpy(out + d, last, (n - d) * sizeof(Element));
  }

  /// Computes, from the scores of a tile, the new maximum of each row and the factor by which earlier sums
  /// change.
  void raise_maxima(size_t first, size_t begin) {
    for (size_t r = begin; r < rows; ++r) {
      float* const scores = s.scores + r * kPage;
      for (size_t j = visible_keys(r / g.group, first); j < kPage; ++j) scores[j] = -__builtin_inff();
      vf m = set1(s.largest[r]);
      for (size_t j = 0; j < kPage; j += kLanes) m = vmax(load(scores + j), m);
      s.next[r] = hmax(m);
    }
    for (size_t r = begin; r < rows; r += kLanes) {
      const size_t n = least(kLanes, rows - r);
      const vf next = load_part(s.next + r, n);
      store_part(s.factor + r, exp_vector(sub(load_part(s.largest + r, n), next)), n);
      store_part(s.largest + r, next, n);
    }
  }

  /// Computes the weights of one row, and updates its sums and outputs to the new maximum.
  void weigh(size_t r) {
    const float* const scores = s.scores + r * kPage;
    const vf shift = set1(s.largest[r]), factor = set1(s.factor[r]);
    vf total = mul(load(s.sums + r * kLanes), factor);
    for (size_t j = 0; j < kPage; j += kLanes)
      total = add(total, Products::keep(weights + r * kPage + j, exp_vector(sub(load(scores + j), shift))));
    store(s.sums + r * kLanes, total);
    if (s.factor[r] == 1.0f) return;
    float* const o = s.out + r * g.value_dim;
    for (size_t d = 0; d < g.value_dim; d += kLanes) store(o + d, mul(load(o + d), factor));
  }
};

template <class Products>
void attention_typed(const AttentionRange& g) {
  AttentionBlock<Products> block(g);
  block.begin();
  const size_t end = g.position + g.positions;  // number of keys of the last position
  for (size_t first = 0; first < end; first += kPage)
    block.tile(first, first > g.position ? first - g.position : 0);
  if (g.act_type == DType::bf16)
    block.finish(static_cast<bf16*>(g.act));
  else
    block.finish(static_cast<float*>(g.act));
}

void attention(const AttentionRange& g) {
  if (g.kv_type == DType::bf16)
    attention_typed<Bf16Products>(g);
  else
    attention_typed<FloatProducts<float>>(g);
}

constexpr Kernels make_table(const char* name) {
  return {
      name,      kPanelOutputs,     kPairs,    linear,     widen,       narrow,       add_rows, norm, swiglu,
      append_kv, attention_scratch, attention, finite_max, exp_shifted, multiply_adds};
}
