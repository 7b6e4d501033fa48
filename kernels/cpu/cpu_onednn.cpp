// OneDnn by the primitive dnnl::matmul. See cpu_onednn.hpp for the conditions.
#include "kernels/cpu/cpu_onednn.hpp"

#include "kernels/cpu/cpu_memory.hpp"
#include "kernels/ops.hpp"

#ifdef CARBON_ONEDNN

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <dnnl.hpp>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/error.hpp"

namespace carbon::cpu {
namespace {

using dnnl::memory;

// oneDNN chooses the layout of a weight for this number of rows. All products use that layout.
constexpr size_t kReferenceRows = 64;
// The numbers of rows that the self-test compares with the reference. oneDNN chooses the order of sums by the
// number of rows: since version 3 a row alone has another order than rows together if K is above about 1,024.
constexpr size_t kTestedRows[] = {1, 2, 8, 9, 64, 200};
// This number is tested only with all threads, because it takes longer.
constexpr size_t kMostTestedRows = 1366;
// A product whose results are a part of wider rows is computed for this many rows at a time: enough for the
// full speed, and few enough that the results are still in a cache when they are copied.
constexpr size_t kStridedRows = 256;
constexpr size_t kSerialCopy = size_t{1}
                               << 16;  // up to this many elements one thread copies faster than several
// The number of primitives that are kept for a shape, so that batches of always new sizes do not fill the
// memory.
constexpr size_t kPrimitives = 64;

/// Sets the number of OpenMP threads for the calling thread, because oneDNN uses that number.
class ThreadCount {
 public:
  explicit ThreadCount(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }
  ~ThreadCount() { omp_set_num_threads(before_); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_;
};

memory::dim dim(size_t n) {
  return static_cast<memory::dim>(n);
}

/// The primitives of one shape of weight.
class Shape {
 public:
  Shape(dnnl::engine engine, dnnl::stream stream, size_t rows, size_t cols, int threads)
      : engine_(std::move(engine)), stream_(std::move(stream)), n_(rows), k_(cols), threads_(threads) {
    const ThreadCount scope(threads_);
    try {
      const auto any = memory::desc({dim(k_), dim(n_)}, memory::data_type::bf16, memory::format_tag::any);
      const auto chosen = description(kReferenceRows, any);
      weights_ = chosen.weights_desc();
      usable_ = is_invariant_kind(chosen);
      // oneDNN chooses the implementation by the number of rows, so check several.
      for (const size_t count : {1, 8, 9, 200, 1366, 8192})
        usable_ = usable_ && is_invariant_kind(description(count, weights_));
    } catch (const dnnl::error&) {
      usable_ = false;  // oneDNN has no such product on this CPU
    }
  }

  bool usable() const { return usable_; }

  /// Copies the weights into the layout of oneDNN, in new memory that `room` owns.
  memory reorder(const bf16* data, Memory& room) {
    const ThreadCount scope(threads_);
    const auto plain = memory::desc({dim(k_), dim(n_)}, memory::data_type::bf16, memory::format_tag::ba);
    // The source is only read.
    memory from(plain, engine_, const_cast<bf16*>(data));
    room = allocate_aligned("prepare", weights_.get_size());
    memory to(weights_, engine_, room.get());
    dnnl::reorder(from, to).execute(stream_, from, to);
    stream_.wait();
    return to;
  }

  void multiply(const memory& weights, const bf16* act, size_t rows, float* out, size_t ld_out) {
    if (ld_out == n_ || rows == 1) return multiply_dense(weights, act, rows, out);
    // oneDNN 2.6 can write results into a part of wider rows only with its reference implementation, which is
    // hundreds of times slower.
    strided_.resize(std::min(rows, kStridedRows) * n_);
    for (size_t first = 0; first < rows; first += kStridedRows) {
      const size_t count = std::min(kStridedRows, rows - first);
      multiply_dense(weights, act + first * k_, count, strided_.data());
#pragma omp parallel for num_threads(threads_) if (count * n_ > kSerialCopy)
      for (size_t i = 0; i < count; ++i)
        std::memcpy(out + (first + i) * ld_out, strided_.data() + i * n_, n_ * sizeof(float));
    }
  }

