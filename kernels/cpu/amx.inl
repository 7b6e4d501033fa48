// Products of bf16 by the tiles of AMX: included after linear.inl where TILES is defined.
//
// The CPU multiplies a tile of up to 16 rows by one of 16 columns, 32 inner indices at a time. An output is a
// chain over ascending blocks of 32 inner indices. For each block the products with even indices are summed
// up in ascending order, and so are those with odd ones; then the two sums are added, and the result to the
// chain. All of that is in f32, and takes subnormal numbers for zero. The right-hand side is the one that
// PairSteps reads (TDPBF16PS in Intel's Software Developer's Manual, volume 2).

inline constexpr size_t kTileInner = 32, kTileSide = 16;
/// A multiple of the rows of every tile or pair of tiles.
inline constexpr size_t kTileHeights = 2 * kTileSide;
/// Few rows read a panel from beginning to end, and fetch what they need so many elements later.
inline constexpr size_t kTileAhead = 2048;

/// The compiler does not know which memory the instructions for tiles read and write.
INLINE void memory_is_used() {
  __asm__ volatile("" : : : "memory");
}

/// The shapes of this thread's tiles, from the first use to the end of a scope. The numbers of tiles:
/// 0 to 3 sums; 4 and 5 rows of the left-hand side; 6 and 7 columns of the right-hand side.
class Tiles {
 public:
  Tiles() = default;
  ~Tiles() {
    if (first_ > 0) _tile_release();
  }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;

  /// For `rows` rows, at most 32. If they fit one tile, so do the rows of all sums.
  void shape(size_t rows) {
    const size_t first = least(rows, kTileSide), second = rows > kTileSide ? rows - kTileSide : first;
    if (first == first_ && second == second_) return;
    first_ = first;
    second_ = second;
    // The format that LDTILECFG reads.
    struct {
      uint8_t palette = 1, start_row = 0, reserved[14] = {};
      uint16_t bytes_per_row[16] = {64, 64, 64, 64, 64, 64, 64, 64};
      uint8_t rows[16] = {};
    } config;
    static_assert(sizeof config == 64);
    const auto a = static_cast<uint8_t>(first), b = static_cast<uint8_t>(second);
    const uint8_t rows_of_tiles[8] = {a, a, b, b, a, b, kTileSide, kTileSide};
    __builtin_memcpy(config.rows, rows_of_tiles, sizeof rows_of_tiles);
    memory_is_used();
    _tile_loadconfig(&config);
  }

 private:
  size_t first_ = 0, second_ = 0;
};

/// Memory that is fetched while something else is multiplied: some cache lines for each step.
struct Ahead {
  const char* next;
  size_t lines;
  INLINE void fetch_some() {
    for (const char* const end = next + lines * 64; next < end; next += 64) fetch(next);
  }
};

/// The left-hand side of a product: `ld` elements from a row to the next, and `step` from kTileInner inner
/// indices to the next ones of the same row.
///
/// Rows of a wide matrix that follow one another in memory lie in few sets of the first-level cache: more
/// than kTileSide of them do not stay there from one inner index to the next. arrange() puts them into tiles.
struct TileRows {
  const bf16* data;
  size_t ld, step;
  /// Rows of k elements, one after the other.
  static TileRows dense(const bf16* data, size_t ld) { return {data, ld, kTileInner}; }
  /// Rows that arrange() has written.
  static TileRows arranged(const bf16* data) { return {data, kTileInner, kTileHeights * kTileInner}; }
};

