// Which algorithm of a library is chosen (kernels/cuda/matmul.cpp), from libraries with planted faults, and
// what products by it give.
#include <cstdlib>
#include <utility>

#include "kernels/cuda/device.hpp"
#include "kernels/cuda/matmul.hpp"
#include "kernels/cuda/selftest.hpp"
#include "test/cuda_emulation/matmul.hpp"
#include "test/gpu/check.hpp"

namespace carbon::gpu_test {
namespace {

using cuda::EmulatedAlgorithm;
using cuda::Matmul;
using cuda::MatmulResult;

// Two tiles of 128 rows and a part of one. Sums are long enough to show their order.
constexpr size_t kRows = 300, kOutputs = 8, kK = 256;

std::unique_ptr<Matmul> matmul(const std::shared_ptr<const cuda::Device>& device,
                               std::vector<EmulatedAlgorithm> algorithms) {
  return std::make_unique<Matmul>(device, make_emulated_library(device, std::move(algorithms)), kRows);
}

/// The results of n rows, in rows with gaps.
std::vector<uint32_t> product(const std::shared_ptr<const cuda::Device>& device, Matmul& matmul, size_t n,
                              MatmulResult result) {
  constexpr size_t kLd = 2 * kOutputs;
  const auto memory = [&](size_t bytes) { return cuda::Memory(device, bytes, "a check"); };
  const cuda::Memory act = memory(n * kK * sizeof(bf16)), weight = memory(kOutputs * kK * sizeof(bf16)),
                     out = memory(n * kLd * sizeof(float));
  cuda::fill_opposite(*device, act.get(), n, kK, -1);
  cuda::fill_opposite(*device, weight.get(), kOutputs, kK, 1);
  cuda::fill_random(*device, out.get(), out.bytes() / sizeof(bf16));
  matmul.run({act.get(), weight.get(), n, kOutputs, kK, out.get(), kLd, result});
  std::vector<uint32_t> bits(n * kLd);
  device->copy_out(bits.data(), out.get(), out.bytes());
  return bits;
}

/// The choice from `algorithms` for each kind of result begins with `text`; a chosen one gives the bits of
/// one without faults.
void chooses(Checks& checks, const std::shared_ptr<const cuda::Device>& device,
             const std::vector<EmulatedAlgorithm>& algorithms, const std::string& text) {
  const auto faulty = matmul(device, algorithms), good = matmul(device, {EmulatedAlgorithm{}});
  for (const MatmulResult result : cuda::kMatmulResults) {
    good->prepare(kOutputs, kK, result);
    const bool chosen = faulty->prepare(kOutputs, kK, result);
    const std::string choice = faulty->choice(kOutputs, kK, result);
    checks.that(choice.starts_with(text), "\"" + choice + "\" instead of \"" + text + "\"");
    if (!chosen) continue;
    // The last two have more rows than were tested.
    for (const size_t n :
         {size_t{1}, size_t{77}, size_t{128}, size_t{131}, size_t{256}, kRows, size_t{301}, size_t{700}})
      checks.that(same_bits(product(device, *faulty, n, result), product(device, *good, n, result)),
                  std::to_string(n) + " rows by " + choice);
  }
}

void refuses_other_orders(Checks& checks, const std::shared_ptr<const cuda::Device>& device) {
  const auto refused = [&](bool (*descending)(size_t, size_t)) {
    EmulatedAlgorithm algorithm;
    algorithm.descending = descending;
    chooses(checks, device, {algorithm}, "refused 1: ");
  };
  refused([](size_t n, size_t) { return n < 200; });
  refused([](size_t n, size_t) { return n == kRows; });
  // Some tiles of a large product, or some rows of each tile.
  refused([](size_t n, size_t row) { return n == kRows && row < 128; });
  refused([](size_t n, size_t row) { return n == kRows && row >= 256; });
  refused([](size_t n, size_t row) { return n > 256 && row / 64 == 3; });
  refused([](size_t n, size_t row) { return n > 256 && row % 128 == 127; });
  refused([](size_t n, size_t row) { return n > 256 && row % 128 == 0 && row > 0; });
  refused([](size_t n, size_t row) { return n > 256 && row + 1 == n; });
  refused([](size_t n, size_t row) { return n > 256 && row % 16 < 8; });
  EmulatedAlgorithm gaps;
  gaps.descending_gaps = true;
  chooses(checks, device, {gaps}, "refused 1: ");
}

void takes_the_first_good_one(Checks& checks, const std::shared_ptr<const cuda::Device>& device) {
  EmulatedAlgorithm objection, failure, few, all;
  objection.objection = "it sums in pieces";
  failure.failure = "broken";
  few.descending = [](size_t n, size_t) { return n < 128; };
  all.unsupported = [](size_t n) { return n >= kRows; };
  chooses(checks, device, {EmulatedAlgorithm{}, objection}, "1 of 2 (emulated)");
  chooses(checks, device, {objection, failure, objection, EmulatedAlgorithm{}, all},
          "4 of 5 (emulated); refused 1, 3: it sums in pieces; 2: it fails for 300 rows from 0: broken");
  chooses(checks, device, {all, few},
          "2 of 2 (emulated) with padding to 128 rows; refused 1: it does not support");
  chooses(checks, device, {}, "the library proposes no algorithm");
}

/// What the identity of a run has: the chosen algorithm and its padding, not what was refused before it.
void says_what_bits_depend_on(Checks& checks, const std::shared_ptr<const cuda::Device>& device) {
  EmulatedAlgorithm objection, few;
  objection.objection = "it sums in pieces";
  few.descending = [](size_t n, size_t) { return n < 128; };
  const auto choices = [&](const std::vector<EmulatedAlgorithm>& algorithms) {
    const auto made = matmul(device, algorithms);
    checks.that(made->choices().empty(), "no choices before a shape is known");
    made->prepare(kOutputs, kK, MatmulResult::f32);
    const std::string one = made->choices();
    made->prepare(kOutputs, 2 * kK, MatmulResult::f32);
    checks.that(made->choices().starts_with(one) && made->choices() != one, "a line for each shape");
    return one;
  };
  const std::string good = choices({EmulatedAlgorithm{}});
  checks.that(choices({objection, EmulatedAlgorithm{}}) == good, "the same algorithm: " + good);
  checks.that(choices({few}) != good, "another padding: " + good);
  checks.that(choices({objection}) != good, "no algorithm: " + good);
}

/// What padding has made of numbers of rows that are not supported is remembered.
void pads_what_is_not_supported(Checks& checks, const std::shared_ptr<const cuda::Device>& device) {
  static size_t refusals;
  const auto pads = [&](bool (*unsupported)(size_t), const std::string& text) {
    EmulatedAlgorithm algorithm;
    algorithm.unsupported = unsupported;
    chooses(checks, device, {algorithm}, "1 of 1 (emulated)" + text);
  };
  const std::string padded = " with padding where it does not support the number of rows";
  pads([](size_t n) { return n % 2 == 1; }, padded);
  pads([](size_t n) { return n < 200; }, padded);
  pads([](size_t n) { return n == 77 || n == 131; }, "");  // which the test has not tried

  EmulatedAlgorithm algorithm;
  algorithm.unsupported = [](size_t n) {
    refusals += n == 77 || n == 128 ? 1 : 0;
    return n == 77 || n == 128;
  };
  const auto counted = matmul(device, {algorithm});
  counted->prepare(kOutputs, kK, MatmulResult::f32);
  refusals = 0;
  for (int i = 0; i < 3; ++i) product(device, *counted, 77, MatmulResult::f32);
  checks.that(refusals == 2, std::to_string(refusals) + " refused calls");
}

/// The device has no more memory than is in use, until this goes.
class FullDevice {
 public:
  FullDevice() {
    size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    setenv("CARBON_EMULATED_MEMORY", std::to_string(total - free).c_str(), 1);
  }
  ~FullDevice() { unsetenv("CARBON_EMULATED_MEMORY"); }
  FullDevice(const FullDevice&) = delete;
  FullDevice& operator=(const FullDevice&) = delete;
};

void tests_when_weights_are_loaded(Checks& checks, const Machine& machine) {
  const auto device = std::make_shared<const cuda::Device>(machine.device);
  const auto backend = cuda::make_backend(device, {DType::bf16, machine.device, true});
  const size_t n = 3, k = 64, outputs = 16;
  Random random(21);
  const std::vector<float> values = random.vector(outputs * k);
  {
    const auto choosing = matmul(device, {EmulatedAlgorithm{}});
    const FullDevice full;
    checks.refused([&] { choosing->prepare(outputs, k, MatmulResult::f32); },
                   "the test of a product of 300 x 16 x 64 takes 1 MiB of GPU memory beside the weights");
  }
  const auto weight = backend->prepare({values.data(), DType::f32, outputs, k});
  for (const MatmulResult result : cuda::kMatmulResults)
    checks.that(dynamic_cast<const cuda::CudaWeight&>(*weight).product(ops::RowClass::prefill, result) ==
                    cuda::CudaWeight::Product::library,
                "the library is ready for all kinds of results");
  const Array act(*backend, n * k * sizeof(bf16)), out(*backend, 2 * n * outputs * sizeof(float)),
      gated(*backend, n * outputs * sizeof(bf16));
  const FullDevice full;
  backend->linear(act.get(), n, *weight, out.floats(), outputs);
  backend->linear_add(act.get(), n, *weight, out.floats());
  backend->linear_swiglu(act.get(), n, *weight, *weight, out.floats(), gated.get());
  device->wait();
}

}  // namespace

void check_choice(Checks& checks, const Machine& machine) {
  const auto device = std::make_shared<const cuda::Device>(machine.device);
  device->use();
  checks.run("library: another order of sums is found", [&] { refuses_other_orders(checks, device); });
  checks.run("library: the first good algorithm is chosen",
             [&] { takes_the_first_good_one(checks, device); });
  checks.run("library: what bits depend on is the algorithm and its padding",
             [&] { says_what_bits_depend_on(checks, device); });
  checks.run("library: numbers of rows that are not supported are padded",
             [&] { pads_what_is_not_supported(checks, device); });
  checks.run("library: tested when weights are loaded, and not later",
             [&] { tests_when_weights_are_loaded(checks, machine); });
}

}  // namespace carbon::gpu_test
