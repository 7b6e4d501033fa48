// Memory from memfd_create and mmap, and places for tensors in it. See tensor_buffer.hpp.
#include "src/model/tensor_buffer.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/json.hpp"

namespace carbon {
namespace {

[[noreturn]] void fail_with(const std::string& what) {
  throw OutOfMemory("allocate_weights", what + ": " + std::strerror(errno) +
                                            "; use a smaller model or a machine with more memory");
}

constexpr uint64_t kAlign = 64;

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  throw Error("make_tensors", where + ": " + what);
}

/// Lays the tensors out one after the other.
std::map<std::string, TensorInfo> places(const std::string& path, const std::vector<TensorSpec>& tensors) {
  std::map<std::string, TensorInfo> infos;
  uint64_t at = 0;
  for (const TensorSpec& tensor : tensors) {
    const std::string where = path + ": tensor '" + printable(tensor.name) + "'";
    const std::optional<WeightType> type = weight_type_of(tensor.dtype);
    if (!type) fail(where, "has dtype " + printable(tensor.dtype) + "; supported are " + kWeightTypes);
    const std::optional<uint64_t> bytes = tensor_bytes(*type, tensor.shape);
    if (!bytes || *bytes > std::numeric_limits<int64_t>::max() - at - kAlign)
      fail(where, "shape " + shape_text(tensor.shape) + " is no size of a " + tensor.dtype + " tensor");
    if (!infos.emplace(tensor.name, TensorInfo{tensor.dtype, tensor.shape, at, at + *bytes}).second)
      fail(where, "comes twice");
    at = (at + *bytes + kAlign - 1) / kAlign * kAlign;
  }
  return infos;
}

uint64_t total_bytes(const std::map<std::string, TensorInfo>& tensors) {
  uint64_t total = 0;
  for (const auto& [name, info] : tensors) total = std::max(total, info.end);
  return total;
}

}  // namespace

SharedMemory::SharedMemory(std::string purpose, uint64_t bytes)
    : purpose_(std::move(purpose)), fd_(::memfd_create("carbon-weights", MFD_CLOEXEC)) {
  if (fd_ < 0) fail("cannot create memory for ");
  // An empty file cannot be allocated, and nobody maps it.
  if (bytes == 0) return;
  if (const int status = ::posix_fallocate(fd_, 0, static_cast<off_t>(bytes)); status != 0) {
    ::close(fd_);
    errno = status;
    fail("no memory for ");
  }
}

SharedMemory::~SharedMemory() {
  ::close(fd_);
}

void SharedMemory::map(uint8_t* to, uint64_t bytes, uint64_t from, int protection) const {
  if (bytes == 0) return;
  if (::mmap(to, bytes, protection, MAP_SHARED | MAP_FIXED, fd_, static_cast<off_t>(from)) == MAP_FAILED)
    fail("cannot map ");
}

void SharedMemory::fail(const std::string& what) const {
  fail_with(what + purpose_);
}

AddressSpace::AddressSpace(const std::string& purpose, uint64_t bytes) : size_(std::max<uint64_t>(bytes, 1)) {
  void* const space = ::mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED) fail_with("no address space for " + purpose);
  data_ = static_cast<uint8_t*>(space);
}

AddressSpace::~AddressSpace() {
  ::munmap(data_, size_);
}

TensorBuffer::TensorBuffer(std::string name, const std::vector<TensorSpec>& tensors, FileStamp source)
    : TensorFile(std::move(name)),
      space_("the tensors of " + path_, total_bytes(tensors_ = places(path_, tensors))),
      memory_("the tensors of " + path_, total_bytes(tensors_)) {
  stamp_ = std::move(source);
  size_ = total_bytes(tensors_);
  data_ = space_.data();
  memory_.map(space_.data(), size_, 0, PROT_READ | PROT_WRITE);
}

std::span<uint8_t> TensorBuffer::writable(const std::string& name) {
  const auto at = tensors_.find(name);
  if (at == tensors_.end()) fail(path_, "there is no tensor '" + printable(name) + "'");
  if (finished_) fail(path_, "tensor '" + printable(name) + "' is already in use");
  return {space_.data() + at->second.begin, at->second.end - at->second.begin};
}

void TensorBuffer::finish() {
  memory_.map(space_.data(), size_, 0, PROT_READ);
  finished_ = true;
}

}  // namespace carbon
