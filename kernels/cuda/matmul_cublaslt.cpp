// The library of matmul.hpp: cuBLASLt.
//
// Row-major act . weight^T is, for the column-major library, D = A^T B with A = weight [k x outputs] and
// B = act [k x n], without copies. Algorithms that split the sum by the number of rows are excluded by what
// the library says of them, as far as it does.
#include <array>
#include <utility>

#include "kernels/cuda/cublaslt.hpp"
#include "kernels/cuda/matmul.hpp"

namespace carbon::cuda {
namespace {

constexpr size_t kWorkspace = size_t{32} << 20;
constexpr int kCandidates = 16;

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

/// What an algorithm says of itself; -1 if it does not.
int32_t configured(const cublasLtMatmulAlgo_t& algorithm, cublasLtMatmulAlgoConfigAttributes_t attribute) {
  int32_t value = -1;
  size_t written = 0;
  const cublasStatus_t status =
      cublaslt().algorithm_get(&algorithm, attribute, &value, sizeof value, &written);
  return status == CUBLAS_STATUS_SUCCESS ? value : -1;
}

// An algorithm that does not say how it sums is not used.
bool sums_in_one_piece(const cublasLtMatmulAlgo_t& algorithm) {
  const int32_t pieces = configured(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
  return (pieces == 0 || pieces == 1) &&
         configured(algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME) == CUBLASLT_REDUCTION_SCHEME_NONE;
}

cudaDataType blas_type(MatmulResult result) {
  return result == MatmulResult::bf16 ? CUDA_R_16BF : CUDA_R_32F;
}

/// What all algorithms use.
struct Shared {
  explicit Shared(std::shared_ptr<const Device> device)
      : device(std::move(device)),
        operation(make_blas_operation()),
        workspace(this->device, kWorkspace, "cuBLASLt"),
        handle(make_blas_handle()) {}
  std::shared_ptr<const Device> device;
  BlasOperation operation;
  Memory workspace;
  BlasHandle handle;
};

class Algorithm final : public MatmulAlgorithm {
 public:
  Algorithm(std::shared_ptr<const Shared> shared, const cublasLtMatmulHeuristicResult_t& found)
      : shared_(std::move(shared)), found_(found) {}

  std::string name() const override {
    const auto setting = [&](cublasLtMatmulAlgoConfigAttributes_t attribute) {
      return std::to_string(configured(found_.algo, attribute));
    };
    return "algorithm " + setting(CUBLASLT_ALGO_CONFIG_ID) + ", tile " +
           setting(CUBLASLT_ALGO_CONFIG_TILE_ID) + ", stages " + setting(CUBLASLT_ALGO_CONFIG_STAGES_ID);
  }

  std::string objection() const override {
    if (found_.state != CUBLAS_STATUS_SUCCESS) return "the library says that it does not run";
    if (!sums_in_one_piece(found_.algo)) return "it sums in pieces, or does not say how it sums";
    return "";
  }

  bool multiply(const MatmulCall& c) override {
    const BlasLayout a = make_blas_layout(CUDA_R_16BF, c.k, c.outputs, c.k),
                     b = make_blas_layout(CUDA_R_16BF, c.k, c.n, c.k),
                     d = make_blas_layout(blas_type(c.result), c.outputs, c.n, c.ld_out);
    const float one = 1.0f, before = c.result == MatmulResult::added ? 1.0f : 0.0f;
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    shared_->device->stream().run_library([&](cudaStream_t stream) {
      status = cublaslt().multiply(shared_->handle.get(), shared_->operation.get(), &one, c.weight, a.get(),
                                   c.act, b.get(), &before, c.out, d.get(), c.out, d.get(), &found_.algo,
                                   shared_->workspace.get(), kWorkspace, stream);
    });
    // The library checks before it launches. A larger workspace than there is also counts as a wrong value.
    if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE) return false;
    check_blas(status, "a matrix product");
    return true;
  }

 private:
  std::shared_ptr<const Shared> shared_;
  cublasLtMatmulHeuristicResult_t found_;
};

class CublasLt final : public MatmulLibrary {
 public:
  explicit CublasLt(std::shared_ptr<const Device> device)
      : shared_(std::make_shared<const Shared>(std::move(device))) {}

  std::string name() const override { return "cublaslt" + std::to_string(cublaslt().version); }

  std::vector<std::unique_ptr<MatmulAlgorithm>> propose(size_t rows, size_t outputs, size_t k,
                                                        MatmulResult result) override {
    const BlasLayout a = make_blas_layout(CUDA_R_16BF, k, outputs, k),
                     b = make_blas_layout(CUDA_R_16BF, k, rows, k),
                     d = make_blas_layout(blas_type(result), outputs, rows, outputs);
    std::array<cublasLtMatmulHeuristicResult_t, kCandidates> found{};
    int count = 0;
    const cublasStatus_t status =
        cublaslt().propose(shared_->handle.get(), shared_->operation.get(), a.get(), b.get(), d.get(),
                           d.get(), one_piece_preference().get(), kCandidates, found.data(), &count);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED) return {};
    check_blas(status, "choosing an algorithm");
    std::vector<std::unique_ptr<MatmulAlgorithm>> algorithms;
    for (int i = 0; i < count; ++i) algorithms.push_back(std::make_unique<Algorithm>(shared_, found[i]));
    return algorithms;
  }

 private:
  std::shared_ptr<const Shared> shared_;
};

}  // namespace

void require_matmul_library() {
  cublaslt();
}

std::unique_ptr<Matmul> make_matmul(std::shared_ptr<const Device> device, size_t pass_rows) {
  auto library = std::make_unique<CublasLt>(device);
  return std::make_unique<Matmul>(std::move(device), std::move(library), pass_rows);
}

}  // namespace carbon::cuda