  /// True if rows have the same bits alone, in batches and on several threads. Tested once for the shape.
  bool passes_self_test(const memory& weights) {
    if (!tested_) {
      tested_ = true;
      usable_ = usable_ && self_test(weights);
    }
    return usable_;
  }

 private:
  using Primitive = dnnl::matmul;

  /// oneDNN 2 calls it "brg:...", and oneDNN 3 "brg_matmul:...".
  static bool is_invariant_kind(const dnnl::matmul::primitive_desc& d) {
    return std::string_view(d.impl_info_str()).starts_with("brg");
  }

  memory::desc source(size_t rows) const {
    return {{dim(rows), dim(k_)}, memory::data_type::bf16, memory::format_tag::ab};
  }
  memory::desc result(size_t rows) const {
    return {{dim(rows), dim(n_)}, memory::data_type::f32, memory::format_tag::ab};
  }
  dnnl::matmul::primitive_desc description(size_t rows, const memory::desc& weights) const {
#if DNNL_VERSION_MAJOR >= 3
    return {engine_, source(rows), weights, result(rows)};
#else
    return {dnnl::matmul::desc(source(rows), weights, result(rows)), engine_};
#endif
  }
  /// An empty primitive if oneDNN would choose another kind of implementation.
  Primitive create(size_t rows, int threads) const {
    const ThreadCount scope(threads);
    const auto d = description(rows, weights_);
    return is_invariant_kind(d) ? Primitive(d) : Primitive();
  }

  const Primitive& primitive(size_t rows) {
    const auto found = primitives_.find(rows);
    if (found != primitives_.end()) return found->second;
    if (primitives_.size() >= kPrimitives) primitives_.clear();
    return primitives_.emplace(rows, create(rows, threads_)).first->second;
  }

  /// Computes one row together with a row of zeros.
  void multiply_pair(const memory& weights, const bf16* act, float* out) {
    pair_in_.assign(2 * k_, bf16{});
    pair_out_.resize(2 * n_);
    std::copy_n(act, k_, pair_in_.begin());
    multiply_dense(weights, pair_in_.data(), 2, pair_out_.data());
    std::copy_n(pair_out_.begin(), n_, out);
  }

  void multiply_dense(const memory& weights, const bf16* act, size_t rows, float* out) {
    if (rows == 1 && !alone_) return multiply_pair(weights, act, out);
    const Primitive& product = primitive(rows);
    if (product)
      run(product, weights, act, rows, out, threads_);
    else
      multiply_padded(weights, act, rows, out);
  }

  /// Computes in blocks of the reference size, whose implementation was tested: slow, but always possible.
  void multiply_padded(const memory& weights, const bf16* act, size_t rows, float* out) {
    const Primitive product = create(kReferenceRows, threads_);
    std::vector<bf16> in(kReferenceRows * k_);
    std::vector<float> to(kReferenceRows * n_);
    for (size_t first = 0; first < rows; first += kReferenceRows) {
      const size_t count = std::min(kReferenceRows, rows - first);
      std::copy_n(act + first * k_, count * k_, in.begin());
      run(product, weights, in.data(), kReferenceRows, to.data(), threads_);
      std::copy_n(to.begin(), count * n_, out + first * n_);
    }
  }

  void run(const Primitive& product, const memory& weights, const bf16* act, size_t rows, float* out,
           int threads) {
    const ThreadCount scope(threads);
    const memory in(source(rows), engine_, const_cast<bf16*>(act));
    const memory to(result(rows), engine_, out);
    product.execute(stream_, {{DNNL_ARG_SRC, in}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, to}});
    stream_.wait();
  }

