#include "bench/gpu/bits.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench/gpu/chain_model.hpp"
#include "bench/gpu/chains.hpp"
#include "kernels/cuda/matmul.hpp"
#include "kernels/cuda/mma_plan.hpp"
#include "kernels/cuda/selftest.hpp"
#include "kernels/tensor.hpp"
#include "src/base/error.hpp"

namespace carbon::gpu_bench {
namespace {

using cuda::MatmulResult;

constexpr size_t kSize = 64;  // rows, outputs and columns of the small products
constexpr size_t kStep = 16;  // columns of an instruction
constexpr size_t kResults = kSize * kSize;

/// Factors of a small product.
struct Numbers {
  const char* name;
  std::vector<float> act, weight;  // of bf16
};

float to_bf16_value(double x) {
  return to_float(to_bf16(static_cast<float>(x)));
}

/// `act` and `weight` make the element of a row, or an output, and a column.
Numbers make_numbers(const char* name, const std::function<double(size_t, size_t)>& act,
                     const std::function<double(size_t, size_t)>& weight) {
  Numbers numbers{name, {}, {}};
  for (size_t i = 0; i < kSize; ++i)
    for (size_t k = 0; k < kSize; ++k) {
      numbers.act.push_back(to_bf16_value(act(i, k)));
      numbers.weight.push_back(to_bf16_value(weight(i, k)));
    }
  return numbers;
}

/// The first are integers, whose products and sums are exact in every order.
std::vector<Numbers> all_numbers() {
  std::mt19937 random(86);
  const auto uniform = [&](double least, double most) {
    return least + (most - least) * static_cast<double>(random()) / 0x1p32;
  };
  const auto integer = [&](size_t, size_t) { return std::floor(uniform(-8, 9)); };
  const auto any = [&](size_t, size_t) { return uniform(-1, 1); };
  const auto near_one = [&](size_t, size_t) { return uniform(0.5, 2); };
  const auto power = [&](double least, double most) {
    return [=, &uniform](size_t, size_t) {
      return uniform(-1, 1) * std::exp2(std::floor(uniform(least, most)));
    };
  };
  std::vector<Numbers> all;
  all.push_back(make_numbers("integers", integer, integer));
  all.push_back(make_numbers("uniform", any, any));
  all.push_back(make_numbers("powers", power(-12, 12), power(-6, 6)));
  // The second half of a step takes away what the first half has given, but for what was lost.
  all.push_back(make_numbers("cancelling", any, any));
  for (size_t i = 0; i < kSize * kSize; ++i)
    if (i % kStep >= kStep / 2) {
      all.back().act[i] = -all.back().act[i - kStep / 2];
      all.back().weight[i] = all.back().weight[i - kStep / 2];
    }
  // A large number comes somewhere in a step and goes somewhere in the same one or the next one.
  all.push_back(make_numbers(
      "come and go",
      [&](size_t i, size_t k) {
        const double large = std::exp2(20 + static_cast<double>(i % 12));
        if (k == i % kStep) return large;
        return k == (i % kStep + 1 + i / kStep * 7) % (2 * kStep) ? -large : uniform(0.5, 2);
      },
      [&](size_t, size_t) { return 1.0; }));
  all.push_back(make_numbers("large first", near_one, [&](size_t i, size_t k) {
    return k % kStep == 0 ? std::exp2(static_cast<double>(16 + i % 16)) : uniform(-1, 1);
  }));
  all.push_back(make_numbers("subnormal", power(-72, -60), power(-80, -64)));
  all.push_back(make_numbers("subnormal bf16", power(-132, -124), power(-8, 8)));
  return all;
}

std::vector<bf16> stored(const std::vector<float>& values) {
  std::vector<bf16> bits;
  for (const float value : values) bits.push_back(to_bf16(value));
  return bits;
}

bool same_bits(float a, float b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}
size_t count_equal(const std::vector<float>& a, const std::vector<float>& b) {
  size_t equal = 0;
  for (size_t i = 0; i < a.size(); ++i) equal += same_bits(a[i], b[i]) ? 1 : 0;
  return equal;
}

std::vector<float> by_model(const ChainModel& model, const Numbers& numbers) {
  std::vector<float> results;
  for (size_t i = 0; i < kSize; ++i)
    for (size_t j = 0; j < kSize; ++j)
      results.push_back(run_chain(model, 0, &numbers.act[i * kSize], &numbers.weight[j * kSize], kSize));
  return results;
}

/// What computes small products.
struct Way {
  std::string name;
  std::function<bool(const ChainCall&)> run;  // false: it cannot
};

/// Results of a way for all numbers; empty where it cannot.
using Results = std::vector<std::vector<float>>;

Results measure(const std::shared_ptr<const cuda::Device>& device, const Way& way,
                const std::vector<Numbers>& all) {
  constexpr size_t kBytes = kSize * kSize * sizeof(bf16);
  const cuda::Memory act(device, kBytes, "bits"), weight(device, kBytes, "bits"),
      out(device, kResults * sizeof(float), "bits");
  Results results;
  for (const Numbers& numbers : all) {
    device->copy_in(act.get(), stored(numbers.act).data(), kBytes);
    device->copy_in(weight.get(), stored(numbers.weight).data(), kBytes);
    device->clear(out.get(), out.bytes());
    if (!way.run({act.get(), weight.get(), kSize, kSize, kSize, out.as<float>()})) return {};
    results.emplace_back(kResults);
    device->copy_out(results.back().data(), out.get(), out.bytes());
  }
  return results;
}

/// The models with all results of a way, or the best one with its share of them. They do not say which sign a
/// zero has.
std::string describe_models(const Results& results, const std::vector<Results>& models) {
  const std::vector<ChainModel> ways = chain_models();
  std::string found;
  size_t best = 0, most = 0, others = 0;
  for (size_t m = 0; m < ways.size(); ++m) {
    size_t equal = 0;
    for (size_t i = 0; i < results.size(); ++i)
      for (size_t r = 0; r < kResults; ++r) equal += results[i][r] == models[m][i][r] ? 1 : 0;
    if (equal > most) {
      best = m;
      most = equal;
    }
    if (equal < results.size() * kResults) continue;
    if (found.empty())
      found = ways[m].name();
    else
      ++others;
  }
  if (!found.empty()) return others == 0 ? found : found + " and " + std::to_string(others) + " more";
  char text[96];
  std::snprintf(text, sizeof text, "none; %.1f %%: %s",
                100 * static_cast<double>(most) / static_cast<double>(results.size() * kResults),
                ways[best].name().c_str());
  return text;
}

class Bits {
 public:
  Bits(std::shared_ptr<const cuda::Device> device, size_t rows)
      : device_(std::move(device)),
        rows_(rows),
        matmul_(cuda::make_matmul(
            device_, std::max(rows, cuda::pass_rows(static_cast<size_t>(device_->multiprocessors()))))) {}

