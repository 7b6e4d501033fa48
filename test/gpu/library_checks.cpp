// The library behind products of the prefill class: which algorithm it has for the published shapes, that the
// number of rows changes no bit of it, and what padding gives.
#include <chrono>
#include <optional>
#include <utility>

#include "bench/gpu/timing.hpp"
#include "kernels/cuda/device.hpp"
#include "kernels/cuda/matmul.hpp"
#include "kernels/cuda/mma_plan.hpp"
#include "kernels/cuda/selftest.hpp"
#include "src/model/synthetic.hpp"
#include "test/gpu/check.hpp"

namespace carbon::gpu_test {
namespace {

using cuda::MatmulCall;
using cuda::MatmulResult;

const char* name(MatmulResult result) {
  return result == MatmulResult::f32 ? "f32" : result == MatmulResult::bf16 ? "bf16" : "added";
}

/// Outputs and k.
using Product = std::pair<size_t, size_t>;

/// All products of the published models; in emulation a small one, for trying this file.
std::vector<Product> products(const Machine& machine) {
  if (machine.emulated) return {{24, 16}};
  std::vector<Product> all;
  for (const std::string& shape : synthetic_shapes()) {
    const ModelConfig c = synthetic_config(shape);
    const size_t queries = c.heads * c.head_dim, keys = c.kv_heads * c.head_dim;
    all.insert(all.end(), {{queries + 2 * keys, c.hidden},
                           {queries, c.hidden},
                           {2 * keys, c.hidden},
                           {c.hidden, queries},
                           {c.intermediate, c.hidden},
                           {c.hidden, c.intermediate},
                           {ops::kKmers, c.hidden}});
  }
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
double product_time(const Library& library, const void* weight, const Product& product, MatmulResult result) {
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

/// A line for each product: the algorithm that the library uses, how long it takes, how long it took to
/// choose it, and why others were refused. Without an algorithm the program is slower, and not wrong.
void report(const Library& library, const std::vector<Product>& products) {
  for (const Product& product : products) {
    const auto& [outputs, k] = product;
    const cuda::Memory weight = library.random(outputs * k);
    for (const MatmulResult result : cuda::kMatmulResults) {
      const auto begin = std::chrono::steady_clock::now();
      const bool serves = library.matmul->prepare(outputs, k, result);
      const std::chrono::duration<double, std::milli> choosing = std::chrono::steady_clock::now() - begin;
      std::printf("note   %s, %zu x %zu, %s: ", library.matmul->name().c_str(), outputs, k, name(result));
      if (serves)
        std::printf("%.4g ms for %zu rows, ", product_time(library, weight.get(), product, result),
                    library.rows);
      else
        std::printf("not used, ");
      std::printf("chosen in %.3g ms: %s\n", choosing.count(),
                  library.matmul->choice(outputs, k, result).c_str());
    }
  }
}

/// Operands of products with one weight, and the results of the whole. What the sums leave is their rounding
/// (kernels/cuda/selftest.cpp says why), so that another order of sums is seen also in bf16.
class Sweep {
 public:
  Sweep(std::shared_ptr<const cuda::Device> device, cuda::Matmul& matmul, size_t rows, const Product& product,
        MatmulResult result)
      : device_(std::move(device)), matmul_(&matmul), comparisons_(device_, kComparisons) {
    const auto& [outputs, k] = product;
    // As gate and up are written.
    const size_t ld = result == MatmulResult::bf16 ? 2 * outputs : outputs, size = cuda::result_bytes(result);
    act_ = memory(rows * k * sizeof(bf16));
    weight_ = memory(outputs * k * sizeof(bf16));
    before_ = memory(rows * ld * size);
    whole_ = memory(rows * ld * size);
    part_ = memory(rows * ld * size);
    cuda::fill_opposite(*device_, act_.get(), rows, k, -1);
    cuda::fill_opposite(*device_, weight_.get(), outputs, k, 1);
    cuda::fill_random(*device_, before_.get(), rows * ld * size / sizeof(bf16));
    all_ = {act_.get(), weight_.get(), rows, outputs, k, whole_.get(), ld, result};
    device_->copy(whole_.get(), before_.get(), whole_.bytes());
    matmul_->run(all_);
  }

  /// Computes the rows alone, and has them compared with those of the whole.
  void add(Checks& checks, size_t first, size_t count) {
    MatmulCall some = all_.part(first, count);
    const size_t step = all_.ld_out * cuda::result_bytes(all_.result);
    some.out = part_.get();
    device_->copy(part_.get(), before_.as<char>() + first * step, count * step);
    matmul_->run(some);
    // What lies between the rows is compared too.
    comparisons_.add(part_.get(), step, whole_.as<char>() + first * step, step, step, count);
    compared_.push_back(std::to_string(count) + " rows from " + std::to_string(first) + " of " +
                        std::to_string(all_.outputs) + " x " + std::to_string(all_.k) + ", " +
                        name(all_.result));
    if (compared_.size() == kComparisons) finish(checks);
  }
  void finish(Checks& checks) {
    const std::vector<bool> differ = comparisons_.results();
    for (size_t i = 0; i < compared_.size(); ++i) checks.that(!differ[i], compared_[i]);
    compared_.clear();
  }

 private:
  static constexpr size_t kComparisons = 64;
  cuda::Memory memory(size_t bytes) const { return {device_, bytes, "a check"}; }

  std::shared_ptr<const cuda::Device> device_;
  cuda::Matmul* matmul_;
  cuda::Comparisons comparisons_;
  cuda::Memory act_, weight_, before_, whole_, part_;
  MatmulCall all_;
  std::vector<std::string> compared_;
};

/// Every number of rows up to 512, and those around the multiples of 128, each at another place.
void sweep_rows(Checks& checks, Sweep& sweep, size_t rows) {
  for (size_t n = 1; n <= rows; ++n)
    if (n <= 512 || (n + 1) % 128 < 3) sweep.add(checks, 37 * n % (rows - n + 1), n);
  sweep.finish(checks);
}

void rows_do_not_matter(Checks& checks, const Library& library, const std::vector<Product>& products) {
  for (const Product& product : products)
    for (const MatmulResult result : cuda::kMatmulResults) {
      if (!library.matmul->prepare(product.first, product.second, result)) continue;
      Sweep sweep(library.device, *library.matmul, library.rows, product, result);
      sweep_rows(checks, sweep, library.rows);
    }
}

/// A product in padded rows has the bits that the library gives without, and what lies between rows stays.
void padding_agrees(Checks& checks, const Library& library) {
  cuda::RowPadding padding(library.device);
  constexpr size_t kOutputs = 24, kK = 16, kLd = kOutputs + 8;
  const cuda::Memory weight = library.random(kOutputs * kK);
  for (const MatmulResult result : cuda::kMatmulResults) {
    if (!library.matmul->prepare(kOutputs, kK, result)) continue;
    for (const auto& [n, padded] : {std::pair<size_t, size_t>{1, 128}, {3, 256}, {127, 128}, {129, 384}}) {
      const cuda::Memory act = library.random(n * kK);
      const auto results = [&](const auto& run) {
        const cuda::Memory out = library.random(2 * n * kLd);
        run(MatmulCall{act.get(), weight.get(), n, kOutputs, kK, out.get(), kLd, result});
        std::vector<uint32_t> bits(n * kLd);
        library.device->copy_out(bits.data(), out.get(), out.bytes());
        return bits;
      };
      const auto multiply = [&](const MatmulCall& call) {
        library.matmul->run(call);
        return true;
      };
      checks.that(same_bits(results(multiply),
                            results([&](const MatmulCall& call) { padding.run(call, padded, multiply); })),
                  std::to_string(n) + " rows, " + name(result));
    }
  }
}

}  // namespace

void check_library(Checks& checks, const Machine& machine) {
  const std::vector<Product> all = products(machine);
  std::optional<Library> library;
  checks.run("linear: the library chooses an algorithm, or none",
             [&] { report(library.emplace(machine), all); });
  if (!library) return;
  checks.run("linear: padding of rows changes no bit", [&] { padding_agrees(checks, *library); });
  checks.run("linear: the library gives a row the same bits in any number of rows",
             [&] { rows_do_not_matter(checks, *library, all); });
#ifdef CARBON_CUDA_EMULATION
  check_choice(checks, machine);
#endif
}

}  // namespace carbon::gpu_test
