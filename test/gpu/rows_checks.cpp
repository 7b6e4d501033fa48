// embed(), norm(), swiglu(), select_rows(), allocate(), upload() and download().
#include <algorithm>

#include "test/gpu/check.hpp"

namespace carbon::gpu_test {
namespace {

void embed_copies(Checks& checks, ops::Backend& backend) {
  Random random(1);
  const size_t cols = 40;
  for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
    // More rows than are kept at first, and a vector as the decoder loads its norms.
    for (const size_t table_rows : {size_t{1}, size_t{3000}}) {
      const Stored table = stored(type, random.vector(table_rows * cols));
      const TensorView view{table.data(), type, table_rows, cols};
      for (const size_t n : {size_t{7}, size_t{1500}, size_t{2000}}) {
        std::vector<uint32_t> rows(n);
        for (size_t i = 0; i < n; ++i) rows[i] = static_cast<uint32_t>((i * 37 + n) % table_rows);
        const Array x(backend, n * cols * sizeof(float));
        backend.embed(view, rows, x.floats());
        const std::vector<float> got = x.read(n * cols);
        std::vector<float> expected(n * cols);
        for (size_t i = 0; i < n; ++i) std::copy_n(&table.value[rows[i] * cols], cols, &expected[i * cols]);
        checks.that(same_bits(got, expected), std::string("rows of ") + dtype_name(type));
      }
    }
  }
  for (const size_t table_rows : {size_t{3}, size_t{3000}}) {
    const StoredBlocks table = stored_q8_0(random.vector(table_rows * 64));
    const TensorView view{table.bytes.data(), WeightType::q8_0, table_rows, 64};
    const std::vector<uint32_t> rows{2, 0, 1, 2};
    const Array x(backend, rows.size() * 64 * sizeof(float));
    backend.embed(view, rows, x.floats());
    const std::vector<float> got = x.read(rows.size() * 64);
    std::vector<float> expected(got.size());
    for (size_t i = 0; i < rows.size(); ++i) std::copy_n(&table.value[rows[i] * 64], 64, &expected[i * 64]);
    checks.that(same_bits(got, expected), "rows of q8_0");
  }
  const std::vector<float> two(2 * cols);
  const std::vector<uint32_t> outside{2};
  checks.refused([&] { backend.embed({two.data(), DType::f32, 2, cols}, outside, nullptr); }, "outside");
}

void norm_agrees(Checks& checks, ops::Backend& backend) {
  Random random(2);
  for (const size_t width : {size_t{2}, size_t{64}, size_t{100}, size_t{1002}, size_t{4096}, size_t{5000}})
    for (const float size : {4.0f, 1e-3f}) {  // small enough once for eps to count
      const size_t n = 5;
      const std::vector<float> x = random.vector(n * width, size), weight = random.vector(width, 2.0f);
      const Array dx(backend, x), dw(backend, weight), act(backend, n * width * dtype_size(backend.dtype()));
      backend.norm(dx.floats(), dw.floats(), 1e-6f, n, width, act.get());
      checks.that(same_bits(dx.read(n * width), x), "the residual");
      const std::vector<float> got = act.read(n * width, backend.dtype());
      for (size_t i = 0; i < n; ++i) {
        double squares = 0;
        for (size_t j = 0; j < width; ++j) squares += std::pow(static_cast<double>(x[i * width + j]), 2);
        const double scale = 1 / std::sqrt(squares / static_cast<double>(width) + 1e-6);
        for (size_t j = 0; j < width; ++j) {
          const double want = static_cast<double>(x[i * width + j]) * scale * static_cast<double>(weight[j]);
          // Sums in f32 of up to 20 terms a thread and 8 levels; then half an error in the root, and
          // products.
          const double bound =
              std::fabs(want) * (act_epsilon(backend.dtype()) + 20 * 0x1p-24) + smallest(backend.dtype());
          checks.within(std::fabs(static_cast<double>(got[i * width + j]) - want), bound, "a norm");
        }
      }
    }
}

void norm_is_invariant(Checks& checks, ops::Backend& backend) {
  Random random(3);
  const size_t width = 300, n = 40, act_bytes = width * dtype_size(backend.dtype());
  const std::vector<float> x = random.vector(n * width), weight = random.vector(width);
  const Array all(backend, x), one(backend, &x[17 * width], width * sizeof(float)), w(backend, weight),
      act_all(backend, n * act_bytes), act_one(backend, act_bytes);
  backend.norm(all.floats(), w.floats(), 1e-5f, n, width, act_all.get());
  backend.norm(one.floats(), w.floats(), 1e-5f, 1, width, act_one.get());
  const std::vector<uint8_t> rows = act_all.bytes(n * act_bytes);
  checks.that(same_bits(act_one.bytes(act_bytes),
                        std::vector<uint8_t>(rows.begin() + static_cast<ptrdiff_t>(17 * act_bytes),
                                             rows.begin() + static_cast<ptrdiff_t>(18 * act_bytes))),
              "a row alone has the bits that it has among others");
}

void head_norms_agree(Checks& checks, ops::Backend& backend) {
  Random random(9);
  constexpr float kEps = 1e-6f;
  constexpr size_t kRows = 5, kHeads = 3;
  for (const size_t head_dim : {size_t{10}, size_t{64}, size_t{128}, size_t{300}}) {
    const size_t width = kHeads * head_dim, ld = width + 2 * head_dim;  // heads that stay follow in a row
    const std::vector<float> x = random.vector(kRows * ld, 3.0f), weight = random.vector(head_dim);
    const Array dx(backend, x), dw(backend, weight), one(backend, &x[(kRows - 1) * ld], ld * sizeof(float));
    backend.norm_heads(dx.floats(), dw.floats(), kEps, kRows, kHeads, head_dim, ld);
    backend.norm_heads(one.floats(), dw.floats(), kEps, 1, kHeads, head_dim, ld);
    const std::vector<float> got = dx.read(kRows * ld);
    checks.that(
        same_bits(one.read(ld), std::vector<float>(got.end() - static_cast<ptrdiff_t>(ld), got.end())),
        "the heads of a row alone have the bits that they have among others");
    for (size_t row = 0; row < kRows; ++row) {
      checks.that(std::equal(x.begin() + static_cast<ptrdiff_t>(row * ld + width),
                             x.begin() + static_cast<ptrdiff_t>((row + 1) * ld),
                             got.begin() + static_cast<ptrdiff_t>(row * ld + width)),
                  "what follows the heads in a row");
      for (size_t head = 0; head < kHeads; ++head) {
        const size_t at = row * ld + head * head_dim;
        double squares = 0;
        for (size_t j = 0; j < head_dim; ++j) squares += std::pow(static_cast<double>(x[at + j]), 2);
        const double scale = 1 / std::sqrt(squares / static_cast<double>(head_dim) + 1e-6);
        for (size_t j = 0; j < head_dim; ++j) {
          const double want = static_cast<double>(x[at + j]) * scale * static_cast<double>(weight[j]);
          // As for norm_agrees().
          checks.within(std::fabs(static_cast<double>(got[at + j]) - want),
                        std::fabs(want) * 20 * 0x1p-24 + 1e-30, "a norm of a head");
        }
      }
    }
  }
}

void swiglu_agrees(Checks& checks, ops::Backend& backend) {
  Random random(4);
  const float inf = std::numeric_limits<float>::infinity();
  for (const size_t width : {size_t{4}, size_t{300}, size_t{1500}}) {
    const size_t n = 6;
    std::vector<float> x = random.vector(n * 2 * width, 12.0f);
    x[0] = -1000.0f, x[1] = 1000.0f, x[2] = -inf, x[3] = std::nanf("");
    const Array gate_up(backend, x), act(backend, n * width * dtype_size(backend.dtype()));
    backend.swiglu(gate_up.floats(), n, width, act.get());
    const std::vector<float> got = act.read(n * width, backend.dtype());
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < width; ++j) {
        const auto g = static_cast<double>(x[i * 2 * width + j]);
        const double want = g / (1 + std::exp(-g)) * static_cast<double>(x[i * 2 * width + width + j]);
        const auto have = static_cast<double>(got[i * width + j]);
        if (std::isnan(want))
          checks.that(std::isnan(have), "NaN stays");
        else
          // An exponential of 2 ulp, whose argument moves it by |g| ulp; a sum, a quotient, a product.
          checks.within(
              std::fabs(have - want),
              std::fabs(want) * (act_epsilon(backend.dtype()) + 8 * 0x1p-24) + smallest(backend.dtype()),
              "a gate");
      }
  }
}

