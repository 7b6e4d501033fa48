#include "test/cuda_emulation/matmul.hpp"

#include <utility>

#include "kernels/cuda/stream.hpp"

namespace carbon::cuda {
namespace {

// Rows of a pass for which products are tested in whole commands, which run thousands of them on a CPU.
constexpr size_t kTestedRows = 4;

class Algorithm final : public MatmulAlgorithm {
 public:
  Algorithm(std::shared_ptr<const Device> device, const EmulatedAlgorithm& how)
      : device_(std::move(device)), how_(how) {}
  std::string name() const override { return "emulated"; }
  std::string objection() const override { return how_.objection; }

  bool multiply(const MatmulCall& c) override {
    device_->stream().flush();
    if (how_.failure != nullptr) throw Error("emulated", how_.failure);
    if (how_.unsupported != nullptr && how_.unsupported(c.n)) return false;
    if (!emulated_kernels_run()) return true;
    int device = 0;
    cudaGetDevice(&device);
    finish_emulated_copies(device);
    const float error =
        1 + 0x1p-20f * static_cast<float>(emulated_setting("CARBON_EMULATED_ERROR", device, 0));
    for (size_t i = 0; i < c.n; ++i)
      for (size_t j = 0; j < c.outputs; ++j) store(c, i * c.ld_out + j, sum(c, i, j) * error);
    emulation::library_wrote(c.out, ((c.n - 1) * c.ld_out + c.outputs) * result_bytes(c.result));
    return true;
  }

 private:
  float sum(const MatmulCall& c, size_t i, size_t j) const {
    const auto* const act = static_cast<const bf16*>(c.act) + i * c.k;
    const auto* const weight = static_cast<const bf16*>(c.weight) + j * c.k;
    const bool descending = (how_.descending != nullptr && how_.descending(c.n, i)) ||
                            (how_.descending_gaps && c.ld_out > c.outputs);
    float sum = 0;
    for (size_t at = 0; at < c.k; ++at) {
      const size_t k = descending ? c.k - 1 - at : at;
      sum = static_cast<float>(static_cast<double>(sum) + static_cast<double>(to_float(act[k])) *
                                                              static_cast<double>(to_float(weight[k])));
    }
    return sum;
  }
  static void store(const MatmulCall& c, size_t at, float value) {
    auto* const floats = static_cast<float*>(c.out);
    if (c.result == MatmulResult::bf16)
      static_cast<bf16*>(c.out)[at] = to_bf16(value);
    else
      floats[at] = (c.result == MatmulResult::added ? floats[at] : 0) + value;
  }

  std::shared_ptr<const Device> device_;
  EmulatedAlgorithm how_;
};

class Library final : public MatmulLibrary {
 public:
  Library(std::shared_ptr<const Device> device, std::vector<EmulatedAlgorithm> algorithms)
      : device_(std::move(device)), algorithms_(std::move(algorithms)) {}
  std::string name() const override { return "emulated"; }
  std::vector<std::unique_ptr<MatmulAlgorithm>> propose(size_t, size_t, size_t, MatmulResult) override {
    std::vector<std::unique_ptr<MatmulAlgorithm>> proposed;
    for (const EmulatedAlgorithm& how : algorithms_)
      proposed.push_back(std::make_unique<Algorithm>(device_, how));
    return proposed;
  }

 private:
  std::shared_ptr<const Device> device_;
  std::vector<EmulatedAlgorithm> algorithms_;
};

}  // namespace

std::unique_ptr<MatmulLibrary> make_emulated_library(std::shared_ptr<const Device> device,
                                                     std::vector<EmulatedAlgorithm> algorithms) {
  return std::make_unique<Library>(std::move(device), std::move(algorithms));
}

void require_matmul_library() {}

std::unique_ptr<Matmul> make_matmul(std::shared_ptr<const Device> device, size_t pass_rows) {
  auto library = make_emulated_library(device, {EmulatedAlgorithm{}});
  return std::make_unique<Matmul>(std::move(device), std::move(library),
                                  emulated_kernels_run() ? kTestedRows : pass_rows);
}

}  // namespace carbon::cuda
