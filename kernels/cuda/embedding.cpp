#include "kernels/cuda/embedding.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "kernels/cuda/kernels.hpp"

namespace carbon::cuda {
namespace {

constexpr uint32_t kAbsent = 0xffffffffu;
constexpr size_t kSmallTable = 16;   // a table of up to this many rows is not kept
constexpr size_t kFirstRows = 1024;  // the first capacity, which is doubled when it is full

/// The type of rows on the device: the kernels know only types with blocks of one number.
WeightType type_on_device(const TensorView& table) {
  return table.dtype == WeightType::q8_0 ? WeightType::f32 : table.dtype;
}

/// Some rows of the table, one after the other, in the type that they have on the device.
std::vector<char> rows_of(const TensorView& table, std::span<const uint32_t> rows) {
  const size_t row_bytes = weight_bytes(type_on_device(table), table.cols);
  std::vector<char> block(rows.size() * row_bytes);
  for (size_t i = 0; i < rows.size(); ++i) {
    char* const to = block.data() + i * row_bytes;
    if (table.dtype == WeightType::q8_0)
      widen_q8_0(table.row(rows[i]), table.cols, reinterpret_cast<float*>(to));
    else
      std::memcpy(to, table.row(rows[i]), row_bytes);
  }
  return block;
}

}  // namespace

Embedding::Embedding(const std::shared_ptr<const Device>& device)
    : device_(device), indices_(device, "token rows"), passing_(device, "rows of a table") {}

void Embedding::gather(const TensorView& table, std::span<const uint32_t> rows, float* x) {
  if (rows.empty()) return;
  if (table.rows <= kSmallTable) return gather_once(table, rows, x);
  const bool same = table.data == table_.data && table.dtype == table_.dtype && table.rows == table_.rows &&
                    table.cols == table_.cols;
  if (!same) change_table(table);

  std::vector<uint32_t> slots(rows.size()), missing;
  for (size_t i = 0; i < rows.size(); ++i) {
    uint32_t& slot = slots_[rows[i]];
    if (slot == kAbsent) {
      slot = static_cast<uint32_t>(used_ + missing.size());
      missing.push_back(rows[i]);
    }
    slots[i] = slot;
  }
  if (!missing.empty()) {
    try {
      grow(used_ + missing.size());
    } catch (...) {
      for (const uint32_t row : missing) slots_[row] = kAbsent;
      throw;
    }
    const std::vector<char> block = rows_of(table, missing);
    device_->copy_in(kept_.as<char>() + used_ * (block.size() / missing.size()), block.data(), block.size());
    used_ += missing.size();
  }
  auto* const indices = indices_.ensure_array<uint32_t>(slots.size());
  device_->copy_in(indices, slots.data(), slots.size() * sizeof(uint32_t));
  run_gather(device_->stream(), kept_.get(), type_on_device(table), indices, slots.size(), table.cols, x);
}

void Embedding::gather_once(const TensorView& table, std::span<const uint32_t> rows, float* x) {
  const std::vector<uint32_t> indices(rows.begin(), rows.end());
  std::vector<uint32_t> all(table.rows);
  std::iota(all.begin(), all.end(), 0u);
  const std::vector<char> block = rows_of(table, all);
  void* const copy = passing_.ensure(block.size());
  device_->copy_in(copy, block.data(), block.size());
  auto* const device_indices = indices_.ensure_array<uint32_t>(indices.size());
  device_->copy_in(device_indices, indices.data(), indices.size() * sizeof(uint32_t));
  run_gather(device_->stream(), copy, type_on_device(table), device_indices, indices.size(), table.cols, x);
}

void Embedding::change_table(const TensorView& table) {
  kept_.reset();
  used_ = capacity_ = 0;
  slots_.assign(table.rows, kAbsent);
  table_ = table;
}

void Embedding::grow(size_t count) {
  if (count <= capacity_) return;
  const size_t row_bytes = weight_bytes(type_on_device(table_), table_.cols);
  const size_t capacity = std::min(std::max({count, 2 * capacity_, kFirstRows}), table_.rows);
  Memory larger(device_, capacity * row_bytes, "the embedding");
  device_->copy(larger.get(), kept_.get(), used_ * row_bytes);
  kept_ = std::move(larger);
  capacity_ = capacity;
}

}  // namespace carbon::cuda
