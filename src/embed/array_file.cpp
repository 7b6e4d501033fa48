#include "src/embed/array_file.hpp"

#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "src/base/error.hpp"

namespace carbon {
namespace {

// Sizes of the headers without metadata. Both have room for the largest numbers, and are multiples of 64, so
// that the data are aligned to a cache line.
constexpr size_t kNpyHeader = 128, kSafetensorsHeader = 256, kAligned = 64;
constexpr size_t kBufferBytes = size_t{1} << 20;

void put_little_endian(std::string& out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

std::string shape(uint64_t rows, size_t columns) {
  return std::to_string(rows) + ", " + std::to_string(columns);
}

}  // namespace

std::string array_header(ArrayFormat format, DType type, uint64_t rows, size_t columns,
                         const std::string& metadata) {
  // The text is padded with spaces, which both formats allow.
  std::string out;
  if (format == ArrayFormat::npy) {
    out = std::string("\x93NUMPY\x01\x00", 8);
    put_little_endian(out, kNpyHeader - out.size() - 2, 2);
    out += "{'descr': '" + std::string(type == DType::f16 ? "<f2" : "<f4") +
           "', 'fortran_order': False, 'shape': (" + shape(rows, columns) + "), }";
    out.resize(kNpyHeader - 1, ' ');
    return out + '\n';
  }
  const std::string entry = metadata.empty() ? "" : R"("__metadata__":)" + metadata + ",";
  const size_t size = kSafetensorsHeader + (entry.size() + kAligned - 1) / kAligned * kAligned;
  put_little_endian(out, size - 8, 8);
  out += "{" + entry + R"("embeddings":{"dtype":")" + std::string(type == DType::f16 ? "F16" : "F32") +
         R"(","shape":[)" + shape(rows, columns) + R"(],"data_offsets":[0,)" +
         std::to_string(rows * columns * dtype_size(type)) + "]}}";
  out.resize(size, ' ');
  return out;
}

ArrayFile::ArrayFile(const std::string& path, ArrayFormat format, DType type, size_t columns,
                     std::string metadata)
    : target_(path),
      format_(format),
      type_(type),
      columns_(columns),
      metadata_(std::move(metadata)),
      fd_(target_.open()) {
  buffer_.assign(array_header(format_, type_, 0, columns_, metadata_).size(), ' ');
}

ArrayFile::~ArrayFile() {
  if (fd_ >= 0) ::close(fd_);
}

void ArrayFile::append(std::span<const float> rows) {
  for (const float value : rows) {
    if (type_ == DType::f16)
      put_little_endian(buffer_, float_to_half(value), 2);
    else
      put_little_endian(buffer_, std::bit_cast<uint32_t>(value), 4);
    if (buffer_.size() >= kBufferBytes) flush();
  }
  values_ += rows.size();
}

void ArrayFile::finish() {
  flush();
  if (::lseek(fd_, 0, SEEK_SET) != 0) fail("cannot go back to the beginning of");
  const std::string text = array_header(format_, type_, rows(), columns_, metadata_);
  write(text.data(), text.size());
  const int fd = fd_;
  fd_ = -1;
  if (::close(fd) != 0) fail("cannot finish writing");
}

void ArrayFile::flush() {
  write(buffer_.data(), buffer_.size());
  buffer_.clear();
}

void ArrayFile::write(const char* data, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t count = ::write(fd_, data + done, bytes - done);
    if (count < 0 && errno != EINTR) fail("cannot write");
    if (count > 0) done += static_cast<size_t>(count);
  }
}

void ArrayFile::fail(const char* what) const {
  const int code = errno;
  throw Error("write_output", std::string(what) + " " + target_.shown() + ": " + std::strerror(code));
}

}  // namespace carbon
