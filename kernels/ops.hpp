// The short list of operations a Llama decoder needs, as one interface for every device.
//
// decoder/ is written once against this; cpu/ and cuda/ implement it. A backend knows nothing of files,
// contigs or variants; the only DNA here is the marginal head's grouping of 4,096 outputs by base.
//
// Rows are tokens. Shapes are [rows, columns], row-major and dense unless a leading dimension is named.
// Memory named "device" comes from allocate(); everything else is host memory. Two element types matter: the
// residual stream, matrix products and everything "f32" are binary32; "act" buffers hold the activations that
// feed a matrix product, in the backend's activation type (bf16 in bf16 mode, f32 in f32 mode).
//
// Invariance: the value written for a row depends on that row's inputs alone, never on how many rows a call
// has, on the number of threads or on neighbours. Each operation's reduction order is fixed by the weight's
// shape and the class of the rows.
//
// Errors: carbon::Error for what cannot be done (out of memory, an unsupported shape), thrown before any
// write.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/tensor.hpp"

namespace carbon::ops {

/// Tokens in a KV page, and the absolute tile in which attention walks keys: both are this constant so that a
/// page is a tile and its place in the reduction never depends on who asks.
inline constexpr size_t kPageTokens = 64;

/// DNA facts of the marginal head: 6 bases, 4 letters in the order A, T, C, G, 4,096 6-mers (technical report
/// eq. 7).
inline constexpr size_t kBases = 6, kLetters = 4, kKmers = 4096;
inline constexpr size_t kMarginals = kBases * kLetters;

/// What rows are for. A backend may sum matrix products and attention in another order for either class, so
/// that rows of the two may differ in their last bits; within a class the order is one. The caller names the
/// class by what it does, never by how many rows it has.
enum class RowClass {
  prefill,  // what is read: windows to score, prompts, embeddings. Many rows, bound by the matrix rate
  decode,   // what is generated, and proposals verified on the way. Few rows, bound by the weights' bytes
};

/// A matrix [rows = outputs, cols = inputs] made ready for linear(), or several of the same width, whose
/// outputs follow one another. The views it was made from must outlive it.
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

/// Storage of KV pages; the layout inside a page is the backend's own. A page holds kPageTokens tokens of
/// every layer and KV head. Pages are named by index; who uses which is kept by decoder/kv_cache.
class KvStore {
 public:
  virtual ~KvStore() = default;
  virtual size_t page_bytes() const = 0;
  /// Makes pages [0, count) usable; contents of existing pages stay. Throws when memory runs out.
  virtual void reserve(size_t count) = 0;
  /// Pages from `count` on are not needed any more: gives their memory back, as far as it is not allocated
  /// together with that of others.
  virtual void release(size_t count) = 0;
  virtual void copy_page(uint32_t to, uint32_t from) = 0;
};

/// Consecutive rows of one sequence: rows [first_row, first_row + n_rows) of the row buffers sit at positions
/// [position, position + n_rows). `pages[i]` holds positions [i * kPageTokens, (i + 1) * kPageTokens).
struct RowRun {
  const uint32_t* pages = nullptr;
  size_t first_row = 0;
  size_t n_rows = 0;
  size_t position = 0;
};

/// Runs of rows made ready for append_kv() and attention() in all layers. The store and the lists of pages
/// that it was made from must outlive it.
class RowPlan {
 public:
  virtual ~RowPlan() = default;
};

/// Rotary table parameters (carbon_model 2.2 and 2.4): angle of pair j at position p is p * inv_freq[j]; cos
/// and sin are multiplied by `scale` (1 without YaRN).
struct RopeParams {
  std::span<const double> inv_freq;  // head_dim / 2
  double scale = 1.0;
};

/// How 6-mers are drawn from rows of logits; kernels/draw_math.hpp has the arithmetic,
/// src/sampling/samplers.hpp says what it is good for.
enum class DrawKind : uint32_t { kmer, marginal, chain };

/// Temperature, top-k and top-p act in this order: on 6-mers for `kmer`, on the four bases of a position for
/// the others.
struct DrawOptions {
  DrawKind kind = DrawKind::kmer;
  bool greedy = false;  // the likeliest instead of a draw; ties: the lowest 6-mer index, the order A, T, C, G
  double temperature = 1;  // > 0; probabilities become p^(1/T), renormalised
  size_t top_k = 0;        // keep the k likeliest (ties: the first); 0: all
  double top_p = 1;        // keep the likeliest until their sum reaches top_p of what is left; 1: all
  uint64_t seed = 0;
};

/// Bit b of entry j: letter b may stand at base j of a 6-mer.
using AllowedBases = std::array<uint8_t, kBases>;
/// Where a draw has its random numbers, whatever is drawn beside it; the lowest 11 bits of the first word are
/// 0.
using DrawCounter = std::array<uint32_t, 4>;

/// A draw from a row of logits.
struct KmerDraw {
  uint32_t row = 0;
  DrawCounter counter{};
  AllowedBases allowed{};            // leaves at least one letter at every base
  uint8_t first = 0, last = kBases;  // the bases whose log-probability is wanted: [first, last), not empty
};
struct DrawnKmer {
  double logp = 0;  // at temperature 1, without top-k and top-p; the other bases are summed over
  uint32_t kmer = 0;
  uint32_t finite = 0;  // 0, and nothing drawn: a logit of the row was not; else 1. No bool: no padding
};

class Backend {
 public:
  virtual ~Backend() = default;

