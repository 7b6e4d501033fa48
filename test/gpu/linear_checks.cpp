// prepare(), linear(), linear_add() and linear_swiglu(): against double precision, and to the bit whatever
// the number of rows, the tile and, where one order of sums is promised, the class of rows.
#include <utility>

#include "kernels/cuda/device.hpp"
#include "kernels/cuda/f16_weights.hpp"
#include "kernels/cuda/kernels.hpp"
#include "kernels/cuda/matmul.hpp"
#include "kernels/cuda/selftest.hpp"
#include "kernels/cuda/stream.hpp"
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

/// A matrix as the backend stores it: rounded once, in f16 with a scale.
Stored rounded_weight(const ops::Backend& backend, Stored w, size_t outputs, size_t k) {
  if (backend.dtype() == DType::f32) return w;
  const int exponent = backend.dtype() == DType::f16 ? cuda::f16_exponent({w.data(), w.type, outputs, k}) : 0;
  for (float& value : w.value)
    value = std::ldexp(rounded(backend.dtype(), std::ldexp(value, -exponent)), exponent);
  w.type = DType::f32;
  return w;
}

void linear_agrees(Checks& checks, ops::Backend& backend, const std::vector<Shape>& shapes,
                   ops::RowClass row_class) {
  Random random(11);
  const std::vector<DType> types = backend.dtype() == DType::f32
                                       ? std::vector<DType>{DType::f32, DType::bf16, DType::f16}
                                       : std::vector<DType>{DType::bf16, DType::f32, DType::f16};
  for (const DType type : types)
    for (const Shape& s : shapes) {
      const Stored a = stored(backend.dtype(), random.vector(s.n * s.k));
      Stored w = stored(type, random.vector(s.outputs * s.k));
      const auto weight = backend.prepare({w.data(), type, s.outputs, s.k});
      w = rounded_weight(backend, w, s.outputs, s.k);
      const Array act(backend, a.data(), a.value.size() * dtype_size(a.type));
      // What lies between rows is not touched.
      const size_t ld = (s.outputs + 3) / 4 * 4 + 8;
      const std::vector<float> before(s.n * ld, -7.0f);
      const Array out(backend, before);
      backend.linear(act.get(), s.n, *weight, out.floats(), ld, row_class);
      const std::vector<float> got = out.read(s.n * ld);
      check_product(checks, a, w, s, got, ld);
      for (size_t i = 0; i < s.n; ++i)
        for (size_t j = s.outputs; j < ld; ++j) checks.that(got[i * ld + j] == -7.0f, "written beyond a row");
    }
}

