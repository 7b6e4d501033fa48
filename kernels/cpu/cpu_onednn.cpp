// OneDnn by the primitive dnnl::matmul. See cpu_onednn.hpp for the conditions.
#include "kernels/cpu/cpu_onednn.hpp"

#include "kernels/cpu/cpu_memory.hpp"
#include "kernels/ops.hpp"

#ifdef CARBON_ONEDNN

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <dnnl.hpp>
#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/base/error.hpp"

namespace carbon::cpu {
namespace {

using dnnl::memory;

// oneDNN chooses the layout of a weight for this number of rows. All products use that layout.
constexpr size_t kReferenceRows = 64;
// A product is computed for this many rows at a time: enough for the full speed, and few enough that the
// results are still in a cache when they are copied.
constexpr size_t kBlockRows = 256;
// The numbers of rows that the self-test compares with the reference. oneDNN chooses the order of sums by the
// number of rows: since version 3 a row alone has another order than rows together if K is above about 1,024.
constexpr size_t kTestedRows[] = {1, 2, 8, 9, 64, 200, kBlockRows, 600};
constexpr size_t kMostTestedRows = 600;
// The outputs of a piece of a weight are a multiple of the first number, which all layouts of oneDNN divide,
// and at most the second, so that inputs and results of a block of rows stay in a cache.
constexpr size_t kPieceStep = 64, kMostPiece = 512;
// The number of primitives that are kept for a shape, so that batches of always new sizes do not fill the
// memory.
constexpr size_t kPrimitives = 64;

constexpr size_t divide_up(size_t a, size_t b) {
  return (a + b - 1) / b;
}

memory::dim dim(size_t n) {
  return static_cast<memory::dim>(n);
}

/// Makes oneDNN compute on the calling thread alone. Where it has OpenMP in it, as in Debian, it would start
/// threads of that; this program itself has none, so that the functions are looked up.
class OneThread {
 public:
  OneThread() {
    if (kSet != nullptr && kGet != nullptr) before_ = kGet();
    if (before_ > 0) kSet(1);
  }
  ~OneThread() {
    if (before_ > 0) kSet(before_);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  static inline const auto kGet = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
  static inline const auto kSet = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  int before_ = 0;
};

/// What a thread needs of its own.
struct Room {
  Room(const dnnl::engine& engine, size_t number) : thread(number), stream(engine) {}
  size_t thread;
  dnnl::stream stream;
  GrowingMemory scratch, results;
};

/// The products with weights of one shape, each on one thread.
class Product {
 public:
  Product(dnnl::engine engine, size_t outputs, size_t inputs, size_t threads)
      : engine_(std::move(engine)), n_(outputs), k_(inputs), threads_(threads) {
    const OneThread scope;
    try {
      const auto any = memory::desc({dim(k_), dim(n_)}, memory::data_type::bf16, memory::format_tag::any);
      const auto chosen = description(kReferenceRows, any);
      weights_ = chosen.weights_desc();
      usable_ = is_invariant_kind(chosen);
      // oneDNN chooses the implementation by the number of rows, so check several.
      for (const size_t count : {size_t{1}, size_t{8}, size_t{9}, size_t{200}, kBlockRows})
        usable_ = usable_ && is_invariant_kind(description(count, weights_));
    } catch (const dnnl::error&) {
      usable_ = false;  // oneDNN has no such product on this CPU
    }
  }

  bool usable() const { return usable_; }
  size_t outputs() const { return n_; }
  /// The size of a weight in the layout of oneDNN.
  size_t weight_bytes() const { return weights_.get_size(); }

  /// Copies a weight into the layout of oneDNN.
  memory reorder(const bf16* data, void* room, dnnl::stream& stream) const {
    const OneThread scope;
    const auto plain = memory::desc({dim(k_), dim(n_)}, memory::data_type::bf16, memory::format_tag::ba);
    // The source is only read.
    memory from(plain, engine_, const_cast<bf16*>(data));
    memory to(weights_, engine_, room);
    dnnl::reorder(from, to).execute(stream, from, to);
    stream.wait();
    return to;
  }

