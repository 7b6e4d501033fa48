// The weights of a model with an adapter: W + scale * B A, row by row. See lora.hpp.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <vector>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/threads.hpp"
#include "src/model/checkpoint.hpp"
#include "src/model/llama_tensors.hpp"
#include "src/model/lora.hpp"
#include "src/model/tensor_buffer.hpp"

namespace carbon {

namespace {

[[noreturn]] void fail(const std::string& what) {
  throw Error("load_adapter", what);
}

/// As f32, or rounded to bf16.
void narrow_row(const float* in, size_t n, WeightType type, uint8_t* out) {
  if (type == WeightType::f32) {
    std::memcpy(out, in, n * sizeof(float));
    return;
  }
  for (size_t j = 0; j < n; ++j) {
    const uint16_t half = to_bf16(in[j]).bits;
    std::memcpy(out + j * sizeof half, &half, sizeof half);
  }
}

/// A matrix in f32.
struct FloatMatrix {
  size_t rows, cols;
  std::vector<float> data;
};

/// A tensor of the adapter; a vector has one row.
TensorView view_of(const TensorFile& file, const std::string& name) {
  const TensorInfo& info = file.tensors().at(name);
  const std::optional<WeightType> type = weight_type_of(info.dtype);
  if (!type || info.shape.empty() || info.shape.size() > 2)
    fail(file.path() + ": tensor " + printable(name) + " is " + info.dtype + " " + shape_text(info.shape) +
         ", but a matrix of " + kWeightTypes + " is needed");
  return {file.data() + info.begin, *type, info.shape.size() == 1 ? 1 : info.shape[0], info.shape.back(),
          true};
}

/// The matrix, or its transpose.
FloatMatrix as_floats(const TensorView& view, bool transposed) {
  FloatMatrix m{view.rows, view.cols, std::vector<float>(view.rows * view.cols)};
  for (size_t i = 0; i < m.rows; ++i) widen_row(view, i, m.data.data() + i * m.cols);
  if (!transposed) return m;
  FloatMatrix t{m.cols, m.rows, std::vector<float>(m.data.size())};
  for (size_t i = 0; i < m.rows; ++i)
    for (size_t j = 0; j < m.cols; ++j) t.data[j * t.cols + i] = m.data[i * m.cols + j];
  return t;
}

/// One changed tensor of the model, and where its new bytes go.
struct Merge {
  TensorView base;
  WeightType type;          // of the result
  FloatMatrix left, right;  // [rows, r] and [r, cols]
  float scale = 0;
  uint8_t* out = nullptr;

  void row(size_t i, std::vector<float>& sum, std::vector<float>& weights) const {
    sum.assign(base.cols, 0);
    weights.resize(base.cols);
    for (size_t k = 0; k < left.cols; ++k) {
      const float factor = left.data[i * left.cols + k];
      const float* const terms = right.data.data() + k * right.cols;
      for (size_t j = 0; j < base.cols; ++j) sum[j] += factor * terms[j];
    }
    widen_row(base, i, weights.data());
    for (size_t j = 0; j < base.cols; ++j) weights[j] += scale * sum[j];
    narrow_row(weights.data(), base.cols, type, out + i * weight_bytes(type, base.cols));
  }

