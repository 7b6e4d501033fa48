// linear(): against double precision, for every type and instruction set, and bit for bit across batches and
// threads.
#include <sys/mman.h>

#include <cmath>
#include <cstdio>

#include "test/unit/kernels_support.hpp"

using namespace carbon;
using namespace carbon::testing;

namespace {

/// Checks out[i, j] against a sum in double. A sum of K products in f32, in any order, errs by at most
/// K * 2^-24 * sum |a w| to first order; one more step for flushing and the last rounding.
void check_product(const std::string& name, const std::vector<float>& act, const Stored& w, size_t m,
                   size_t n, size_t k, const std::vector<float>& out, size_t ld) {
  double worst = 0;
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j) {
      double sum = 0, size = 0;
      for (size_t c = 0; c < k; ++c) {
        const double p = static_cast<double>(act[i * k + c]) * static_cast<double>(w.value[j * k + c]);
        sum += p;
        size += std::fabs(p);
      }
      const double bound = static_cast<double>(k + 1) * 0x1p-24 * size;
      worst = worse(worst, std::fabs(static_cast<double>(out[i * ld + j]) - sum) / bound);
    }
  INFO(name, " M=", m, " N=", n, " K=", k);
  CHECK(worst <= 1.0);
}

struct Types {
  DType act, weight;
};

}  // namespace

TEST_CASE("linear agrees with double precision in every type and shape") {
  for (const Way& way : ways())
    for (const Types types : {Types{DType::bf16, DType::bf16}, Types{DType::f32, DType::f32},
                              Types{DType::f32, DType::bf16}, Types{DType::f32, DType::f16}}) {
      const auto backend = way.make(types.act);
      for (const size_t k : {20, 33, 64, 1000, 3072})
        for (const size_t n : {1, 5, 100}) {
          Random random(k * 1000 + n);
          const Stored w = stored(types.weight, random.vector(n * k));
          const auto weight = backend->prepare({w.data(), types.weight, n, k});
          CHECK(weight->rows() == n);
          CHECK(weight->cols() == k);
          const size_t rows = 300, ld = n + 3;
          const Stored a = stored(types.act, random.vector(rows * k));
          std::vector<float> full(rows * ld, -7.0f);
          backend->linear(a.data(), rows, *weight, full.data(), ld);
          check_product(way.name(), a.value, w, k == 3072 && n == 100 ? 20 : 65, n, k, full, ld);
          CHECK(full[n] == -7.0f);  // beyond a row's outputs nothing is written
          for (const size_t m : {1, 2, 7, 8, 9, 63, 64, 65}) {
            // The last m rows alone have the same bits as among all rows.
            const size_t first = rows - m;
            std::vector<float> part(m * n);
            const char* const from = static_cast<const char*>(a.data()) + first * k * dtype_size(types.act);
            backend->linear(from, m, *weight, part.data(), n);
            bool same = true;
            for (size_t i = 0; i < m; ++i) same = same && same_bits(&part[i * n], &full[(first + i) * ld], n);
            INFO(way.name(), " act ", dtype_name(types.act), " weight ", dtype_name(types.weight), " M=", m,
                 " N=", n, " K=", k);
            CHECK(same);
          }
        }
    }
}

TEST_CASE("linear has the same bits for any number of threads and rows") {
  for (const Way& way : all_ways())
    for (const DType type : {DType::bf16, DType::f32}) {
      if (!way.takes(type)) continue;
      const size_t m = 333, n = 260, k = 1100;
      Random random(5);
      const Stored w = stored(type, random.vector(n * k)), a = stored(type, random.vector(m * k));
      std::vector<std::vector<float>> results;
      for (const int threads : {1, 2, 3}) {
        const auto backend = way.make(type, threads);
        const auto weight = backend->prepare({w.data(), type, n, k});
        results.emplace_back(m * n);
        backend->linear(a.data(), m, *weight, results.back().data(), n);
        std::vector<float> one(n);
        backend->linear(static_cast<const char*>(a.data()) + 300 * k * dtype_size(type), 1, *weight,
                        one.data(), n);
        CHECK(same_bits(one.data(), &results.back()[300 * n], n));
      }
      INFO(way.name(), " ", dtype_name(type));
      CHECK(same_bits(results[0].data(), results[1].data(), m * n));
      CHECK(same_bits(results[0].data(), results[2].data(), m * n));
    }
}

