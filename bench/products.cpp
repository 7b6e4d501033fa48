// How fast the CPU backend multiplies matrices in bf16, for the table of PRODUCTS=1 bench/peers.sh:
//
//   build/bench_products THREADS ROWSxINPUTSxOUTPUTS...
//
// Prints one line of JSON: "products" has for each shape, as it was given, the operations per second in 1e9
// (a multiply-add is two) of Backend::linear(), which also writes f32 to memory; "registers" has those of the
// same instructions on registers alone. A time is that of at least half a second of products, after one to
// warm up.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/cpu/cpu_machine.hpp"
#include "kernels/ops.hpp"
#include "kernels/tensor.hpp"
#include "src/base/error.hpp"
#include "src/base/system.hpp"

namespace carbon {
namespace {

constexpr double kLeastSeconds = 0.5;

struct Shape {
  size_t rows = 0, inputs = 0, outputs = 0;
};

[[noreturn]] void refuse_shape() {
  throw Error("bench_products",
              "a shape is ROWSxINPUTSxOUTPUTS, numbers from 1 to 65536, such as 1366x1024x3072");
}

/// `text` up to the next x, as a number; takes both away.
size_t number_from(std::string_view& text) {
  size_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  constexpr size_t kMost = size_t{1} << 16;
  if (error != std::errc() || value == 0 || value > kMost || (rest != end && *rest != 'x')) refuse_shape();
  text = rest == end ? std::string_view() : std::string_view(rest + 1, end);
  return value;
}

Shape shape_from(std::string_view text) {
  Shape shape;
  for (size_t* const each : {&shape.rows, &shape.inputs, &shape.outputs}) *each = number_from(text);
  if (!text.empty()) refuse_shape();
  return shape;
}

/// Numbers between -1 and 1, always the same ones.
std::vector<bf16> numbers(size_t n) {
  std::vector<bf16> result(n);
  uint32_t state = 1;
  for (bf16& value : result) {
    state = state * 1664525 + 1013904223;
    value = to_bf16(static_cast<float>(static_cast<int32_t>(state)) * 0x1p-31f);
  }
  return result;
}

double rate(ops::Backend& backend, const Shape& shape) {
  const std::vector<bf16> act = numbers(shape.rows * shape.inputs),
                          matrix = numbers(shape.outputs * shape.inputs);
  std::vector<float> out(shape.rows * shape.outputs);
  const auto weight = backend.prepare({matrix.data(), WeightType::bf16, shape.outputs, shape.inputs});
  const auto multiply = [&] {
    backend.linear(act.data(), shape.rows, *weight, out.data(), shape.outputs, ops::RowClass::prefill);
  };
  multiply();
  const Stopwatch watch;
  double done = 0, seconds = 0;
  do {
    multiply();
    done += 2e-9 * static_cast<double>(shape.rows * shape.inputs) * static_cast<double>(shape.outputs);
    seconds = watch.seconds();
  } while (seconds < kLeastSeconds);
  return done / seconds;
}

void run(int count, char** arguments) {
  if (count < 3) throw Error("bench_products", "usage: bench_products THREADS ROWSxINPUTSxOUTPUTS...");
  std::string_view first = arguments[1];
  const int threads = static_cast<int>(number_from(first));
  const auto backend = ops::make_cpu_backend({DType::bf16, threads});
  nlohmann::ordered_json out = {{"products", nlohmann::ordered_json::object()}};
  for (int i = 2; i < count; ++i) out["products"][arguments[i]] = rate(*backend, shape_from(arguments[i]));
  out["registers"] = 1e-9 * cpu::multiply_add_rate(WeightType::bf16, threads);
  std::cout << out.dump() << '\n';
}

}  // namespace
}  // namespace carbon

int main(int argc, char** argv) {
  try {
    carbon::run(argc, argv);
    return 0;
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
