// Rotary embedding, the layout of KV pages, and attention: included after linear.inl.
//
// With a bf16 cache the two products of attention take bf16 inputs and add in f32, as all other products do.
// There are two ways to compute them, FloatProducts and PairProducts. Each defines, besides the steps of the
// micro-kernel, the order of elements in a page and the form in which queries and weights are kept.

/// out = the rotated head times `scale`: (x1 c - x2 s, x2 c + x1 s) for its two halves x1 and x2.
void rotate(const float* x, const float* cos, const float* sin, size_t head_dim, float scale, float* out) {
  const size_t half = head_dim / 2;
  for (size_t j = 0; j < half; ++j) {
    const float a = x[j], b = x[half + j];
    out[j] = (a * cos[j] - b * sin[j]) * scale;
    out[half + j] = (b * cos[j] + a * sin[j]) * scale;
  }
}

/// Products in f32. Kv is the type of the cache; inputs are rounded to its precision.
template <class Kv>
struct FloatProducts : FloatSteps<float> {
  using Page = Kv;
  using Element = float;

  /// Stores v, rounded, at p; returns the rounded values.
  INLINE static vf keep(float* p, vf v) {
    if constexpr (sizeof(Kv) == sizeof(float)) {
      store(p, v);
      return v;
    } else {
      Kv rounded[kLanes];
      store(rounded, v);
      const vf kept = load(rounded);
      store(p, kept);
      return kept;
    }
  }
  /// n elements of a page in the type of the products: in the page itself, or widened into `room`.
  INLINE static const float* operand(const Kv* page, size_t n, float* room) {
    if constexpr (sizeof(Kv) == sizeof(float)) return page;
    widen_typed(page, n, room);
    return room;
  }

  static void append_key(const float* head, size_t head_dim, size_t slot, Kv* page) {
    Kv rounded[kMaxHeadDim];
    copy(head, head_dim, rounded);
    for (size_t d = 0; d < head_dim; ++d) page[d * kPage + slot] = rounded[d];
  }
  static void append_value(const float* head, size_t head_dim, size_t slot, size_t value_dim, Kv* page) {
    copy(head, head_dim, page + slot * value_dim);
  }

 private:
  static void copy(const float* in, size_t n, float* out) { __builtin_memcpy(out, in, n * sizeof(float)); }
  static void copy(const float* in, size_t n, bf16* out) { narrow(in, n, out); }
};

#ifdef PAIRS
/// Products of bf16 pairs. A page has keys as [head_dim / 2, kPage] pairs of dimensions, and values as
/// [kPage / 2, value_dim] pairs of slots.
struct PairProducts : PairSteps {
  using Page = bf16;
  using Element = bf16;

  INLINE static vf keep(bf16* p, vf v) {
    store_for_pairs(p, v);
    return load(p);
  }
  INLINE static const bf16* operand(const bf16* page, size_t, bf16*) { return page; }

  static void append_key(const float* head, size_t head_dim, size_t slot, bf16* page) {
    bf16 rounded[kMaxHeadDim];
    narrow(head, head_dim, rounded);
    for (size_t d = 0; d < head_dim; d += 2)
      __builtin_memcpy(page + (d / 2 * kPage + slot) * 2, rounded + d, 2 * sizeof(bf16));
  }
  static void append_value(const float* head, size_t head_dim, size_t slot, size_t value_dim, bf16* page) {
    bf16 rounded[kMaxHeadDim];
    narrow(head, head_dim, rounded);
    bf16* const out = page + slot / 2 * value_dim * 2 + slot % 2;
    for (size_t d = 0; d < head_dim; ++d) out[d * 2] = rounded[d];
  }
};
using Bf16Products = PairProducts;
#else
using Bf16Products = FloatProducts<bf16>;
#endif

template <class Products>
void append_typed(const AppendRange& g) {
  using Page = typename Products::Page;
  float rotated[kMaxHeadDim];
  for (size_t row = 0; row < g.rows; ++row) {
    const size_t slot = g.slot + row, angle = row * (g.head_dim / 2);
    rotate(g.k + row * g.ld, g.cos + angle, g.sin + angle, g.head_dim, 1.0f, rotated);
    Products::append_key(rotated, g.head_dim, slot, static_cast<Page*>(g.k_page));
    Products::append_value(g.v + row * g.ld, g.head_dim, slot, g.value_dim, static_cast<Page*>(g.v_page));
  }
}

