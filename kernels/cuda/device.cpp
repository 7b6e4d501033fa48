#include "kernels/cuda/device.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "src/base/error.hpp"

namespace carbon::cuda {
namespace {

#ifndef CARBON_CUDA_ARCH
#error "CARBON_CUDA_ARCH: the kinds of device compiled for, \"80 90\""
#endif

/// The kinds of a list, which are in ascending order there.
std::vector<int> kinds_in(const std::string& all) {
  std::vector<int> result;
  for (size_t at = 0; at < all.size();) {
    const size_t end = std::min(all.find(' ', at), all.size());
    if (end > at) result.push_back(std::stoi(all.substr(at, end - at)));
    at = end + 1;
  }
  return result;
}

/// "550 (CUDA 12.4)", the oldest driver for the CUDA of this build, by the table in NVIDIA's release notes.
std::string oldest_driver() {
  constexpr std::pair<int, int> kDrivers[] = {{13010, 590}, {13000, 580}, {12090, 575}, {12080, 570},
                                              {12060, 560}, {12050, 555}, {12040, 550}, {12030, 545},
                                              {12020, 535}, {12010, 530}, {12000, 525}};
  const auto* const found =
      std::ranges::find_if(kDrivers, [](const auto& each) { return each.first <= CUDART_VERSION; });
  return std::to_string(found->second) + " (CUDA " + spelled_cuda(CUDART_VERSION) + ")";
}

int count_devices() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorInsufficientDriver) {
    int driver = 0;
    const bool known = cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0;
    throw Error("cuda",
                (known ? "the NVIDIA driver is one for CUDA " + spelled_cuda(driver) + ", which is too old"
                       : std::string("there is no NVIDIA driver")) +
                    "; install version " + oldest_driver() + " or newer",
                {"or use {--device} cpu"});
  }
  if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0))
    throw Error("cuda", "the NVIDIA driver finds no GPU (is CUDA_VISIBLE_DEVICES set?)",
                {"or use {--device} cpu"});
  if (status != cudaSuccess)
    throw Error("cuda",
                std::string("the NVIDIA driver does not work: ") + cudaGetErrorString(status) + " (" +
                    cudaGetErrorName(status) + "); see nvidia-smi",
                {"or use {--device} cpu"});
  return count;
}

// Bytes of a part: room for the tables of many steps, and large enough for the host to fill one part of a
// weight while another is read.
constexpr size_t kPartBytes = size_t{4} << 20;
constexpr size_t kAlignment = 64;

}  // namespace

int code_for(const std::string& kinds, int capability) {
  const std::vector<int> all = kinds_in(kinds);
  int newest = 0;
  for (const int kind : all)
    if (kind <= capability && (kind / 10 == capability / 10 || kind == all.back())) newest = kind;
  return newest;
}

Device::Device(int index) : index_(index) {
  const int count = count_devices();
  if (index < 0 || index >= count)
    throw Error("cuda",
                "no GPU " + std::to_string(index) + ": there " +
                    (count == 1 ? "is one, number 0" : "are " + std::to_string(count) + ", from 0 on"));
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index), "asking for the GPU's properties");
  name_ = properties.name;
  capability_ = 10 * properties.major + properties.minor;
  multiprocessors_ = properties.multiProcessorCount;
  code_ = code_for(CARBON_CUDA_ARCH, capability_);
  if (code_ == 0)
    throw Error("cuda",
                "GPU " + std::to_string(index) + " (" + properties.name + ", sm_" +
                    std::to_string(capability_) +
                    ") is of a kind for which this carbon was not built, only for " + compiled_kinds(),
                {"build carbon with ./configure --with-cuda-arch={0}, or use {--device} cpu",
                 {std::to_string(capability_)}});
  int shared = 0;
  check(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, index),
        "asking for the shared memory of a block");
  block_shared_ = static_cast<size_t>(shared);
  use();
  stream_ = std::make_unique<Stream>();
  staging_ = std::make_unique<Staging>();
}

Device::~Device() {
  // The memory that copies on the stream still read is freed after this. A failure can be ignored here.
  submit_pending();
  cudaStreamSynchronize(stream_->handle());
}

// Every operation begins with this, which is hundreds of times in a step of generation. Nothing else in this
// library chooses the device of a thread.
void Device::use() const {
  thread_local int chosen = -1;
  if (chosen == index_) return;
  check(cudaSetDevice(index_), "choosing the GPU");
  chosen = index_;
}

void Device::wait() const {
  check(cudaStreamSynchronize(stream_->handle()), "waiting for the GPU");
}

size_t Device::free_memory() const {
  size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for the GPU's free memory");
  return free;
}

void Device::submit_pending() const noexcept {
  try {
    use();  // also for the caller, who frees memory next, perhaps on a thread that has not used a device yet
    stream_->flush();
  } catch (const Error&) {
    // The device has failed, so there is no work left on it.
  }
}

void Device::copy_in(void* device, const void* host, size_t bytes) const {
  staging_->copy_in(device, host, bytes, stream_->handle());
}

void Device::copy_out(void* host, const void* device, size_t bytes) const {
  if (bytes == 0) return wait();
  staging_->copy_out(host, device, bytes, stream_->handle());
}

void Device::copy(void* to, const void* from, size_t bytes) const {
  if (bytes != 0)
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_->handle()),
          "copying on the GPU");
}