  /// Backend, ISA or SM class, oneDNN or not, numerics version: what a score's bits depend on besides the
  /// model.
  virtual std::string device_kind() const = 0;
  /// f32 or bf16: the type of "act" buffers, of the KV cache and of matrix product inputs.
  virtual DType dtype() const = 0;

  /// Rows of activations that keep the device busy, and not many more: what a caller who has more of them
  /// should run at a time.
  virtual size_t pass_rows() const = 0;

  virtual void* allocate(size_t bytes) = 0;  // device memory, 64-byte aligned, zeroed
  virtual void release(void* memory) = 0;

  /// One weight of the matrices, in their order.
  virtual std::unique_ptr<Weight> prepare(std::span<const TensorView> matrices) = 0;
  std::unique_ptr<Weight> prepare(const TensorView& matrix) { return prepare(std::span(&matrix, 1)); }
  /// Matrices [first, first + count) of those that `whole` was made from, in the memory of `whole`, which may
  /// go before it. A product by the part and one by the whole may have another order of sums each.
  virtual std::unique_ptr<Weight> part(const Weight& whole, size_t first, size_t count) = 0;
  virtual std::unique_ptr<KvStore> kv_store(const KvShape& shape) = 0;
  /// Fixes the rotary table for positions [0, positions). Plans made before are of no use any more.
  virtual void set_rope(const RopeParams& rope, size_t positions) = 0;

  /// x[i, :] = table[rows[i], :], widened to f32. `table` stays in host memory.
  virtual void embed(const TensorView& table, std::span<const uint32_t> rows, float* x) = 0;

  /// act = x * rsqrt(mean(x^2) + eps) * weight; x f32 [n, width].
  virtual void norm(const float* x, const float* weight, float eps, size_t n, size_t width, void* act) = 0;

  /// out[i, j] = sum_k act[i, k] * w[j, k]; act [n, w.cols()], out f32 with leading dimension ld_out >=
  /// w.rows().
  virtual void linear(const void* act, size_t n, const Weight& w, float* out, size_t ld_out,
                      RowClass row_class = RowClass::prefill) = 0;

  /// x[i, :] += what linear() gives, f32 [n, w.rows()]: the sum over k is complete when it is added. It may
  /// have another order than linear()'s, for all rows of a class.
  virtual void linear_add(const void* act, size_t n, const Weight& w, float* x,
                          RowClass row_class = RowClass::prefill) = 0;

  /// For rows of `heads` query heads whose keys and values are in pages of `kv`. Row i of the buffers is row
  /// i of the runs.
  virtual std::unique_ptr<RowPlan> plan(std::span<const RowRun> runs, size_t heads, KvStore& kv,
                                        RowClass row_class = RowClass::prefill) = 0;

  /// k, v: f32 rows with leading dimension ld holding heads of head_dim; rotates k (rotate-half layout) and
  /// appends k, v to the pages of the plan's runs at `layer`.
  virtual void append_kv(const float* k, const float* v, size_t ld, const RowPlan& plan, size_t layer) = 0;

  /// Causal grouped-query attention. q: f32 rows, leading dimension ld, not yet rotated; the keys of a run's
  /// positions [0, position + n_rows) are in its pages. act [n, heads * head_dim].
  virtual void attention(const float* q, size_t ld, const RowPlan& plan, size_t layer, void* act) = 0;

  /// act[i, j] = silu(gate_up[i, j]) * gate_up[i, width + j]; gate_up f32 [n, 2 * width].
  virtual void swiglu(const float* gate_up, size_t n, size_t width, void* act) = 0;

