// kernels/: the operations that a Llama or Qwen3 decoder needs, as one interface for all devices: rows of
// tokens come in and go out. cpu/ and cuda/ implement it; draw_math is the arithmetic of drawing a 6-mer,
// for host and device.
//
// src/transformer is written once against this interface. A backend knows nothing of files, contigs or
// variants. The only DNA here is that the 4,096 outputs of a head are 6-mers.
//
// Beside it stand what both implementations need: tensor.hpp (types of numbers, and a matrix in host memory),
// draw_math.hpp (with sets of 6-mers that share letters), and checks.hpp, by which both refuse the same
// arguments and rotate by the same angles.
//
// A row is a token. Shapes are [rows, columns], row-major, and dense unless a leading dimension is given.
// Buffers of rows are device memory from allocate(), unless a comment says host. They have one of two types:
// "act" buffers are the activations that enter a matrix product, in the type of the backend (dtype()); all
// others are f32, among them the residual stream and the results of matrix products.
//
// Invariance: the value of a row depends only on the inputs of that row, never on the number of rows in a
// call, the number of threads or the other rows. The order of every sum is fixed by the shape of the weight
// and the class of the rows.
//
// Errors: functions throw carbon::Error for what cannot be done (no memory, an unsupported shape) before they
// write anything.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/tensor.hpp"

namespace carbon {
class ThreadPool;
}

namespace carbon::ops {

/// Tokens in a page of the KV cache. Attention takes keys in tiles of the same size at multiples of it, so
/// that the order of its sums never depends on the request.
inline constexpr size_t kPageTokens = 64;

/// The DNA of a head: 6 bases with 4 letters in the order A, T, C, G make 4,096 6-mers (technical report, eq.
/// 7).
inline constexpr size_t kBases = 6, kLetters = 4, kKmers = 4096;
inline constexpr size_t kMarginals = kBases * kLetters;

/// The true letters of a 6-mer, as far as they are known. Base j has bits [3 j, 3 j + 3), the lowest three
/// being those of base 0: a letter's digit, or kUnknownLetter.
using KnownBases = uint32_t;
inline constexpr uint32_t kUnknownLetter = kLetters;
inline constexpr KnownBases kNoneKnown = 0444444;
constexpr uint32_t known_letter(KnownBases known, size_t j) {
  return known >> 3 * j & 7;
}
constexpr KnownBases with_letter(KnownBases known, size_t j, uint32_t letter) {
  return (known & ~(KnownBases{7} << 3 * j)) | letter << 3 * j;
}

/// What rows are for. A backend may sum matrix products and attention in a different order for the two
/// classes, so their rows may differ in the last bits; within a class the order is always the same. The
/// caller chooses the class by its purpose, never by the number of rows.
enum class RowClass {
  prefill,  // input: windows to score, prompts, embeddings. Many rows, limited by the rate of multiply-adds
  decode,  // generated tokens and proposals of a draft. Few rows, limited by the speed of reading the weights
};

/// A matrix [rows = outputs, cols = inputs] prepared for linear(), or several of the same width, whose
/// outputs follow one another. The memory of the views that it was made from must outlive it.
class Weight {
 public:
  virtual ~Weight() = default;
  size_t rows() const { return rows_; }
  size_t cols() const { return cols_; }

 protected:
  Weight(size_t rows, size_t cols) : rows_(rows), cols_(cols) {}

