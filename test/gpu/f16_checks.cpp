// f16: that scales of products are exact, how much smaller their errors are than those in bf16, and models
// whose numbers are far outside of its range.
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "test/gpu/model.hpp"

namespace carbon::gpu_test {
namespace {

/// Rows with a single 1 read the numbers of a weight: of 8 bits, down to 2^-32 of the largest, exact times
/// 2^exponent, also where two matrices of one weight have other sizes; in both classes.
void scales_are_exact(Checks& checks, ops::Backend& backend) {
  constexpr size_t kK = 32, kOutputs = 8;
  constexpr int kExponents[] = {-7, 20};
  std::vector<float> large(kOutputs * kK), tiny(kOutputs * kK), rows(kK * kK);
  for (size_t i = 0; i < large.size(); ++i) {
    large[i] = std::ldexp(1.9921875f, 30 - static_cast<int>(i % 33));
    tiny[i] = std::ldexp(i % 2 == 0 ? -1.9921875f : 1.0078125f, -60 - static_cast<int>(i % 33));
  }
  for (size_t i = 0; i < kK; ++i) rows[i * kK + i] = 1.0f;
  const Stored act = stored(DType::f16, rows);
  const Array a(backend, act.data(), rows.size() * sizeof(uint16_t)),
      out(backend, 2 * kOutputs * kK * sizeof(float));
  for (const WeightType type : {WeightType::f32, WeightType::bf16}) {
    const Stored first = stored(type == WeightType::f32 ? DType::f32 : DType::bf16, large),
                 second = stored(first.type, tiny);
    const TensorView views[] = {{first.data(), type, kOutputs, kK}, {second.data(), type, kOutputs, kK}};
    const auto weight = backend.prepare(views, kExponents);
    for (const ops::RowClass row_class : kClasses) {
      backend.linear(a.get(), kK, *weight, out.floats(), 2 * kOutputs, row_class);
      const std::vector<float> got = out.read(2 * kOutputs * kK);
      for (size_t i = 0; i < kK; ++i)
        for (size_t j = 0; j < kOutputs; ++j) {
          const float* const row = &got[i * 2 * kOutputs];
          checks.that(row[j] == std::ldexp(large[j * kK + i], kExponents[0]), "a large number");
          checks.that(row[kOutputs + j] == std::ldexp(tiny[j * kK + i], kExponents[1]), "a tiny number");
        }
    }
  }
  const std::vector<float> none(16, 1e-38f);
  checks.refused(
      [&] {
        backend.prepare({none.data(), DType::f32, 1, 16}, -100);
      },
      "cannot be computed in f16");
  checks.refused([&] { backend.prepare(std::span<const TensorView>(), kExponents); }, "at least one matrix");
  const TensorView one{none.data(), DType::f32, 1, 16};
  checks.refused([&] { backend.prepare(std::span(&one, 1), kExponents); }, "2 exponents for 1");
}

/// The root of the mean square of errors of a norm and a product with bf16 weights, against double.
double product_error(ops::Backend& backend, ops::RowClass row_class) {
  constexpr size_t kRows = 9, kOutputs = 40, kK = 256;
  Random random(18);
  const std::vector<float> x = random.vector(kRows * kK), norm = random.vector(kK);
  const Stored w = stored(DType::bf16, random.vector(kOutputs * kK));
  const Array dx(backend, x), dn(backend, norm), act(backend, kRows * kK * dtype_size(backend.dtype())),
      out(backend, kRows * kOutputs * sizeof(float));
  backend.norm(dx.floats(), dn.floats(), 1e-6f, kRows, kK, act.get());
  backend.linear(act.get(), kRows, *backend.prepare({w.data(), DType::bf16, kOutputs, kK}), out.floats(),
                 kOutputs, row_class);
  const std::vector<float> got = out.read(kRows * kOutputs);
  double errors = 0;
  for (size_t i = 0; i < kRows; ++i) {
    double squares = 0;
    for (size_t k = 0; k < kK; ++k) squares += double{x[i * kK + k]} * double{x[i * kK + k]};
    const double scale = 1 / std::sqrt(squares / kK + 1e-6);
    for (size_t j = 0; j < kOutputs; ++j) {
      double want = 0;
      for (size_t k = 0; k < kK; ++k)
        want += double{x[i * kK + k]} * scale * double{norm[k]} * double{w.value[j * kK + k]};
      errors += std::pow(double{got[i * kOutputs + j]} - want, 2);
    }
  }
  return std::sqrt(errors / (kRows * kOutputs));
}

void errors_are_smaller(Checks& checks, ops::Backend& f16, ops::Backend& bf16) {
  for (const ops::RowClass row_class : kClasses)
    checks.within(product_error(f16, row_class), product_error(bf16, row_class) / 7, name(row_class));
}

/// Multiplies all numbers of tensors, by parts of their names, by powers of two. The checkpoint has one file,
/// and its tensors are bf16.
void scale_tensors(const std::string& dir, const std::vector<std::pair<std::string, int>>& exponents) {
  const std::string path = dir + "/model.safetensors";
  std::ifstream in(path, std::ios::binary);
  std::string file{std::istreambuf_iterator<char>(in), {}};
  uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof length);
  const auto header = nlohmann::json::parse(file.substr(sizeof length, length));
  for (const auto& [part, exponent] : exponents)
    for (const auto& [name, entry] : header.items()) {
      if (name.find(part) == std::string::npos) continue;
      const uint64_t data = sizeof length + length;
      for (uint64_t at = entry["data_offsets"][0]; at < entry["data_offsets"][1]; at += sizeof(bf16)) {
        bf16 number;
        std::memcpy(&number, &file[data + at], sizeof number);
        number = to_bf16(std::ldexp(to_float(number), exponent));
        std::memcpy(&file[data + at], &number, sizeof number);
      }
    }
  std::ofstream(path, std::ios::binary).write(file.data(), static_cast<std::streamsize>(file.size()));
}

/// Powers of two that cancel take the activations of a model far outside of the range of f16, and change no
/// bit: every exponent changes with them.
void range_does_not_matter(Checks& checks, const Machine& machine) {
  const std::string shape = tiny("--head-dim 64 --heads 2 --kv-heads 1 --layers 2 --tied 0");
  const GeneratedCheckpoint plain(shape), moved(shape);
  scale_tensors(moved.dir(), {{"input_layernorm", -13},
                              {"q_proj", 13 + 22},
                              {"k_proj", 13 - 22},
                              {"v_proj", 13 + 20},
                              {"o_proj", -20},
                              {"post_attention_layernorm", 16},
                              {"gate_proj", -16},
                              {"up_proj", -16 + 25},
                              {"down_proj", -25},
                              {"model.norm", 18},
                              {"lm_head", -18}});
  const Checkpoint first(plain.dir()), second(moved.dir());
  Model a(first, make(machine, kWays[3])), b(second, make(machine, kWays[3]));
  const Tokens tokens = random_tokens(first, 70, 6);
  for (const ops::RowClass row_class : kClasses)
    checks.that(same_bits(marginals(a, tokens, row_class), marginals(b, tokens, row_class)), name(row_class));
}

/// Weights that no scale serves are refused, and not computed with.
void refuses_models(Checks& checks, const Machine& machine) {
  const GeneratedCheckpoint files(tiny("--layers 1"));
  scale_tensors(files.dir(), {{"v_proj", 100}});
  const Checkpoint checkpoint(files.dir());
  checks.refused([&] { Model(checkpoint, make(machine, kWays[3])); }, "that f16 cannot hold");
}

}  // namespace

void check_f16_models(Checks& checks, const Machine& machine) {
  checks.run("decoder: numbers far outside of the range of f16 change no bit",
             [&] { range_does_not_matter(checks, machine); });
  checks.run("decoder: weights that f16 cannot serve are refused", [&] { refuses_models(checks, machine); });
}

void check_f16(Checks& checks, const Machine& machine) {
  const auto f16 = make(machine, kWays[3]), bf16 = make(machine, kWays[1]);
  checks.run("linear: exponents and scales of f16 are exact", [&] { scales_are_exact(checks, *f16); });
  checks.run("linear: errors in f16 are a seventh of those in bf16, or less",
             [&] { errors_are_smaller(checks, *f16, *bf16); });
}

}  // namespace carbon::gpu_test