void select_copies(Checks& checks, ops::Backend& backend) {
  Random random(5);
  const size_t width = 130;
  const std::vector<float> x = random.vector(20 * width);
  const std::vector<uint32_t> rows{19, 0, 7, 7};
  const Array from(backend, x), to(backend, rows.size() * width * sizeof(float));
  backend.select_rows(from.floats(), rows, width, to.floats());
  std::vector<float> expected;
  for (const uint32_t row : rows) expected.insert(expected.end(), &x[row * width], &x[row * width] + width);
  checks.that(same_bits(to.read(expected.size()), expected), "rows");
  backend.select_rows(from.floats(), {}, width, to.floats());
  backend.norm(nullptr, nullptr, 0, 0, width, nullptr);
  backend.swiglu(nullptr, 0, width, nullptr);
}

/// The bits of plain loops on the host, for any width.
void states_have_the_bits_of_the_cpu(Checks& checks, ops::Backend& backend) {
  for (const size_t width : {size_t{1}, size_t{37}, size_t{64}, size_t{300}}) {
    const testing::States states(width);
    const size_t n = testing::States::kRows;
    const Array x(backend, states.x), weight(backend, states.weight);
    std::vector<float> normed(n * width);
    backend.final_norm(x.floats(), weight.floats(), testing::States::kEps, n, width, normed.data());
    const std::string name = "width " + std::to_string(width);
    checks.that(same_bits(normed, states.normed), name);
    for (const bool norm : {false, true}) {
      std::vector<double> sums = states.before();
      backend.sum_rows(x.floats(), norm ? weight.floats() : nullptr, testing::States::kEps, width,
                       testing::States::rows(), sums.data());
      checks.that(same_bits(sums, states.sums(norm)), name + (norm ? ", sums after the norm" : ", sums"));
    }
  }
  backend.final_norm(nullptr, nullptr, 1, 0, 64, nullptr);
  backend.sum_rows(nullptr, nullptr, 1, 64, {}, nullptr);
}

