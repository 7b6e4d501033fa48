// The table of compute kernels; each instruction set has one.
//
// Kernels are plain functions over ranges of memory: no threads, no allocation, no exceptions.
// cpu_backend.cpp cuts work into ranges and calls them. A value depends only on its own row and on orders of
// sums that the shapes fix, never on where a range begins or ends.
//
// The files that implement kernels are compiled for newer CPUs than the rest of the program. They use no
// standard library, because the linker could take an inline function that was compiled for a newer CPU for
// the whole program.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/tensor.hpp"

namespace carbon::cpu {

/// Tokens in a KV page (equal to ops::kPageTokens) and, in floats, the multiple to which V rows are padded.
inline constexpr size_t kPage = 64, kValuePad = 16;
/// The longest head that append_kv has room for.
inline constexpr size_t kMaxHeadDim = 1024;

/// The largest number of rows of activations in a LinearRange; a multiple of the rows of every tile.
inline constexpr size_t kLinearRows = 192;

/// The number of values that multiply_adds needs with the widest vectors.
inline constexpr size_t kPeakValues = 26 * 16;

/// out[i, j] = sum_k act[i, k] * weight[j, k] for rows [0, rows) and for `outputs` outputs from the first of
/// a panel on. Types: f32 activations with f32, bf16 or f16 weights; with Kernels::pairs also bf16 with bf16;
/// rounded activations (round_activations) with q8_0.
struct LinearRange {
  const void* act;  // [rows, k], dense, or as Kernels::arrange() writes them from a multiple of tile_rows on
  DType act_type;   // not used for q8_0
  bool arranged;
  const void* panels;  // as pack_panels (cpu_weight.cpp) makes them, or pack_int8 for q8_0
  WeightType weight_type;
  size_t rows, k, outputs;
  float* out;  // of the first row and output
  size_t ld_out;
};

/// Keys and values of one KV head for consecutive positions inside one page.
struct AppendRange {
  const float* k;  // first row of this head; not yet rotated
  const float* v;
  size_t ld;    // floats between rows of k and of v
  size_t rows;  // slot + rows <= kPage
  size_t slot;  // the place of the first row in the page
  size_t head_dim, value_dim;
  const float* cos;  // [rows, head_dim / 2], from the position of the first row on
  const float* sin;
  void* k_page;  // in the layout of attention.inl for the instruction set
  void* v_page;  // value_dim = head_dim rounded up to kValuePad
  DType type;
};

/// Rows of one sequence: rows [row, row + rows) of the row buffers are at positions [position, position +
/// rows).
struct RowPiece {
  size_t row, position, rows;
  const uint32_t* pages;  // index of the page for each 64 positions, from position 0 on
  size_t keys = 0;        // to which every row attends, from position 0 on; 0: each to those up to its own
};

/// Attention over one KV head of the rows of all pieces, each with `group` query heads. Pieces that
/// follow one another go together through a page that they share and attend to in whole.
struct AttentionRange {
  const RowPiece* pieces;
  size_t n_pieces;
  const float* q;  // row 0, first head of the group; heads are head_dim apart
  size_t ld;       // floats between rows
  size_t group, head_dim, value_dim;
  const void* const* page_base;  // address of every page of the store
  size_t k_offset, v_offset;     // bytes from the address of a page to this layer and head
  DType kv_type;
  const float* cos;  // [positions, head_dim / 2], from position 0 on
  const float* sin;
  void* act;  // row 0, first head of the group
  DType act_type;
  size_t ld_act;   // elements between rows
  float* scratch;  // attention_scratch(rows of all pieces * group, ...) floats, 64-byte aligned
};

/// How weights and activations of int8 lie in memory for an instruction set (linear_int8.inl).
struct Int8Layout {
  size_t group;      // inputs whose weights for an output follow one another
  int32_t offset;    // added to a weight in a panel
  size_t act_bytes;  // of a row of activations for kQ8Block inputs
};

struct Kernels {
  const char* name;
  size_t panel_outputs;  // outputs of a panel of weights
  size_t tile_rows;      // a multiple of the rows of every tile of linear()
  bool pairs;            // bf16 activations are multiplied in pairs; otherwise they are widened to f32 first
  void (*linear)(const LinearRange& range);
  /// Whether a product of so many rows of bf16 activations is faster with rows that arrange() has written.
  bool (*arranges)(size_t rows, size_t k);
  /// Writes rows [first, first + rows) of `act`, [n, k], in the order in which linear() reads them fastest,
  /// to their places in `out`, which has k elements for each row and for those that are missing to a multiple
  /// of tile_rows. Only if arranges(n, k).
  void (*arrange)(const bf16* act, size_t first, size_t rows, size_t k, bf16* out);
  Int8Layout int8;
  /// Rounds rows of k activations to blocks of int8 for linear(): for each kQ8Block inputs, of which the last
  /// are filled up with zeros, the largest magnitude becomes 127, and what lies between two whole numbers the
  /// nearest, of equals the even one. If one of them is not finite, the sums of the row become NaN.
  void (*round_activations)(const void* act, DType type, size_t rows, size_t k, void* blocks);
  /// Rounds n weights, a multiple of kQ8Block, to int8 as the tools of GGUF make q8_0: the scale of a block
  /// is its largest magnitude / 127 (which is rounded to f16 later), and a weight divided by that is rounded
  /// to nearest, of equals away from zero. If one of them is not finite, the scale is NaN.
  void (*round_weights)(const float* in, size_t n, int8_t* out, float* scales);
  /// out[i] = in[i], exact. `in` is at the beginning of a block of its type, and n a multiple of the block
  /// length.
  void (*widen)(const void* in, WeightType type, size_t n, float* out);
  /// out[i] = in[i] rounded to nearest even; NaN stays NaN.
  void (*narrow)(const float* in, size_t n, bf16* out);
  /// x += delta; delta [rows, width]; x with leading dimension ld_x.
  void (*add)(const float* delta, size_t rows, size_t width, float* x, size_t ld_x);
  /// act = x * rsqrt(mean(x^2) + eps) * weight; `act` may be x if it is f32.
  void (*norm)(const float* x, const float* weight, float eps, size_t rows, size_t width, void* act,
               DType act_type);
  /// act[i, j] = silu(gate_up[i, j]) * gate_up[i, width + j].
  void (*swiglu)(const float* gate_up, size_t rows, size_t width, void* act, DType act_type);
  void (*append_kv)(const AppendRange& range);
  /// The number of floats of scratch for up to `rows` query rows (rows x group).
  size_t (*attention_scratch)(size_t rows, size_t head_dim, size_t value_dim);
  void (*attention)(const AttentionRange& range);
  /// The largest of n > 0 values; NaN if one of them is not finite.
  float (*finite_max)(const float* z, size_t n);
  /// out[i] = exp(z[i] - shift), with an error of about 1 ulp.
  void (*exp_shifted)(const float* z, size_t n, float shift, float* out);
  /// Does multiply-adds with the instructions of linear() for weights of `type` (f32, bf16, q8_0), on
  /// registers only, to measure the peak rate. Returns their number. Changes `values`, which are kPeakValues
  /// floats.
  size_t (*multiply_adds)(WeightType type, size_t rounds, float* values);
};

const Kernels& kernels_generic();
#if defined(__x86_64__) || defined(__i386__)
const Kernels& kernels_avx2();
const Kernels& kernels_avx512();
const Kernels& kernels_avx512_vnni();
const Kernels& kernels_avx512_bf16();
#if defined(__x86_64__)
const Kernels& kernels_avx512_amx();  // the tiles are there in 64-bit mode alone
#endif
#elif defined(__aarch64__)
const Kernels& kernels_neon();
const Kernels& kernels_neon_dotprod();
const Kernels& kernels_neon_bf16();
#endif

}  // namespace carbon::cpu
