// The library behind products of the prefill class: which algorithm it has for the published shapes, and what
// padding of few rows gives.
#include <utility>

#include "bench/gpu/timing.hpp"
#include "kernels/cuda/device.hpp"
#include "kernels/cuda/mma_plan.hpp"
#include "kernels/cuda/row_padding.hpp"
#include "kernels/cuda/selftest.hpp"
#include "test/gpu/check.hpp"

namespace carbon::gpu_test {
namespace {

using Result = cuda::Matmul::Result;
constexpr std::pair<Result, const char*> kResults[] = {
    {Result::f32, "f32"}, {Result::bf16, "bf16"}, {Result::added, "added"}};

/// Outputs and k.
using Product = std::pair<size_t, size_t>;

/// All products of the published models; in emulation a small one, for trying this file.
std::vector<Product> products(const Machine& machine) {
  if (machine.emulated) return {{24, 16}};
  constexpr struct {
    size_t hidden, queries, keys, intermediate;
  } kModels[] = {{1024, 1024, 512, 3072}, {3072, 3072, 384, 8448}, {4096, 4096, 1024, 14336}};
  std::vector<Product> all;
  for (const auto& m : kModels)
    all.insert(all.end(), {{m.queries + 2 * m.keys, m.hidden},
                           {m.queries, m.hidden},
                           {2 * m.keys, m.hidden},
                           {m.hidden, m.queries},
                           {m.intermediate, m.hidden},
                           {m.hidden, m.intermediate},
                           {ops::kKmers, m.hidden}});
  return all;
}

struct Library {
  explicit Library(const Machine& machine)
      : device(std::make_shared<const cuda::Device>(machine.device)),
        rows(machine.emulated ? 130 : cuda::pass_rows(static_cast<size_t>(device->multiprocessors()))),
        matmul(cuda::make_matmul(device, rows)) {
    device->use();
  }
  cuda::Memory random(size_t count) const {
    cuda::Memory memory(device, count * sizeof(bf16), "a check");
    cuda::fill_random(*device, memory.get(), count);
    return memory;
  }
  std::shared_ptr<const cuda::Device> device;
  size_t rows;  // of a pass
  std::unique_ptr<cuda::Matmul> matmul;
};

/// Milliseconds of a product of a full pass.
double product_time(const Library& library, const void* weight, const Product& product, Result result) {
  constexpr int kProducts = 8;  // to a wait, so that the wait does not count
  const auto& [outputs, k] = product;
  const cuda::Memory act = library.random(library.rows * k), out = library.random(2 * library.rows * outputs);
  const double seconds = gpu_bench::median_seconds(0, 3, [&] {
    for (int i = 0; i < kProducts; ++i)
      library.matmul->run({act.get(), weight, library.rows, outputs, k, out.get(), outputs, result});
    library.device->wait();
  });
  return 1e3 * seconds / kProducts;
}

/// Says for each product which algorithm the library uses and how long it takes, or by which rule each was
/// refused. Without an algorithm the program is slower, and not wrong.
void report(const Machine& machine) {
  const Library library(machine);
  for (const Product& product : products(machine)) {
    const auto& [outputs, k] = product;
    const cuda::Memory weight = library.random(outputs * k);
    for (const auto& [result, name] : kResults) {
      const bool serves = library.matmul->prepare(weight.get(), outputs, k, result);
      std::printf("note   %s, %zu x %zu, %s: ", library.matmul->name().c_str(), outputs, k, name);
      if (serves)
        std::printf("%.4g ms for %zu rows\n", product_time(library, weight.get(), product, result),
                    library.rows);
      else
        std::printf("not used\n");
      for (const std::string& line : library.matmul->choice(outputs, k, result))
        std::printf("note     %s\n", line.c_str());
    }
  }
}

/// A product in padded rows has the bits that the library gives without, and what lies between rows stays.
void padding_agrees(Checks& checks, const Machine& machine) {
  const Library library(machine);
  cuda::RowPadding padding(library.device);
  constexpr size_t kOutputs = 24, kK = 16, kLd = kOutputs + 8;
  const cuda::Memory weight = library.random(kOutputs * kK);
  for (const auto& [result, name] : kResults) {
    if (!library.matmul->prepare(weight.get(), kOutputs, kK, result)) continue;
    for (const size_t n : {size_t{1}, size_t{3}, size_t{127}}) {
      const cuda::Memory act = library.random(n * kK);
      const auto results = [&](const auto& run) {
        const cuda::Memory out = library.random(2 * n * kLd);
        run(cuda::Matmul::Call{act.get(), weight.get(), n, kOutputs, kK, out.get(), kLd, result});
        std::vector<uint32_t> bits(n * kLd);
        library.device->copy_out(bits.data(), out.get(), out.bytes());
        return bits;
      };
      const auto multiply = [&](const cuda::Matmul::Call& call) { library.matmul->run(call); };
      checks.that(same_bits(results(multiply),
                            results([&](const cuda::Matmul::Call& call) { padding.run(call, multiply); })),
                  std::to_string(n) + " rows, " + name);
    }
  }
}

}  // namespace

void check_library(Checks& checks, const Machine& machine) {
  report(machine);
  checks.run("linear: padding of few rows changes no bit", [&] { padding_agrees(checks, machine); });
}

}  // namespace carbon::gpu_test
