#include "kernels/cuda/selftest.hpp"

#include <utility>

#include "kernels/cuda/kernels.hpp"
#include "src/base/error.hpp"

namespace carbon::cuda {

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

}  // namespace carbon::cuda