  /// Compares rows in batches of several sizes with the same rows in a batch of the reference size on one
  /// thread, and sets alone_.
  bool self_test(const memory& weights) {
    // Random rows, repeated up to the largest batch.
    std::vector<bf16> act((kMostTestedRows + kReferenceRows) * k_);
    uint32_t state = 1;
    for (size_t i = 0; i < kReferenceRows * k_; ++i) {
      state = state * 1664525u + 1013904223u;
      act[i] = to_bf16(static_cast<float>(static_cast<int32_t>(state)) * 0x1p-31f);
    }
    for (size_t i = kReferenceRows * k_; i < act.size(); ++i) act[i] = act[i - kReferenceRows * k_];
    std::vector<float> reference(kReferenceRows * n_), results(kMostTestedRows * n_);
    try {
      run(create(kReferenceRows, 1), weights, act.data(), kReferenceRows, reference.data(), 1);
      const auto agrees = [&](size_t rows, int threads) {
        // End with the last row, to notice also an order of sums that depends on the number of a row.
        const size_t first = (kReferenceRows - rows % kReferenceRows) % kReferenceRows;
        const Primitive product = create(rows, threads);
        if (!product) return false;
        run(product, weights, act.data() + first * k_, rows, results.data(), threads);
        for (size_t i = 0; i < rows; ++i)
          if (std::memcmp(results.data() + i * n_, reference.data() + (first + i) % kReferenceRows * n_,
                          n_ * sizeof(float)) != 0)
            return false;
        return true;
      };
      for (const int threads : {1, 2, threads_})
        for (const size_t rows : kTestedRows) {
          if (agrees(rows, threads)) continue;
          if (rows > 1) return false;
          alone_ = false;
        }
      return agrees(kMostTestedRows, threads_);
    } catch (const dnnl::error&) {
      return false;
    }
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  size_t n_, k_;
  int threads_;
  memory::desc weights_;
  bool usable_ = false, tested_ = false;
  bool alone_ = true;                       // oneDNN gives a row alone the bits that it has among others
  std::map<size_t, Primitive> primitives_;  // by the number of rows
  std::vector<float> strided_;              // [kStridedRows, n_] at most
  std::vector<bf16> pair_in_;               // [2, k_]
  std::vector<float> pair_out_;             // [2, n_]
};

[[noreturn]] void fail(const char* function, const dnnl::error& e) {
  throw Error(function,
              std::string("oneDNN: ") + e.what() +
                  (e.status == dnnl_out_of_memory ? "; use a smaller batch or a machine with more memory"
                                                  : "; set CARBON_FORCE_ISA=avx512 to run without oneDNN"));
}

class Weight final : public OneDnnWeight {
 public:
  Weight(std::shared_ptr<Shape> shape, Memory room, memory weights)
      : shape_(std::move(shape)), room_(std::move(room)), weights_(std::move(weights)) {}
  void multiply(const bf16* act, size_t n, float* out, size_t ld_out) override {
    try {
      shape_->multiply(weights_, act, n, out, ld_out);
    } catch (const dnnl::error& e) {
      fail("linear", e);
    }
  }

 private:
  std::shared_ptr<Shape> shape_;
  Memory room_;
  memory weights_;
};

class Library final : public OneDnn {
 public:
  explicit Library(int threads) : threads_(threads) {}

  std::unique_ptr<OneDnnWeight> prepare(const bf16* data, size_t rows, size_t cols) override {
    auto& shape = shapes_[{rows, cols}];
    if (!shape) shape = std::make_shared<Shape>(engine_, stream_, rows, cols, threads_);
    if (!shape->usable()) return nullptr;
    try {
      Memory room;
      memory weights = shape->reorder(data, room);
      if (!shape->passes_self_test(weights)) return nullptr;
      return std::make_unique<Weight>(shape, std::move(room), std::move(weights));
    } catch (const dnnl::error& e) {
      fail("prepare", e);
    }
  }

  std::string kind() const override {
    return "onednn" + ops::onednn_version() + (onednn_has_amx() ? "amx" : "");
  }

 private:
  int threads_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  std::map<std::pair<size_t, size_t>, std::shared_ptr<Shape>> shapes_;
};

}  // namespace

bool onednn_has_amx() {
  // An instruction set's value has the bits of those that it includes; newer ones include AMX, too.
  constexpr auto kAmx = static_cast<unsigned>(dnnl::cpu_isa::avx512_core_amx);
  return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & kAmx) == kAmx;
}

std::unique_ptr<OneDnn> make_onednn(int threads) {
  try {
    return std::make_unique<Library>(threads);
  } catch (const dnnl::error& e) {
    fail("make_cpu_backend", e);
  }
}

}  // namespace carbon::cpu

std::string carbon::ops::onednn_version() {
  const dnnl_version_t* const v = dnnl_version();
  return std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
}

#else

bool carbon::cpu::onednn_has_amx() {
  return false;
}
std::unique_ptr<carbon::cpu::OneDnn> carbon::cpu::make_onednn(int) {
  return nullptr;
}
std::string carbon::ops::onednn_version() {
  return "";
}

#endif