/// More results than are computed at a time.
void states_of_many_sequences(Checks& checks, ops::Backend& backend) {
  constexpr size_t kWidth = 4096, kSequences = 300;
  Random random(8);
  const std::vector<float> values = random.vector(kWidth);
  const Array x(backend, values);
  const uint32_t one = 1;
  std::vector<double> sums(kSequences * 2 * kWidth, 1.0);
  backend.sum_rows(x.floats(), nullptr, 0, kWidth, std::vector<ops::RowSums>(kSequences, {0, {&one, 1}}),
                   sums.data());
  for (size_t i = 0; i < kSequences * kWidth; ++i)
    if (sums[(i / kWidth * 2 + 1) * kWidth + i % kWidth] != 1 + static_cast<double>(values[i % kWidth]))
      return checks.that(false, "sequence " + std::to_string(i / kWidth));
}

/// More than page-locked memory holds at a time, from memory that changes at once.
void uploads_arrive(Checks& checks, ops::Backend& backend) {
  Random random(6);
  const size_t large = size_t{3} << 20;
  for (const size_t count : {size_t{1}, large + 1, size_t{17}, large}) {
    const std::vector<float> expected = random.vector(count);
    std::vector<float> values = expected;
    const Array to(backend, count * sizeof(float));
    backend.upload(values.data(), count, to.floats());
    std::ranges::fill(values, -1.0f);
    checks.that(same_bits(to.read(count), expected), std::to_string(count) + " elements");
  }
}

}  // namespace

void check_rows(Checks& checks, const Machine& machine) {
  for (const Way& way : {kWays[0], kWays[1], kWays[3]}) {
    const auto backend = make(machine, way);
    const auto run = [&](const char* name, void (*body)(Checks&, ops::Backend&)) {
      checks.run(std::string(name) + " [" + way.name() + "]", [&] { body(checks, *backend); });
    };
    run("embed copies rows of every type", embed_copies);
    run("norm agrees with double precision", norm_agrees);
    run("norm: a row does not see its neighbours", norm_is_invariant);
    run("norms of heads agree with double precision", head_norms_agree);
    run("swiglu agrees with double precision", swiglu_agrees);
    run("select_rows copies, and nothing is no error", select_copies);
    run("states and their sums have the bits of the CPU", states_have_the_bits_of_the_cpu);
    if (way.dtype == DType::bf16) run("sums of states of many sequences", states_of_many_sequences);
    run("uploads arrive as they were", uploads_arrive);
    run("memory is zeroed and aligned", [](Checks& c, ops::Backend& b) {
      const Array fresh(b, 1000 * sizeof(float));
      c.that(same_bits(fresh.read(1000), std::vector<float>(1000)), "zeros");
      c.that(reinterpret_cast<uintptr_t>(fresh.get()) % 64 == 0, "64 bytes");
      b.release(nullptr);
    });
  }
}

}  // namespace carbon::gpu_test
