// Opens and maps a file. See mapped_file.hpp.
#include "src/model/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "src/base/error.hpp"

namespace carbon {
namespace {

/// A file descriptor closed at the end of the scope.
class Descriptor {
 public:
  // Without O_NONBLOCK the opening of a named pipe would wait for somebody who writes to it.
  explicit Descriptor(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

MappedFile::MappedFile(const std::string& path, const char* function, const char* kind, size_t least) {
  const auto fail = [&](const std::string& what) { throw Error(function, path + ": " + what); };
  const Descriptor file(path);
  if (file.get() < 0) fail(std::string("cannot open: ") + std::strerror(errno));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail(std::string("cannot stat: ") + std::strerror(errno));
  if (!S_ISREG(status.st_mode)) fail("is not a regular file");
  size_ = static_cast<size_t>(status.st_size);
  stamp_ = file_stamp(status);
  if (size_ < least) fail("is " + std::to_string(size_) + " bytes long, too short for a " + kind);
  void* const mapped = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED) fail(std::string("cannot map: ") + std::strerror(errno));
  data_ = static_cast<const uint8_t*>(mapped);
}

MappedFile::~MappedFile() {
  ::munmap(const_cast<uint8_t*>(data_), size_);
}

void give_back_pages(const void* data, size_t bytes) {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(data);
  const uintptr_t first = (begin + page - 1) / page * page, last = (begin + bytes) / page * page;
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace carbon