/// c = a . b or c += a . b for RowTiles tiles of rows, Vectors vectors of columns, and `k` inner indices, a
/// multiple of kTileInner. The leading dimension of b is that of a pair of inner indices.
template <size_t RowTiles, size_t Vectors>
void multiply_tiles(TileRows rows, const bf16* b, size_t ldb, size_t k, float* c, size_t ldc, Sums sums,
                    Ahead& all_ahead) {
  static_assert(RowTiles * Vectors <= 4);
  Ahead ahead = all_ahead;  // in a register, as the compiler would store the other one in each step
  constexpr size_t pairs = kTileSide * 2;  // elements of a vector of pairs
  const bf16* a = rows.data;
  const size_t a_bytes = rows.ld * sizeof(bf16), b_bytes = ldb * sizeof(bf16), c_bytes = ldc * sizeof(float);
  float* const lower = RowTiles == 2 ? c + kTileSide * ldc : c + 2 * kTileSide;
  memory_is_used();
  if (sums == Sums::resume) {
    _tile_loadd(0, c, c_bytes);
    if constexpr (Vectors > 1) _tile_loadd(1, c + kTileSide, c_bytes);
    if constexpr (RowTiles == 2 || Vectors == 4) _tile_loadd(2, lower, c_bytes);
    if constexpr (RowTiles * Vectors == 4) _tile_loadd(3, lower + kTileSide, c_bytes);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  for (size_t i = 0; i < k; i += kTileInner, a += rows.step, b += kTileSide * ldb) {
    ahead.fetch_some();
    _tile_loadd(4, a, a_bytes);
    _tile_loadd(6, b, b_bytes);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (Vectors > 1) {
      _tile_loadd(7, b + pairs, b_bytes);
      _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (RowTiles == 2) {
      _tile_loadd(5, a + kTileSide * rows.ld, a_bytes);
      _tile_dpbf16ps(2, 5, 6);
      if constexpr (Vectors > 1) _tile_dpbf16ps(3, 5, 7);
    }
    if constexpr (Vectors == 4) {
      _tile_loadd(6, b + 2 * pairs, b_bytes);
      _tile_dpbf16ps(2, 4, 6);
      _tile_loadd(7, b + 3 * pairs, b_bytes);
      _tile_dpbf16ps(3, 4, 7);
    }
  }
  all_ahead = ahead;
  _tile_stored(0, c, c_bytes);
  if constexpr (Vectors > 1) _tile_stored(1, c + kTileSide, c_bytes);
  if constexpr (RowTiles == 2 || Vectors == 4) _tile_stored(2, lower, c_bytes);
  if constexpr (RowTiles * Vectors == 4) _tile_stored(3, lower + kTileSide, c_bytes);
  memory_is_used();
}

/// multiply_tiles() for up to 32 rows and `columns` columns, a multiple of kTileSide. Few rows take four
/// vectors of columns at once, and so read b in the order of memory.
void multiply_rows(size_t rows, TileRows a, const bf16* b, size_t ldb, size_t columns, size_t k, float* c,
                   size_t ldc, Sums sums, Ahead& ahead) {
  const bool two = rows > kTileSide;
  for (size_t j = 0, width; j < columns; j += width) {
    const size_t vectors = (columns - j) / kTileSide;
    const bf16* const from = b + j * 2;
    if (!two && vectors >= 4) {
      width = 4 * kTileSide;
      multiply_tiles<1, 4>(a, from, ldb, k, c + j, ldc, sums, ahead);
    } else if (vectors >= 2) {
      width = 2 * kTileSide;
      (two ? multiply_tiles<2, 2> : multiply_tiles<1, 2>)(a, from, ldb, k, c + j, ldc, sums, ahead);
    } else {
      width = kTileSide;
      (two ? multiply_tiles<2, 1> : multiply_tiles<1, 1>)(a, from, ldb, k, c + j, ldc, sums, ahead);
    }
  }
}

/// c [rows, columns] = a [rows, k] . b [k, columns], or c += that with Sums::resume. k is a multiple of
/// kTileInner.
void tile_product(Tiles& tiles, size_t rows, const bf16* a, size_t lda, const bf16* b, size_t ldb,
                  size_t columns, size_t k, float* c, size_t ldc, Sums sums) {
  Ahead nothing{};
  for (size_t r = 0; r < rows; r += kTileHeights) {
    const size_t some = least(kTileHeights, rows - r);
    tiles.shape(some);
    multiply_rows(some, TileRows::dense(a + r * lda, lda), b, ldb, columns, k, c + r * ldc, ldc, sums,
                  nothing);
  }
}

bool arranges(size_t rows, size_t k) {
  return rows > kTileSide && k % kTileInner == 0;
}

/// Groups of kTileHeights rows, and in each for each kTileInner inner indices the rows, one after the other.
void arrange(const bf16* act, size_t first, size_t rows, size_t k, bf16* out) {
  for (size_t r = first; r < first + rows; ++r) {
    const bf16* const row = act + r * k;
    bf16* const to = out + r / kTileHeights * kTileHeights * k + r % kTileHeights * kTileInner;
    for (size_t i = 0; i < k; i += kTileInner)
      __builtin_memcpy(to + i * kTileHeights, row + i, kTileInner * sizeof(bf16));
  }
}

/// linear() for inputs that are a multiple of kTileInner.
void tile_linear(const LinearRange& g) {
  // Rows of a wide output are far apart in memory, and get into each other's way in the caches. They are
  // copied at the end, as are those of a last panel with fewer outputs.
  constexpr size_t near = 4 * kPanelOutputs;
  alignas(64) float own[kTileHeights * kPanelOutputs];
  // Several groups of rows fetch the next panel together.
  const size_t groups = (g.rows + kTileHeights - 1) / kTileHeights;
  const bool few = g.rows <= kTileSide;
  const size_t lines = few ? kTileInner * 2 : (kTileInner + groups - 1) / groups;
  const auto* const act = static_cast<const bf16*>(g.act);
  const auto* panel = static_cast<const bf16*>(g.panels);
  Tiles tiles;
  for (size_t column = 0; column < g.outputs; column += kPanelOutputs) {
    const size_t outputs = least(kPanelOutputs, g.outputs - column);
    const bool copies = outputs < kPanelOutputs || (g.ld_out > near && groups > 1);
    const bf16* const next = panel + kPanelOutputs * g.k;
    Ahead ahead{reinterpret_cast<const char*>(few ? panel + kTileAhead : next), lines};
    for (size_t r = 0; r < g.rows; r += kTileHeights) {
      const size_t rows = least(kTileHeights, g.rows - r);
      const bf16* const from = act + r * g.k;
      float* const out = g.out + r * g.ld_out + column;
      tiles.shape(rows);
      multiply_rows(rows, g.arranged ? TileRows::arranged(from) : TileRows::dense(from, g.k), panel,
                    kPanelOutputs * 2, kPanelOutputs, g.k, copies ? own : out,
                    copies ? kPanelOutputs : g.ld_out, Sums::store, ahead);
      for (size_t i = 0; i < rows && copies; ++i)
        __builtin_memcpy(out + i * g.ld_out, own + i * kPanelOutputs, outputs * sizeof(float));
    }
    panel = next;
  }
}

/// As multiply_add_chains(), for the products of multiply_tiles().
size_t tile_chains(size_t rounds, float* values) {
  constexpr size_t kBytes = 64, kTile = kTileSide * kTileSide;
  static_assert(kTile + kTileSide <= kPeakValues);
  Tiles tiles;
  tiles.shape(kTileHeights);
  memory_is_used();
  _tile_loadd(4, values, 0);
  _tile_loadd(5, values, 0);
  _tile_loadd(6, values, 0);
  _tile_loadd(7, values, 0);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (size_t i = 0; i < rounds; ++i) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, values, kBytes);
  memory_is_used();
  return rounds * 4 * kTile * kTileInner;
}
