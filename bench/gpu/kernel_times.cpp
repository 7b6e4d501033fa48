#include "bench/gpu/kernel_times.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "kernels/cuda/stream.hpp"

namespace carbon::gpu_bench {
namespace {

/// A kernel without a name is called by the order in which kernels first came.
std::string name_of(const void* kernel, size_t order) {
  if (kernel == nullptr) return "products of the library";
#if CUDART_VERSION >= 12030
  const char* name = nullptr;
  if (cudaFuncGetName(&name, kernel) == cudaSuccess) return short_kernel_name(name);
  static_cast<void>(cudaGetLastError());  // an older driver; clears the error
#endif
  return "kernel " + std::to_string(order + 1);
}

void remove_all(std::string& text, const std::string& part) {
  for (size_t at; (at = text.find(part)) != std::string::npos;) text.erase(at, part.size());
}

}  // namespace

std::string short_kernel_name(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> whole(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  if (whole == nullptr) return mangled;
  std::string name = whole.get();
  for (const char* const part : {"(anonymous namespace)::", "carbon::cuda::"}) remove_all(name, part);
  if (name.starts_with("void ")) name.erase(0, 5);
  int depth = 0;  // of template arguments
  for (size_t i = 0; i < name.size(); ++i) {
    depth += name[i] == '<' ? 1 : name[i] == '>' ? -1 : 0;
    if (depth == 0 && name[i] == '(') return name.substr(0, i);
  }
  return name;
}

KernelTimes::~KernelTimes() {
  for (const cudaEvent_t event : events_) cudaEventDestroy(event);
}

void KernelTimes::measure(size_t runs, const std::function<void()>& run) {
  for (auto& [kernel, total] : totals_) total = {total.order};
  runs_ = runs;
  const auto stop = [](cuda::Stream* stream) { stream->watch(nullptr); };
  const std::unique_ptr<cuda::Stream, decltype(stop)> watched(stream_, stop);
  stream_->watch(this);
  for (size_t i = 0; i < runs; ++i) {
    launched_.clear();
    recorded_ = 0;
    run();
    read_events();
  }
}

void KernelTimes::begin(cudaStream_t stream, const void* kernel) {
  launched_.push_back(kernel);
  record(stream);
}

void KernelTimes::end(cudaStream_t stream) {
  record(stream);
}

void KernelTimes::record(cudaStream_t stream) {
  if (recorded_ == events_.size()) {
    cudaEvent_t event = nullptr;
    cuda::check(cudaEventCreateWithFlags(&event, cudaEventDefault), "making an event");
    events_.push_back(event);
  }
  cuda::check(cudaEventRecord(events_[recorded_++], stream), "recording an event");
}

void KernelTimes::read_events() {
  if (launched_.empty()) return;
  cuda::check(cudaEventSynchronize(events_[recorded_ - 1]), "waiting for an event");
  for (size_t i = 0; i < launched_.size(); ++i) {
    float milliseconds = 0;
    cuda::check(cudaEventElapsedTime(&milliseconds, events_[2 * i], events_[2 * i + 1]), "timing a kernel");
    Total& total = totals_.try_emplace(launched_[i], Total{totals_.size()}).first->second;
    ++total.launches;
    total.seconds += 1e-3 * static_cast<double>(milliseconds);
  }
}

std::vector<KernelTime> KernelTimes::times() const {
  std::vector<KernelTime> result;
  const auto runs = static_cast<double>(runs_);
  for (const auto& [kernel, total] : totals_)
    if (total.launches > 0)
      result.push_back(
          {name_of(kernel, total.order), static_cast<double>(total.launches) / runs, total.seconds / runs});
  std::ranges::sort(result, std::ranges::greater(), &KernelTime::seconds);
  return result;
}

}  // namespace carbon::gpu_bench
