// ops::Backend on the CPU: cuts each operation into independent ranges and runs them on a pool of threads.
//
// The arithmetic is in the tables of kernels (kernels.hpp). Here are sizes, checks, scratch and threads. One
// thread calls the backend, and is one of the requested number of threads. The results do not depend on which
// thread computes a range, nor on how ranges are cut. They also do not depend on the class of rows, which is
// not used: a product has the same order of sums for one row and for thousands.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "kernels/checks.hpp"
#include "kernels/cpu/cpu_machine.hpp"
#include "kernels/cpu/cpu_parts.hpp"
#include "kernels/ops.hpp"
#include "src/base/error.hpp"
#include "src/base/threads.hpp"

namespace carbon::cpu {
namespace {

// Part of device_kind(). Must be raised with every change to the kernels that changes the bits of a score.
constexpr const char* kNumerics = "2";
// The same for what only products of int8 do.
constexpr const char* kInt8Numerics = "1";

// Enough rows for the full speed of products, and few enough that activations are small compared with the
// weights.
constexpr size_t kPassRows = 2048;
constexpr size_t kAddedRows = 64;  // from this many rows on, sums are added while they are in a cache
constexpr size_t kHeadRows = 64;   // rows of logits that are computed at a time
constexpr size_t kHeadFloats = size_t{1} << 22;  // but not more logits than this, unless one row has more
constexpr size_t kSerialWork = size_t{1} << 17;  // multiply-adds; below, one thread is faster than several
// What an element of a row-wise operation takes, in multiply-adds of a product, and elements of a range.
constexpr size_t kRowCost = 16;
constexpr size_t kLeastRowElements = size_t{1} << 11, kMostRowElements = size_t{1} << 14;
// The same of keys and values. A key goes to as many cache lines of its page as it has pairs of numbers.
constexpr size_t kAppendCost = 512;
constexpr size_t kAppendElements = 256;

class CpuBackend final : public ops::Backend {
 public:
  explicit CpuBackend(const ops::CpuOptions& options);

  std::string device_kind() const override;
  ThreadPool* pool() override { return &pool_; }
  DType dtype() const override { return dtype_; }
  bool int8() const override { return int8_; }

  size_t pass_rows() const override { return kPassRows; }
  bool separates_classes() const override { return false; }

  void* allocate(size_t bytes) override;
  void release(void* memory) override { FreeMemory()(memory); }

  std::unique_ptr<ops::Weight> prepare(std::span<const TensorView> matrices,
                                       std::span<const int> exponents) override;
  std::unique_ptr<ops::Weight> part(const ops::Weight& whole, size_t first, size_t count) override;
  std::unique_ptr<ops::KvStore> kv_store(const ops::KvShape& shape) override {
    return std::make_unique<CpuKvStore>(shape, dtype_);
  }
  void set_rope(const ops::RopeParams& rope, size_t positions) override { rope_.set(rope, positions); }

  void embed(const TensorView& table, std::span<const uint32_t> rows, float* x) override;
  void norm(const float* x, const float* weight, float eps, size_t n, size_t width, void* act) override;
  void norm_heads(float* x, const float* weight, float eps, size_t n, size_t heads, size_t head_dim,
                  size_t ld) override;
  void linear(const void* act, size_t n, const ops::Weight& w, float* out, size_t ld_out,
              ops::RowClass) override;
  void linear_add(const void* act, size_t n, const ops::Weight& w, float* x,
                  ops::RowClass row_class) override;
  std::unique_ptr<ops::RowPlan> plan(std::span<const ops::RowRun> runs, size_t heads, ops::KvStore& kv,
                                     ops::RowClass) override;
  void append_kv(const float* k, const float* v, size_t ld, const ops::RowPlan& plan, size_t layer) override;
  void attention(const float* q, size_t ld, const ops::RowPlan& plan, size_t layer, void* act,
                 int exponent) override;
  void swiglu(const float* gate_up, size_t n, size_t width, void* act) override;
  void linear_swiglu(const void* act, size_t n, const ops::Weight& gate, const ops::Weight& up,
                     float* gate_up, void* out, ops::RowClass row_class) override;
  size_t swiglu_scratch(size_t n, const ops::Weight& gate, const ops::Weight& up,
                        ops::RowClass row_class) const override;
  void select_rows(const float* x, std::span<const uint32_t> rows, size_t width, float* out) override;
  void final_norm(const float* x, const float* weight, float eps, size_t n, size_t width,
                  float* out) override;
  void sum_rows(const float* x, const float* weight, float eps, size_t width,
                std::span<const ops::RowSums> rows, double* sums) override;
  void upload(const float* host, size_t count, float* device) override {
    if (count != 0) std::memcpy(device, host, count * sizeof(float));
  }
  void download(const float* device, size_t count, float* host) override {
    if (count != 0) std::memcpy(host, device, count * sizeof(float));
  }