  bool print_small() {
    const std::vector<Numbers> all = all_numbers();
    std::vector<Results> models;
    for (const ChainModel& model : chain_models()) {
      models.emplace_back();
      for (const Numbers& numbers : all) models.back().push_back(by_model(model, numbers));
    }
    std::string head = "| by |", line = "|---|";
    for (const Numbers& numbers : all) {
      head += std::string(" ") + numbers.name + " |";
      line += "---|";
    }
    std::printf("\nOf %zu results the number that differ from those of mma.sync:\n\n%s added as |\n%s---|\n",
                kResults, head.c_str(), line.c_str());
    Results plain;
    for (const Way& way : ways()) {
      const Results results = measure(device_, way, all);
      std::printf("| %s |", way.name.c_str());
      if (results.empty()) {
        std::printf(" it cannot |\n");
        continue;
      }
      if (plain.empty()) plain = results;
      size_t differ = 0;
      for (size_t i = 0; i < all.size(); ++i) {
        const size_t different = kResults - count_equal(results[i], plain[i]);
        std::printf(" %zu |", different);
        differ += different;
      }
      std::printf(" %s |\n", describe_models(results, models).c_str());
      // Whatever the additions are, sums of integers are exact.
      if (count_equal(results[0], models[0][0]) != kResults) wrong_.push_back(way.name);
      if (way.name.starts_with("wgmma")) wgmma_.emplace_back(way.name, differ);
    }
    std::fflush(stdout);
    return wrong_.empty();
  }

