// What all backends have in common: checks of their arguments, and the angles of the rotary embedding.
#pragma once

#include <cmath>
#include <span>
#include <string>

#include "kernels/ops.hpp"
#include "kernels/tensor.hpp"
#include "src/base/error.hpp"

namespace carbon::ops {

/// a * b. Throws Error(function, ...) if that overflows.
inline size_t checked_product(const char* function, size_t a, size_t b) {
  size_t product;
  if (__builtin_mul_overflow(a, b, &product))
    throw Error(function, "a size overflows: " + std::to_string(a) + " x " + std::to_string(b));
  return product;
}

/// Throws Error(function, ...) for exponents that the type does not have, or not one for each matrix.
inline void check_exponents(const char* function, DType type, std::span<const int> exponents,
                            size_t matrices) {
  if (!exponents.empty() && exponents.size() != matrices)
    throw Error(function, std::to_string(exponents.size()) + " exponents for " + std::to_string(matrices) +
                              " matrices");
  for (const int exponent : exponents)
    if (exponent != 0 && type != DType::f16)
      throw Error(function, std::string("products in ") + dtype_name(type) + " have no exponent");
}

/// Casts `object` to this backend's type. Throws Error(function, otherwise) if it belongs to another backend.
template <class Own, class Object>
Own& own_as(Object& object, const char* function, const char* otherwise) {
  auto* const own = dynamic_cast<Own*>(&object);
  if (own == nullptr) throw Error(function, otherwise);
  return *own;
}

/// Casts a KV store to this backend's type. Throws Error if it belongs to another backend or has another type
/// of elements.
template <class Store>
Store& own_store(KvStore& kv, DType type) {
  constexpr const char* kForeign = "the KV store belongs to another backend";
  Store& store = own_as<Store>(kv, "plan", kForeign);
  if (store.type() != type) throw Error("plan", kForeign);
  return store;
}

/// Casts a plan to this backend's type. Throws Error if it belongs to another backend, or its store has no
/// such layer.
template <class Plan>
const Plan& own_plan(const RowPlan& plan, size_t layer) {
  const Plan& rows = own_as<const Plan>(plan, "plan", "the plan was made by another backend");
  if (layer >= rows.kv().shape().layers)
    throw Error("plan", "the KV store has " + std::to_string(rows.kv().shape().layers) +
                            " layers, so there is no layer " + std::to_string(layer));
  return rows;
}

/// The sum of the rows. Throws Error unless there are matrices, none is empty and all have the same width.
inline size_t joined_rows(std::span<const TensorView> matrices) {
  if (matrices.empty()) throw Error("prepare", "a weight needs at least one matrix");
  const size_t cols = matrices.front().cols;
  size_t rows = 0;
  for (const TensorView& matrix : matrices) {
    if (matrix.data == nullptr || matrix.rows == 0 || matrix.cols == 0)
      throw Error("prepare", "an empty weight matrix: " + std::to_string(matrix.rows) + " x " +
                                 std::to_string(matrix.cols));
    if (matrix.cols != cols)
      throw Error("prepare", "matrices of " + std::to_string(cols) + " and " + std::to_string(matrix.cols) +
                                 " columns do not make one weight");
    rows += matrix.rows;
  }
  return rows;
}

/// Throws Error unless [first, first + count) is a part, not empty, of [0, matrices).
inline void check_part(size_t first, size_t count, size_t matrices) {
  if (count == 0 || first > matrices || count > matrices - first)
    throw Error("part", std::to_string(count) + " matrices from number " + std::to_string(first) +
                            " on are not a part of a weight of " + std::to_string(matrices));
}

/// Throws Error unless the table has all rows.
inline void check_rows(const TensorView& table, std::span<const uint32_t> rows) {
  for (const uint32_t row : rows)
    if (row >= table.rows)
      throw Error("embed", "token row " + std::to_string(row) + " is outside the embedding table of " +
                               std::to_string(table.rows) + " rows");
}

/// Throws Error if the outputs of a row would reach into the next one.
inline void check_outputs(const Weight& w, size_t ld_out) {
  if (ld_out < w.rows())
    throw Error("linear", "leading dimension " + std::to_string(ld_out) + " is below the " +
                              std::to_string(w.rows()) + " outputs of the weight");
}

/// Throws Error(function, ...) unless the outputs of the head are the 6-mers.
inline void check_kmer_head(const std::string& function, const Weight& w) {
  if (w.rows() != kKmers)
    throw Error(function, "the head has " + std::to_string(w.rows()) + " rows; " + function + " need the " +
                              std::to_string(kKmers) + " 6-mers");
}
/// Throws Error unless there are `n`, one for each row.
inline void check_known(std::span<const KnownBases> known, size_t n) {
  if (known.size() != n)
    throw Error("conditionals", "known bases of " + std::to_string(known.size()) + " 6-mers for " +
                                    std::to_string(n) + " rows");
}
inline void check_targets(std::span<const int64_t> targets, size_t n) {
  if (targets.size() != n)
    throw Error("logsumexp", std::to_string(targets.size()) + " targets for " + std::to_string(n) + " rows");
}

/// Throws Error unless a KV store can have this shape, with heads of at most `most`.
inline void check_kv_shape(const KvShape& shape, size_t most) {
  if (shape.layers == 0 || shape.kv_heads == 0 || shape.head_dim == 0 || shape.head_dim % 2 != 0 ||
      shape.head_dim > most)
    throw Error("kv_store", "unsupported KV shape: " + std::to_string(shape.layers) + " layers, " +
                                std::to_string(shape.kv_heads) + " KV heads of " +
                                std::to_string(shape.head_dim) + "; the head size must be even and at most " +
                                std::to_string(most));
}
/// Throws Error unless a store of `count` pages has both.
inline void check_pages(uint32_t to, uint32_t from, size_t count) {
  if (to >= count || from >= count)
    throw Error("copy_page", "page " + std::to_string(to >= count ? to : from) + " of " +
                                 std::to_string(count) + " does not exist");
}

/// The limits of what a plan may contain.
struct RunLimits {
  size_t heads;      // query heads
  size_t rope_head;  // head size of the rotary table
  size_t positions;  // in the rotary table
  size_t pages;      // in the KV store
};

/// Throws Error unless all positions of the runs are in the rotary table and all their pages are in the
/// store.
inline void check_runs(std::span<const RowRun> runs, const KvShape& shape, const RunLimits& limits) {
  if (shape.head_dim != limits.rope_head)
    throw Error("plan", "the rotary table is for heads of " + std::to_string(limits.rope_head) +
                            ", the cache for " + std::to_string(shape.head_dim));
  if (limits.heads == 0 || limits.heads % shape.kv_heads != 0)
    throw Error("plan", std::to_string(limits.heads) + " query heads cannot share " +
                            std::to_string(shape.kv_heads) + " KV heads");
  for (const RowRun& run : runs) {
    if (run.n_rows > limits.positions || run.position > limits.positions - run.n_rows)
      throw Error("plan", "positions up to " + std::to_string(run.position + run.n_rows) +
                              " are beyond the rotary table of " + std::to_string(limits.positions));
    if (run.most_keys() < run.position + run.n_rows)
      throw Error("plan", "rows up to position " + std::to_string(run.position + run.n_rows) +
                              " cannot attend to " + std::to_string(run.keys) + " keys alone");
    for (size_t i = 0; i * kPageTokens < run.most_keys(); ++i)
      if (run.pages[i] >= limits.pages)
        throw Error("plan", "KV page " + std::to_string(run.pages[i]) + " of " +
                                std::to_string(limits.pages) + " does not exist");
  }
}

/// cos and sin [., head_dim / 2] of positions [first, positions): angles in double, rounded once to f32, so
/// that all backends rotate by the same.
inline void fill_rope(const RopeParams& rope, size_t first, size_t positions, float* cos, float* sin) {
  const size_t half = rope.inv_freq.size();
  for (size_t p = first; p < positions; ++p)
    for (size_t j = 0; j < half; ++j) {
      const double angle = static_cast<double>(p) * rope.inv_freq[j];
      cos[p * half + j] = static_cast<float>(std::cos(angle) * rope.scale);
      sin[p * half + j] = static_cast<float>(std::sin(angle) * rope.scale);
    }
}

}  // namespace carbon::ops