  void marginals(const void* act, size_t n, const ops::Weight& w, double* out, ops::RowClass) override;
  void conditionals(const void* act, size_t n, const ops::Weight& w, std::span<const ops::KnownBases> known,
                    double* out, ops::RowClass) override;
  void logits(const void* act, size_t n, const ops::Weight& w, float* out, ops::RowClass rows) override {
    linear(act, n, w, out, w.rows(), rows);
  }
  void logsumexp(const void* act, size_t n, const ops::Weight& w, std::span<const int64_t> targets,
                 double* maximum, double* sum, double* target_logit, ops::RowClass) override;

 private:
  /// Runs f(task, thread) for every task. `work` is what all tasks together take, in multiply-adds.
  template <class F>
  void parallel(size_t tasks, size_t work, F f);
  /// Runs f(first row, number of rows) for ranges of the rows of a row-wise operation.
  template <class F>
  void parallel_rows(size_t rows, size_t width, F f);
  /// Gives each thread at least `bytes` of scratch.
  void need_scratch(size_t bytes);
  char* at(void* act, size_t elements) const {
    return static_cast<char*>(act) + elements * dtype_size(dtype_);
  }
  const char* at(const void* act, size_t elements) const {
    return static_cast<const char*>(act) + elements * dtype_size(dtype_);
  }
  /// Rows of activations in the type and the order in which the kernels multiply them.
  struct Activations {
    const void* data;
    DType type;  // unless they are rounded to int8
    bool arranged;
    size_t row_bytes;
    const void* row(size_t i) const { return static_cast<const char*>(data) + i * row_bytes; }
  };
  /// May use memory that the next call overwrites.
  Activations activations(const void* act, size_t n, size_t k);
  /// activations() of rows whose type is that of products.
  Activations arranged(const void* act, size_t n, size_t k);
  /// Calls f(first row, rows, first panel, end of panels, thread) for blocks of rows and panels of a product.
  template <class F>
  void parallel_panels(size_t n, size_t panels, size_t work, F f);
  /// Calls f(first row, rows, panel, scratch of the thread) for blocks of rows and single panels.
  template <class F>
  void each_panel(size_t n, size_t panels, size_t work, F f);
  /// Calls f(first row, rows, logits) for blocks of rows that fit the logits buffer.
  template <class F>
  void for_logits(const void* act, size_t n, const ops::Weight& w, F f);
  /// Calls f(row, its logits, kKmers floats of scratch) for every row of a head of 6-mers.
  template <class F>
  void for_kmer_rows(const std::string& function, const void* act, size_t n, const ops::Weight& w, F f);

