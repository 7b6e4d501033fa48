// kernels/cuda/matmul.hpp without a library: a product in a fixed order, so that the ways to it are tested.
#include "kernels/cuda/matmul.hpp"

#include "kernels/cuda/launch.hpp"

namespace carbon::cuda {
namespace {

class EmulatedMatmul final : public Matmul {
 public:
  explicit EmulatedMatmul(std::shared_ptr<const Device> device) : device_(std::move(device)) {}
  std::string name() const override { return "emulated"; }
  bool prepare(const void*, size_t outputs, size_t k, Result result) override {
    return k % 8 == 0 && outputs * result_bytes(result) % 16 == 0;
  }
  void run(const Call& c) override {
    device_->stream().flush();
    if (!emulated_kernels_run()) return;
    int device = 0;
    cudaGetDevice(&device);
    finish_emulated_copies(device);
    const float error =
        1 + 0x1p-20f * static_cast<float>(emulated_setting("CARBON_EMULATED_ERROR", device, 0));
    const auto* const act = static_cast<const bf16*>(c.act);
    const auto* const weight = static_cast<const bf16*>(c.weight);
    for (size_t i = 0; i < c.n; ++i)
      for (size_t j = 0; j < c.outputs; ++j) {
        float sum = 0;
        for (size_t k = 0; k < c.k; ++k) sum += to_float(act[i * c.k + k]) * to_float(weight[j * c.k + k]);
        const size_t at = i * c.ld_out + j;
        if (c.result == Result::bf16)
          static_cast<bf16*>(c.out)[at] = to_bf16(sum * error);
        else
          static_cast<float*>(c.out)[at] =
              (c.result == Result::added ? static_cast<float*>(c.out)[at] : 0) + sum * error;
      }
    emulation::library_wrote(c.out, ((c.n - 1) * c.ld_out + c.outputs) * result_bytes(c.result));
  }

 private:
  std::shared_ptr<const Device> device_;
};

}  // namespace

std::unique_ptr<Matmul> make_matmul(std::shared_ptr<const Device> device, size_t) {
  return std::make_unique<EmulatedMatmul>(std::move(device));
}

}  // namespace carbon::cuda