void linear_is_invariant(Checks& checks, ops::Backend& backend, const Shape& s, ops::RowClass row_class) {
  Random random(12);
  const Stored a = stored(backend.dtype(), random.vector(s.n * s.k)),
               w = stored(DType::bf16, random.vector(s.outputs * s.k));
  const auto weight = backend.prepare({w.data(), DType::bf16, s.outputs, s.k});
  const size_t row_bytes = s.k * dtype_size(backend.dtype());
  const Array act(backend, a.data(), s.n * row_bytes), out(backend, s.n * s.outputs * sizeof(float));
  backend.linear(act.get(), s.n, *weight, out.floats(), s.outputs, row_class);
  const std::vector<float> all = out.read(s.n * s.outputs);
  for (const size_t count :
       {size_t{1}, size_t{2}, size_t{7}, size_t{16}, size_t{17}, size_t{33}, size_t{64}, size_t{65},
        size_t{129}, size_t{683}, size_t{1365}, size_t{1366}, size_t{2047}}) {
    if (count > s.n) break;
    for (const size_t first : {size_t{0}, (s.n - count) / 2, s.n - count}) {
      const Array part(backend, count * s.outputs * sizeof(float));
      backend.linear(act.at(first * row_bytes), count, *weight, part.floats(), s.outputs, row_class);
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

/// Random bf16 and room for results on the device, without a backend.
struct TileProblem {
  std::shared_ptr<const cuda::Device> device;
  Shape s;
  cuda::Memory act, weight, out, scales;  // the last in f16 alone

  TileProblem(const std::shared_ptr<const cuda::Device>& device, const Shape& s, size_t weights, DType type)
      : device(device),
        s(s),
        act(device, s.n * s.k * sizeof(bf16), "a check"),
        weight(device, weights * s.outputs * s.k * sizeof(bf16), "a check"),
        out(device, s.n * ld() * sizeof(float), "a check") {
    cuda::fill_random(*device, act.get(), s.n * s.k);
    cuda::fill_random(*device, weight.get(), weights * s.outputs * s.k);
    if (type != DType::f16) return;
    // Bits of a bf16 below 1 are a finite f16, too.
    std::vector<float> factors(weights * s.outputs);
    for (size_t i = 0; i < factors.size(); ++i) factors[i] = std::ldexp(1.0f, static_cast<int>(i % 11) - 8);
    scales = cuda::Memory(device, factors.size() * sizeof(float), "a check");
    device->copy_in(scales.get(), factors.data(), factors.size() * sizeof(float));
  }
  size_t ld() const { return 2 * s.outputs + 3; }
  cuda::LinearCall call(size_t which = 0) const {
    return {act.get(),   weight.as<bf16>() + which * s.outputs * s.k, s.n,  s.outputs,
            s.k,         out.as<float>() + which * s.outputs,         ld(), false,
            scale(which)};
  }
  const float* scale(size_t which) const {
    return scales.get() == nullptr ? nullptr : scales.as<float>() + which * s.outputs;
  }
  template <class T>
  std::vector<T> read(const cuda::Memory& memory, size_t count) const {
    std::vector<T> values(count);
    device->copy_out(values.data(), memory.get(), count * sizeof(T));
    return values;
  }
};

/// Calls f(tile) for the tiles that fit the device.
template <class F>
void for_tiles(const Machine& machine, F f) {
  int shared = 0;
  cuda::check(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, machine.device),
              "a check");
  for (const cuda::MmaTile& tile : cuda::kStreamTiles)
    if (cuda::stream_shared_bytes(tile) <= static_cast<size_t>(shared)) f(tile);
}

std::string describe(const cuda::MmaTile& tile, const Shape& s) {
  return std::to_string(s.n) + " x " + std::to_string(s.outputs) + " x " + std::to_string(s.k) +
         " in tiles of " + std::to_string(tile.rows) + " x " + std::to_string(tile.outputs) + ", " +
         std::to_string(tile.stages) + " stages";
}

/// What lets the tile follow the number of rows: all of them give the bits of the large one, and leave alone
/// what lies between rows.
void tiles_do_not_matter(Checks& checks, const Machine& machine, const std::vector<Shape>& shapes,
                         DType type) {
  const auto device = std::make_shared<const cuda::Device>(machine.device);
  device->use();
  for (const Shape& s : shapes) {
    const TileProblem p(device, s, 1, type);
    const size_t count = s.n * p.ld();
    const auto run_twice = [&](const auto& run) {  // the second time, added to what the first has left
      device->clear(p.out.get(), p.out.bytes());
      cuda::LinearCall call = p.call();
      run(call);
      call.add = true;
      run(call);
      return p.read<uint32_t>(p.out, count);
    };
    const std::vector<uint32_t> want =
        run_twice([&](const cuda::LinearCall& call) { cuda::run_linear_mma(device->stream(), call); });
    for_tiles(machine, [&](const cuda::MmaTile& tile) {
      checks.that(same_bits(want, run_twice([&](const cuda::LinearCall& call) {
                              cuda::run_linear_stream(device->stream(), call, tile);
                            })),
                  describe(tile, s));
    });
  }
}

/// The fused product gives the bits of two products and a SwiGLU.
void swiglu_tiles_do_not_matter(Checks& checks, const Machine& machine, const std::vector<Shape>& shapes,
                                DType type) {
  const auto device = std::make_shared<const cuda::Device>(machine.device);
  device->use();
  for (const Shape& s : shapes) {
    const TileProblem p(device, s, 2, type);
    // run_swiglu takes rows that follow each other.
    const cuda::Memory both(device, s.n * 2 * s.outputs * sizeof(float), "a check");
    const cuda::Memory gated(device, s.n * s.outputs * sizeof(bf16), "a check");
    for (const size_t which : {size_t{0}, size_t{1}}) {
      cuda::LinearCall call = p.call(which);
      call.out = both.as<float>() + which * s.outputs;
      call.ld_out = 2 * s.outputs;
      cuda::run_linear_mma(device->stream(), call);
    }
    cuda::run_swiglu(device->stream(), both.get(), DType::f32, s.n, s.outputs, gated.get(), type);
    const std::vector<uint16_t> want = p.read<uint16_t>(gated, s.n * s.outputs);
    for_tiles(machine, [&](const cuda::MmaTile& tile) {
      if (tile.outputs < cuda::kSwigluOutputs) return;
      device->clear(gated.get(), gated.bytes());
      cuda::run_swiglu_stream(device->stream(),
                              {p.act.get(), p.call(0).weight, p.call(1).weight, s.n, s.outputs, s.k,
                               gated.get(), p.scale(0), p.scale(1)},
                              tile);
      checks.that(same_bits(want, p.read<uint16_t>(gated, s.n * s.outputs)), describe(tile, s));
    });
  }
}

/// swiglu() of products that were rounded to bf16 first, against double: the rounding of the gate is
/// multiplied by (1 + |gate|) at most on its way, those of the other factor and of the result by 1.
void check_rounded_swiglu(Checks& checks, const std::vector<float>& gate_up, size_t n, size_t width,
                          const std::vector<float>& got) {
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < width; ++j) {
      const auto g = static_cast<double>(gate_up[i * 2 * width + j]);
      const double want = g / (1 + std::exp(-g)) * static_cast<double>(gate_up[(i * 2 + 1) * width + j]);
      checks.within(std::fabs(static_cast<double>(got[i * width + j]) - want),
                    std::fabs(want) * (3 + std::fabs(g)) * 0x1.02p-8 + 1e-30, "a gate");
    }
}

/// linear_swiglu() is what linear() and swiglu() give, in either class and for any number of rows.
void linear_swiglu_agrees(Checks& checks, ops::Backend& backend, const std::vector<Shape>& shapes) {
  Random random(14);
  for (const Shape& s : shapes) {
    const Stored a = stored(backend.dtype(), random.vector(s.n * s.k)),
                 g = stored(DType::bf16, random.vector(s.outputs * s.k)),
                 u = stored(DType::bf16, random.vector(s.outputs * s.k));
    const auto gate = backend.prepare({g.data(), DType::bf16, s.outputs, s.k}),
               up = backend.prepare({u.data(), DType::bf16, s.outputs, s.k});
    const size_t size = dtype_size(backend.dtype()), count = s.n * s.outputs, row = s.n / 2;
    const Array act(backend, a.data(), s.n * s.k * size), gate_up(backend, 2 * count * sizeof(float)),
        want(backend, count * size), got(backend, count * size), alone(backend, s.outputs * size),
        one(backend, static_cast<const char*>(a.data()) + row * s.k * size, s.k * size);
    for (const ops::RowClass row_class : kClasses) {
      backend.linear(act.get(), s.n, *gate, gate_up.floats(), 2 * s.outputs, row_class);
      backend.linear(act.get(), s.n, *up, gate_up.floats() + s.outputs, 2 * s.outputs, row_class);
      backend.swiglu(gate_up.floats(), s.n, s.outputs, want.get());
      const size_t floats = backend.swiglu_scratch(s.n, *gate, *up, row_class);
      const Array scratch(backend, floats * sizeof(float));
      backend.linear_swiglu(act.get(), s.n, *gate, *up, scratch.floats(), got.get(), row_class);
      if (floats == count)  // half of what f32 needs
        check_rounded_swiglu(checks, gate_up.read(2 * count), s.n, s.outputs, got.read(count, DType::bf16));
      else
        checks.that(same_bits(want.bytes(count * size), got.bytes(count * size)),
                    name(row_class) + ", " + std::to_string(s.n) + " rows");
      backend.linear_swiglu(one.get(), 1, *gate, *up, scratch.floats(), alone.get(), row_class);
      const std::vector<uint8_t> all = got.bytes(count * size);
      const auto begin = all.begin() + static_cast<ptrdiff_t>(row * s.outputs * size);
      checks.that(
          same_bits(alone.bytes(s.outputs * size), {begin, begin + static_cast<ptrdiff_t>(s.outputs * size)}),
          name(row_class) + ", a row alone");
    }
  }
}

/// A product added to what is there is linear() and one addition, or of the library right to within one; and
/// a row alone has the same bits.
void linear_add_agrees(Checks& checks, ops::Backend& backend, const std::vector<Shape>& shapes,
                       bool library) {
  Random random(17);
  for (const Shape& s : shapes)
    for (const ops::RowClass row_class : kClasses) {
      const Stored a = stored(backend.dtype(), random.vector(s.n * s.k)),
                   w = stored(DType::bf16, random.vector(s.outputs * s.k));
      const auto weight = backend.prepare({w.data(), DType::bf16, s.outputs, s.k});
      const std::vector<float> before = random.vector(s.n * s.outputs, 30.0f);
      const size_t act_row = s.k * dtype_size(backend.dtype());
      const Array act(backend, a.data(), s.n * act_row), x(backend, before),
          product(backend, s.n * s.outputs * sizeof(float));
      backend.linear(act.get(), s.n, *weight, product.floats(), s.outputs, row_class);
      backend.linear_add(act.get(), s.n, *weight, x.floats(), row_class);
      const std::vector<float> sums = product.read(before.size()), got = x.read(before.size());
      std::vector<float> want = before;
      for (size_t i = 0; i < want.size(); ++i) want[i] += sums[i];
      const std::string name = std::to_string(s.n) + " rows, " + gpu_test::name(row_class);
      if (library && row_class == ops::RowClass::prefill)
        for (size_t i = 0; i < want.size(); ++i)  // another order of sums, |product| <= k
          checks.within(std::fabs(double{want[i]} - double{got[i]}),
                        (static_cast<double>(s.k * s.k) + 60) * 0x1p-23, name);
      else
        checks.that(same_bits(want, got), name);
      for (const size_t row : {size_t{0}, s.n / 2, s.n - 1}) {
        const auto first = before.begin() + static_cast<ptrdiff_t>(row * s.outputs);
        const auto alone = got.begin() + static_cast<ptrdiff_t>(row * s.outputs);
        const auto outputs = static_cast<ptrdiff_t>(s.outputs);
        const Array one(backend, std::vector<float>(first, first + outputs));
        backend.linear_add(act.at(row * act_row), 1, *weight, one.floats(), row_class);
        checks.that(same_bits(one.read(s.outputs), std::vector<float>(alone, alone + outputs)),
                    name + ", row " + std::to_string(row) + " alone");
      }
    }
}

/// The decode class is the own kernels' even where the library multiplies for the prefill class.
void decode_is_own(Checks& checks, ops::Backend& library, ops::Backend& own, const Shape& s) {
  Random random(15);
  const Stored a = stored(DType::bf16, random.vector(s.n * s.k)),
               w = stored(DType::bf16, random.vector(s.outputs * s.k));
  const auto product = [&](ops::Backend& backend, ops::RowClass row_class) {
    const auto weight = backend.prepare({w.data(), DType::bf16, s.outputs, s.k});
    const Array act(backend, a.data(), s.n * s.k * sizeof(bf16)),
        out(backend, s.n * s.outputs * sizeof(float));
    backend.linear(act.get(), s.n, *weight, out.floats(), s.outputs, row_class);
    return out.read(s.n * s.outputs);
  };
  const std::vector<float> want = product(own, ops::RowClass::prefill);
  checks.that(same_bits(want, product(own, ops::RowClass::decode)), "own kernels have one order");
  checks.that(same_bits(want, product(library, ops::RowClass::decode)), "decode beside a library");
}

/// Columns [first, first + count) of rows with leading dimension ld.
std::vector<float> columns(const std::vector<float>& rows, size_t ld, size_t first, size_t count) {
  std::vector<float> some;
  for (size_t at = first; at < rows.size(); at += ld)
    some.insert(some.end(), rows.begin() + static_cast<ptrdiff_t>(at),
                rows.begin() + static_cast<ptrdiff_t>(at + count));
  return some;
}

/// Where the elements of a weight begin.
const char* begin_of(const ops::Weight& weight) {
  return static_cast<const char*>(dynamic_cast<const cuda::CudaWeight&>(weight).data());
}

/// Several matrices as one weight, and parts of it: right, and of own kernels the bits of each matrix alone.
/// Parts take no memory of their own.
void joined_agrees(Checks& checks, ops::Backend& backend, bool library) {
  Random random(16);
  const size_t n = 70, k = 136, widths[] = {12, 64, 40}, all = 12 + 64 + 40, ld = all + 4;
  const Stored a = stored(backend.dtype(), random.vector(n * k));
  const Array act(backend, a.data(), n * k * dtype_size(a.type));
  std::vector<Stored> stores;
  std::vector<TensorView> views;
  for (const DType type : {DType::bf16, DType::f32, DType::f16}) {
    stores.push_back(stored(type, random.vector(widths[views.size()] * k)));
    views.push_back({stores.back().data(), type, widths[views.size()], k});
  }
  const auto whole = backend.prepare(views);
  const auto first = backend.part(*whole, 0, 1), rest = backend.part(*whole, 1, 2);
  const size_t row = k * dtype_size(dynamic_cast<const cuda::CudaWeight&>(*whole).type());
  checks.that(begin_of(*first) == begin_of(*whole) && begin_of(*rest) == begin_of(*whole) + widths[0] * row,
              "a part is a copy");
  const auto product = [&](const ops::Weight& weight, ops::RowClass row_class) {
    const Array out(backend, std::vector<float>(n * ld, -7.0f));
    backend.linear(act.get(), n, weight, out.floats(), ld, row_class);
    std::vector<float> rows = out.read(n * ld);
    const std::vector<float> beyond(n * (ld - weight.rows()), -7.0f);
    checks.that(columns(rows, ld, weight.rows(), ld - weight.rows()) == beyond, "written beyond a row");
    return rows;
  };
  for (const ops::RowClass row_class : kClasses) {
    const std::vector<float> joined = product(*whole, row_class),
                             apart[] = {product(*first, row_class), product(*rest, row_class)};
    for (size_t j = 0, column = 0; j < 3; column += widths[j++]) {
      const Stored w = rounded_weight(backend, stores[j], widths[j], k);
      const std::vector<float> want =
          columns(product(*backend.prepare(views[j]), row_class), ld, 0, widths[j]);
      for (const std::vector<float>& got :
           {columns(joined, ld, column, widths[j]),
            columns(apart[std::min<size_t>(j, 1)], ld, j == 2 ? widths[1] : 0, widths[j])}) {
        check_product(checks, a, w, {n, widths[j], k}, got, widths[j]);
        if (!library || row_class == ops::RowClass::decode)
          checks.that(same_bits(got, want), "matrix " + std::to_string(j) + ", " + name(row_class));
      }
    }
  }
}

/// Weights of q8_0 give the bits of the same numbers in f32.
void blocks_are_widened(Checks& checks, ops::Backend& backend) {
  Random random(17);
  const size_t n = 9, outputs = 40, k = 96;
  const Stored a = stored(backend.dtype(), random.vector(n * k));
  const StoredBlocks w = stored_q8_0(random.vector(outputs * k));
  const Array act(backend, a.data(), n * k * dtype_size(a.type));
  const auto product = [&](const TensorView& view) {
    const Array out(backend, n * outputs * sizeof(float));
    backend.linear(act.get(), n, *backend.prepare(view), out.floats(), outputs);
    return out.read(n * outputs);
  };
  checks.that(same_bits(product({w.bytes.data(), WeightType::q8_0, outputs, k}),
                        product({w.value.data(), DType::f32, outputs, k})),
              "weights of q8_0");
}

void refuses(Checks& checks, ops::Backend& backend) {
  const std::vector<float> data(64);
  checks.refused([&] { backend.prepare({data.data(), DType::f32, 0, 4}); }, "empty weight");
  checks.refused([&] { backend.prepare({nullptr, DType::f32, 3, 4}); }, "empty weight");
  checks.refused([&] { backend.prepare(std::span<const TensorView>()); }, "at least one matrix");
  const TensorView uneven[] = {{data.data(), DType::f32, 3, 4}, {data.data(), DType::f32, 4, 3}};
  checks.refused([&] { backend.prepare(uneven); }, "4 and 3 columns");
  const auto weight = backend.prepare({data.data(), DType::f32, 4, 16});
  checks.refused([&] { backend.part(*weight, 0, 2); }, "of a weight of 1");
  const Array out(backend, data);
  checks.refused([&] { backend.linear(out.get(), 1, *weight, out.floats(), 3); }, "leading dimension");
  const auto other = ops::make_cpu_backend({DType::f32, 1, "generic"});
  const auto foreign = other->prepare({data.data(), DType::f32, 4, 16});
  checks.refused([&] { backend.linear(out.get(), 1, *foreign, out.floats(), 4); }, "another backend");
}

}  // namespace

