// Rotary embedding and the layout of KV pages: included after linear.inl.
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
