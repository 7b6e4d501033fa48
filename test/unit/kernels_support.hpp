// Helpers for the tests of kernels: random data, aligned buffers, and all ways to run the CPU backend on this
// CPU.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cpu/cpu_machine.hpp"
#include "kernels/ops.hpp"
#include "src/base/error.hpp"
#include "test/reference/kernel_data.hpp"

namespace carbon::testing {

/// One way to run the backend.
struct Way {
  std::string isa;
  bool int8 = false;
  std::unique_ptr<ops::Backend> make(DType dtype, int threads = 1) const {
    ops::CpuOptions options;
    options.dtype = dtype;
    options.threads = threads;
    options.isa = isa;
    options.int8 = int8;
    return ops::make_cpu_backend(options);
  }
  std::string name() const { return isa + (int8 ? "+int8" : ""); }
  /// Products of int8 go with activations in bf16.
  bool takes(DType type) const { return type == DType::bf16 || !int8; }
};

/// Every instruction set of this CPU, or $CARBON_FORCE_ISA alone.
inline std::vector<Way> ways() {
  std::vector<Way> result;
  const char* const forced = std::getenv("CARBON_FORCE_ISA");
  for (const cpu::Kernels* k : cpu::supported_kernels())
    if (forced == nullptr || *forced == '\0' || &cpu::select_kernels("") == k) result.push_back({k->name});
  return result;
}

/// Also products of int8, for what does not depend on how exact they are.
inline std::vector<Way> all_ways() {
  std::vector<Way> result = ways();
  for (const Way& way : ways()) result.push_back({way.isa, true});
  return result;
}

/// Activations or results in the backend's act type, from and to float.
inline std::vector<uint8_t> to_act(DType type, const std::vector<float>& values) {
  std::vector<uint8_t> bytes(values.size() * dtype_size(type));
  for (size_t i = 0; i < values.size(); ++i) {
    if (type == DType::bf16) {
      const bf16 b = to_bf16(values[i]);
      std::memcpy(&bytes[2 * i], &b, 2);
    } else {
      std::memcpy(&bytes[4 * i], &values[i], 4);
    }
  }
  return bytes;
}
inline std::vector<float> from_act(DType type, const std::vector<uint8_t>& bytes) {
  std::vector<float> values(bytes.size() / dtype_size(type));
  for (size_t i = 0; i < values.size(); ++i) {
    if (type == DType::bf16) {
      bf16 b;
      std::memcpy(&b, &bytes[2 * i], 2);
      values[i] = to_float(b);
    } else {
      std::memcpy(&values[i], &bytes[4 * i], 4);
    }
  }
  return values;
}

/// Unit roundoff of what an act buffer stores.
inline double act_epsilon(DType type) {
  return type == DType::bf16 ? 0x1p-8 : 0x1p-24;
}

/// The larger of the two errors. NaN counts as infinite, while std::max would ignore it.
inline double worse(double worst, double error) {
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
}

template <class T>
bool same_bits(const T* a, const T* b, size_t n) {
  return std::memcmp(a, b, n * sizeof(T)) == 0;
}

}  // namespace carbon::testing
