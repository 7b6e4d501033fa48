#include "kernels/cuda/matmul.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/checks.hpp"
#include "kernels/cuda/f16_weights.hpp"
#include "kernels/cuda/kernels.hpp"
#include "kernels/cuda/selftest.hpp"
#include "src/base/error.hpp"

namespace carbon::cuda {
namespace {

size_t round_up(size_t n, size_t step) {
  return (n + step - 1) / step * step;
}

/// Why algorithms were refused, with their numbers: "1, 3: it sums in pieces; 2: ...".
class Refusals {
 public:
  void add(size_t number, const std::string& why) {
    const auto same = std::ranges::find(reasons_, why, &Reason::why);
    if (same != reasons_.end())
      same->numbers += ", " + std::to_string(number);
    else
      reasons_.push_back({why, std::to_string(number)});
  }
  std::string text() const {
    std::string text;
    for (const Reason& reason : reasons_)
      text += (text.empty() ? "" : "; ") + reason.numbers + ": " + reason.why;
    return text;
  }

 private:
  struct Reason {
    std::string why, numbers;
  };
  std::vector<Reason> reasons_;
};

// The number of elements that are copied to the device and converted to another type at a time.
constexpr size_t kChunk = size_t{1} << 24;

/// Copies the elements of the matrix to device memory, times `factor` and as `type`.
void copy_as(const std::shared_ptr<const Device>& device, const TensorView& matrix, float factor,
             WeightType type, void* to) {
  if (matrix.dtype == type && factor == 1) return device->copy_in(to, matrix.data, matrix.bytes());
  const size_t n = matrix.rows * matrix.cols, chunk = std::min(n, kChunk);
  // Blocks with a scale are widened here, because the kernels know only types with blocks of one number.
  const bool blocks = matrix.dtype == WeightType::q8_0;
  const WeightType sent = blocks ? WeightType::f32 : matrix.dtype;
  std::vector<float> wide(blocks ? chunk : 0);
  const Memory passing(device, weight_bytes(sent, chunk), "weights on their way");
  for (size_t i = 0; i < n; i += kChunk) {
    const size_t count = std::min(kChunk, n - i);
    const void* from = static_cast<const char*>(matrix.data) + weight_bytes(matrix.dtype, i);
    if (blocks) {
      widen_q8_0(from, count, wide.data());
      from = wide.data();
    }
    device->copy_in(passing.get(), from, weight_bytes(sent, count));
    run_convert(device->stream(), passing.get(), sent, count, static_cast<char*>(to) + i * dtype_size(type),
                type, factor);
  }
}

WeightType common_type(std::span<const TensorView> matrices, DType act_type) {
  if (act_type != DType::f32) return weight_type(act_type);
  const WeightType first = matrices.front().dtype;
  if (first == WeightType::q8_0) return WeightType::f32;
  const auto same = [&](const TensorView& matrix) { return matrix.dtype == first; };
  return std::ranges::all_of(matrices, same) ? first : WeightType::f32;
}

}  // namespace

RowPadding::RowPadding(std::shared_ptr<const Device> device)
    : device_(std::move(device)), act_(device_, "padded rows"), out_(device_, "padded rows") {}

bool RowPadding::run(const MatmulCall& call, size_t rows,
                     const std::function<bool(const MatmulCall&)>& multiply) {
  const size_t act_row = call.k * sizeof(bf16), size = result_bytes(call.result);
  const size_t out_row = call.outputs * size, step = call.ld_out * size;
  auto* const act = act_.ensure_array<char>(rows * act_row);
  auto* const out = out_.ensure_array<char>(rows * out_row);
  device_->copy(act, call.act, call.n * act_row);
  device_->clear(act + call.n * act_row, (rows - call.n) * act_row);
  if (call.result == MatmulResult::added) {
    device_->copy_rows(out, out_row, call.out, step, out_row, call.n);
    device_->clear(out + call.n * out_row, (rows - call.n) * out_row);
  }
  if (!multiply({act, call.weight, rows, call.outputs, call.k, out, call.outputs, call.result})) return false;
  device_->copy_rows(call.out, step, out, out_row, out_row, call.n);
  return true;
}

Matmul::Matmul(std::shared_ptr<const Device> device, std::unique_ptr<MatmulLibrary> library, size_t rows)
    : device_(std::move(device)), library_(std::move(library)), rows_(rows), padding_(device_) {}

Matmul::~Matmul() = default;

bool Matmul::prepare(size_t outputs, size_t k, MatmulResult result) {
  const Shape shape{outputs, k, result};
  auto found = choices_.find(shape);
  if (found == choices_.end()) found = choices_.emplace(shape, choose(shape)).first;
  return found->second.padded != nullptr;
}

std::string Matmul::choice(size_t outputs, size_t k, MatmulResult result) const {
  const auto at = choices_.find({outputs, k, result});
  return at != choices_.end() ? at->second.text : "";
}

std::string Matmul::choices() const {
  std::string lines;
  for (const auto& [shape, choice] : choices_) {
    const auto& [outputs, k, result] = shape;
    lines += std::to_string(outputs) + " x " + std::to_string(k) + " " +
             std::to_string(static_cast<int>(result)) + ": ";
    lines += choice.padded ? choice.padded->algorithm->name() + ", at least " +
                                 std::to_string(choice.padded->least_rows) + " rows\n"
                           : "none\n";
  }
  return lines;
}

void Matmul::run(const MatmulCall& call) {
  const auto at = choices_.find({call.outputs, call.k, call.result});
  if (at == choices_.end() || !at->second.padded || call.ld_out * result_bytes(call.result) % 16 != 0)
    throw Error("linear", "no algorithm was prepared for this product");
  // Products of more rows were not tested.
  for (size_t first = 0; first < call.n; first += rows_) {
    const MatmulCall some = call.part(first, std::min(rows_, call.n - first));
    if (!multiply(*at->second.padded, some))
      throw Error("linear", name() + " does not support a product of " + std::to_string(some.n) + " x " +
                                std::to_string(call.outputs) + " x " + std::to_string(call.k) + " by " +
                                at->second.padded->algorithm->name());
  }
}

bool Matmul::multiply(Padded& padded, const MatmulCall& call) {
  const auto with_padding = [&](size_t rows) {
    return padding_.run(call, rows, [&](const MatmulCall& c) { return padded.algorithm->multiply(c); });
  };
  const auto known = padded.rows.find(call.n);
  if (known != padded.rows.end()) return with_padding(known->second);
  if (call.n >= padded.least_rows && padded.algorithm->multiply(call)) return true;
  for (size_t rows = round_up(call.n + 1, kPaddingStep); rows <= round_up(rows_, kPaddingStep);
       rows += kPaddingStep)
    if (with_padding(rows)) {
      padded.rows.emplace(call.n, rows);
      return true;
    }
  return false;
}

Matmul::Choice Matmul::choose(const Shape& shape) {
  const auto [outputs, k, result] = shape;
  if (k % 8 != 0 || outputs * result_bytes(result) % 16 != 0)
    return {nullptr, "the bytes of its rows are not a multiple of 16"};
  auto proposed = library_->propose(rows_, outputs, k, result);
  if (proposed.empty()) return {nullptr, "the library proposes no algorithm"};
  std::optional<MatmulTest> test;
  Refusals refusals;
  for (size_t i = 0; i < proposed.size(); ++i) {
    auto candidate = std::make_unique<Padded>(Padded{std::move(proposed[i])});
    std::string problem = candidate->algorithm->objection();
    if (problem.empty()) {
      if (!test) test.emplace(device_, rows_, outputs, k, result);
      problem = try_algorithm(*candidate, *test);
    }
    if (!problem.empty()) {
      refusals.add(i + 1, problem);
      continue;
    }
    std::string text = std::to_string(i + 1) + " of " + std::to_string(proposed.size()) + " (" +
                       candidate->algorithm->name() + ")";
    if (candidate->least_rows > 1)
      text += " with padding to " + std::to_string(candidate->least_rows) + " rows";
    else if (!candidate->rows.empty())
      text += " with padding where it does not support the number of rows";
    if (i > 0) text += "; refused " + refusals.text();
    return {std::move(candidate), text};
  }
  return {nullptr, "refused " + refusals.text()};
}

std::string Matmul::try_algorithm(Padded& candidate, const MatmulTest& test) {
  std::string problem;
  for (const size_t least_rows : {size_t{1}, kPaddingStep}) {
    candidate.least_rows = least_rows;
    candidate.rows.clear();
    const std::optional<MatmulTest::Failure> failure =
        test.run([&](const MatmulCall& call) { return multiply(candidate, call); });
    if (!failure) return "";
    problem += (problem.empty() ? "" : ", and with padding ") + failure->text;
    if (failure->rows >= kPaddingStep) break;
  }
  return problem;
}

CudaWeight::CudaWeight(const std::shared_ptr<const Device>& device, std::span<const TensorView> matrices,
                       std::span<const int> exponents, size_t rows, DType act_type, bool tensor_cores,
                       Matmul* library)
    : Weight(rows, matrices.front().cols), type_(common_type(matrices, act_type)) {
  const size_t size = dtype_size(type_);
  const size_t bytes = ops::checked_product("prepare", ops::checked_product("prepare", rows, cols()), size);
  memory_ = std::make_shared<const Memory>(device, bytes, "weights");
  data_ = memory_->get();
  std::vector<float> scales;
  for (size_t i = 0; i < matrices.size(); ++i) {
    float factor = 1;
    if (act_type == DType::f16) {
      const int exponent = f16_exponent(matrices[i]);
      factor = f16_scale("prepare", -exponent);
      scales.resize(scales.size() + matrices[i].rows,
                    f16_scale("prepare", exponent + (exponents.empty() ? 0 : exponents[i])));
    }
    copy_as(device, matrices[i], factor, type_, memory_->as<char>() + starts_.back() * cols() * size);
    starts_.push_back(starts_.back() + matrices[i].rows);
  }
  if (!scales.empty()) {
    scale_memory_ = std::make_shared<const Memory>(device, scales.size() * sizeof(float), "weights");
    scales_ = scale_memory_->as<float>();
    device->copy_in(scale_memory_->get(), scales.data(), scales.size() * sizeof(float));
  }
  // The kernels for tensor cores copy 16 bytes at a time, so rows must begin at multiples of that.
  if (act_type != DType::f32 && tensor_cores && cols() % 8 == 0) prepare_library(library);
}

CudaWeight::CudaWeight(const CudaWeight& whole, size_t first, size_t count, Matmul* library)
    : Weight(whole.starts_[first + count] - whole.starts_[first], whole.cols()),
      memory_(whole.memory_),
      scale_memory_(whole.scale_memory_),
      data_(static_cast<const char*>(whole.data_) + whole.starts_[first] * cols() * dtype_size(whole.type_)),
      scales_(whole.scales_ == nullptr ? nullptr : whole.scales_ + whole.starts_[first]),
      type_(whole.type_) {
  for (size_t i = 1; i <= count; ++i) starts_.push_back(whole.starts_[first + i] - whole.starts_[first]);
  if (whole.tensor_cores_) prepare_library(library);
}

void CudaWeight::prepare_library(Matmul* library) {
  tensor_cores_ = true;
  if (library == nullptr) return;
  for (const MatmulResult result : kMatmulResults)
    by_library_[static_cast<size_t>(result)] = library->prepare(rows(), cols(), result);
}

}  // namespace carbon::cuda
