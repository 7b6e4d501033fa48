#include "test/gpu/check.hpp"

#include <cuda_runtime.h>

#include <bit>

namespace carbon::gpu_test {

void Checks::run(const std::string& name, const std::function<void()>& body) {
  case_failures_ = 0;
  worst_ = 0;
  try {
    body();
  } catch (const std::exception& error) {
    that(false, std::string("threw: ") + error.what());
  }
  ++(case_failures_ == 0 ? passed_ : failed_);
  std::printf("%-6s %s", case_failures_ == 0 ? "ok" : "FAILED", name.c_str());
  if (worst_ > 0) std::printf(" (error / bound: %.3g)", worst_);
  std::printf("\n");
  std::fflush(stdout);
}

void Checks::that(bool good, const std::string& what) {
  if (good) return;
  if (++case_failures_ <= 10) std::printf("    not so: %s\n", what.c_str());
}

void Checks::within(double error, double bound, const std::string& what) {
  worst_ = worse(worst_, error / bound);
  that(error <= bound, what + ": error " + std::to_string(error) + " above " + std::to_string(bound));
}

void Checks::refused(const std::function<void()>& body, const std::string& text) {
  try {
    body();
    that(false, "was not refused: " + text);
  } catch (const Error& error) {
    that(std::string(error.what()).find(text) != std::string::npos,
         std::string("says \"") + error.what() + "\" without \"" + text + "\"");
  }
}

size_t free_memory() {
  size_t free = 0, total = 0;
  if (cudaMemGetInfo(&free, &total) != cudaSuccess) throw Error("free_memory", "the device does not say");
  return free;
}

Array::Array(ops::Backend& backend, size_t bytes)
    : backend_(&backend), memory_(backend.allocate((bytes + 3) / 4 * 4)) {}

Array::Array(ops::Backend& backend, const void* data, size_t bytes) : Array(backend, bytes) {
  std::vector<float> words((bytes + 3) / 4);
  std::memcpy(words.data(), data, bytes);
  backend.upload(words.data(), words.size(), floats());
}

std::vector<float> Array::read(size_t count) const {
  std::vector<float> values(count);
  backend_->download(floats(), count, values.data());
  return values;
}

std::vector<uint8_t> Array::bytes(size_t count) const {
  const std::vector<float> words = read((count + 3) / 4);
  std::vector<uint8_t> result(count);
  std::memcpy(result.data(), words.data(), count);
  return result;
}

float half_of(DType type, const void* from) {
  uint16_t bits;
  std::memcpy(&bits, from, sizeof bits);
  return type == DType::bf16 ? to_float(bf16{bits}) : half_to_float(bits);
}

float rounded(DType type, float x) {
  return type == DType::f32    ? x
         : type == DType::bf16 ? to_float(to_bf16(x))
                               : half_to_float(float_to_half(x));
}

std::vector<float> Array::read(size_t count, DType type) const {
  if (type == DType::f32) return read(count);
  const std::vector<uint8_t> raw = bytes(count * sizeof(bf16));
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = half_of(type, &raw[2 * i]);
  return values;
}

}  // namespace carbon::gpu_test