void append_kv(const AppendRange& g) {
  if (g.type == DType::bf16)
    append_typed<Bf16Products>(g);
  else
    append_typed<FloatProducts<float>>(g);
}

// Attention, causal or not, as the pieces say.
//
// A block of query rows (rows of pieces x heads of a group) takes one page of keys at a time, in ascending
// order, with the running maximum and sum of an online softmax. Scores and sums are f32. The result of a row
// does not depend on the other rows. A row never uses a key that it does not attend to, not even with weight
// zero, so a NaN there does not reach it.

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
      return base == nullptr ? nullptr : base + here;
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

/// The number of tokens of all pieces.
size_t row_count(const AttentionRange& g) {
  size_t count = 0;
  for (size_t p = 0; p < g.n_pieces; ++p) count += g.pieces[p].rows;
  return count;
}

/// A block of query rows, which goes through the pages of keys in order.
template <class Products>
struct AttentionBlock {
  using Page = typename Products::Page;
  using Element = typename Products::Element;

  const AttentionRange& g;
  const size_t rows;
  const AttentionScratch s;
  Element *const q, *const weights;
#ifdef TILES
  Tiles tiles;
#endif

  explicit AttentionBlock(const AttentionRange& range)
      : g(range),
        rows(row_count(range) * range.group),
        s(range.scratch, rows, range.head_dim, range.value_dim),
        q(reinterpret_cast<Element*>(s.q)),
        weights(reinterpret_cast<Element*>(s.weights)) {}