TEST_CASE("linear_add is linear and one addition, for any rows and threads") {
  for (const Way& way : all_ways())
    for (const DType type : {DType::bf16, DType::f32})
      for (const size_t n : {1, 5, 260}) {
        if (!way.takes(type)) continue;
        const size_t m = 333, k = n == 5 ? 1100 : 1088;  // 1088 inputs are whole tiles of AMX
        Random random(6 + n);
        const Stored w = stored(type, random.vector(n * k)), a = stored(type, random.vector(m * k));
        const std::vector<float> before = random.vector(m * n, 30.0f);
        const auto backend = way.make(type, 2);
        // Once as one matrix, and once as two matrices of one weight.
        const TensorView whole{w.data(), type, n, k};
        const TensorView halves[] = {whole.slice_rows(0, n / 2), whole.slice_rows(n / 2, n - n / 2)};
        for (const bool joined : {false, true}) {
          if (joined && n == 1) continue;
          const auto weight = joined ? backend->prepare(halves) : backend->prepare(whole);
          std::vector<float> product(m * n), x = before, one(&before[300 * n], &before[301 * n]);
          backend->linear(a.data(), m, *weight, product.data(), n);
          backend->linear_add(a.data(), m, *weight, x.data());
          for (size_t i = 0; i < product.size(); ++i) product[i] = before[i] + product[i];
          INFO(way.name(), " ", dtype_name(type), " N=", n, " joined ", joined);
          CHECK(same_bits(x.data(), product.data(), m * n));
          backend->linear_add(static_cast<const char*>(a.data()) + 300 * k * dtype_size(type), 1, *weight,
                              one.data());
          CHECK(same_bits(one.data(), &x[300 * n], n));
        }
      }
}

TEST_CASE("matrices joined in one weight, and parts of it, have the bits of each alone") {
  const size_t widths[] = {5, 100, 64, 33}, k = 600, m = 23, ld = 5 + 100 + 64 + 33 + 3;
  for (const Way& way : all_ways())
    for (const DType act : {DType::bf16, DType::f32}) {
      if (!way.takes(act)) continue;
      const auto backend = way.make(act, 2);
      Random random(16);
      const Stored a = stored(act, random.vector(m * k));
      std::vector<Stored> stores;
      std::vector<TensorView> views;
      std::vector<std::vector<float>> alone;  // [m, width] each
      for (const size_t width : widths) {
        // The matrices have different types, which are kept if activations are f32.
        const DType type = stores.size() == 1 ? DType::f32 : DType::bf16;
        stores.push_back(stored(type, random.vector(width * k)));
        views.push_back({stores.back().data(), type, width, k});
      }
      for (const TensorView& view : views) {
        alone.emplace_back(m * view.rows);
        backend->linear(a.data(), m, *backend->prepare(view), alone.back().data(), view.rows);
      }
      auto whole = backend->prepare(views);
      CHECK(whole->rows() == ld - 3);
      const auto same = [&](const ops::Weight& weight, size_t first, size_t count) {
        std::vector<float> out(m * ld, -7.0f);
        backend->linear(a.data(), m, weight, out.data(), ld);
        bool all = true;
        for (size_t i = 0; i < m; ++i) {
          const float* at = &out[i * ld];
          for (size_t j = first; j < first + count; at += widths[j++])
            all = all && same_bits(at, &alone[j][i * widths[j]], widths[j]);
          for (; at < &out[i * ld] + ld; ++at) all = all && *at == -7.0f;  // nothing beyond its outputs
        }
        return all;
      };
      INFO(way.name(), " ", dtype_name(act));
      CHECK(same(*whole, 0, 4));
      const auto first = backend->part(*whole, 0, 1), middle = backend->part(*whole, 1, 2),
                 last = backend->part(*middle, 1, 1);
      whole.reset();  // the parts must not need it
      CHECK(same(*first, 0, 1));
      CHECK(same(*middle, 1, 2));
      CHECK(same(*last, 2, 1));
    }
}