  void rows(size_t threads) const {
    constexpr size_t kRows = 64;  // taken at a time
    std::atomic<size_t> next{0};
    std::mutex mutex;
    std::exception_ptr failure;
    run_threads(
        threads,
        [&](size_t) {
          std::vector<float> sum, weights;
          for (size_t first = next.fetch_add(kRows); first < base.rows; first = next.fetch_add(kRows))
            for (size_t i = first; i < std::min(first + kRows, base.rows); ++i) row(i, sum, weights);
        },
        [&](const std::exception_ptr& error) {
          next = base.rows;
          const std::lock_guard lock(mutex);
          failure = error;
        });
    if (failure) std::rethrow_exception(failure);
  }
};

/// Copies a tensor of the adapter in the type of the model's.
void copy_rows(const TensorView& from, WeightType type, uint8_t* out) {
  std::vector<float> row(from.cols);
  for (size_t i = 0; i < from.rows; ++i) {
    widen_row(from, i, row.data());
    narrow_row(row.data(), from.cols, type, out + i * weight_bytes(type, from.cols));
  }
}

std::string size_text(size_t rows, size_t cols) {
  return std::to_string(rows) + " x " + std::to_string(cols);
}

/// A tensor of the model; the head of a tied one is the embedding.
TensorView base_tensor(const Checkpoint& base, const std::string& name, const std::string& file) {
  if (name == kHead && base.config().tied_head) return base.head();
  for (const TensorShape& tensor : architecture(base.config()))
    if (tensor.name == name)
      return base.tensor(name, tensor.shape.size() == 1 ? 1 : tensor.shape.front(), tensor.shape.back());
  fail(file + ": changes " + printable(name) + ", which " + base.id() +
       " does not have; this adapter belongs to another model");
}

/// A classification head that was trained anew, of which the model may have none.
bool is_whole_score(const std::string& name, const LoraChange& change) {
  return name == kScore && !change.whole.empty();
}

/// The adapter changes the model's tensor `name`. PEFT saves copies of tensors that were not trained, too.
bool changes_tensor(const Checkpoint& base, const TensorFile& file, const std::string& name,
                    const LoraChange& change) {
  if (is_whole_score(name, change) && base.config().classifier) return true;
  const TensorView original = base_tensor(base, name, file.path());
  if (!change.copy.empty() && !is_copy_of(view_of(file, change.copy), original))
    fail(file.path() + ": " + printable(change.copy) +
         " is a copy of the weights with which the adapter was trained, and they are not those of " +
         base.id() + "; use the adapter with the model that it was trained on");
  const bool pair = !change.a.empty();
  if (!pair && change.whole.empty()) return false;
  if (!base.config().tied_head || (name != kEmbedding && name != kHead)) return true;
  if (!pair && is_copy_of(view_of(file, change.whole), original)) return false;
  fail(file.path() + ": changes " + name + ", but " + base.id() +
       " has one matrix as embedding and as head; train the adapter without them");
}

}  // namespace

std::unique_ptr<TensorFile> LoraAdapter::merge(const Checkpoint& base, WeightType type, int threads) const {
  std::vector<TensorSpec> specs;
  for (const auto& [name, change] : changes_) {
    if (!changes_tensor(base, tensors_, name, change)) continue;
    if (name == kScore) {
      const ModelConfig& config = base.config();
      const TensorInfo* const stored = whole(name);
      specs.push_back({name,
                       stored && stored->dtype == "BF16" ? "BF16" : "F32",
                       {config.classifier->labels.size(), config.hidden}});
      continue;
    }
    specs.push_back({name, type == WeightType::bf16 ? "BF16" : "F32", base.find(name)->shape});
  }
  if (specs.empty())
    fail(tensors_.path() + ": holds only copies of tensors of " + base.id() + ", so it changes nothing");
  auto merged = std::make_unique<TensorBuffer>(tensors_.path(), specs);

  for (const TensorSpec& spec : specs) {
    const std::string& name = spec.name;
    const LoraChange& change = changes_.at(name);
    Merge m;
    m.base = is_whole_score(name, change) ? TensorView{nullptr, type, spec.shape[0], spec.shape[1], true}
                                          : base_tensor(base, name, tensors_.path());
    m.type = *weight_type_of(spec.dtype);
    m.out = merged->writable(name).data();
    const auto check = [&](size_t rows, size_t cols) {
      if (rows != m.base.rows || cols != m.base.cols)
        fail(tensors_.path() + ": has " + size_text(rows, cols) + " numbers for " + name + ", but " +
             base.id() + " has " + size_text(m.base.rows, m.base.cols) +
             "; this adapter belongs to another model");
    };
    if (!change.whole.empty()) {
      const TensorView whole = view_of(tensors_, change.whole);
      check(whole.rows, whole.cols);
      copy_rows(whole, m.type, m.out);
      continue;
    }
    const TensorView a = view_of(tensors_, change.a), b = view_of(tensors_, change.b);
    if (a.rows != b.cols)
      fail(tensors_.path() + ": the ranks of the LoRA pair of " + name + " differ, " +
           std::to_string(a.rows) + " and " + std::to_string(b.cols));
    change.transposed ? check(a.cols, b.rows) : check(b.rows, a.cols);
    m.left = as_floats(change.transposed ? a : b, change.transposed);
    m.right = as_floats(change.transposed ? b : a, change.transposed);
    m.scale = static_cast<float>(change.scale);
    m.rows(static_cast<size_t>(std::max(threads, 1)));
  }
  merged->finish();
  return merged;
}

}  // namespace carbon
