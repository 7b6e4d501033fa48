// The highest rates of the machine.

#include <memory>
#include <numeric>
#include <utility>

#include "kernels/cpu/cpu_machine.hpp"
#include "src/bench/matrix_product.hpp"
#include "src/bench/tests.hpp"

namespace carbon {
namespace {

// A measurement is repeated until it has taken this long.
constexpr double kLeastSeconds = 0.2;

// A product that is large enough to reach the highest speed.
constexpr MatrixProduct::Shape kLargeProduct{1024, 4096, 4096};

// Another backend than the model's, and a product on it.
struct OtherProduct {
  OtherProduct(DType type, int threads)
      : backend(ops::make_cpu_backend({type, threads})), product(*backend, kLargeProduct) {}
  std::unique_ptr<ops::Backend> backend;
  MatrixProduct product;
};

// Copies of rows in the device's memory. The rate counts bytes read and bytes written.
class DeviceCopy {
 public:
  explicit DeviceCopy(ops::Backend& backend) : backend_(backend), from_(backend), to_(backend), rows_(kRows) {
    std::iota(rows_.begin(), rows_.end(), 0u);
    from_.floats(kRows * kWidth);
    to_.floats(kRows * kWidth);
    run();
  }
  double rate() {
    return rate_of(2.0 * kRows * kWidth * sizeof(float), kLeastSeconds, [&] { run(); });
  }

 private:
  static constexpr size_t kRows = 16384, kWidth = 8192;

  void run() {
    backend_.select_rows(from_.floats(), rows_, kWidth, to_.floats());
    float done;
    backend_.download(to_.floats(), 1, &done);
  }

  ops::Backend& backend_;
  DeviceBuffer from_, to_;
  std::vector<uint32_t> rows_;
};

std::string registers_name(const std::string& type) {
  return type + "_multiply_add";
}

BenchLimit peak_limit(const std::string& name, LimitKind kind, int threads) {
  const WeightType type = name == "int8"   ? WeightType::q8_0
                          : name == "bf16" ? WeightType::bf16
                                           : WeightType::f32;
  return {registers_name(name), name + " multiply-adds on registers", kind,
          [type, threads] { return cpu::multiply_add_rate(type, threads); }};
}

BenchLimit product_limit(const std::string& name, LimitKind kind, std::function<double()> measure) {
  return {name + "_product", name + " matrix product", kind, std::move(measure), registers_name(name)};
}

BenchLimit other_product_limit(DType type, int threads) {
  const auto other = std::make_shared<OtherProduct>(type, threads);
  return product_limit(dtype_name(type), LimitKind::other,
                       [other] { return other->product.rate(kLeastSeconds); });
}

}  // namespace

std::vector<BenchLimit> bench_limits(LoadedModel& model) {
  const std::string name = model.dtype();
  const int threads = model.threads();
  const auto product = std::make_shared<MatrixProduct>(model.backend(), kLargeProduct);
  const BenchLimit own =
      product_limit(name, LimitKind::matrix, [product] { return product->rate(kLeastSeconds); });
  if (!model.device_kind().starts_with("cpu:")) {
    const auto copy = std::make_shared<DeviceCopy>(model.backend());
    return {{"copy", "copying memory", LimitKind::bandwidth, [copy] { return copy->rate(); }}, own};
  }

  const auto memory = std::make_shared<cpu::MemoryLimits>(threads);
  std::vector<BenchLimit> limits = {
      {"read", "reading memory", LimitKind::bandwidth, [memory] { return memory->read_rate(); }},
      {"copy", "copying memory", LimitKind::other, [memory] { return memory->copy_rate(); }},
      peak_limit(name, LimitKind::matrix, threads),
      own};
  if (name == "int8") {
    limits.push_back(peak_limit("bf16", LimitKind::other, threads));
    limits.push_back(other_product_limit(DType::bf16, threads));
  }
  if (name != "f32") {
    limits.push_back(peak_limit("f32", LimitKind::other, threads));
    limits.push_back(other_product_limit(DType::f32, threads));
  }
  return limits;
}

}  // namespace carbon