  /// A primitive for products of a number of rows, at most kBlockRows.
  class Rows {
   public:
    Rows(const Product& product, size_t count)
        : product_(&product), count_(count), arguments_(product.threads_) {
      if (count == 1 && !product.alone_) return;
      const OneThread scope;
      const auto d = product.description(count, product.weights_);
      if (!is_invariant_kind(d)) return;
      primitive_ = dnnl::matmul(d);
      scratch_bytes_ = d.scratchpad_desc().get_size();
      for (Arguments& mine : arguments_) {
        mine[DNNL_ARG_SRC] = memory(product.source(count), product.engine_, nullptr);
        mine[DNNL_ARG_DST] = memory(product.result(count), product.engine_, nullptr);
        mine[DNNL_ARG_SCRATCHPAD] = memory(d.scratchpad_desc(), product.engine_, nullptr);
      }
    }
    /// out[i, j], dense, for the `count` rows of act. Several threads may call it at a time.
    void multiply(const memory& weights, const bf16* act, float* out, Room& room) {
      if (!primitive_) return multiply_padded(weights, act, out, room);
      const OneThread scope;
      Arguments& mine = arguments_[room.thread];
      // The source is only read.
      mine[DNNL_ARG_SRC].set_data_handle(const_cast<bf16*>(act));
      mine[DNNL_ARG_WEIGHTS] = weights;
      mine[DNNL_ARG_DST].set_data_handle(out);
      mine[DNNL_ARG_SCRATCHPAD].set_data_handle(room.scratch.ensure("linear", scratch_bytes_));
      primitive_.execute(room.stream, mine);
      room.stream.wait();
    }

   private:
    // A thread's, made once, because oneDNN takes microseconds to describe memory.
    using Arguments = std::unordered_map<int, memory>;

    /// Computes rows together with rows of zeros: one row with a second, if a row alone has other bits, and
    /// other numbers in blocks of the reference size if oneDNN would choose another kind of implementation.
    void multiply_padded(const memory& weights, const bf16* act, float* out, Room& room) {
      const Product& p = *product_;
      const size_t size = count_ == 1 ? 2 : kReferenceRows;
      Rows padded(p, size);
      if (!padded.primitive_)
        throw Error("linear", "oneDNN has no product of bf16 for " + std::to_string(size) + " rows");
      std::vector<bf16> in(size * p.k_);
      std::vector<float> to(size * p.n_);
      for (size_t first = 0; first < count_; first += size) {
        const size_t some = std::min(size, count_ - first);
        std::copy_n(act + first * p.k_, some * p.k_, in.begin());
        padded.multiply(weights, in.data(), to.data(), room);
        std::copy_n(to.begin(), some * p.n_, out + first * p.n_);
      }
    }

    const Product* product_;
    size_t count_;
    dnnl::matmul primitive_;  // empty: see multiply_padded()
    size_t scratch_bytes_ = 0;
    std::vector<Arguments> arguments_;  // one for each thread
  };
  /// Not thread-safe.
  std::shared_ptr<Rows> rows(size_t count) {
    const auto found = rows_.find(count);
    if (found != rows_.end()) return found->second;
    if (rows_.size() >= kPrimitives) rows_.clear();
    return rows_.emplace(count, std::make_shared<Rows>(*this, count)).first->second;
  }

  /// From now on a row alone is computed with a row of zeros.
  void set_not_alone() {
    alone_ = false;
    rows_.clear();
  }

 private:
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
    // Several threads use a primitive at a time, each with scratch memory of its own.
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
#if DNNL_VERSION_MAJOR >= 3
    return {engine_, source(rows), weights, result(rows), attributes};
#else
    return {dnnl::matmul::desc(source(rows), weights, result(rows)), attributes, engine_};
#endif
  }

