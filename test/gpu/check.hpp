// What the checks of the CUDA backend share: counting, numbers, and arrays in device memory.
//
// The same checks run on a GPU (check_gpu) and, in sizes that it can bear, on test/cuda_emulation. They use
// neither htslib nor a test framework, so that the program can be carried to a machine with
// nothing but a driver.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "kernels/cuda/cuda_backend.hpp"
#include "kernels/ops.hpp"
#include "src/base/error.hpp"
#include "test/reference/kernel_data.hpp"

namespace carbon::gpu_test {

class Checks {
 public:
  /// A line for every case; a failed one says what and goes on.
  void run(const std::string& name, const std::function<void()>& body);
  void that(bool good, const std::string& what);
  /// error <= bound, and not NaN; the worst ratio of the case is printed with it.
  void within(double error, double bound, const std::string& what);
  /// That body throws Error with `text` in its message.
  void refused(const std::function<void()>& body, const std::string& text);
  int passed() const { return passed_; }
  int failed() const { return failed_; }

 private:
  int passed_ = 0, failed_ = 0;
  int case_failures_ = 0;
  double worst_ = 0;
};

/// Which machine the checks run on, and so how large they may be.
struct Machine {
  bool emulated = false;  // or as slow
  int device = 0;
};

/// The backend in all the ways it can multiply: f32, bf16 by its own kernels, bf16 by the library, f16 by its
/// own kernels.
struct Way {
  DType dtype;
  bool library;
  std::string name() const {
    return dtype == DType::bf16 ? library ? "bf16, library" : "bf16, own" : dtype_name(dtype);
  }
};
inline constexpr Way kWays[] = {
    {DType::f32, false}, {DType::bf16, false}, {DType::bf16, true}, {DType::f16, false}};
inline std::unique_ptr<ops::Backend> make(const Machine& machine, const Way& way) {
  return cuda::make_backend({way.dtype, machine.device, way.library});
}

inline constexpr ops::RowClass kClasses[] = {ops::RowClass::prefill, ops::RowClass::decode};
inline std::string name(ops::RowClass row_class) {
  return row_class == ops::RowClass::prefill ? "prefill" : "decode";
}

using testing::Random;
using testing::Stored;
using testing::stored;
using testing::stored_q8_0;
using testing::StoredBlocks;

/// Bytes in device memory.
class Array {
 public:
  Array(ops::Backend& backend, size_t bytes);
  Array(ops::Backend& backend, const void* data, size_t bytes);
  Array(ops::Backend& backend, const std::vector<float>& values)
      : Array(backend, values.data(), values.size() * sizeof(float)) {}
  ~Array() { backend_->release(memory_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  void* get() const { return memory_; }
  float* floats() const { return static_cast<float*>(memory_); }
  void* at(size_t bytes) const { return static_cast<char*>(memory_) + bytes; }
  std::vector<float> read(size_t count) const;              // f32
  std::vector<float> read(size_t count, DType type) const;  // of any type, as f32
  std::vector<uint8_t> bytes(size_t count) const;

 private:
  ops::Backend* backend_;
  void* memory_;
};

/// A number of bf16 or f16.
float half_of(DType type, const void* from);
/// To nearest even.
float rounded(DType type, float x);

/// Bytes of device memory that nobody has.
size_t free_memory();

/// Unit roundoff of what an act buffer stores.
inline double act_epsilon(DType type) {
  return type == DType::bf16 ? 0x1p-8 : type == DType::f16 ? 0x1p-11 : 0x1p-24;
}
/// The largest error of a number of that type that is almost 0.
inline double smallest(DType type) {
  return type == DType::f16 ? 0x1p-25 : 1e-30;
}
/// The larger; a NaN counts as infinitely bad, where std::max would drop it.
inline double worse(double worst, double error) {
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
}
template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

// A file each; the first two are of test/cuda_emulation.
void check_emulation(Checks& checks, const Machine& machine);
void check_choice(Checks& checks, const Machine& machine);  // a part of check_linear
void check_plan(Checks& checks, const Machine& machine);
void check_stream(Checks& checks, const Machine& machine);
void check_rows(Checks& checks, const Machine& machine);
void check_linear(Checks& checks, const Machine& machine);
void check_library(Checks& checks, const Machine& machine);     // a part of check_linear
void check_f16(Checks& checks, const Machine& machine);         // likewise
void check_f16_models(Checks& checks, const Machine& machine);  // a part of check_decoder
void check_attention(Checks& checks, const Machine& machine);
void check_heads(Checks& checks, const Machine& machine);
void check_draw(Checks& checks, const Machine& machine);
void check_decoder(Checks& checks, const Machine& machine);
void check_letters(Checks& checks, const Machine& machine);
void check_memory(Checks& checks, const Machine& machine);

}  // namespace carbon::gpu_test