  /// linear() by `gate` and by `up`, of the same shape, and swiglu() of the two: out [n, gate.rows()] in the
  /// activation type. `gate_up` is scratch, swiglu_scratch() floats of it; `out` overlaps neither it nor act.
  /// A backend that need not store the two products in between has its own, to the same bits; one may round
  /// them to the activation type before it joins them, and then does so for all rows of a class.
  virtual void linear_swiglu(const void* act, size_t n, const Weight& gate, const Weight& up, float* gate_up,
                             void* out, RowClass row_class = RowClass::prefill) {
    const size_t width = gate.rows();
    linear(act, n, gate, gate_up, 2 * width, row_class);
    linear(act, n, up, gate_up + width, 2 * width, row_class);
    swiglu(gate_up, n, width, out);
  }
  /// Floats that linear_swiglu() of these needs.
  virtual size_t swiglu_scratch(size_t n, const Weight& gate, const Weight&, RowClass) const {
    return n * 2 * gate.rows();
  }

  /// out[i, :] = x[rows[i], :], f32 [rows.size(), width].
  virtual void select_rows(const float* x, std::span<const uint32_t> rows, size_t width, float* out) = 0;

  /// Copies f32 between host and device.
  virtual void upload(const float* host, size_t count, float* device) = 0;
  virtual void download(const float* device, size_t count, float* host) = 0;

  /// FNS marginals (technical report eq. S15): with z = act . w^T over the 4,096 6-mers, out[i, j, b] is
  /// ln sum of softmax(z) over the 6-mers whose base j is letter b. `w` is the [4096, width] slice of the
  /// head in 6-mer order. out: host [n, 6, 4], natural logs. A row with a non-finite logit gets NaN in all 24
  /// places.
  virtual void marginals(const void* act, size_t n, const Weight& w, double* out,
                         RowClass row_class = RowClass::prefill) = 0;

  /// z = act . w^T, to the host: out f32 [n, w.rows()].
  virtual void logits(const void* act, size_t n, const Weight& w, float* out,
                      RowClass row_class = RowClass::prefill) = 0;

  /// Draws from rows of logits z [., kKmers], device memory as linear() fills it: out[i] is what draws[i]
  /// gives, the same bits on every device. False, and nothing is done, where the backend does not draw by
  /// these options; what it answers depends on them alone, so that asking with no draws says it beforehand.
  [[nodiscard]] virtual bool draw(const float* /*z*/, std::span<const KmerDraw> /*draws*/,
                                  const DrawOptions& /*options*/, DrawnKmer* /*out: host*/) {
    return false;
  }

  /// Online log-sum-exp over one slice of the vocabulary: (maximum[i], sum[i]) becomes the pair after seeing
  /// the logits act[i] . w^T, so that ln sum exp = maximum + ln sum; start from (-inf, 0). Where targets[i]
  /// lies in [0, w.rows()) its logit goes to target_logit[i]. All arrays are host, length n. A non-finite
  /// logit makes sum NaN.
  virtual void logsumexp(const void* act, size_t n, const Weight& w, std::span<const int64_t> targets,
                         double* maximum, double* sum, double* target_logit,
                         RowClass row_class = RowClass::prefill) = 0;
};

/// oneDNN's products in place of the own ones: where they are built in, serve bf16 on this CPU and pass the
/// start-up self-test.
enum class OneDnnUse { with_amx, never, always };

struct CpuOptions {
  DType dtype = DType::bf16;
  int threads = 1;
  OneDnnUse onednn = OneDnnUse::with_amx;
  std::string isa;  // "", or a forced class: generic, avx2, avx512, avx512_bf16
};

std::unique_ptr<Backend> make_cpu_backend(const CpuOptions& options);

struct CudaOptions {
  DType dtype = DType::bf16;
  int device = 0;      // as the driver counts them
  bool cublas = true;  // where its products pass the start-up self-test
};

/// Loads carbon-cuda.so from beside the program or from the library folder. Throws Error saying what is
/// missing: the file, something that it needs, the driver, the device, or code for this kind of device.
std::unique_ptr<Backend> make_cuda_backend(const CudaOptions& options);

/// What is there, without an error: for --version and for choosing devices.
struct CudaStatus {
  std::string library;               // version and kinds of device compiled for; "" when it cannot be loaded
  std::vector<std::string> devices;  // name, kind and memory of each
  std::string problem;               // why one of the two is empty
};
CudaStatus cuda_status();

/// The ISA class that a CpuOptions with this `isa` would run on; throws when it is unknown or the CPU lacks
/// it.
std::string cpu_isa(const std::string& isa);
/// "" without oneDNN, else its version.
std::string onednn_version();

}  // namespace carbon::ops