  dnnl::engine engine_;
  size_t n_, k_, threads_;
  memory::desc weights_;
  bool usable_ = false;
  bool alone_ = true;  // oneDNN gives a row alone the bits that it has among others
  std::map<size_t, std::shared_ptr<Rows>> rows_;  // by their number
};

/// A weight cut into pieces of some outputs each, and the memory of all.
struct Pieces {
  Memory room;
  std::vector<memory> weights;
};

/// The products with weights of one shape on the threads of a pool.
class Shape {
 public:
  Shape(const dnnl::engine& engine, ThreadPool& pool, std::vector<Room>& rooms, size_t rows, size_t cols)
      : engine_(engine), pool_(pool), rooms_(rooms), n_(rows), k_(cols) {
    const auto threads = static_cast<size_t>(pool.size());
    // Two pieces for each thread, or many more if they are large.
    const size_t share = divide_up(divide_up(n_, 2 * threads), kPieceStep) * kPieceStep;
    cut(threads == 1 ? n_ : std::min({share, kMostPiece, n_}));
  }

  /// Null if oneDNN may not be used.
  std::unique_ptr<Pieces> prepare(const bf16* data) {
    if (!usable()) return nullptr;
    Pieces made = reorder(data);
    if (!tested_) {
      tested_ = true;
      if (!self_test(data, made)) {
        // oneDNN may choose the order of sums by the number of outputs, which are therefore not cut.
        const bool was_cut = piece_ < n_;
        cut(n_);
        if (was_cut && usable()) made = reorder(data);
        usable_ = was_cut && usable() && self_test(data, made);
      }
      if (!usable()) return nullptr;
    }
    return std::make_unique<Pieces>(std::move(made));
  }

  void multiply(const Pieces& weight, const bf16* act, size_t n, float* out, size_t ld_out) {
    const size_t blocks = divide_up(n, kBlockRows), block = divide_up(n, blocks);
    const size_t pieces = weight.weights.size(), last_rows = n - (blocks - 1) * block;
    // [the last piece or another][the last block or another]
    const std::shared_ptr<Product::Rows> products[2][2] = {{main_->rows(block), main_->rows(last_rows)},
                                                           {last_->rows(block), last_->rows(last_rows)}};
    pool_.run(blocks * pieces, [&](size_t task, size_t thread) {
      const size_t piece = task % pieces, first = task / pieces * block, count = std::min(block, n - first);
      const bool last_piece = piece + 1 == pieces;
      const size_t width = (last_piece ? last_ : main_)->outputs();
      Product::Rows& product = *products[last_piece][first + count == n];
      float* const to = out + first * ld_out + piece * piece_;
      Room& room = rooms_[thread];
      // oneDNN 2.6 can write results into a part of wider rows only with its reference implementation, which
      // is hundreds of times slower.
      const bool dense = width == ld_out || count == 1;
      float* const results =
          dense ? to : static_cast<float*>(room.results.ensure("linear", count * width * sizeof(float)));
      product.multiply(weight.weights[piece], act + first * k_, results, room);
      for (size_t i = 0; i < count && !dense; ++i)
        std::memcpy(to + i * ld_out, results + i * width, width * sizeof(float));
    });
  }

 private:
  void cut(size_t piece) {
    piece_ = piece;
    const size_t rest = n_ % piece;
    main_ = std::make_shared<Product>(engine_, piece, k_, rooms_.size());
    last_ = rest == 0 ? main_ : std::make_shared<Product>(engine_, rest, k_, rooms_.size());
    usable_ = main_->usable() && last_->usable();
  }
  bool usable() const { return usable_; }

  Pieces reorder(const bf16* data) {
    const size_t pieces = divide_up(n_, piece_), bytes = divide_up(main_->weight_bytes(), 64) * 64;
    Pieces made{allocate_aligned("prepare", (pieces - 1) * bytes + last_->weight_bytes()),
                std::vector<memory>(pieces)};
    pool_.run(pieces, [&](size_t piece, size_t thread) {
      made.weights[piece] =
          (piece + 1 == pieces ? last_ : main_)
              ->reorder(data + piece * piece_ * k_, static_cast<char*>(made.room.get()) + piece * bytes,
                        rooms_[thread].stream);
    });
    return made;
  }

