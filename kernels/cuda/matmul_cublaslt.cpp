// The implementation of matmul.hpp with cuBLASLt.
//
// Row-major act . weight^T is, for the column-major library, D = A^T B with A = weight [k x outputs] and
// B = act [k x n], without copies. The library usually chooses an algorithm by the number of rows. Here one
// algorithm without split-K is chosen for a shape and used for every number of rows. A test at start-up
// checks that its rows always have the same bits; algorithms that split the sum by the number of tiles fail
// it and are not used.
#include "kernels/cuda/matmul.hpp"

#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/cuda/cublaslt.hpp"
#include "kernels/cuda/selftest.hpp"

namespace carbon::cuda {
namespace {

constexpr size_t kWorkspace = size_t{32} << 20;
constexpr int kCandidates = 16;
/// (First row, number of rows) of parts of a product of `rows` rows. Computed alone they must have the same
/// bits.
std::vector<std::pair<size_t, size_t>> test_parts(size_t rows) {
  return {{0, 1},         {rows - 1, 1},      {5, 2},     {3, 17},   {40, 64},      {9, 100},
          {128, 256},     {100, 683},         {42, 1366}, {0, 1024}, {7, rows - 7}, {1, rows / 2},
          {13, rows / 4}, {rows - 1407, 1407}};
}

/// The algorithms that sum in one piece, for operands aligned to 16 bytes.
BlasPreference one_piece_preference() {
  BlasPreference preference = make_blas_preference(kWorkspace);
  set_blas_preference(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                      uint32_t{CUBLASLT_REDUCTION_SCHEME_NONE});
  for (const auto attribute :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    set_blas_preference(preference, attribute, uint32_t{16});
  return preference;
}

// An algorithm that does not say how it sums is not used.
bool sums_in_one_piece(const cublasLtMatmulAlgo_t& algorithm) {
  const auto get = [&](cublasLtMatmulAlgoConfigAttributes_t attribute) {
    int32_t value = -1;
    size_t written = 0;
    const cublasStatus_t status =
        cublasLtMatmulAlgoConfigGetAttribute(&algorithm, attribute, &value, sizeof value, &written);
    return status == CUBLAS_STATUS_SUCCESS ? value : -1;
  };
  const int32_t pieces = get(CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
  return (pieces == 0 || pieces == 1) &&
         get(CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME) == CUBLASLT_REDUCTION_SCHEME_NONE;
}

class CublasLt final : public Matmul {
 public:
  CublasLt(std::shared_ptr<const Device> device, size_t pass_rows)
      : device_(std::move(device)),
        pass_rows_(pass_rows),
        operation_(make_blas_operation()),
        workspace_(device_, kWorkspace, "cuBLASLt"),
        handle_(make_blas_handle()) {}

  std::string name() const override { return "cublaslt" + std::to_string(cublasLtGetVersion()); }

  bool prepare(const void* weight, size_t outputs, size_t k, Result result) override {
    if (k % 8 != 0 || outputs * result_bytes(result) % 16 != 0) return false;
    const Shape shape{outputs, k, result};
    const auto found = algorithms_.find(shape);
    if (found != algorithms_.end()) return found->second.has_value();
    return algorithms_.emplace(shape, choose(weight, shape)).first->second.has_value();
  }

  void run(const Call& call) override {
    const auto at = algorithms_.find({call.outputs, call.k, call.result});
    if (at == algorithms_.end() || !at->second || call.ld_out * result_bytes(call.result) % 16 != 0)
      throw Error("linear", "no algorithm was prepared for this product");
    check_blas(multiply(call, *at->second), "a matrix product");
  }

 private:
  using Algorithm = std::optional<cublasLtMatmulAlgo_t>;
  using Shape = std::tuple<size_t, size_t, Result>;  // outputs and k

  static cudaDataType blas_type(Result result) { return result == Result::bf16 ? CUDA_R_16BF : CUDA_R_32F; }

  cublasStatus_t multiply(const Call& c, const cublasLtMatmulAlgo_t& algorithm) {
    const BlasLayout a = make_blas_layout(CUDA_R_16BF, c.k, c.outputs, c.k),
                     b = make_blas_layout(CUDA_R_16BF, c.k, c.n, c.k),
                     d = make_blas_layout(blas_type(c.result), c.outputs, c.n, c.ld_out);
    const float one = 1.0f, before = c.result == Result::added ? 1.0f : 0.0f;
    return cublasLtMatmul(handle_.get(), operation_.get(), &one, c.weight, a.get(), c.act, b.get(), &before,
                          c.out, d.get(), c.out, d.get(), &algorithm, workspace_.get(), kWorkspace,
                          device_->stream().handle());
  }

  Algorithm choose(const void* weight, const Shape& shape) {
    const auto [outputs, k, result] = shape;
    const BlasLayout a = make_blas_layout(CUDA_R_16BF, k, outputs, k),
                     b = make_blas_layout(CUDA_R_16BF, k, pass_rows_, k),
                     d = make_blas_layout(blas_type(result), outputs, pass_rows_, outputs);
    std::array<cublasLtMatmulHeuristicResult_t, kCandidates> found{};
    int count = 0;
    const cublasStatus_t status =
        cublasLtMatmulAlgoGetHeuristic(handle_.get(), operation_.get(), a.get(), b.get(), d.get(), d.get(),
                                       one_piece_preference().get(), kCandidates, found.data(), &count);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED) return std::nullopt;
    check_blas(status, "choosing an algorithm");
    const auto memory = [&](size_t bytes) { return Memory(device_, bytes, "the self-test of a product"); };
    const size_t bytes = pass_rows_ * outputs * result_bytes(result);
    const Memory act = memory(pass_rows_ * k * sizeof(bf16)), whole = memory(bytes), part = memory(bytes),
                 before = memory(result == Result::added ? bytes : 1);
    fill_random(*device_, act.get(), pass_rows_ * k);
    // Two random bf16 together are a random f32 in the same range.
    if (result == Result::added) fill_random(*device_, before.get(), bytes / sizeof(bf16));
    const Call all{act.get(), weight, pass_rows_, outputs, k, whole.get(), outputs, result};
    for (int i = 0; i < count; ++i)
      if (found[i].state == CUBLAS_STATUS_SUCCESS && sums_in_one_piece(found[i].algo) &&
          same_bits(all, part.get(), before.get(), found[i].algo))
        return found[i].algo;
    return std::nullopt;
  }

  /// `before` has the values to which the product is added, if it is added.
  bool same_bits(const Call& all, void* part, const void* before, const cublasLtMatmulAlgo_t& algorithm) {
    const size_t row_bytes = all.outputs * result_bytes(all.result);
    const auto start_from = [&](void* out, size_t first, size_t count) {
      if (all.result == Result::added)
        device_->copy(out, static_cast<const char*>(before) + first * row_bytes, count * row_bytes);
    };
    start_from(all.out, 0, all.n);
    if (multiply(all, algorithm) != CUBLAS_STATUS_SUCCESS) return false;
    for (const auto& [first, count] : test_parts(all.n)) {
      Call some = all;
      some.act = static_cast<const bf16*>(all.act) + first * all.k;
      some.n = count;
      some.out = part;
      start_from(part, first, count);
      if (multiply(some, algorithm) != CUBLAS_STATUS_SUCCESS ||
          differ(device_, part, static_cast<const char*>(all.out) + first * row_bytes, count * row_bytes))
        return false;
    }
    return true;
  }

  std::shared_ptr<const Device> device_;
  size_t pass_rows_;  // rows for which algorithms are chosen and tested
  BlasOperation operation_;
  Memory workspace_;
  BlasHandle handle_;
  std::map<Shape, Algorithm> algorithms_;
};

}  // namespace

std::unique_ptr<Matmul> make_matmul(std::shared_ptr<const Device> device, size_t pass_rows) {
  return std::make_unique<CublasLt>(std::move(device), pass_rows);
}

}  // namespace carbon::cuda