void Device::copy_rows(void* to, size_t to_step, const void* from, size_t from_step, size_t bytes,
                       size_t rows) const {
  check(cudaMemcpy2DAsync(to, to_step, from, from_step, bytes, rows, cudaMemcpyDeviceToDevice,
                          stream_->handle()),
        "copying on the GPU");
}

void Device::clear(void* memory, size_t bytes) const {
  if (bytes != 0) check(cudaMemsetAsync(memory, 0, bytes, stream_->handle()), "clearing memory of the GPU");
}

std::string spelled_cuda(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string compiled_kinds() {
  std::string text;
  for (const int kind : kinds_in(CARBON_CUDA_ARCH))
    text += (text.empty() ? "sm_" : " sm_") + std::to_string(kind);
  return text;
}

std::vector<std::string> list_devices() {
  std::vector<std::string> lines;
  const int count = count_devices();
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, i), "asking for a GPU's properties");
    const int capability = 10 * properties.major + properties.minor;
    lines.push_back("cuda:" + std::to_string(i) + " " + properties.name + ", sm_" +
                    std::to_string(capability) + ", " + std::to_string(properties.totalGlobalMem >> 20) +
                    " MiB" + (capability == 75 ? ", tensor cores for --dtype f16 alone" : ""));
  }
  return lines;
}

Staging::Staging() {
  try {
    for (Part& part : parts_) {
      void* memory = nullptr;
      check(cudaMallocHost(&memory, kPartBytes), "allocating page-locked memory");
      part.memory = static_cast<std::byte*>(memory);
      check(cudaEventCreateWithFlags(&part.read, cudaEventDisableTiming), "allocating page-locked memory");
    }
  } catch (...) {
    release();
    throw;
  }
}

Staging::~Staging() {
  release();
}

void Staging::release() {
  for (Part& part : parts_) {
    if (part.read != nullptr) cudaEventDestroy(part.read);
    if (part.memory != nullptr) cudaFreeHost(part.memory);
  }
}

void Staging::copy_in(void* device, const void* host, size_t bytes, cudaStream_t stream) {
  auto* to = static_cast<std::byte*>(device);
  const auto* from = static_cast<const std::byte*>(host);
  while (bytes > 0) {
    if (used_ == kPartBytes) next_part(stream);
    const size_t count = std::min(bytes, kPartBytes - used_);
    std::byte* const through = parts_[current_].memory + used_;
    std::memcpy(through, from, count);
    check(cudaMemcpyAsync(to, through, count, cudaMemcpyHostToDevice, stream), "copying to the GPU");
    used_ = std::min(used_ + (count + kAlignment - 1) / kAlignment * kAlignment, kPartBytes);
    to += count;
    from += count;
    bytes -= count;
  }
}

// By the order of the stream, the former contents of the parts have been read before this writes to them.
void Staging::copy_out(void* host, const void* device, size_t bytes, cudaStream_t stream) {
  auto* to = static_cast<std::byte*>(host);
  const auto* from = static_cast<const std::byte*>(device);
  std::byte* const through = parts_[current_].memory;
  used_ = 0;
  while (bytes > 0) {
    const size_t count = std::min(bytes, kPartBytes);
    check(cudaMemcpyAsync(through, from, count, cudaMemcpyDeviceToHost, stream), "copying from the GPU");
    check(cudaStreamSynchronize(stream), "waiting for the GPU");
    std::memcpy(to, through, count);
    to += count;
    from += count;
    bytes -= count;
  }
}

void Staging::next_part(cudaStream_t stream) {
  check(cudaEventRecord(parts_[current_].read, stream), "copying to the GPU");
  current_ = (current_ + 1) % parts_.size();
  used_ = 0;
  check(cudaEventSynchronize(parts_[current_].read), "copying to the GPU");
}

Memory::Memory(std::shared_ptr<const Device> device, size_t bytes, const char* what)
    : device_(std::move(device)), bytes_(bytes) {
  const std::string doing = "allocating " + std::to_string(bytes) + " bytes of GPU memory for " + what;
  check(cudaMalloc(&data_, std::max<size_t>(bytes, 1)), doing.c_str());
}

Memory::Memory(Memory&& other) noexcept
    : device_(std::move(other.device_)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

Memory& Memory::operator=(Memory&& other) noexcept {
  if (this == &other) return *this;
  reset();
  device_ = std::move(other.device_);
  data_ = std::exchange(other.data_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

void Memory::reset() {
  // cudaFree() waits for the work that uses the memory. Its own failure can be ignored.
  if (data_ != nullptr) {
    device_->submit_pending();
    cudaFree(std::exchange(data_, nullptr));
  }
  bytes_ = 0;
  device_.reset();
}

void* Memory::release() {
  bytes_ = 0;
  device_.reset();
  return std::exchange(data_, nullptr);
}

void* Scratch::ensure(size_t bytes) {
  if (bytes <= memory_.bytes()) return memory_.get();
  const size_t doubled = std::max(bytes, 2 * memory_.bytes());
  memory_.reset();
  try {
    memory_ = Memory(device_, doubled, what_);
  } catch (const OutOfMemory&) {
    if (doubled == bytes) throw;
    memory_ = Memory(device_, bytes, what_);
  }
  return memory_.get();
}

}  // namespace carbon::cuda
