// ops::Backend on a CUDA device: sizes, checks and buffers. The arithmetic is in the kernels (kernels.hpp)
// and in cuBLASLt (matmul.hpp).
//
// Every operation puts its work on the stream of the device and returns; only operations with results for the
// host wait. A backend may be called by one thread at a time; backends of different devices may be called by
// different threads at the same time.
#include "kernels/cuda/cuda_backend.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/checks.hpp"
#include "kernels/cuda/device.hpp"
#include "kernels/cuda/kernels.hpp"
#include "kernels/cuda/matmul.hpp"
#include "kernels/cuda/plan.hpp"
#include "kernels/cuda/residual.hpp"
#include "kernels/cuda/stream.hpp"
#include "src/base/error.hpp"
#include "src/base/letters.hpp"

namespace carbon::cuda {
namespace {

// Part of device_kind(). Must be raised with every change to the kernels that changes the bits of a score.
constexpr const char* kNumerics = "6";

// Logits that are computed at a time: 16 MiB, so that they are still in the cache of the device when they are
// read.
constexpr size_t kLogits = size_t{1} << 22;

/// True if the device has tensor cores for products of this type: sm_80 and later for bf16, sm_75 for f16
/// too.
bool has_tensor_cores(const Device& device, DType type) {
  return device.code() >= (type == DType::f16 ? 75 : 80);
}

class CudaBackend final : public ops::Backend {
 public:
  CudaBackend(std::shared_ptr<const Device> device, const ops::CudaOptions& options);

  std::string device_kind() const override;
  std::string library_choices() const override { return library_ ? library_->choices() : ""; }
  DType dtype() const override { return dtype_; }

  size_t pass_rows() const override { return cuda::pass_rows(tiles_.device().multiprocessors); }

  void* allocate(size_t bytes) override;
  void release(void* memory) override;
  std::optional<size_t> free_memory() const override {
    device_->use();
    return device_->free_memory();
  }

  std::unique_ptr<ops::Weight> prepare(std::span<const TensorView> matrices,
                                       std::span<const int> exponents) override;
  std::unique_ptr<ops::Weight> part(const ops::Weight& whole, size_t first, size_t count) override;
  std::unique_ptr<ops::KvStore> kv_store(const ops::KvShape& shape) override;
  void set_rope(const ops::RopeParams& rope, size_t positions) override;

  void embed(const TensorView& table, std::span<const uint32_t> rows, float* x) override;
  void norm(const float* x, const float* weight, float eps, size_t n, size_t width, void* act) override;
  void norm_heads(float* x, const float* weight, float eps, size_t n, size_t heads, size_t head_dim,
                  size_t ld) override;
  void linear(const void* act, size_t n, const ops::Weight& w, float* out, size_t ld_out,
              ops::RowClass row_class) override;
  void linear_add(const void* act, size_t n, const ops::Weight& w, float* x,
                  ops::RowClass row_class) override;
  void linear_swiglu(const void* act, size_t n, const ops::Weight& gate, const ops::Weight& up,
                     float* gate_up, void* out, ops::RowClass row_class) override;
  size_t swiglu_scratch(size_t n, const ops::Weight& gate, const ops::Weight& up,
                        ops::RowClass row_class) const override;
  std::unique_ptr<ops::RowPlan> plan(std::span<const ops::RowRun> runs, size_t heads, ops::KvStore& kv,
                                     ops::RowClass row_class) override;
  void append_kv(const float* k, const float* v, size_t ld, const ops::RowPlan& plan, size_t layer) override;
  void attention(const float* q, size_t ld, const ops::RowPlan& plan, size_t layer, void* act,
                 int exponent) override;
  void swiglu(const float* gate_up, size_t n, size_t width, void* act) override;
  void select_rows(const float* x, std::span<const uint32_t> rows, size_t width, float* out) override;
  void final_norm(const float* x, const float* weight, float eps, size_t n, size_t width,
                  float* out) override {
    device_->use();
    states_.final_norm(x, weight, eps, n, width, out);
  }
  void sum_rows(const float* x, const float* weight, float eps, size_t width,
                std::span<const ops::RowSums> rows, double* sums) override {
    device_->use();
    states_.sum_rows(x, weight, eps, width, rows, sums);
  }
  void upload(const float* host, size_t count, float* device) override;
  void download(const float* device, size_t count, float* host) override;

