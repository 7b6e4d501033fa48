// Memory from memfd_create, and mmap. See shared_memory.hpp.
#include "src/model/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "src/base/error.hpp"

namespace carbon {
namespace {

[[noreturn]] void fail_with(const std::string& what) {
  throw OutOfMemory("allocate_weights", what + ": " + std::strerror(errno) +
                                            "; use a smaller model or a machine with more memory");
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

}  // namespace carbon
