#include "kernels/cuda/residual.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

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

// Results that are computed at a time: 16 MiB of them.
constexpr size_t kBytes = size_t{1} << 24;

/// As many of `rows` as have kBytes of sums, but at least one.
struct SumTable {
  std::vector<RowSumPlace> places;
  std::vector<uint32_t> counts;
  size_t sums = 0;            // of `width` numbers
  size_t begin = 0, end = 0;  // the rows of x that are added

  SumTable(std::span<const ops::RowSums> rows, size_t width) : begin(std::numeric_limits<size_t>::max()) {
    for (const auto& [first_row, wanted] : rows) {
      const size_t more = 1 + wanted.size();
      if (!places.empty() && (sums + more) * width * sizeof(double) > kBytes) break;
      places.push_back({static_cast<uint32_t>(first_row), static_cast<uint32_t>(wanted.size()),
                        static_cast<uint32_t>(counts.size()), static_cast<uint32_t>(sums)});
      counts.insert(counts.end(), wanted.begin(), wanted.end());
      sums += more;
      begin = std::min(begin, first_row);
      end = std::max(end, first_row + wanted.back());
    }
    for (RowSumPlace& place : places) place.first_row -= static_cast<uint32_t>(begin);
  }
};

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

void States::final_norm(const float* x, const float* weight, float eps, size_t n, size_t width, float* out) {
  const size_t most = std::max<size_t>(kBytes / (width * sizeof(float)), 1);
  for (size_t first = 0; first < n; first += most) {
    const size_t rows = std::min(most, n - first);
    auto* const scale =
        static_cast<double*>(scratch_.ensure(rows * (sizeof(double) + width * sizeof(float))));
    auto* const normed = reinterpret_cast<float*>(scale + rows);
    const float* const from = x + first * width;
    run_norm_scales(device_->stream(), from, eps, rows, width, scale);
    run_scale_rows(device_->stream(), from, scale, weight, rows, width, normed);
    device_->copy_out(out + first * width, normed, rows * width * sizeof(float));
  }
}

void States::sum_rows(const float* x, const float* weight, float eps, size_t width,
                      std::span<const ops::RowSums> rows, double* sums) {
  while (!rows.empty()) {
    const SumTable table(rows, width);
    const size_t n = table.end - table.begin, sum_bytes = table.sums * width * sizeof(double),
                 place_bytes = table.places.size() * sizeof(RowSumPlace),
                 count_bytes = table.counts.size() * sizeof(uint32_t);
    char* const memory =
        static_cast<char*>(scratch_.ensure(sum_bytes + n * sizeof(double) + place_bytes + count_bytes));
    auto* const on_device = reinterpret_cast<double*>(memory);
    double* const scale = weight == nullptr ? nullptr : on_device + table.sums * width;
    auto* const places = reinterpret_cast<RowSumPlace*>(memory + sum_bytes + n * sizeof(double));
    auto* const counts = reinterpret_cast<uint32_t*>(places + table.places.size());
    device_->copy_in(on_device, sums, sum_bytes);
    device_->copy_in(places, table.places.data(), place_bytes);
    device_->copy_in(counts, table.counts.data(), count_bytes);
    const float* const from = x + table.begin * width;
    if (scale != nullptr) run_norm_scales(device_->stream(), from, eps, n, width, scale);
    run_sum_rows(device_->stream(), from, scale, weight, width, places, counts, table.places.size(),
                 on_device);
    device_->copy_out(sums, on_device, sum_bytes);
    rows = rows.subspan(table.places.size());
    sums += table.sums * width;
  }
}

}  // namespace carbon::cuda