  void print_products(std::span<const TileProduct> products) {
    std::printf(
        "\nProducts of %zu rows by the library: in how many chains of mma.sync they are added.\n\n"
        "| outputs x k | f32 | bf16 | added | algorithm of f32 |\n|---|---|---|---|---|\n",
        rows_);
    std::set<std::pair<size_t, size_t>> seen;
    for (const TileProduct& product : products)
      if (product.k % kStep == 0 && product.outputs % kSize == 0 &&
          seen.emplace(product.outputs, product.k).second)
        print_product(product);
  }

  void print_conclusions() const {
    std::printf("\n");
    const auto blocks = static_cast<unsigned>(device_->multiprocessors());
    const cuda::Memory counter(device_, sizeof(uint32_t), "bits");
    const float barrier = barrier_microseconds(device_->stream().handle(), blocks, counter.as<uint32_t>());
    if (barrier < 0)
      std::printf("a barrier of the whole grid cannot be measured here\n");
    else
      std::printf("a barrier of %u blocks of %u threads takes %.3g us\n", blocks, kBarrierThreads, barrier);
    for (const auto& [name, differ] : wgmma_)
      std::printf("%s has %s bits of mma.sync\n", name.c_str(), differ == 0 ? "all" : "NOT all");
    std::printf("the library has the bits of one chain of mma.sync in %zu of %zu products\n", one_chain_,
                products_);
    for (const std::string& name : wrong_) std::printf("FAILED: %s sums integers wrongly\n", name.c_str());
  }

 private:
  std::vector<Way> ways() {
    std::vector<Way> all{{"mma.sync, one chain", [this](const ChainCall& call) {
                            run_mma_chain(device_->stream(), call, {1, 1});
                            return true;
                          }}};
    for (const auto& [name, form] : {std::pair{"wgmma m64n8", WgmmaForm::n8},
                                     {"wgmma m64n64", WgmmaForm::n64},
                                     {"wgmma m64n64, rows in registers", WgmmaForm::n64_registers}})
      all.push_back({name, [this, form = form](const ChainCall& call) {
                       if (device_->capability() != 90) return false;
                       run_wgmma_chain(device_->stream(), call, form);
                       return true;
                     }});
    all.push_back(
        {"the library", [this](const ChainCall& c) {
           if (!matmul_->prepare(c.outputs, c.k, MatmulResult::f32)) return false;
           matmul_->run({c.act, c.weight, c.n, c.outputs, c.k, c.out, c.outputs, MatmulResult::f32});
           return true;
         }});
    return all;
  }