  void marginals(const void* act, size_t n, const ops::Weight& w, double* out,
                 ops::RowClass row_class) override;
  void conditionals(const void* act, size_t n, const ops::Weight& w, std::span<const ops::KnownBases> known,
                    double* out, ops::RowClass row_class) override;
  void logits(const void* act, size_t n, const ops::Weight& w, float* out, ops::RowClass row_class) override;
  bool draws(const ops::DrawOptions& options) const override;
  void draw(const float* z, std::span<const ops::KmerDraw> draws, ops::DrawnKmer* out) override;
  void logsumexp(const void* act, size_t n, const ops::Weight& w, std::span<const int64_t> targets,
                 double* maximum, double* sum, double* target_logit, ops::RowClass row_class) override;

 private:
  Stream& stream() const { return device_->stream(); }
  void multiply(const LinearCall& call, const CudaWeight& weight, CudaWeight::Product product);
  void linear_mma(const LinearCall& call) const;
  /// True if gate and up are computed by the library and rounded to bf16 before SwiGLU.
  bool halves_swiglu(const ops::Weight& gate, const ops::Weight& up, ops::RowClass row_class) const;
  void library_swiglu(const void* act, size_t n, const ops::Weight& gate, const ops::Weight& up,
                      void* gate_up, void* out);
  /// The tile of a product that keeps gate and up in registers, if that is possible and useful.
  std::optional<MmaTile> swiglu_tile(size_t n, const ops::Weight& gate, const ops::Weight& up,
                                     ops::RowClass row_class) const;
  AttentionKernel attention_kernel(const ops::KvShape& shape, size_t heads, ops::RowClass row_class) const;
  Rotary rotary() const { return {cos_.as<float>(), sin_.as<float>()}; }
  /// Calls f(first row, rows, logits) for blocks of rows that fit the logits buffer.
  template <class F>
  void for_logits(const void* act, size_t n, const ops::Weight& w, ops::RowClass row_class, F f);

