// How fast the CPU backend multiplies matrices in bf16, for the table of PRODUCTS=1 bench/peers.sh:
//
//   build/bench_products THREADS ROWSxINPUTSxOUTPUTS...
//
// Prints one line of JSON: "products" has for each shape, as it was given, the operations per second in 1e9
// (a multiply-add is two) of Backend::linear(), which also writes f32 to memory; "registers" has those of the
// same instructions on registers alone. A time is that of at least half a second of products, after one to
// warm up.
#include <charconv>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "kernels/cpu/cpu_machine.hpp"
#include "kernels/ops.hpp"
#include "src/base/error.hpp"
#include "src/bench/matrix_product.hpp"

namespace carbon {
namespace {

constexpr double kLeastSeconds = 0.5;

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

MatrixProduct::Shape shape_from(std::string_view text) {
  MatrixProduct::Shape shape;
  for (size_t* const each : {&shape.rows, &shape.inputs, &shape.outputs}) *each = number_from(text);
  if (!text.empty()) refuse_shape();
  return shape;
}

void run(int count, char** arguments) {
  if (count < 3) throw Error("bench_products", "usage: bench_products THREADS ROWSxINPUTSxOUTPUTS...");
  std::string_view first = arguments[1];
  const int threads = static_cast<int>(number_from(first));
  const auto backend = ops::make_cpu_backend({DType::bf16, threads});
  nlohmann::ordered_json out = {{"products", nlohmann::ordered_json::object()}};
  for (int i = 2; i < count; ++i)
    out["products"][arguments[i]] =
        1e-9 * MatrixProduct(*backend, shape_from(arguments[i])).rate(kLeastSeconds);
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
