// Checks of the arguments of a backend, for all backends.
#pragma once

#include <span>
#include <string>

#include "kernels/ops.hpp"
#include "kernels/tensor.hpp"
#include "src/base/error.hpp"

namespace carbon::ops {

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
    for (size_t i = 0; i * kPageTokens < run.position + run.n_rows; ++i)
      if (run.pages[i] >= limits.pages)
        throw Error("plan", "KV page " + std::to_string(run.pages[i]) + " of " +
                                std::to_string(limits.pages) + " does not exist");
  }
}

}  // namespace carbon::ops
