#include "kernels/cuda/states.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/cuda/kernels.hpp"

namespace carbon::cuda {
namespace {

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