  std::shared_ptr<const Device> device_;
  DType dtype_;
  bool tensor_cores_;
  mutable MmaTiles tiles_;
  std::unique_ptr<Matmul> library_;
  Embedding embedding_;
  States states_;
  std::shared_ptr<PlanMemory> plans_;
  DecodeScratch decode_scratch_;
  std::vector<double> inv_freq_;
  double rope_scale_ = 0;
  size_t positions_ = 0;
  Memory cos_, sin_;  // [positions_, inv_freq_.size()]
  Scratch indices_, logits_, results_, draws_;
};

CudaBackend::CudaBackend(std::shared_ptr<const Device> device, const ops::CudaOptions& options)
    : device_(std::move(device)),
      dtype_(options.dtype),
      tensor_cores_(has_tensor_cores(*device_, options.dtype)),
      tiles_({static_cast<size_t>(device_->multiprocessors()), device_->block_shared()}),
      embedding_(device_),
      states_(device_),
      plans_(std::make_shared<PlanMemory>(device_)),
      decode_scratch_(device_),
      indices_(device_, "row numbers"),
      logits_(device_, "logits"),
      results_(device_, "results"),
      draws_(device_, "draws") {
  if (options.cublas && read_switches().library && dtype_ == DType::bf16 && tensor_cores_)
    library_ = make_matmul(device_, pass_rows());
}

/// "NVIDIA_H100_80GB_HBM3": one word, whatever the driver calls a card.
std::string card_word(std::string name) {
  for (char& c : name)
    if (!is_letter_or_digit(c) && c != '-' && c != '.') c = '_';
  return name;
}

// The library chooses algorithms by the card, and an H100 and an H200 are both sm_90x132. So the card is
// named where the library computes; own kernels give the same bits on both. A digest of the chosen algorithms
// would tell cards apart only if they do differ. But it would be known only when the weights are loaded,
// would change with the model, and would not tell a user whose scores are refused which card they are from.
// So it is not here, but in the identity of a run that can be resumed (library_choices()): what the library
// proposes, and so what is chosen, may change with the driver.
std::string CudaBackend::device_kind() const {
  const std::string library = library_ ? "+" + library_->name() + "@" + card_word(device_->name()) : "";
  return "cuda:sm_" + std::to_string(device_->capability()) + "x" +
         std::to_string(device_->multiprocessors()) + library + ":" + kNumerics;
}

void* CudaBackend::allocate(size_t bytes) {
  device_->use();
  Memory memory(device_, bytes, "activations");
  device_->clear(memory.get(), bytes);
  return memory.release();
}

void CudaBackend::release(void* memory) {
  if (memory == nullptr) return;
  device_->submit_pending();
  // cudaFree() waits for the work that uses the memory. Its failure can be ignored.
  cudaFree(memory);
}

const CudaWeight& own(const ops::Weight& w) {
  return ops::own_as<const CudaWeight>(w, "linear", "the weight was prepared by another backend");
}

std::unique_ptr<ops::Weight> CudaBackend::prepare(std::span<const TensorView> matrices,
                                                  std::span<const int> exponents) {
  const size_t rows = ops::joined_rows(matrices);
  ops::check_exponents("prepare", dtype_, exponents, matrices.size());
  device_->use();
  return std::make_unique<CudaWeight>(device_, matrices, exponents, rows, dtype_, tensor_cores_,
                                      library_.get());
}

std::unique_ptr<ops::Weight> CudaBackend::part(const ops::Weight& whole, size_t first, size_t count) {
  const CudaWeight& weight = own(whole);
  ops::check_part(first, count, weight.matrices());
  device_->use();
  return std::make_unique<CudaWeight>(weight, first, count, library_.get());
}

std::unique_ptr<ops::KvStore> CudaBackend::kv_store(const ops::KvShape& shape) {
  return std::make_unique<CudaKvStore>(device_, shape, dtype_);
}

void CudaBackend::set_rope(const ops::RopeParams& rope, size_t positions) {
  const bool same = rope_scale_ == rope.scale && std::ranges::equal(inv_freq_, rope.inv_freq);
  if (same && positions <= positions_) return;
  device_->use();
  const size_t half = rope.inv_freq.size();
  std::vector<float> cos(positions * half), sin(positions * half);
  ops::fill_rope(rope, 0, positions, cos.data(), sin.data());
  const size_t bytes = cos.size() * sizeof(float);
  Memory new_cos(device_, bytes, "the rotary table"), new_sin(device_, bytes, "the rotary table");
  device_->copy_in(new_cos.get(), cos.data(), bytes);
  device_->copy_in(new_sin.get(), sin.data(), bytes);
  cos_ = std::move(new_cos);
  sin_ = std::move(new_sin);
  inv_freq_.assign(rope.inv_freq.begin(), rope.inv_freq.end());
  rope_scale_ = rope.scale;
  positions_ = positions;
}

void CudaBackend::embed(const TensorView& table, std::span<const uint32_t> rows, float* x) {
  ops::check_rows(table, rows);
  device_->use();
  embedding_.gather(table, rows, x);
}

void CudaBackend::norm(const float* x, const float* weight, float eps, size_t n, size_t width, void* act) {
  if (n == 0) return;
  device_->use();
  run_norm(stream(), x, weight, eps, n, width, act, dtype_);
}

void CudaBackend::norm_heads(float* x, const float* weight, float eps, size_t n, size_t heads,
                             size_t head_dim, size_t ld) {
  if (n == 0 || heads == 0) return;
  device_->use();
  run_norm_heads(stream(), x, weight, eps, n, heads, head_dim, ld);
}

void CudaBackend::swiglu(const float* gate_up, size_t n, size_t width, void* act) {
  if (n == 0) return;
  device_->use();
  run_swiglu(stream(), gate_up, DType::f32, n, width, act, dtype_);
}

void CudaBackend::select_rows(const float* x, std::span<const uint32_t> rows, size_t width, float* out) {
  if (rows.empty()) return;
  device_->use();
  auto* const indices = indices_.ensure_array<uint32_t>(rows.size());
  device_->copy_in(indices, rows.data(), rows.size_bytes());
  run_select_rows(stream(), x, indices, rows.size(), width, out);
}

void CudaBackend::upload(const float* host, size_t count, float* device) {
  device_->use();
  device_->copy_in(device, host, count * sizeof(float));
}

void CudaBackend::download(const float* device, size_t count, float* host) {
  device_->use();
  device_->copy_out(host, device, count * sizeof(float));
}

bool misaligned(const void* p) {
  return reinterpret_cast<uintptr_t>(p) % 16 != 0;
}

void check_aligned(const void* act) {
  if (misaligned(act)) throw Error("linear", "activations must be aligned to 16 bytes");
}

void CudaBackend::linear(const void* act, size_t n, const ops::Weight& w, float* out, size_t ld_out,
                         ops::RowClass row_class) {
  const CudaWeight& weight = own(w);
  ops::check_outputs(w, ld_out);
  multiply({act, weight.data(), n, w.rows(), w.cols(), out, ld_out, false, weight.scales()}, weight,
           weight.product(row_class, MatmulResult::f32));
}

void CudaBackend::linear_add(const void* act, size_t n, const ops::Weight& w, float* x,
                             ops::RowClass row_class) {
  const CudaWeight& weight = own(w);
  multiply({act, weight.data(), n, w.rows(), w.cols(), x, w.rows(), true, weight.scales()}, weight,
           weight.product(row_class, MatmulResult::added));
}

void CudaBackend::multiply(const LinearCall& call, const CudaWeight& weight, CudaWeight::Product product) {
  if (call.n == 0) return;
  if (product != CudaWeight::Product::plain) check_aligned(call.act);
  device_->use();
  switch (product) {
    case CudaWeight::Product::plain:
      return run_linear_plain(stream(), call, dtype_, weight.type());
    case CudaWeight::Product::mma:
      return linear_mma(call);
    case CudaWeight::Product::library:
      if (misaligned(call.out) || call.ld_out % 4 != 0)
        throw Error("linear", "results and their rows must be aligned to 16 bytes");
      return library_->run({call.act, call.weight, call.n, call.outputs, call.k, call.out, call.ld_out,
                            call.add ? MatmulResult::added : MatmulResult::f32});
  }
}

// The results do not depend on the tile, so it may be chosen by the number of rows.
void CudaBackend::linear_mma(const LinearCall& call) const {
  const MmaTile tile = tiles_.choose({call.n, call.outputs, call.k});
  if (tile == kLargeTile)
    run_linear_mma(stream(), call);
  else
    run_linear_stream(stream(), call, tile);
}

void CudaBackend::linear_swiglu(const void* act, size_t n, const ops::Weight& gate, const ops::Weight& up,
                                float* gate_up, void* out, ops::RowClass row_class) {
  if (n == 0) return;
  if (halves_swiglu(gate, up, row_class)) return library_swiglu(act, n, gate, up, gate_up, out);
  const std::optional<MmaTile> tile = swiglu_tile(n, gate, up, row_class);
  if (!tile) return Backend::linear_swiglu(act, n, gate, up, gate_up, out, row_class);
  check_aligned(act);
  device_->use();
  run_swiglu_stream(stream(),
                    {act, own(gate).data(), own(up).data(), n, gate.rows(), gate.cols(), out,
                     own(gate).scales(), own(up).scales()},
                    *tile);
}

/// True if the two weights have the same shape, and `product` computes such results of both.
bool alike(const ops::Weight& gate, const ops::Weight& up, ops::RowClass row_class, MatmulResult result,
           CudaWeight::Product product) {
  return own(gate).product(row_class, result) == product && own(up).product(row_class, result) == product &&
         gate.rows() == up.rows() && gate.cols() == up.cols();
}

// The library cannot combine two products. In bf16 they have half the bytes to write and to read again, and
// for many rows these are most of the bytes that a layer moves, apart from its products.
bool CudaBackend::halves_swiglu(const ops::Weight& gate, const ops::Weight& up,
                                ops::RowClass row_class) const {
  return alike(gate, up, row_class, MatmulResult::bf16, CudaWeight::Product::library);
}

void CudaBackend::library_swiglu(const void* act, size_t n, const ops::Weight& gate, const ops::Weight& up,
                                 void* gate_up, void* out) {
  const size_t width = gate.rows(), k = gate.cols();
  auto* const products = static_cast<bf16*>(gate_up);
  check_aligned(act);
  device_->use();
  library_->run({act, own(gate).data(), n, width, k, products, 2 * width, MatmulResult::bf16});
  library_->run({act, own(up).data(), n, width, k, products + width, 2 * width, MatmulResult::bf16});
  run_swiglu(stream(), products, DType::bf16, n, width, out, dtype_);
}

size_t CudaBackend::swiglu_scratch(size_t n, const ops::Weight& gate, const ops::Weight& up,
                                   ops::RowClass row_class) const {
  if (halves_swiglu(gate, up, row_class)) return n * gate.rows();
  return swiglu_tile(n, gate, up, row_class) ? 0 : Backend::swiglu_scratch(n, gate, up, row_class);
}

std::optional<MmaTile> CudaBackend::swiglu_tile(size_t n, const ops::Weight& gate, const ops::Weight& up,
                                                ops::RowClass row_class) const {
  if (!alike(gate, up, row_class, MatmulResult::f32, CudaWeight::Product::mma)) return std::nullopt;
  const MmaTile tile = tiles_.choose({n, gate.rows() + up.rows(), gate.cols()}, kSwigluOutputs);
  // Many rows are limited by the tensor cores, which the large tile uses better.
  return tile == kLargeTile ? std::nullopt : std::optional(tile);
}

AttentionKernel CudaBackend::attention_kernel(const ops::KvShape& shape, size_t heads,
                                              ops::RowClass row_class) const {
  const size_t group = heads / shape.kv_heads;
  if (dtype_ == DType::f32 || !tensor_cores_ || !has_attention_mma(shape.head_dim) ||
      group > attention_rows(shape.head_dim))
    return AttentionKernel::plain;
  return row_class == ops::RowClass::decode && group <= kDecodeRows ? AttentionKernel::decode
                                                                    : AttentionKernel::mma;
}

std::unique_ptr<ops::RowPlan> CudaBackend::plan(std::span<const ops::RowRun> runs, size_t heads,
                                                ops::KvStore& kv, ops::RowClass row_class) {
  auto& store = ops::own_store<CudaKvStore>(kv, dtype_);
  ops::check_runs(runs, store.shape(), {heads, 2 * inv_freq_.size(), positions_, store.count()});
  device_->use();
  // The kernel of generated tokens is causal alone.
  if (std::ranges::any_of(runs, [](const ops::RowRun& run) { return run.keys > 0; }))
    row_class = ops::RowClass::prefill;
  return std::make_unique<CudaPlan>(plans_, runs, heads, store,
                                    attention_kernel(store.shape(), heads, row_class));
}

void CudaBackend::append_kv(const float* k, const float* v, size_t ld, const ops::RowPlan& plan,
                            size_t layer) {
  const auto& rows = ops::own_plan<CudaPlan>(plan, layer);
  if (rows.rows() == 0) return;
  device_->use();
  run_append(stream(), k, v, ld, rows.places(), rows.rows(), rows.page_list(), rows.kv().layer(layer), dtype_,
             rotary());
}

void CudaBackend::attention(const float* q, size_t ld, const ops::RowPlan& plan, size_t layer, void* act,
                            int exponent) {
  ops::check_exponents("attention", dtype_, {&exponent, 1}, 1);
  const auto& rows = ops::own_plan<CudaPlan>(plan, layer);
  if (rows.rows() == 0) return;
  device_->use();
  const AttentionCall call{q, ld, rows.heads(), rows.page_list(), rows.kv().layer(layer), rotary(), act};
  const AttentionKind kind{dtype_, exponent, device_->block_shared()};
  switch (rows.kernel()) {
    case AttentionKernel::plain:
      return run_attention_plain(stream(), call, kind, rows.places(), rows.rows());
    case AttentionKernel::mma:
      return rows.joined() ? run_attention_mma(stream(), call, kind, rows.joined_tiles(), rows.tile_count())
                           : run_attention_mma(stream(), call, kind, rows.tiles(), rows.tile_count());
    case AttentionKernel::decode:
      for (const ChunkSlice& slice : rows.slices())
        run_attention_decode(stream(), call, kind, rows.chunks() + slice.first, slice.count,
                             decode_scratch_.ensure(slice.parts * call.kv.kv_heads, call.kv.head_dim));
  }
}

template <class F>
void CudaBackend::for_logits(const void* act, size_t n, const ops::Weight& w, ops::RowClass row_class, F f) {
  const size_t rows = std::clamp<size_t>(kLogits / w.rows(), 1, std::max<size_t>(n, 1));
  auto* const z = logits_.ensure_array<float>(rows * w.rows());
  for (size_t first = 0; first < n; first += rows) {
    const size_t count = std::min(rows, n - first);
    linear(static_cast<const char*>(act) + first * w.cols() * dtype_size(dtype_), count, w, z, w.rows(),
           row_class);
    f(first, count, z);
  }
}

void CudaBackend::marginals(const void* act, size_t n, const ops::Weight& w, double* out,
                            ops::RowClass row_class) {
  ops::check_kmer_head("marginals", w);
  if (n == 0) return;
  device_->use();
  auto* const results = results_.ensure_array<double>(n * ops::kMarginals);
  for_logits(act, n, w, row_class, [&](size_t first, size_t count, const float* z) {
    run_marginals(stream(), z, count, results + first * ops::kMarginals);
  });
  device_->copy_out(out, results, n * ops::kMarginals * sizeof(double));
}

void CudaBackend::conditionals(const void* act, size_t n, const ops::Weight& w,
                               std::span<const ops::KnownBases> known, double* out, ops::RowClass row_class) {
  ops::check_kmer_head("conditionals", w);
  ops::check_known(known, n);
  if (n == 0) return;
  device_->use();
  const size_t bytes = n * ops::kMarginals * sizeof(double);
  auto* const results = static_cast<double*>(results_.ensure(bytes + known.size_bytes()));
  auto* const device_known = reinterpret_cast<ops::KnownBases*>(results + n * ops::kMarginals);
  device_->copy_in(device_known, known.data(), known.size_bytes());
  for_logits(act, n, w, row_class, [&](size_t first, size_t count, const float* z) {
    run_conditionals(stream(), z, device_known + first, count, results + first * ops::kMarginals);
  });
  device_->copy_out(out, results, bytes);
}

void CudaBackend::logits(const void* act, size_t n, const ops::Weight& w, float* out,
                         ops::RowClass row_class) {
  device_->use();
  for_logits(act, n, w, row_class, [&](size_t first, size_t count, const float* z) {
    device_->copy_out(out + first * w.rows(), z, count * w.rows() * sizeof(float));
  });
}

bool CudaBackend::draws(const ops::DrawOptions& options) const {
  // A greedy draw is not changed by top-k and top-p.
  return options.greedy || (options.top_k == 0 && options.top_p >= 1);
}

void CudaBackend::draw(const float* z, std::span<const ops::KmerDraw> draws, ops::DrawnKmer* out) {
  if (draws.empty()) return;
  if (misaligned(z)) throw Error("draw", "rows of logits must be aligned to 16 bytes");
  device_->use();
  auto* const places = draws_.ensure_array<ops::KmerDraw>(draws.size());
  auto* const results = results_.ensure_array<ops::DrawnKmer>(draws.size());
  device_->copy_in(places, draws.data(), draws.size_bytes());
  run_draw(stream(), z, places, draws.size(), results);
  device_->copy_out(out, results, draws.size() * sizeof(ops::DrawnKmer));
}

void CudaBackend::logsumexp(const void* act, size_t n, const ops::Weight& w, std::span<const int64_t> targets,
                            double* maximum, double* sum, double* target_logit, ops::RowClass row_class) {
  ops::check_targets(targets, n);
  if (n == 0) return;
  device_->use();
  static_assert(sizeof(int64_t) == sizeof(double));
  auto* const places = results_.ensure_array<double>(4 * n);  // three results, then the targets
  auto* const device_targets = reinterpret_cast<int64_t*>(places + 3 * n);
  double* const host[] = {maximum, sum, target_logit};
  for (size_t i = 0; i < 3; ++i) device_->copy_in(places + i * n, host[i], n * sizeof(double));
  device_->copy_in(device_targets, targets.data(), targets.size_bytes());
  for_logits(act, n, w, row_class, [&](size_t first, size_t count, const float* z) {
    run_logsumexp(stream(), z, count, w.rows(), device_targets + first, places + first, places + n + first,
                  places + 2 * n + first);
  });
  for (size_t i = 0; i < 3; ++i) device_->copy_out(host[i], places + i * n, n * sizeof(double));
}

}  // namespace

void refuse_tile(const MmaTile& tile) {
  throw Error("linear", "no kernel for tiles of " + std::to_string(tile.rows) + " rows by " +
                            std::to_string(tile.outputs) + " outputs, " + std::to_string(tile.stages) +
                            " stages");
}

std::unique_ptr<ops::Backend> make_backend(const ops::CudaOptions& options) {
  return make_backend(std::make_shared<Device>(options.device), options);
}

std::unique_ptr<ops::Backend> make_backend(std::shared_ptr<const Device> device,
                                           const ops::CudaOptions& options) {
  return std::make_unique<CudaBackend>(std::move(device), options);
}

}  // namespace carbon::cuda