 private:
  size_t rows_, cols_;
};

struct KvShape {
  size_t layers = 0, kv_heads = 0, head_dim = 0;
};

/// The storage of KV pages. A page holds kPageTokens tokens of all layers and KV heads, in a layout that only
/// the backend knows. Pages have indices; src/transformer/kv_cache decides who uses which.
class KvStore {
 public:
  virtual ~KvStore() = default;
  virtual size_t page_bytes() const = 0;
  /// Makes pages [0, count) usable; existing pages keep their contents. Throws OutOfMemory.
  virtual void reserve(size_t count) = 0;
  /// Frees pages from `count` on, except those whose memory was allocated together with that of other pages.
  virtual void release(size_t count) = 0;
  virtual void copy_page(uint32_t to, uint32_t from) = 0;
};

/// Consecutive rows of one sequence: rows [first_row, first_row + n_rows) of the row buffers are at positions
/// [position, position + n_rows). `pages[i]` holds positions [i * kPageTokens, (i + 1) * kPageTokens).
///
/// Each row attends to the keys up to its own position, or, with `keys`, to those of positions [0, keys).
struct RowRun {
  const uint32_t* pages = nullptr;
  size_t first_row = 0;
  size_t n_rows = 0;
  size_t position = 0;
  size_t keys = 0;
  /// How many keys the row attends to that has the most.
  size_t most_keys() const { return keys > 0 ? keys : position + n_rows; }
};

/// Runs of rows, prepared for append_kv() and attention() in all layers. The store and the lists of pages
/// must outlive it.
class RowPlan {
 public:
  virtual ~RowPlan() = default;
};

/// The rotary embedding (docs/model.md, "Rotary embedding" and "YaRN"): the angle of pair j at position p is
/// p * inv_freq[j], and cos and sin are multiplied by `scale`.
struct RopeParams {
  std::span<const double> inv_freq;  // [head_dim / 2], radians per position
  double scale = 1.0;                // 1 without YaRN
};

/// How 6-mers are drawn from rows of logits. src/sampling/samplers.hpp explains the kinds;
/// kernels/draw_math.hpp has the arithmetic.
enum class DrawKind : uint32_t { kmer, marginal, chain };

/// Temperature, top-k and top-p are applied in this order: for `kmer` to 6-mers, otherwise to the four bases
/// of each position.
struct DrawOptions {
  DrawKind kind = DrawKind::kmer;
  bool greedy = false;  // take the most likely; of equals the lowest 6-mer index, or the first of A, T, C, G
  double temperature = 1;  // > 0; probabilities become p^(1/T), renormalised
  size_t top_k = 0;        // keep the k most likely, of equals the first; 0 keeps all
  double top_p = 1;        // of these keep the most likely whose sum reaches top_p of theirs; 1 keeps all
  uint64_t seed = 0;
};

/// Bit b of entry j is set if letter b is allowed at base j of a 6-mer.
using AllowedBases = std::array<uint8_t, kBases>;
/// The counter from which a draw gets its random numbers, so that other draws do not change them. The lowest
/// 11 bits of the first word are 0.
using DrawCounter = std::array<uint32_t, 4>;

/// A draw from a row of logits. Every draw has separate options.
struct KmerDraw {
  DrawOptions options{};
  uint32_t row = 0;
  DrawCounter counter{};
  AllowedBases allowed{};            // at least one letter at every base
  uint8_t first = 0, last = kBases;  // the log-probability of bases [first, last) is wanted; not empty
};
struct DrawnKmer {
  double logp = 0;  // of bases [first, last) at temperature 1, without top-k and top-p
  uint32_t kmer = 0;
  uint32_t finite = 0;  // 1; or 0 if a logit is not finite, so that nothing was drawn. Not a bool: no padding
};

/// Rows that are added one after the other, from `first_row` on. Their sum is wanted after so many of them;
/// the counts ascend, and the last one, which there has to be, is that of all.
struct RowSums {
  size_t first_row = 0;
  std::span<const uint32_t> counts;
};

class Backend {
 public:
  virtual ~Backend() = default;

  /// Backend, instruction set or kind of GPU, library of products, version of the arithmetic: what the bits
  /// of a score depend on besides the model.
  virtual std::string device_kind() const = 0;
  /// Of a library that computes products: for each shape of the weights so far, the algorithm that a test has
  /// chosen, on which bits depend as well. "" if there is none.
  virtual std::string library_choices() const { return ""; }
  /// f32 or bf16: the type of "act" buffers and of the KV cache.
  virtual DType dtype() const = 0;

  /// True if products round their weights and activations to int8 (CpuOptions::int8).
  virtual bool int8() const { return false; }

  /// True if the bits of a row depend on its class. Otherwise rows of both classes may share an operation.
  virtual bool separates_classes() const { return true; }

  /// The number of rows that a caller with many of them should run at a time: enough to keep the device busy.
  virtual size_t pass_rows() const = 0;

  /// The threads that compute the operations, if these are threads of the host; otherwise null. The caller
  /// may use them between operations.
  virtual ThreadPool* pool() { return nullptr; }

  /// Device memory, aligned to 64 bytes and set to zero. Throws OutOfMemory.
  virtual void* allocate(size_t bytes) = 0;
  virtual void release(void* memory) = 0;
  /// Bytes of device memory that nothing uses, other programs included. None where the device has no memory
  /// of its own: what is free there belongs to everything that runs on the machine.
  virtual std::optional<size_t> free_memory() const { return std::nullopt; }