  const Kernels& kernels_;
  DType dtype_;
  bool int8_;
  ThreadPool pool_;
  WeightMemory weight_memory_;
  RopeTable rope_;
  std::vector<Memory> scratch_;  // one per thread
  size_t scratch_bytes_ = 0;
  GrowingMemory logits_, activations_, sums_;
};

CpuBackend::CpuBackend(const ops::CpuOptions& options)
    : kernels_(select_kernels(options.isa)),
      dtype_(options.dtype),
      int8_(options.int8),
      pool_(options.threads) {
  if (dtype_ == DType::f16)
    throw Error("make_cpu_backend", "the CPU backend cannot compute in f16, only in bf16 or f32",
                {"use {--dtype} bf16, f32 or int8, or {--device} cuda for f16"});
  if (int8_ && dtype_ != DType::bf16)
    throw Error("make_cpu_backend", "products of int8 go with activations in bf16",
                {"use {--dtype} bf16, f32 or int8"});
  if (options.threads < 1)
    throw Error("make_cpu_backend",
                std::to_string(options.threads) + " threads were asked for; at least 1 is needed");
  scratch_.resize(static_cast<size_t>(pool_.size()));
}

std::string CpuBackend::device_kind() const {
  const std::string products = int8_ ? "+int8." + std::string(kInt8Numerics) : "";
  return "cpu:" + std::string(kernels_.name) + products + ":" + kNumerics;
}

void* CpuBackend::allocate(size_t bytes) {
  Memory memory = allocate_aligned("allocate", bytes);
  std::memset(memory.get(), 0, bytes);
  return memory.release();
}

template <class F>
void CpuBackend::parallel(size_t tasks, size_t work, F f) {
  if (work >= kSerialWork) return pool_.run(tasks, std::ref(f));
  for (size_t task = 0; task < tasks; ++task) f(task, size_t{0});
}

template <class F>
void CpuBackend::parallel_rows(size_t rows, size_t width, F f) {
  const size_t elements =
      std::clamp(rows * width / wanted_tasks(scratch_.size()), kLeastRowElements, kMostRowElements);
  const size_t block = std::max<size_t>(1, elements / std::max<size_t>(1, width));
  parallel(divide_up(rows, block), rows * width * kRowCost, [&](size_t task, size_t) {
    const size_t first = task * block;
    f(first, std::min(block, rows - first));
  });
}

void CpuBackend::need_scratch(size_t bytes) {
  if (bytes <= scratch_bytes_) return;
  scratch_bytes_ = 0;
  for (Memory& m : scratch_) {
    m.reset();
    m = allocate_aligned("need_scratch", bytes);
  }
  scratch_bytes_ = bytes;
}

void CpuBackend::embed(const TensorView& table, std::span<const uint32_t> rows, float* x) {
  ops::check_rows(table, rows);
  parallel_rows(rows.size(), table.cols, [&](size_t first, size_t n) {
    for (size_t i = first; i < first + n; ++i)
      kernels_.widen(table.row(rows[i]), table.dtype, table.cols, x + i * table.cols);
  });
}

void CpuBackend::norm(const float* x, const float* weight, float eps, size_t n, size_t width, void* act) {
  parallel_rows(n, width, [&](size_t first, size_t rows) {
    kernels_.norm(x + first * width, weight, eps, rows, width, at(act, first * width), dtype_);
  });
}

void CpuBackend::norm_heads(float* x, const float* weight, float eps, size_t n, size_t heads, size_t head_dim,
                            size_t ld) {
  parallel_rows(n, heads * head_dim, [&](size_t first, size_t rows) {
    for (float* row = x + first * ld; rows > 0; --rows, row += ld)
      kernels_.norm(row, weight, eps, heads, head_dim, row, DType::f32);
  });
}

void CpuBackend::swiglu(const float* gate_up, size_t n, size_t width, void* act) {
  parallel_rows(n, width, [&](size_t first, size_t rows) {
    kernels_.swiglu(gate_up + first * 2 * width, rows, width, at(act, first * width), dtype_);
  });
}

void CpuBackend::select_rows(const float* x, std::span<const uint32_t> rows, size_t width, float* out) {
  parallel_rows(rows.size(), width, [&](size_t first, size_t n) {
    for (size_t i = first; i < first + n; ++i)
      std::memcpy(out + i * width, x + rows[i] * width, width * sizeof(float));
  });
}

double final_norm_scale(const float* x, float eps, size_t width) {
  double squares = 0;
  for (size_t j = 0; j < width; ++j) squares += double{x[j]} * x[j];
  return 1 / std::sqrt(squares / static_cast<double>(width) + double{eps});
}

float final_normed(float x, double scale, float weight) {
  return static_cast<float>(x * scale * weight);
}

void CpuBackend::final_norm(const float* x, const float* weight, float eps, size_t n, size_t width,
                            float* out) {
  parallel_rows(n, width, [&](size_t first, size_t rows) {
    for (size_t i = first; i < first + rows; ++i) {
      const float* const from = x + i * width;
      const double scale = final_norm_scale(from, eps, width);
      for (size_t j = 0; j < width; ++j) out[i * width + j] = final_normed(from[j], scale, weight[j]);
    }
  });
}

// Threads share the columns, each of which is added from its first row to its last.
void CpuBackend::sum_rows(const float* x, const float* weight, float eps, size_t width,
                          std::span<const ops::RowSums> rows, double* sums) {
  constexpr size_t kColumns = 64;
  std::vector<double> scale;
  for (const ops::RowSums& wanted : rows) {
    const std::span<const uint32_t> counts = wanted.counts;  // clang before 16 captures no structured binding
    const size_t n = counts.back();
    const float* const from = x + wanted.first_row * width;
    scale.resize(n);
    if (weight != nullptr)
      parallel_rows(n, width, [&](size_t first, size_t count) {
        for (size_t i = first; i < first + count; ++i)
          scale[i] = final_norm_scale(from + i * width, eps, width);
      });
    parallel(divide_up(width, kColumns), n * width * kRowCost, [&](size_t task, size_t) {
      const size_t begin = task * kColumns, end = std::min(width, begin + kColumns);
      const double* before = sums;
      size_t row = 0;
      for (size_t i = 0; i < counts.size(); ++i) {
        double* const sum = sums + (i + 1) * width;
        std::copy(before + begin, before + end, sum + begin);
        for (; row < counts[i]; ++row) {
          const float* const values = from + row * width;
          if (weight == nullptr)
            for (size_t j = begin; j < end; ++j) sum[j] += double{values[j]};
          else
            for (size_t j = begin; j < end; ++j)
              sum[j] += double{final_normed(values[j], scale[row], weight[j])};
        }
        before = sum;
      }
    });
    sums += (1 + counts.size()) * width;
  }
}

const CpuWeight& own(const ops::Weight& w) {
  return ops::own_as<const CpuWeight>(w, "linear", "the weight was prepared by another backend");
}

std::unique_ptr<ops::Weight> CpuBackend::prepare(std::span<const TensorView> matrices,
                                                 std::span<const int> exponents) {
  const size_t rows = ops::joined_rows(matrices);
  ops::check_exponents("prepare", dtype_, exponents, matrices.size());
  CpuWeight::Matrices made;
  for (const TensorView& matrix : matrices)
    made.push_back(std::make_shared<CpuMatrix>(kernels_, weight_memory_, matrix, dtype_,
                                               int8_ ? Products::int8 : Products::act_type, pool_));
  return std::make_unique<CpuWeight>(std::move(made), rows, matrices.front().cols);
}

std::unique_ptr<ops::Weight> CpuBackend::part(const ops::Weight& whole, size_t first, size_t count) {
  const CpuWeight::Matrices& all = own(whole).matrices();
  ops::check_part(first, count, all.size());
  const auto begin = all.begin() + static_cast<ptrdiff_t>(first);
  CpuWeight::Matrices some(begin, begin + static_cast<ptrdiff_t>(count));
  size_t rows = 0;
  for (const auto& matrix : some) rows += matrix->rows();
  return std::make_unique<CpuWeight>(std::move(some), rows, whole.cols());
}

CpuBackend::Activations CpuBackend::activations(const void* act, size_t n, size_t k) {
  const bool widens = !int8_ && dtype_ == DType::bf16 && !kernels_.pairs;
  if (!int8_ && !widens) return arranged(act, n, k);
  const size_t row_bytes = int8_ ? divide_up(k, kQ8Block) * kernels_.int8.act_bytes : k * sizeof(float);
  char* const out =
      static_cast<char*>(activations_.ensure("linear", checked_product("linear", n, row_bytes)));
  parallel_rows(n, k, [&](size_t first, size_t rows) {
    char* const to = out + first * row_bytes;
    if (int8_)
      kernels_.round_activations(at(act, first * k), dtype_, rows, k, to);
    else
      kernels_.widen(at(act, first * k), weight_type(dtype_), rows * k, reinterpret_cast<float*>(to));
  });
  return {out, DType::f32, false, row_bytes};
}

CpuBackend::Activations CpuBackend::arranged(const void* act, size_t n, size_t k) {
  const size_t row_bytes = k * dtype_size(dtype_);
  if (dtype_ != DType::bf16 || !kernels_.arranges(n, k)) return {act, dtype_, false, row_bytes};
  const size_t rows = divide_up(n, kernels_.tile_rows) * kernels_.tile_rows;
  void* const out = activations_.ensure("linear", checked_product("linear", rows, row_bytes));
  parallel_rows(n, k, [&](size_t first, size_t count) {
    kernels_.arrange(static_cast<const bf16*>(act), first, count, k, static_cast<bf16*>(out));
  });
  return {out, dtype_, true, row_bytes};
}

template <class F>
void CpuBackend::parallel_panels(size_t n, size_t panels, size_t work, F f) {
  const ProductBlocks block = product_blocks(n, panels, scratch_.size(), kernels_.tile_rows);
  const size_t panel_blocks = divide_up(panels, block.panels);
  parallel(divide_up(n, block.rows) * panel_blocks, work, [&](size_t task, size_t thread) {
    const size_t row = task / panel_blocks * block.rows, panel = task % panel_blocks * block.panels;
    f(row, std::min(block.rows, n - row), panel, std::min(panel + block.panels, panels), thread);
  });
}

template <class F>
void CpuBackend::each_panel(size_t n, size_t panels, size_t work, F f) {
  parallel_panels(n, panels, work,
                  [&](size_t row, size_t rows, size_t panel, size_t panel_end, size_t thread) {
                    for (; panel < panel_end; ++panel)
                      f(row, rows, panel, static_cast<float*>(scratch_[thread].get()));
                  });
}

void CpuBackend::linear(const void* act, size_t n, const ops::Weight& w, float* out, size_t ld_out,
                        ops::RowClass) {
  const CpuWeight& weight = own(w);
  ops::check_outputs(w, ld_out);
  if (n == 0) return;
  const Activations a = activations(act, n, w.cols());
  parallel_panels(
      n, weight.panels(), n * w.rows() * w.cols(),
      [&](size_t row, size_t rows, size_t panel, size_t panel_end, size_t) {
        float* to = out + row * ld_out;
        // `panel` counts from the first panel of the matrix.
        for (const auto& m : weight.matrices()) {
          const size_t begin = std::min(panel, m->panels()), end = std::min(panel_end, m->panels());
          if (begin < end)
            kernels_.linear({a.row(row), a.type, a.arranged, m->panel(begin), m->type(), rows, w.cols(),
                             m->outputs_from(begin, end), to + m->first_output(begin), ld_out});
          panel -= begin;
          panel_end -= end;
          to += m->rows();
        }
      });
}

void CpuBackend::linear_add(const void* act, size_t n, const ops::Weight& w, float* x,
                            ops::RowClass row_class) {
  if (n == 0) return;
  const CpuMatrix* const matrix = own(w).single();
  const size_t outputs = w.rows(), k = w.cols();
  // With few rows the time is that of reading the weights, and additions between panels would delay that.
  if (matrix == nullptr || n < kAddedRows) {
    const size_t bytes = checked_product("linear_add", n * outputs, sizeof(float));
    float* const sums = static_cast<float*>(sums_.ensure("linear_add", bytes));
    linear(act, n, w, sums, outputs, row_class);
    return parallel_rows(n, outputs, [&](size_t first, size_t rows) {
      kernels_.add(sums + first * outputs, rows, outputs, x + first * outputs, outputs);
    });
  }
  const Activations a = activations(act, n, k);
  need_scratch(kLinearRows * kernels_.panel_outputs * sizeof(float));
  const auto add_panel = [&](size_t row, size_t rows, size_t panel, float* sums) {
    const size_t width = matrix->outputs_from(panel, panel + 1);
    kernels_.linear(
        {a.row(row), a.type, a.arranged, matrix->panel(panel), matrix->type(), rows, k, width, sums, width});
    kernels_.add(sums, rows, width, x + row * outputs + matrix->first_output(panel), outputs);
  };
  // The sums of a panel are added while they are in a cache, and are never written to memory.
  each_panel(n, matrix->panels(), n * outputs * k, add_panel);
}

void CpuBackend::linear_swiglu(const void* act, size_t n, const ops::Weight& gate, const ops::Weight& up,
                               float* gate_up, void* out, ops::RowClass row_class) {
  const CpuMatrix *const g = own(gate).single(), *const u = own(up).single();
  if (g == nullptr || u == nullptr) return Backend::linear_swiglu(act, n, gate, up, gate_up, out, row_class);
  if (n == 0) return;
  const size_t k = gate.cols();
  const Activations a = activations(act, n, k);
  need_scratch(2 * kLinearRows * kernels_.panel_outputs * sizeof(float));
  const auto gated = [&](size_t row, size_t rows, size_t panel, float* both) {
    const size_t width = g->outputs_from(panel, panel + 1);
    kernels_.linear(
        {a.row(row), a.type, a.arranged, g->panel(panel), g->type(), rows, k, width, both, 2 * width});
    kernels_.linear({a.row(row), a.type, a.arranged, u->panel(panel), u->type(), rows, k, width, both + width,
                     2 * width});
    for (size_t i = 0; i < rows; ++i)
      kernels_.swiglu(both + i * 2 * width, 1, width, at(out, (row + i) * g->rows() + g->first_output(panel)),
                      dtype_);
  };
  // The two products of a panel are combined while they are in a cache, and are never written to memory.
  each_panel(n, g->panels(), 2 * n * g->rows() * k, gated);
}

size_t CpuBackend::swiglu_scratch(size_t n, const ops::Weight& gate, const ops::Weight& up,
                                  ops::RowClass row_class) const {
  const bool fused = own(gate).single() != nullptr && own(up).single() != nullptr;
  return fused ? 0 : Backend::swiglu_scratch(n, gate, up, row_class);
}

std::unique_ptr<ops::RowPlan> CpuBackend::plan(std::span<const ops::RowRun> runs, size_t heads,
                                               ops::KvStore& kv, ops::RowClass) {
  auto& store = ops::own_store<CpuKvStore>(kv, dtype_);
  ops::check_runs(runs, store.shape(), {heads, rope_.head_dim(), rope_.positions(), store.count()});
  return std::make_unique<CpuPlan>(runs, heads, store, scratch_.size());
}

void CpuBackend::append_kv(const float* k, const float* v, size_t ld, const ops::RowPlan& plan,
                           size_t layer) {
  const auto& rows = ops::own_plan<CpuPlan>(plan, layer);
  const CpuKvStore& store = rows.kv();
  const size_t heads = store.shape().kv_heads, head_dim = store.shape().head_dim;
  const size_t pairs = rows.appended().size() * heads, elements = rows.rows() * heads * head_dim;
  const size_t block = std::max<size_t>(1, kAppendElements * pairs / std::max<size_t>(1, elements));
  parallel(divide_up(pairs, block), elements * kAppendCost, [&](size_t task, size_t) {
    for (size_t i = task * block; i < std::min(pairs, (task + 1) * block); ++i) {
      const RowPiece& piece = rows.appended()[i / heads];
      const size_t head = i % heads, offset = piece.row * ld + head * head_dim;
      char* const page = static_cast<char*>(store.bases()[piece.pages[piece.position / kPage]]);
      kernels_.append_kv({k + offset, v + offset, ld, piece.rows, piece.position % kPage, head_dim,
                          store.value_dim(), rope_.cos(piece.position), rope_.sin(piece.position),
                          page + store.k_offset(layer, head), page + store.v_offset(layer, head), dtype_});
    }
  });
}

void CpuBackend::attention(const float* q, size_t ld, const ops::RowPlan& plan, size_t layer, void* act,
                           int exponent) {
  ops::check_exponents("attention", dtype_, {&exponent, 1}, 1);
  const auto& rows = ops::own_plan<CpuPlan>(plan, layer);
  const CpuKvStore& store = rows.kv();
  const size_t kv_heads = store.shape().kv_heads, head_dim = store.shape().head_dim, group = rows.group(),
               width = rows.heads() * head_dim;
  need_scratch(kernels_.attention_scratch(rows.block_rows() * group, head_dim, store.value_dim()) *
               sizeof(float));
  parallel(rows.blocks().size() * kv_heads, rows.keys() * width, [&](size_t task, size_t thread) {
    const std::span<const RowPiece> pieces = rows.pieces(rows.blocks()[task / kv_heads]);
    const size_t head = task % kv_heads, column = head * group * head_dim;
    kernels_.attention({pieces.data(), pieces.size(), q + column, ld, group, head_dim, store.value_dim(),
                        store.bases(), store.k_offset(layer, head), store.v_offset(layer, head), dtype_,
                        rope_.cos(0), rope_.sin(0), at(act, column), dtype_, width,
                        static_cast<float*>(scratch_[thread].get())});
  });
}

template <class F>
void CpuBackend::for_logits(const void* act, size_t n, const ops::Weight& w, F f) {
  const size_t rows = std::clamp<size_t>(kHeadFloats / w.rows(), 1, kHeadRows);
  const size_t bytes = checked_product("logits", std::min(rows, n) * w.rows(), sizeof(float));
  float* const z = static_cast<float*>(logits_.ensure("logits", bytes));
  for (size_t first = 0; first < n; first += rows) {
    const size_t count = std::min(rows, n - first);
    linear(at(act, first * w.cols()), count, w, z, w.rows(), ops::RowClass::prefill);
    f(first, count, z);
  }
}

template <class F>
void CpuBackend::for_kmer_rows(const std::string& function, const void* act, size_t n, const ops::Weight& w,
                               F f) {
  ops::check_kmer_head(function, w);
  need_scratch(ops::kKmers * sizeof(float));
  for_logits(act, n, w, [&](size_t first, size_t count, const float* z) {
    parallel(count, count * ops::kKmers * kRowCost, [&](size_t i, size_t thread) {
      f(first + i, z + i * ops::kKmers, static_cast<float*>(scratch_[thread].get()));
    });
  });
}

void CpuBackend::marginals(const void* act, size_t n, const ops::Weight& w, double* out, ops::RowClass) {
  for_kmer_rows("marginals", act, n, w, [&](size_t row, const float* z, float* scratch) {
    row_marginals(kernels_, z, scratch, out + row * ops::kMarginals);
  });
}

void CpuBackend::conditionals(const void* act, size_t n, const ops::Weight& w,
                              std::span<const ops::KnownBases> known, double* out, ops::RowClass) {
  ops::check_known(known, n);
  for_kmer_rows("conditionals", act, n, w, [&](size_t row, const float* z, float* scratch) {
    row_conditionals(kernels_, z, known[row], scratch, out + row * ops::kMarginals);
  });
}

void CpuBackend::logsumexp(const void* act, size_t n, const ops::Weight& w, std::span<const int64_t> targets,
                           double* maximum, double* sum, double* target_logit, ops::RowClass) {
  ops::check_targets(targets, n);
  need_scratch(kLogsumexpTile * sizeof(float));
  const size_t outputs = w.rows();
  for_logits(act, n, w, [&](size_t first, size_t count, const float* z) {
    parallel(count, count * outputs * kRowCost, [&](size_t i, size_t thread) {
      const size_t row = first + i;
      const float* const logits = z + i * outputs;
      row_logsumexp(kernels_, logits, outputs, static_cast<float*>(scratch_[thread].get()), maximum + row,
                    sum + row);
      const int64_t target = targets[row];
      if (target >= 0 && static_cast<uint64_t>(target) < outputs)
        target_logit[row] = static_cast<double>(logits[target]);
    });
  });
}

}  // namespace
}  // namespace carbon::cpu

std::unique_ptr<carbon::ops::Backend> carbon::ops::make_cpu_backend(const CpuOptions& options) {
  return std::make_unique<cpu::CpuBackend>(options);
}