TEST_CASE("both products of a SwiGLU and their gate have the bits of the three operations") {
  for (const Way& way : all_ways())
    for (const DType type : {DType::bf16, DType::f32}) {
      if (!way.takes(type)) continue;
      const size_t width = 330;
      for (const size_t k : {600, 608}) {  // 608 inputs are whole tiles of AMX
        Random random(15);
        const Stored gate = stored(type, random.vector(width * k)),
                     up = stored(type, random.vector(width * k)), a = stored(type, random.vector(400 * k));
        const auto backend = way.make(type, 2);
        const auto g = backend->prepare({gate.data(), type, width, k});
        const auto u = backend->prepare({up.data(), type, width, k});
        for (const size_t n : {1, 7, 23, 400}) {
          std::vector<float> both(n * 2 * width);
          std::vector<uint8_t> joined(n * width * dtype_size(type)), apart(joined.size());
          CHECK(backend->swiglu_scratch(n, *g, *u, ops::RowClass::prefill) == 0);
          backend->linear_swiglu(a.data(), n, *g, *u, nullptr, joined.data());
          backend->Backend::linear_swiglu(a.data(), n, *g, *u, both.data(), apart.data());
          INFO(way.name(), " ", dtype_name(type), " ", n, " rows");
          CHECK(joined == apart);
        }
      }
    }
}

TEST_CASE("in bf16 mode other weights are rounded once, as to_bf16 rounds") {
  const size_t n = 40, k = 96;
  Random random(8);
  const std::vector<float> values = random.vector(n * k);
  const Stored rounded = stored(DType::bf16, values), a = stored(DType::bf16, random.vector(3 * k));
  for (const Way& way : ways()) {
    const auto backend = way.make(DType::bf16);
    const auto from_f32 = backend->prepare({values.data(), DType::f32, n, k});
    const auto from_bf16 = backend->prepare({rounded.data(), DType::bf16, n, k});
    std::vector<float> x(3 * n), y(3 * n);
    backend->linear(a.data(), 3, *from_f32, x.data(), n);
    backend->linear(a.data(), 3, *from_bf16, y.data(), n);
    INFO(way.name());
    CHECK(same_bits(x.data(), y.data(), x.size()));
  }
}

TEST_CASE("weights of q8_0 have the bits of the same numbers in f32") {
  const size_t n = 70, k = 1120, m = 9;  // more than one chunk of a conversion
  Random random(31);
  const StoredBlocks w = stored_q8_0(random.vector(n * k));
  for (const Way& way : ways())
    for (const DType type : {DType::bf16, DType::f32}) {
      const Stored a = stored(type, random.vector(m * k));
      const auto backend = way.make(type, 2);
      const TensorView blocks{w.bytes.data(), WeightType::q8_0, n, k};
      const auto from_blocks = backend->prepare(blocks);
      const auto from_f32 = backend->prepare({w.value.data(), DType::f32, n, k});
      const auto lower = backend->prepare(blocks.slice_rows(40, 30));
      std::vector<float> x(m * n), y(m * n), z(m * 30);
      backend->linear(a.data(), m, *from_blocks, x.data(), n);
      backend->linear(a.data(), m, *from_f32, y.data(), n);
      backend->linear(a.data(), m, *lower, z.data(), 30);
      INFO(way.name(), " ", dtype_name(type));
      CHECK(same_bits(x.data(), y.data(), x.size()));
      for (size_t i = 0; i < m; ++i) CHECK(same_bits(&z[i * 30], &y[i * n + 40], 30));
    }
}

TEST_CASE("linear on a large shape has the same bits for batch sizes of real work") {
  const size_t n = 256, k = 1056, rows = 700;
  Random random(12);
  const Stored w = stored(DType::bf16, random.vector(n * k)),
               a = stored(DType::bf16, random.vector(rows * k));
  for (const Way& way : all_ways()) {
    const auto backend = way.make(DType::bf16, 2), single = way.make(DType::bf16, 1);
    const auto weight = backend->prepare({w.data(), DType::bf16, n, k});
    const auto weight1 = single->prepare({w.data(), DType::bf16, n, k});
    std::vector<float> full(rows * n), part(rows * n);
    backend->linear(a.data(), rows, *weight, full.data(), n);
    INFO(way.name());
    if (!way.int8) check_product(way.name(), a.value, w, 5, n, k, full, n);
    for (const size_t m : {1, 3, 16, 171, 512, 683, 700}) {
      single->linear(&a.half[(rows - m) * k], m, *weight1, part.data(), n);
      CHECK(same_bits(part.data(), &full[(rows - m) * n], m * n));
    }
  }
}

