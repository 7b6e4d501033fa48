#include "kernels/cuda/cublaslt_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <string>

#include "src/base/error.hpp"

namespace carbon::cuda {
namespace {

#define CARBON_TEXT_OF_(x) #x
#define CARBON_TEXT_OF(x) CARBON_TEXT_OF_(x)
constexpr const char* kMajor = CARBON_TEXT_OF(CUBLAS_VER_MAJOR);
constexpr const char* kFile = "libcublasLt.so." CARBON_TEXT_OF(CUBLAS_VER_MAJOR);

[[noreturn]] void fail(const std::string& problem) {
  throw Error("cuda",
              problem + "; install cuBLASLt " + kMajor + " (NVIDIA's package libcublas of CUDA " + kMajor +
                  ", or nvidia-cublas of PyPI) and name its folder in LD_LIBRARY_PATH, or set "
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

}  // namespace carbon::cuda
