#include "kernels/cuda/selftest.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "kernels/cuda/kernels.hpp"
#include "src/base/error.hpp"

namespace carbon::cuda {
namespace {

// Rows that are computed alone, at least. An algorithm may change its order for some rows only, such as those
// of the tiles that are left when all multiprocessors have had the same number of tiles.
constexpr size_t kSingleRows = 64;
// Rows of a large tile: the first and the last row of each is computed alone.
constexpr size_t kTileRows = 128;
// Comparisons to a wait for the device. An algorithm that fails is given up after as many.
constexpr size_t kComparisons = 32;

/// Several rows at a time: few and many, with beginnings and ends inside and at the edges of tiles.
constexpr std::pair<size_t, size_t> kRanges[] = {{0, 1024}, {42, 1366}, {100, 683}, {128, 256}, {9, 100},
                                                 {40, 64},  {3, 17},    {5, 2},     {0, 127},   {1, 128},
                                                 {2, 129},  {7, 65},    {64, 33},   {300, 8}};

std::string describe(size_t first, size_t count) {
  return std::to_string(count) + (count == 1 ? " row from " : " rows from ") + std::to_string(first);
}

}  // namespace

void fill_random(const Device& device, void* to, size_t n) {
  run_fill(device.stream(), to, n);
}

void fill_opposite(const Device& device, void* to, size_t rows, size_t k, int sign) {
  run_fill_opposite(device.stream(), to, rows, k, sign);
}

Comparisons::Comparisons(std::shared_ptr<const Device> device, size_t most)
    : device_(std::move(device)), found_(device_, most * sizeof(uint32_t), "comparisons") {
  device_->clear(found_.get(), found_.bytes());
}

void Comparisons::add(const void* a, size_t a_step, const void* b, size_t b_step, size_t bytes, size_t rows) {
  constexpr size_t kWord = sizeof(uint32_t);
  if ((count_ + 1) * kWord > found_.bytes()) throw Error("selftest", "too many comparisons");
  run_compare(device_->stream(),
              {static_cast<const uint32_t*>(a), a_step / kWord, static_cast<const uint32_t*>(b),
               b_step / kWord, rows, bytes / kWord},
              found_.as<uint32_t>() + count_);
  ++count_;
}

std::vector<bool> Comparisons::results() {
  std::vector<uint32_t> found(count_);
  device_->copy_out(found.data(), found_.get(), count_ * sizeof(uint32_t));
  device_->clear(found_.get(), found_.bytes());
  count_ = 0;
  std::vector<bool> differ;
  for (const uint32_t threads : found) differ.push_back(threads != 0);
  return differ;
}

// The second half of the inputs repeats the first half, with the other sign in the activations. So every
// exact result is zero, and what is computed is the sum of all rounding errors, which is another one in
// another order of sums. These sums are small multiples of a unit, so rounding to bf16 keeps them. Of random
// inputs, rounding to bf16 would hide all but one difference in thousands: the two sums differ by a few units
// of f32, and bf16 shows it only if one of its rounding boundaries, which are 65,536 such units apart, lies
// between them.
MatmulTest::MatmulTest(const std::shared_ptr<const Device>& device, size_t rows, size_t outputs, size_t k,
                       MatmulResult result)
    : device_(device) {
  // Results of two products stand beside one another in bf16 (gate and up), so there ld_out is twice as
  // large.
  const size_t ld = result == MatmulResult::bf16 ? 2 * outputs : outputs;
  const size_t bytes = rows * ld * result_bytes(result);
  try {
    const auto memory = [&](size_t size) { return Memory(device, size, "the test of a product"); };
    act_ = memory(rows * k * sizeof(bf16));
    weight_ = memory(outputs * k * sizeof(bf16));
    whole_ = memory(bytes);
    part_ = memory(bytes);
    if (result == MatmulResult::added) before_ = memory(bytes);
  } catch (const OutOfMemory&) {
    const size_t all = (rows + outputs) * k * sizeof(bf16) + (result == MatmulResult::added ? 3 : 2) * bytes;
    throw OutOfMemory("cuda", "out of memory: the test of a product of " + std::to_string(rows) + " x " +
                                  std::to_string(outputs) + " x " + std::to_string(k) + " takes " +
                                  std::to_string((all >> 20) + 1) +
                                  " MiB of GPU memory beside the weights; use a GPU with more memory, or set "
                                  "CARBON_CUDA_LIBRARY=0 (no test is needed then, but the last digits of "
                                  "scores differ)");
  }
  fill_opposite(*device, act_.get(), rows, k, -1);
  fill_opposite(*device, weight_.get(), outputs, k, 1);
  // Two random bf16 together are a random f32 in the same range.
  if (result == MatmulResult::added) fill_random(*device, before_.get(), bytes / sizeof(bf16));
  all_ = {act_.get(), weight_.get(), rows, outputs, k, whole_.get(), ld, result};
}

std::vector<MatmulTest::Part> MatmulTest::parts() const {
  const size_t n = all_.n;
  std::vector<std::pair<size_t, size_t>> ranges = {{7, n - std::min<size_t>(n, 7)}, {1, n / 2}, {13, n / 4}};
  ranges.insert(ranges.end(), std::begin(kRanges), std::end(kRanges));
  if (n > 1407) ranges.emplace_back(n - 1407, 1407);
  std::set<size_t> rows{n - 1};
  for (size_t row = 0; row < n; row += kTileRows) {
    rows.insert(row);
    rows.insert(std::min(row + kTileRows, n) - 1);
  }
  const size_t single = std::min(kSingleRows, n);
  for (size_t i = 0; i < single; ++i) rows.insert(i * n / single);
  for (const size_t row : rows) ranges.emplace_back(row, 1);

  std::vector<Part> parts;
  for (const auto& [first, count] : ranges)
    if (count > 0 && first < n && count <= n - first) {
      // Half of the parts have results with gaps between rows, if there is room for them.
      const bool gaps = parts.size() % 2 == 1 && 2 * count <= n;
      parts.push_back({first, count, gaps ? 2 * all_.outputs : all_.outputs});
    }
  return parts;
}

bool MatmulTest::multiply_part(const std::function<bool(const MatmulCall&)>& multiply, const Part& part,
                               void* out) const {
  MatmulCall some = all_.part(part.first, part.count);
  some.out = out;
  some.ld_out = part.ld_out;
  if (all_.result == MatmulResult::added) {
    const size_t size = result_bytes(all_.result), row = all_.outputs * size;
    device_->copy_rows(out, part.ld_out * size, before_.as<char>() + part.first * row, row, row, part.count);
  }
  return multiply(some);
}

std::optional<MatmulTest::Failure> MatmulTest::run(
    const std::function<bool(const MatmulCall&)>& multiply) const {
  const size_t size = result_bytes(all_.result), step = all_.ld_out * size;
  Comparisons comparisons(device_, kComparisons);
  std::vector<Part> compared;
  const auto failure = [&]() -> std::optional<Failure> {
    const std::vector<bool> differ = comparisons.results();
    const Part* worst = nullptr;
    for (size_t i = 0; i < compared.size(); ++i)
      if (differ[i] && (worst == nullptr || compared[i].count > worst->count)) worst = &compared[i];
    if (worst == nullptr) return std::nullopt;
    return Failure{worst->count, describe(worst->first, worst->count) + " differ from the same rows of " +
                                     std::to_string(all_.n)};
  };
  Part current{0, all_.n, all_.ld_out};
  try {
    if (!multiply_part(multiply, current, whole_.get()))
      return Failure{all_.n, "it does not support " + std::to_string(all_.n) + " rows"};
    for (const Part& part : parts()) {
      current = part;
      if (!multiply_part(multiply, part, part_.get()))
        return Failure{part.count, "it does not support " + describe(part.first, part.count)};
      comparisons.add(part_.get(), part.ld_out * size, whole_.as<char>() + part.first * step, step,
                      all_.outputs * size, part.count);
      compared.push_back(part);
      if (compared.size() < kComparisons) continue;
      if (const auto failed = failure()) return failed;
      compared.clear();
    }
    return failure();
  } catch (const OutOfMemory&) {
    throw;
  } catch (const Error& error) {
    return Failure{current.count,
                   "it fails for " + describe(current.first, current.count) + ": " + error.what()};
  }
}

}  // namespace carbon::cuda