TEST_CASE("a weight in a mapped file may lose its pages and is still right") {
  const size_t n = 128, k = 512, bytes = n * k * 2;
  Random random(13);
  const Stored w = stored(DType::bf16, random.vector(n * k)), a = stored(DType::bf16, random.vector(4 * k));
  std::FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  REQUIRE(std::fwrite(w.data(), 1, bytes, file) == bytes);
  REQUIRE(std::fflush(file) == 0);
  void* const map = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fileno(file), 0);
  REQUIRE(map != MAP_FAILED);
  for (const Way& way : all_ways()) {
    const auto backend = way.make(DType::bf16);
    const auto plain = backend->prepare({w.data(), DType::bf16, n, k});
    const TensorView view{map, DType::bf16, n, k, true};
    CHECK(view.slice_rows(1, 2).mapped_file);
    const auto mapped = backend->prepare(view);
    std::vector<float> x(4 * n), y(4 * n);
    backend->linear(a.data(), 4, *plain, x.data(), n);
    backend->linear(a.data(), 4, *mapped, y.data(), n);
    INFO(way.name());
    CHECK(same_bits(x.data(), y.data(), x.size()));
    CHECK(std::memcmp(map, w.data(), bytes) == 0);
  }
  munmap(map, bytes);
  std::fclose(file);
}

TEST_CASE("linear lets NaN and infinity through") {
  const size_t n = 8, k = 50;
  Random random(9);
  const Stored w = stored(DType::bf16, random.vector(n * k));
  for (const Way& way : all_ways()) {
    const auto backend = way.make(DType::bf16);
    const auto weight = backend->prepare({w.data(), DType::bf16, n, k});
    std::vector<float> values = random.vector(2 * k);
    values[k + 49] = std::nanf("");
    const std::vector<uint8_t> act = to_act(DType::bf16, values);
    std::vector<float> out(2 * n);
    backend->linear(act.data(), 2, *weight, out.data(), n);
    for (size_t j = 0; j < n; ++j) {
      CHECK(std::isfinite(out[j]));
      CHECK(std::isnan(out[n + j]));
    }
  }
}

TEST_CASE("linear and prepare refuse what they cannot do") {
  const auto backend = Way{"generic"}.make(DType::f32);
  const std::vector<float> data(12);
  CHECK_THROWS_AS(backend->prepare({data.data(), DType::f32, 0, 4}), Error);
  CHECK_THROWS_AS(backend->prepare({nullptr, DType::f32, 3, 4}), Error);
  CHECK_THROWS_AS(backend->prepare(std::span<const TensorView>()), Error);
  const TensorView uneven[] = {{data.data(), DType::f32, 3, 4}, {data.data(), DType::f32, 4, 3}};
  CHECK_THROWS_AS(backend->prepare(uneven), Error);
  const auto weight = backend->prepare({data.data(), DType::f32, 3, 4});
  CHECK_THROWS_AS(backend->part(*weight, 0, 0), Error);
  CHECK_THROWS_AS(backend->part(*weight, 1, 1), Error);
  CHECK_THROWS_AS(backend->part(*weight, 0, 2), Error);
  std::vector<float> out(12);
  CHECK_THROWS_AS(backend->linear(data.data(), 1, *weight, out.data(), 2), Error);
  CHECK_THROWS_AS(ops::cpu_isa("sse9"), Error);
  CHECK_THROWS_AS((Way{"generic"}.make(DType::f32, 0)), Error);
  CHECK_THROWS_AS((Way{"generic"}.make(DType::f16)), Error);
  CHECK(ops::cpu_isa("generic") == "generic");
}

TEST_CASE("device_kind names what bits depend on") {
  for (const Way& way : all_ways()) {
    const std::string bf16 = way.make(DType::bf16)->device_kind();
    CHECK(bf16 == "cpu:" + way.isa + (way.int8 ? "+int8.1:2" : ":2"));
    CHECK(way.make(DType::bf16, 2)->device_kind() == bf16);
    if (way.takes(DType::f32)) CHECK(way.make(DType::f32)->device_kind() == "cpu:" + way.isa + ":2");
  }
}
