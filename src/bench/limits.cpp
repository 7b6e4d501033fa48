// The highest rates of the machine.

#include <memory>
#include <numeric>
#include <utility>

#include "kernels/cpu/cpu_machine.hpp"
#include "src/base/system.hpp"
#include "src/bench/tests.hpp"

namespace carbon {
namespace {

// A measurement is repeated until it has taken this long.
constexpr double kLeastSeconds = 0.2;

// Runs f repeatedly and returns a rate per second. Each call of f does `amount` units of work and returns
// when they are done.
template <class F>
double rate_of(double amount, F f) {
  double done = 0, seconds = 0;
  const Stopwatch watch;
  do {
    f();
    done += amount;
    seconds = watch.seconds();
  } while (seconds < kLeastSeconds);
  return done / seconds;
}

// A matrix product in the activation type of a backend, large enough to reach the highest speed.
class Product {
 public:
  explicit Product(ops::Backend& backend) : backend_(backend), act_(backend), out_(backend) {
    std::vector<float> values(kInner * kOuter);
    uint32_t state = 1;
    for (float& v : values) {
      state = state * 1664525u + 1013904223u;
      v = static_cast<float>(static_cast<int32_t>(state)) * 0x1p-31f;
    }
    // In f32 the weight is a view of values_.
    values_ = std::move(values);
    weight_ = backend.prepare({values_.data(), DType::f32, kOuter, kInner, false});
    act_.ensure(kRows * kInner * dtype_size(backend.dtype()));
    const std::vector<float> ones(kInner, 1.0f);
    DeviceBuffer x(backend), norm(backend);
    backend.upload(values_.data(), kRows * kInner, x.floats(kRows * kInner));
    backend.upload(ones.data(), kInner, norm.floats(kInner));
    backend.norm(x.floats(), norm.floats(), 1e-6f, kRows, kInner, act_.get());
    out_.floats(kRows * kOuter);
    run();
  }

  /// Floating-point operations per second.
  double rate() {
    return rate_of(2.0 * kRows * kInner * kOuter, [&] { run(); });
  }

 private:
  static constexpr size_t kRows = 1024, kInner = 4096, kOuter = 4096;

  void run() {
    backend_.linear(act_.get(), kRows, *weight_, out_.floats(), kOuter);
    float done;
    backend_.download(out_.floats(), 1, &done);  // waits until the device is done
  }

  ops::Backend& backend_;
  std::vector<float> values_;
  std::unique_ptr<ops::Weight> weight_;
  DeviceBuffer act_, out_;
};

// Another backend than the model's, and a product on it.
struct OtherProduct {
  OtherProduct(DType type, int threads)
      : backend(ops::make_cpu_backend({type, threads})), product(*backend) {}
  std::unique_ptr<ops::Backend> backend;
  Product product;
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
    return rate_of(2.0 * kRows * kWidth * sizeof(float), [&] { run(); });
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

BenchLimit peak_limit(const std::string& name, LimitKind kind, int threads) {
  const WeightType type = name == "int8"   ? WeightType::q8_0
                          : name == "bf16" ? WeightType::bf16
                                           : WeightType::f32;
  return {name + "_multiply_add", name + " multiply-adds on registers", kind,
          [type, threads] { return cpu::multiply_add_rate(type, threads); }};
}

BenchLimit other_product_limit(DType type, int threads) {
  const auto other = std::make_shared<OtherProduct>(type, threads);
  const std::string name = dtype_name(type);
  return {name + "_product", name + " matrix product", LimitKind::other,
          [other] { return other->product.rate(); }};
}

}  // namespace

std::vector<BenchLimit> bench_limits(LoadedModel& model) {
  const std::string name = model.dtype();
  const int threads = model.threads();
  const auto product = std::make_shared<Product>(model.backend());
  const BenchLimit own{name + "_product", name + " matrix product", LimitKind::matrix,
                       [product] { return product->rate(); }};
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