  /// Rotates and scales the queries, and sets the softmax and the outputs to empty.
  void begin() {
    const float scale = static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(g.head_dim)));
    float rotated[kMaxHeadDim + kLanes];
    each_row([&](size_t r, size_t row, size_t position, size_t h) {
      const size_t angle = position * (g.head_dim / 2);
      rotate(g.q + row * g.ld + h * g.head_dim, g.cos + angle, g.sin + angle, g.head_dim, scale, rotated);
      keep_row(rotated, g.head_dim, q + r * g.head_dim);
    });
    for (size_t r = 0; r < rows; ++r) s.largest[r] = -__builtin_inff();
    __builtin_memset(s.sums, 0, rows * kLanes * sizeof(float));
    __builtin_memset(s.out, 0, rows * g.value_dim * sizeof(float));
  }

  /// The number of keys of the row that has the most.
  size_t keys() const {
    size_t most = 0;
    for (size_t p = 0; p < g.n_pieces; ++p)
      if (most_keys(g.pieces[p]) > most) most = most_keys(g.pieces[p]);
    return most;
  }

  /// Takes the keys of positions [first, first + kPage), for the rows that attend to at least one of them.
  void page(size_t first) {
    const size_t index = first / kPage;
    for (size_t p = 0, begin = 0, end = 0; p < g.n_pieces; begin = end) {
      const RowPiece& piece = g.pieces[p++];
      end += piece.rows * g.group;
      if (most_keys(piece) <= first) continue;
      if (attends_to_all(piece, first))
        for (; p < g.n_pieces && attends_to_all(g.pieces[p], first) &&
               g.pieces[p].pages[index] == piece.pages[index];
             ++p)
          end += g.pieces[p].rows * g.group;
      const char* const base = static_cast<const char*>(g.page_base[piece.pages[index]]);
      if (piece.keys > 0) {
        tile(base, {begin, end, piece.keys - first, true});
        continue;
      }
      const size_t before = first > piece.position ? first - piece.position : 0;
      tile(base, {begin + before * g.group, end, piece.position + before + 1 - first, false});
    }
  }

  template <class Act>
  void finish(Act* act) const {
    each_row([&](size_t r, size_t row, size_t, size_t h) {
      const vf sum = set1(hsum(load(s.sums + r * kLanes)));
      const float* const o = s.out + r * g.value_dim;
      Act* const out = act + row * g.ld_act + h * g.head_dim;
      size_t d = 0;
      for (; d + kLanes <= g.head_dim; d += kLanes) store(out + d, div(load(o + d), sum));
      if (d < g.head_dim) store_part(out + d, div(load(o + d), sum), g.head_dim - d);
    });
  }

 private:
  /// Query rows [begin, end) at a page. Those of the first position attend to `keys` of its keys, or to all
  /// if there are fewer, and those of each position after it to one more, unless they are `alike`.
  struct Rows {
    size_t begin, end, keys;
    bool alike;
  };
  size_t visible_keys(const Rows& some, size_t r) const {
    return least(kPage, some.keys + (some.alike ? 0 : (r - some.begin) / g.group));
  }
  static size_t most_keys(const RowPiece& piece) {
    return piece.keys > 0 ? piece.keys : piece.position + piece.rows;
  }
  static bool attends_to_all(const RowPiece& piece, size_t first) {
    return (piece.keys > 0 ? piece.keys : piece.position + 1) >= first + kPage;
  }

  /// Calls f(query row of the block, row of the buffers, its position, head of the group) for all query rows.
  template <class F>
  void each_row(F f) const {
    size_t r = 0;
    for (size_t p = 0; p < g.n_pieces; ++p)
      for (size_t i = 0; i < g.pieces[p].rows; ++i)
        for (size_t h = 0; h < g.group; ++h) f(r++, g.pieces[p].row + i, g.pieces[p].position + i, h);
  }

  /// outer_product() of rows of this block, by tiles where the CPU has them.
  void multiply(size_t n, const Element* a, size_t lda, const Element* b, size_t columns, size_t k, float* c,
                size_t ldc, Sums sums) {
#ifdef TILES
    if constexpr (Products::kStep == 2)
      if (k % kTileInner == 0)
        return tile_product(tiles, n, a, lda, b, columns * 2, columns, k, c, ldc, sums);
#endif
    outer_product<Products>(n, a, lda, b, columns, k, c, ldc, sums);
  }

  void tile(const char* page, const Rows& some) {
    const size_t begin = some.begin, n = some.end - some.begin;
    const Element* const keys = Products::operand(reinterpret_cast<const Page*>(page + g.k_offset),
                                                  g.head_dim * kPage, reinterpret_cast<Element*>(s.keys));
    multiply(n, q + begin * g.head_dim, g.head_dim, keys, kPage, g.head_dim, s.scores + begin * kPage, kPage,
             Sums::store);
    if (some.keys < kPage) hide_later_keys(some);
    raise_maxima(some);
    for (size_t r = begin; r < some.end; ++r) weigh(r);
    const Element* const values =
        Products::operand(reinterpret_cast<const Page*>(page + g.v_offset), kPage * g.value_dim,
                          reinterpret_cast<Element*>(s.values));
    for (size_t r = begin, alike; r < some.end; r += alike) {
      const size_t visible = visible_keys(some, r);
      alike = some.alike || visible == kPage ? some.end - r : g.group;
      multiply(alike, weights + r * kPage, kPage, values, g.value_dim, visible, s.out + r * g.value_dim,
               g.value_dim, Sums::resume);
    }
  }

  static void keep_row(const float* in, size_t n, Element* out) {
    size_t d = 0;
    for (; d + kLanes <= n; d += kLanes) Products::keep(out + d, load(in + d));
    if (d == n) return;
    Element last[kLanes];
    Products::keep(last, load_part(in + d, n - d));
    __builtin_memcpy(out + d, last, (n - d) * sizeof(Element));
  }

  void hide_later_keys(const Rows& some) {
    for (size_t r = some.begin; r < some.end; ++r)
      for (size_t j = visible_keys(some, r); j < kPage; ++j) s.scores[r * kPage + j] = -__builtin_inff();
  }

  /// Computes, from the scores of a tile, the new maximum of each row and the factor by which earlier sums
  /// change.
  void raise_maxima(const Rows& some) {
    for (size_t r = some.begin; r < some.end; ++r) {
      const float* const scores = s.scores + r * kPage;
      vf m = set1(s.largest[r]);
      for (size_t j = 0; j < kPage; j += kLanes) m = vmax(load(scores + j), m);
      s.next[r] = hmax(m);
    }
    for (size_t r = some.begin; r < some.end; r += kLanes) {
      const size_t n = least(kLanes, some.end - r);
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
  for (size_t first = 0; first < block.keys(); first += kPage) block.page(first);
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