  /// One weight from matrices of the same width, in their order. Products of matrix i are multiplied by
  /// 2^exponents[i], exactly; without exponents, and in other types than f16, by 1.
  ///
  /// In f16 every matrix has a power of two as factor of what is stored, by its largest number. Numbers of 8
  /// significant bits, as those of bf16 are, are exact down to 2^-32 of the largest; others are rounded to 11
  /// bits; and what is smaller errs by at most 2^-39 of the largest.
  virtual std::unique_ptr<Weight> prepare(std::span<const TensorView> matrices,
                                          std::span<const int> exponents) = 0;
  std::unique_ptr<Weight> prepare(std::span<const TensorView> matrices) { return prepare(matrices, {}); }
  std::unique_ptr<Weight> prepare(const TensorView& matrix, int exponent = 0) {
    return prepare(std::span(&matrix, 1), std::span(&exponent, 1));
  }
  /// A weight of the matrices [first, first + count) of `whole`. It shares the memory of `whole`, but may
  /// outlive it. Products with the part may have another order of sums than products with the whole.
  virtual std::unique_ptr<Weight> part(const Weight& whole, size_t first, size_t count) = 0;
  virtual std::unique_ptr<KvStore> kv_store(const KvShape& shape) = 0;
  /// Sets the rotary table for positions [0, positions). Plans that were made before must not be used after.
  virtual void set_rope(const RopeParams& rope, size_t positions) = 0;

  /// x[i, :] = table[rows[i], :] as f32. `table` is in host memory.
  virtual void embed(const TensorView& table, std::span<const uint32_t> rows, float* x) = 0;

  /// act = x * rsqrt(mean(x^2) + eps) * weight for each row of x [n, width]; weight [width].
  virtual void norm(const float* x, const float* weight, float eps, size_t n, size_t width, void* act) = 0;

  /// The same for each head of queries or keys, in place: x has n rows of heads * head_dim with leading
  /// dimension ld; weight [head_dim] is that of every head.
  virtual void norm_heads(float* x, const float* weight, float eps, size_t n, size_t heads, size_t head_dim,
                          size_t ld) = 0;

  /// out[i, j] = sum_k act[i, k] * w[j, k]; act [n, w.cols()], out [n, w.rows()] with leading dimension
  /// ld_out >= w.rows().
  virtual void linear(const void* act, size_t n, const Weight& w, float* out, size_t ld_out,
                      RowClass row_class = RowClass::prefill) = 0;

  /// x[i, j] += sum_k act[i, k] * w[j, k]; x [n, w.rows()]. The sum over k is complete before it is added.
  /// Its order is the same for all rows of a class, but may be another than that of linear().
  virtual void linear_add(const void* act, size_t n, const Weight& w, float* x,
                          RowClass row_class = RowClass::prefill) = 0;

  /// Prepares runs of rows with `heads` query heads and with keys and values in pages of `kv`.
  virtual std::unique_ptr<RowPlan> plan(std::span<const RowRun> runs, size_t heads, KvStore& kv,
                                        RowClass row_class = RowClass::prefill) = 0;

  /// Rotates k (rotate-half layout) and writes k and v to the pages of the plan at `layer`. k and v have rows
  /// of kv_heads * head_dim and leading dimension ld.
  virtual void append_kv(const float* k, const float* v, size_t ld, const RowPlan& plan, size_t layer) = 0;

  /// Grouped-query attention, causal unless a run has `keys`. q has rows of heads * head_dim, not yet
  /// rotated, and leading dimension ld; act [n, heads * head_dim]. The keys and values to which the rows of a
  /// run attend must be in its pages. Products of queries and keys are multiplied by 2^exponent, which is 0
  /// in other types than f16.
  virtual void attention(const float* q, size_t ld, const RowPlan& plan, size_t layer, void* act,
                         int exponent = 0) = 0;

  /// act[i, j] = silu(gate_up[i, j]) * gate_up[i, width + j]; gate_up [n, 2 * width].
  virtual void swiglu(const float* gate_up, size_t n, size_t width, void* act) = 0;

  /// linear() by `gate` and by `up`, which have the same shape, then swiglu() of the two: out [n,
  /// gate.rows()] in the type of act. `gate_up` is scratch of swiglu_scratch() floats; `out` overlaps neither
  /// it nor act.
  ///
  /// A backend may compute this without storing the two products. It may round them to the type of act first,
  /// if it does so for all rows of a class.
  virtual void linear_swiglu(const void* act, size_t n, const Weight& gate, const Weight& up, float* gate_up,
                             void* out, RowClass row_class = RowClass::prefill) {
    const size_t width = gate.rows();
    linear(act, n, gate, gate_up, 2 * width, row_class);
    linear(act, n, up, gate_up + width, 2 * width, row_class);
    swiglu(gate_up, n, width, out);
  }
  /// The number of floats of scratch that linear_swiglu() needs.
  virtual size_t swiglu_scratch(size_t n, const Weight& gate, const Weight&, RowClass) const {
    return n * 2 * gate.rows();
  }

  /// out[i, :] = x[rows[i], :]; out [rows.size(), width].
  virtual void select_rows(const float* x, std::span<const uint32_t> rows, size_t width, float* out) = 0;

