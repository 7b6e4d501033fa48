// The library of matmul.hpp: cuBLASLt.
//
// Row-major act . weight^T is, for the column-major library, D = A^T B with A = weight [k x outputs] and
// B = act [k x n], without copies. Algorithms that split the sum by the number of rows are excluded by what
// the library says of them, as far as it does.
#include "kernels/cuda/cublaslt.hpp"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <string>
#include <utility>

#include "kernels/cuda/matmul.hpp"

namespace carbon::cuda {
namespace {

#define CARBON_TEXT_OF_(x) #x
#define CARBON_TEXT_OF(x) CARBON_TEXT_OF_(x)
constexpr const char* kMajor = CARBON_TEXT_OF(CUBLAS_VER_MAJOR);
constexpr const char* kOfPypi = CUBLAS_VER_MAJOR < 13 ? "nvidia-cublas-cu12" : "nvidia-cublas";
constexpr const char* kFile = "libcublasLt.so." CARBON_TEXT_OF(CUBLAS_VER_MAJOR);

[[noreturn]] void fail(const std::string& problem) {
  throw Error("cuda",
              problem + "; install cuBLASLt " + kMajor + " (NVIDIA's package libcublas of CUDA " + kMajor +
                  ", or " + kOfPypi +
                  " of PyPI) and name its folder in LD_LIBRARY_PATH, or set "
                  "CARBON_CUDA_LIBRARY=0: carbon's own kernels are slower, with other last digits",
              {"or use {--device} cpu"});
}

/// By the loader's search: LD_LIBRARY_PATH, CUDA_RPATH of the Makefile, the system's folders. Never closed,
/// because what it has made may exist until the end of the program.
void* open_library() {
  void* const handle = dlopen(kFile, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle != nullptr) return handle;
  const char* const why = dlerror();
  fail("cannot load cuBLASLt: " + std::string(why != nullptr ? why : kFile));
}

std::string path_of(void* handle) {
  link_map* map = nullptr;
  return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : kFile;
}

template <class Function>
void find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  if (function == nullptr) fail(path_of(handle) + " is no cuBLASLt " + kMajor + ": it has no " + name);
}

std::string spelled(size_t version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

BlasFunctions load() {
  void* const handle = open_library();
  BlasFunctions library{};
  decltype(&cublasLtGetVersion) version = nullptr;
  find(handle, "cublasLtGetVersion", version);
  library.version = version();
  if (library.version / 10000 != CUBLAS_VER_MAJOR)
    fail(path_of(handle) + " is cuBLASLt " + spelled(library.version) + ", and this carbon needs version " +
         kMajor);
  find(handle, "cublasLtGetStatusString", library.status_string);
  find(handle, "cublasLtCreate", library.create);
  find(handle, "cublasLtDestroy", library.destroy);
  find(handle, "cublasLtMatrixLayoutCreate", library.layout_create);
  find(handle, "cublasLtMatrixLayoutDestroy", library.layout_destroy);
  find(handle, "cublasLtMatmulDescCreate", library.operation_create);
  find(handle, "cublasLtMatmulDescDestroy", library.operation_destroy);
  find(handle, "cublasLtMatmulDescSetAttribute", library.operation_set);
  find(handle, "cublasLtMatmulPreferenceCreate", library.preference_create);
  find(handle, "cublasLtMatmulPreferenceDestroy", library.preference_destroy);
  find(handle, "cublasLtMatmulPreferenceSetAttribute", library.preference_set);
  find(handle, "cublasLtMatmulAlgoGetHeuristic", library.propose);
  find(handle, "cublasLtMatmulAlgoConfigGetAttribute", library.algorithm_get);
  find(handle, "cublasLtMatmul", library.multiply);
  return library;
}

}  // namespace

const BlasFunctions& cublaslt() {
  static const BlasFunctions library = load();
  return library;
}

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
