// prepare() and linear(): against double precision, and to the bit whatever the number of rows.
#include "test/gpu/check.hpp"

namespace carbon::gpu_test {
namespace {

struct Shape {
  size_t n, outputs, k;
};

/// Against double: each of the k additions and products errs by a rounding of what has been summed so far.
void check_product(Checks& checks, const Stored& a, const Stored& w, const Shape& s,
                   const std::vector<float>& got, size_t ld) {
  for (size_t i = 0; i < s.n; i += 1 + s.n / 50)
    for (size_t j = 0; j < s.outputs; j += 1 + s.outputs / 150) {
      double want = 0, magnitude = 0;
      for (size_t k = 0; k < s.k; ++k) {
        const double product =
            static_cast<double>(a.value[i * s.k + k]) * static_cast<double>(w.value[j * s.k + k]);
        want += product;
        magnitude += std::fabs(product);
      }
      checks.within(std::fabs(static_cast<double>(got[i * ld + j]) - want),
                    static_cast<double>(s.k + 2) * 0x1p-24 * magnitude + 1e-30, "a product");
    }
}

void linear_agrees(Checks& checks, ops::Backend& backend, const std::vector<Shape>& shapes) {
  Random random(11);
  const std::vector<DType> types = backend.dtype() == DType::f32
                                       ? std::vector<DType>{DType::f32, DType::bf16, DType::f16}
                                       : std::vector<DType>{DType::bf16, DType::f32, DType::f16};
  for (const DType type : types)
    for (const Shape& s : shapes) {
      const Stored a = stored(backend.dtype(), random.vector(s.n * s.k));
      Stored w = stored(type, random.vector(s.outputs * s.k));
      const auto weight = backend.prepare({w.data(), type, s.outputs, s.k});
      if (backend.dtype() == DType::bf16) w = stored(DType::bf16, w.value);  // rounded once
      const Array act(backend, a.data(), a.value.size() * dtype_size(a.type));
      // What lies between rows is not touched.
      const size_t ld = (s.outputs + 3) / 4 * 4 + 8;
      const std::vector<float> before(s.n * ld, -7.0f);
      const Array out(backend, before);
      backend.linear(act.get(), s.n, *weight, out.floats(), ld);
      const std::vector<float> got = out.read(s.n * ld);
      check_product(checks, a, w, s, got, ld);
      for (size_t i = 0; i < s.n; ++i)
        for (size_t j = s.outputs; j < ld; ++j) checks.that(got[i * ld + j] == -7.0f, "written beyond a row");
    }
}

void linear_is_invariant(Checks& checks, ops::Backend& backend, const Shape& s) {
  Random random(12);
  const Stored a = stored(backend.dtype(), random.vector(s.n * s.k)),
               w = stored(DType::bf16, random.vector(s.outputs * s.k));
  const auto weight = backend.prepare({w.data(), DType::bf16, s.outputs, s.k});
  const size_t row_bytes = s.k * dtype_size(backend.dtype());
  const Array act(backend, a.data(), s.n * row_bytes), out(backend, s.n * s.outputs * sizeof(float));
  backend.linear(act.get(), s.n, *weight, out.floats(), s.outputs);
  const std::vector<float> all = out.read(s.n * s.outputs);
  for (const size_t count : {size_t{1}, size_t{2}, size_t{7}, size_t{16}, size_t{17}, size_t{64}, size_t{129},
                             size_t{683}, size_t{1365}, size_t{1366}, size_t{2047}}) {
    if (count > s.n) break;
    for (const size_t first : {size_t{0}, (s.n - count) / 2, s.n - count}) {
      const Array part(backend, count * s.outputs * sizeof(float));
      backend.linear(act.at(first * row_bytes), count, *weight, part.floats(), s.outputs);
      checks.that(
          same_bits(part.read(count * s.outputs),
                    std::vector<float>(all.begin() + static_cast<ptrdiff_t>(first * s.outputs),
                                       all.begin() + static_cast<ptrdiff_t>((first + count) * s.outputs))),
          std::to_string(count) + " rows from " + std::to_string(first) + " of " + std::to_string(s.n));
    }
  }
}

void not_finite_stays(Checks& checks, ops::Backend& backend) {
  Random random(13);
  const size_t k = 48, outputs = 8;
  std::vector<float> values = random.vector(2 * k);
  values[k + 47] = std::nanf("");
  const Stored a = stored(backend.dtype(), values), w = stored(DType::bf16, random.vector(outputs * k));
  const auto weight = backend.prepare({w.data(), DType::bf16, outputs, k});
  const Array act(backend, a.data(), 2 * k * dtype_size(a.type)), out(backend, 2 * outputs * sizeof(float));
  backend.linear(act.get(), 2, *weight, out.floats(), outputs);
  const std::vector<float> got = out.read(2 * outputs);
  for (size_t j = 0; j < outputs; ++j)
    checks.that(std::isfinite(got[j]) && std::isnan(got[outputs + j]), "a NaN reaches its own row");
}

void refuses(Checks& checks, ops::Backend& backend) {
  const std::vector<float> data(64);
  checks.refused([&] { backend.prepare({data.data(), DType::f32, 0, 4}); }, "empty weight");
  checks.refused([&] { backend.prepare({nullptr, DType::f32, 3, 4}); }, "empty weight");
  const auto weight = backend.prepare({data.data(), DType::f32, 4, 16});
  const Array out(backend, data);
  checks.refused([&] { backend.linear(out.get(), 1, *weight, out.floats(), 3); }, "leading dimension");
  const auto other = ops::make_cpu_backend({DType::f32, 1, false, "generic"});
  const auto foreign = other->prepare({data.data(), DType::f32, 4, 16});
  checks.refused([&] { backend.linear(out.get(), 1, *foreign, out.floats(), 4); }, "another backend");
}

}  // namespace

void check_linear(Checks& checks, const Machine& machine) {
  // Edges of tiles (64; 16 and 128 rows, 64 and 128 outputs), of stages (32 columns, four of them), k that is
  // no multiple of 8 or of anything.
  std::vector<Shape> shapes = {{1, 8, 16},    {1, 64, 32}, {16, 65, 33},   {17, 130, 40}, {63, 12, 8},
                               {65, 64, 136}, {3, 5, 7},   {130, 132, 72}, {129, 3, 160}, {16, 200, 256}};
  Shape large{150, 136, 104};
  if (!machine.emulated) {
    shapes.insert(shapes.end(), {{1366, 3072, 8448}, {683, 1024, 1024}, {8, 4096, 14336}});
    large = {2048, 3072, 3072};
  }
  for (const Way& way : kWays) {
    const auto backend = make(machine, way);
    const auto run = [&](const char* name, const std::function<void()>& body) {
      checks.run(std::string(name) + " [" + way.name() + "]", body);
    };
    run("linear agrees with double precision", [&] { linear_agrees(checks, *backend, shapes); });
    run("linear: bits do not depend on the number of rows",
        [&] { linear_is_invariant(checks, *backend, large); });
    run("linear lets NaN through to its own row", [&] { not_finite_stays(checks, *backend); });
    run("linear refuses what it cannot do", [&] { refuses(checks, *backend); });
  }
}

}  // namespace carbon::gpu_test
