// Finds and loads carbon-cuda.so: the part of the CUDA backend that is always in the program itself.
#include <dlfcn.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "backend_stamp.h"  // written by the Makefile: CARBON_BACKEND_STAMP
#include "kernels/cuda/library.hpp"
#include "src/base/error.hpp"
#include "src/base/installed.hpp"

/// Of the backend that is linked in; null where there is none. Hidden, so that it cannot be that of a library
/// which this process has loaded.
extern "C" __attribute__((weak, visibility("hidden"))) const carbon::cuda::Library* carbon_cuda_library();

namespace carbon::cuda {
namespace {

constexpr const char* kFile = "carbon-cuda.so";

std::string find_library() {
  std::vector<std::string> places = installed_library_directories();
  if (const std::string& beside = program_folder(); !beside.empty() && places.front() != beside)
    places.insert(places.begin(), beside);
  std::string searched;
  for (const std::string& directory : places) {
    const std::string path = directory + "/" + kFile;
    if (access(path.c_str(), R_OK) == 0) return path;
    searched += (searched.empty() ? "" : " and no ") + path;
  }
  throw Error("cuda", "no " + searched + ": this carbon was built without CUDA; build it where nvcc is found",
              {"or use {--device} cpu"});
}

// The library is never closed, because backends and exceptions from it may exist until the end of the
// program.
const Library& load_library() {
  if (carbon_cuda_library != nullptr) return *carbon_cuda_library();
  const std::string path = find_library();
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const char* const why = dlerror();
    throw Error(
        "cuda",
        "cannot load " + path + ": " + (why != nullptr ? why : "no reason given") + "; reinstall carbon",
        {"or use {--device} cpu"});
  }
  const auto stamp = reinterpret_cast<StampFunction>(dlsym(handle, "carbon_cuda_stamp"));
  const auto library = reinterpret_cast<LibraryFunction>(dlsym(handle, "carbon_cuda_library"));
  if (stamp == nullptr || library == nullptr)
    throw Error("cuda", path + " is not a CUDA backend of carbon; reinstall carbon",
                {"or use {--device} cpu"});
  if (const std::string built = stamp(); built != CARBON_BACKEND_STAMP)
    throw Error("cuda",
                path + " was built with another carbon (" + built +
                    ", this is " CARBON_BACKEND_STAMP "); install both from one build",
                {"or use {--device} cpu"});
  return *library();
}

}  // namespace
}  // namespace carbon::cuda

std::unique_ptr<carbon::ops::Backend> carbon::ops::make_cuda_backend(const CudaOptions& options) {
  return cuda::load_library().make_backend(options);
}

carbon::ops::CudaStatus carbon::ops::cuda_status() {
  try {
    return cuda::load_library().status();
  } catch (const Error& error) {
    CudaStatus status;
    status.problem = error.what();
    return status;
  }
}