  /// Numbers whose sums are nothing but rounding (kernels/cuda/selftest.cpp).
  void print_product(const TileProduct& p) {
    const size_t count = rows_ * p.outputs;
    const cuda::Memory act(device_, rows_ * p.k * sizeof(bf16), "bits"),
        weight(device_, p.outputs * p.k * sizeof(bf16), "bits"),
        before(device_, count * sizeof(float), "bits"), out(device_, count * sizeof(float), "bits");
    cuda::fill_opposite(*device_, act.get(), rows_, p.k, -1);
    cuda::fill_opposite(*device_, weight.get(), p.outputs, p.k, 1);
    cuda::fill_random(*device_, before.get(), before.bytes() / sizeof(bf16));
    std::vector<float> added(count), got(count), chain(count);
    device_->copy_out(added.data(), before.get(), before.bytes());
    std::printf("| %zu x %zu |", p.outputs, p.k);
    for (const MatmulResult result : cuda::kMatmulResults) {
      ++products_;
      if (!matmul_->prepare(p.outputs, p.k, result)) {
        std::printf(" not used |");
        continue;
      }
      if (result == MatmulResult::added) device_->copy(out.get(), before.get(), before.bytes());
      matmul_->run({act.get(), weight.get(), rows_, p.outputs, p.k, out.get(), p.outputs, result});
      read(out, result, got);
      std::printf(" %s |", find_order({act.get(), weight.get(), rows_, p.outputs, p.k, out.as<float>()},
                                      result, added, got, chain)
                               .c_str());
    }
    std::printf(" %s |\n", matmul_->choice(p.outputs, p.k, MatmulResult::f32).substr(0, 60).c_str());
    std::fflush(stdout);
  }

  /// The results in device memory, as f32.
  void read(const cuda::Memory& out, MatmulResult result, std::vector<float>& to) const {
    if (result != MatmulResult::bf16)
      return device_->copy_out(to.data(), out.get(), to.size() * sizeof(float));
    std::vector<bf16> halves(to.size());
    device_->copy_out(halves.data(), out.get(), halves.size() * sizeof(bf16));
    std::ranges::transform(halves, to.begin(), [](bf16 half) { return to_float(half); });
  }

  std::string find_order(const ChainCall& call, MatmulResult result, const std::vector<float>& added,
                         const std::vector<float>& got, std::vector<float>& chain) {
    const int steps = static_cast<int>(call.k / kStep);
    const auto part = [&](int parts) { return ChainOrder{parts, (steps + parts - 1) / parts}; };
    size_t most = 0;
    for (const auto& [name, order] : {std::pair{"1", ChainOrder{1, 1}},
                                      {"2 halves", part(2)},
                                      {"4 quarters", part(4)},
                                      {"2 in turn, of 16", ChainOrder{2, 1}},
                                      {"2 in turn, of 32", ChainOrder{2, 2}},
                                      {"2 in turn, of 64", ChainOrder{2, 4}},
                                      {"4 in turn, of 16", ChainOrder{4, 1}}}) {
      run_mma_chain(device_->stream(), call, order);
      device_->copy_out(chain.data(), call.out, chain.size() * sizeof(float));
      for (size_t i = 0; i < chain.size(); ++i)
        chain[i] = result == MatmulResult::bf16    ? to_float(to_bf16(chain[i]))
                   : result == MatmulResult::added ? added[i] + chain[i]
                                                   : chain[i];
      const size_t equal = count_equal(chain, got);
      most = std::max(most, equal);
      if (equal < chain.size()) continue;
      one_chain_ += order.parts == 1 ? 1 : 0;
      return name;
    }
    char text[64];
    std::snprintf(text, sizeof text, "in another way (%.1f %% equal)",
                  100 * static_cast<double>(most) / static_cast<double>(chain.size()));
    return text;
  }

  std::shared_ptr<const cuda::Device> device_;
  size_t rows_;
  std::unique_ptr<cuda::Matmul> matmul_;
  std::vector<std::string> wrong_;                     // ways that sum integers wrongly
  std::vector<std::pair<std::string, size_t>> wgmma_;  // and how many results differ from mma.sync's
  size_t products_ = 0, one_chain_ = 0;
};

}  // namespace

bool print_bits(const std::shared_ptr<const cuda::Device>& device, std::span<const TileProduct> products,
                size_t rows) {
  if (device->code() < 80) throw Error("bench_gpu", "--bits: this device has no tensor cores for bf16");
  Bits bits(device, rows);
  const bool good = bits.print_small();
  bits.print_products(products);
  bits.print_conclusions();
  return good;
}

}  // namespace carbon::gpu_bench