  /// Compares rows in batches of several sizes with the same rows in a batch of the reference size, computed
  /// by one thread with all outputs at once. Finds out whether a row may be alone.
  bool self_test(const bf16* data, const Pieces& weight) {
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
      Product whole(engine_, n_, k_, rooms_.size());
      if (!whole.usable()) return false;
      const Memory room = allocate_aligned("prepare", whole.weight_bytes());
      Room& mine = rooms_.front();
      whole.rows(kReferenceRows)
          ->multiply(whole.reorder(data, room.get(), mine.stream), act.data(), reference.data(), mine);
      const auto agrees = [&](size_t rows) {
        // End with the last row, to notice also an order of sums that depends on the number of a row.
        const size_t first = (kReferenceRows - rows % kReferenceRows) % kReferenceRows;
        multiply(weight, act.data() + first * k_, rows, results.data(), n_);
        for (size_t i = 0; i < rows; ++i)
          if (std::memcmp(results.data() + i * n_, reference.data() + (first + i) % kReferenceRows * n_,
                          n_ * sizeof(float)) != 0)
            return false;
        return true;
      };
      for (const size_t rows : kTestedRows) {
        if (agrees(rows)) continue;
        if (rows > 1) return false;
        main_->set_not_alone();
        last_->set_not_alone();
        if (!agrees(rows)) return false;
      }
      return true;
    } catch (const dnnl::error&) {
      return false;
    }
  }

  dnnl::engine engine_;
  ThreadPool& pool_;
  std::vector<Room>& rooms_;  // one for each thread
  size_t n_, k_, piece_ = 0;
  std::shared_ptr<Product> main_, last_;  // for pieces of piece_ outputs, and for the last one
  bool usable_ = false, tested_ = false;
};

[[noreturn]] void fail(const char* function, const dnnl::error& e) {
  throw Error(function,
              std::string("oneDNN: ") + e.what() +
                  (e.status == dnnl_out_of_memory ? "; use a smaller batch or a machine with more memory"
                                                  : "; set CARBON_FORCE_ISA=avx512 to run without oneDNN"));
}

class Weight final : public OneDnnWeight {
 public:
  Weight(std::shared_ptr<Shape> shape, std::unique_ptr<Pieces> pieces)
      : shape_(std::move(shape)), pieces_(std::move(pieces)) {}
  void multiply(const bf16* act, size_t n, float* out, size_t ld_out) override {
    try {
      shape_->multiply(*pieces_, act, n, out, ld_out);
    } catch (const dnnl::error& e) {
      fail("linear", e);
    }
  }

 private:
  std::shared_ptr<Shape> shape_;
  std::unique_ptr<Pieces> pieces_;
};

class Library final : public OneDnn {
 public:
  explicit Library(ThreadPool& pool) : pool_(pool) {
    for (int i = 0; i < pool.size(); ++i) rooms_.emplace_back(engine_, static_cast<size_t>(i));
  }

  std::unique_ptr<OneDnnWeight> prepare(const bf16* data, size_t rows, size_t cols) override {
    auto& shape = shapes_[{rows, cols}];
    try {
      if (!shape) shape = std::make_shared<Shape>(engine_, pool_, rooms_, rows, cols);
      std::unique_ptr<Pieces> pieces = shape->prepare(data);
      return pieces ? std::make_unique<Weight>(shape, std::move(pieces)) : nullptr;
    } catch (const dnnl::error& e) {
      fail("prepare", e);
    }
  }

  std::string kind() const override {
    return "onednn" + ops::onednn_version() + (onednn_has_amx() ? "amx" : "");
  }

 private:
  ThreadPool& pool_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  std::vector<Room> rooms_;
  std::map<std::pair<size_t, size_t>, std::shared_ptr<Shape>> shapes_;
};

}  // namespace

bool onednn_has_amx() {
  // An instruction set's value has the bits of those that it includes; newer ones include AMX, too.
  constexpr auto kAmx = static_cast<unsigned>(dnnl::cpu_isa::avx512_core_amx);
  return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & kAmx) == kAmx;
}

std::unique_ptr<OneDnn> make_onednn(ThreadPool& pool) {
  try {
    return std::make_unique<Library>(pool);
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
std::unique_ptr<carbon::cpu::OneDnn> carbon::cpu::make_onednn(ThreadPool&) {
  return nullptr;
}
std::string carbon::ops::onednn_version() {
  return "";
}

#endif