  /// norm() of x [n, width] in double, rounded once to f32; out (host) [n, width]. The same bits on every
  /// device.
  virtual void final_norm(const float* x, const float* weight, float eps, size_t n, size_t width,
                          float* out) = 0;
  /// Sums of rows of x [., width] in double, or of what final_norm() makes of them if `weight` is not null.
  /// `sums` (host) has for each of `rows` first the [width] to which they are added, and then room for a sum
  /// for each of its counts. The same bits on every device, and however rows are divided among calls.
  virtual void sum_rows(const float* x, const float* weight, float eps, size_t width,
                        std::span<const RowSums> rows, double* sums) = 0;

  /// Copy `count` floats between host and device.
  virtual void upload(const float* host, size_t count, float* device) = 0;
  virtual void download(const float* device, size_t count, float* host) = 0;

  /// FNS marginals (technical report, eq. S15): with z = act . w^T over the 4,096 6-mers, out[i, j, b] is the
  /// natural log of the sum of softmax(z) over the 6-mers whose base j is letter b. `w` is the part [4096,
  /// width] of the head, in 6-mer order; out (host) [n, 6, 4]. A row with a logit that is not finite gets 24
  /// NaN.
  virtual void marginals(const void* act, size_t n, const Weight& w, double* out,
                         RowClass row_class = RowClass::prefill) = 0;

  /// The conditionals of the bases of a 6-mer (docs/model.md, "Conditionals"): out[i, j, b] is the natural
  /// log of the probability that base j is letter b, given the letters that known[i] has for the bases before
  /// it. Bases that are not known are summed over. So the values for base 0 have the bits of marginals(), and
  /// with kNoneKnown all values have. Shapes, `w` and rows that are not finite are as for marginals(); known
  /// (host) [n].
  virtual void conditionals(const void* act, size_t n, const Weight& w, std::span<const KnownBases> known,
                            double* out, RowClass row_class = RowClass::prefill) = 0;

  /// out = act . w^T; out (host) [n, w.rows()].
  virtual void logits(const void* act, size_t n, const Weight& w, float* out,
                      RowClass row_class = RowClass::prefill) = 0;

  /// True if draw() serves these options on this device.
  virtual bool draws(const DrawOptions& /*options*/) const { return false; }
  /// Draws from rows of logits z [., kKmers] in device memory, as linear() fills it: out[i] (host) is what
  /// draws[i] gives, the same bits on every device. draws() is true for the options of each.
  virtual void draw(const float* /*z*/, std::span<const KmerDraw> /*draws*/, DrawnKmer* /*out*/) {}

  /// Online log-sum-exp over one slice of the vocabulary. Updates the pair (maximum[i], sum[i]) with the
  /// logits act[i] . w^T, so that ln sum exp of all logits so far is maximum + ln sum; start with (-inf, 0).
  /// If targets[i] is in [0, w.rows()), its logit is written to target_logit[i]. All arrays are host memory
  /// of length n. A logit that is not finite makes the sum NaN.
  virtual void logsumexp(const void* act, size_t n, const Weight& w, std::span<const int64_t> targets,
                         double* maximum, double* sum, double* target_logit,
                         RowClass row_class = RowClass::prefill) = 0;
};

struct CpuOptions {
  DType dtype = DType::bf16;
  int threads = 1;
  std::string isa = "";  // a name of cpu_isa(), e.g. generic or avx2; "" for the fastest that the CPU has
  /// Products of int8: weights with a scale for each output and 32 inputs, as q8_0 stores them, and
  /// activations with a scale for each row and 32 inputs. `dtype` is the type of "act" buffers and of the KV
  /// cache, bf16.
  bool int8 = false;
};

std::unique_ptr<Backend> make_cpu_backend(const CpuOptions& options);

struct CudaOptions {
  DType dtype = DType::bf16;
  int device = 0;      // number of the GPU, as the driver counts
  bool cublas = true;  // use cuBLASLt for products of bf16, for shapes that pass a test
};

/// By the CUDA backend in the program, or by carbon-cuda.so from the directory of the program or of installed
/// libraries. Throws Error if something is missing: the file, a library that it needs, the driver, the
/// device, or code for this kind of device.
std::unique_ptr<Backend> make_cuda_backend(const CudaOptions& options);

/// What there is of CUDA on this machine. Never an Error.
struct CudaStatus {
  std::string library;  // version, and the kinds of GPU it was built for; "" if it cannot be loaded
  std::vector<std::string> devices;  // name, kind and memory of each GPU
  std::string problem;               // why one of the two is empty, or what is missing to use the devices
};
CudaStatus cuda_status();

/// The instruction set that CpuOptions with this `isa` would use. Throws Error if it is unknown or the CPU
/// does not have it.
std::string cpu_isa(const std::string& isa);

}  // namespace carbon::ops