void check_linear(Checks& checks, const Machine& machine) {
  const bool tensor_cores = cuda::Device(machine.device).code() >= 80;  // for bf16
  // First, because of its notes: the end of the output has what passed and failed.
  if (tensor_cores) check_library(checks, machine);
  // Edges of tiles (64; 16 and 128 rows, 64 and 128 outputs), of stages (32 columns, four of them), k that is
  // no multiple of 8 or of anything.
  std::vector<Shape> shapes = {{1, 8, 16},    {1, 64, 32}, {16, 65, 33},   {17, 130, 40}, {63, 12, 8},
                               {65, 64, 136}, {3, 5, 7},   {130, 132, 72}, {129, 3, 160}, {16, 200, 256}};
  Shape large{150, 136, 104};
  // Of streaming tiles: parts of 8 rows and outputs, slices of several steps, of one, and with none left over
  // for the last; more steps than any ring has stages.
  std::vector<Shape> tiles = {{1, 9, 8},     {7, 70, 264}, {9, 24, 136},
                              {66, 65, 320}, {33, 8, 40},  {5, 20, 2248}};
  if (!machine.emulated) {
    shapes.insert(shapes.end(), {{1366, 3072, 8448}, {683, 1024, 1024}, {8, 4096, 14336}});
    large = {2048, 3072, 3072};
    tiles.insert(tiles.end(), {{1, 3072, 3072}, {64, 4096, 14336}, {100, 1024, 3072}});
  }
  for (const Way& way : kWays) {
    const auto backend = make(machine, way);
    const auto run = [&](const std::string& name, const std::function<void()>& body) {
      checks.run(name + " [" + way.name() + "]", body);
    };
    for (const ops::RowClass row_class : kClasses) {
      run("linear agrees with double precision, " + name(row_class),
          [&] { linear_agrees(checks, *backend, shapes, row_class); });
      run("linear: bits do not depend on the number of rows, " + name(row_class),
          [&] { linear_is_invariant(checks, *backend, large, row_class); });
    }
    run("linear_swiglu is linear and swiglu, and a row alone the same", [&] {
      linear_swiglu_agrees(checks, *backend, {{1, 24, 48}, {7, 33, 72}, {64, 40, 136}, {130, 12, 40}});
    });
    run("linear_add is linear and an addition, and a row alone the same",
        [&] { linear_add_agrees(checks, *backend, shapes, way.library); });
    run("linear: matrices joined in one weight", [&] { joined_agrees(checks, *backend, way.library); });
    run("linear: weights in blocks are widened", [&] { blocks_are_widened(checks, *backend); });
    run("linear lets NaN through to its own row", [&] { not_finite_stays(checks, *backend); });
    run("linear refuses what it cannot do", [&] { refuses(checks, *backend); });
  }
  const auto own = make(machine, kWays[1]), library = make(machine, kWays[2]);
  checks.run("linear: the decode class is the own kernels'",
             [&] { decode_is_own(checks, *library, *own, large); });
  check_f16(checks, machine);
  for (const DType type : {DType::bf16, DType::f16}) {
    if (type == DType::bf16 && !tensor_cores) continue;
    const std::string name = std::string(" [") + dtype_name(type) + "]";
    checks.run("linear: tiles change no bit" + name,
               [&] { tiles_do_not_matter(checks, machine, tiles, type); });
    checks.run("linear_swiglu: tiles change no bit" + name,
               [&] { swiglu_tiles_do_not_matter(checks, machine, tiles, type); });
  }
}

}  // namespace carbon::gpu_test
