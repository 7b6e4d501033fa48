#include "src/formats/matrix_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "src/base/error.hpp"
#include "src/files/file_name.hpp"
#include "src/files/output.hpp"
#include "src/formats/provenance.hpp"

namespace carbon {
namespace {

// Sizes of the headers without metadata. Both have room for the largest numbers, and are multiples of 64, so
// that the data are aligned to a cache line.
constexpr size_t kNpyHeader = 128, kSafetensorsHeader = 256, kAligned = 64;
constexpr size_t kBufferBytes = size_t{1} << 20;

void put_little_endian(std::string& out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

std::string npy_header(const ArrayLayout& layout, const std::string& shape) {
  std::string out("\x93NUMPY\x01\x00", 8);
  put_little_endian(out, kNpyHeader - out.size() - 2, 2);
  out += "{'descr': '" + std::string(layout.type == DType::f16 ? "<f2" : "<f4") +
         "', 'fortran_order': False, 'shape': (" + shape + "), }";
  out.resize(kNpyHeader - 1, ' ');
  return out + '\n';
}

std::string safetensors_header(const ArrayLayout& layout, const std::string& shape, uint64_t tensor_bytes) {
  const std::string entry = layout.metadata.empty() ? "" : R"("__metadata__":)" + layout.metadata + ",";
  const size_t size =
      kSafetensorsHeader * layout.tensors.size() + (entry.size() + kAligned - 1) / kAligned * kAligned;
  std::string out;
  put_little_endian(out, size - 8, 8);
  out += "{" + entry;
  for (size_t i = 0; i < layout.tensors.size(); ++i)
    out += (i > 0 ? ",\"" : "\"") + layout.tensors[i] + R"(":{"dtype":")" +
           (layout.type == DType::f16 ? "F16" : "F32") + R"(","shape":[)" + shape + R"(],"data_offsets":[)" +
           std::to_string(i * tensor_bytes) + "," + std::to_string((i + 1) * tensor_bytes) + "]}";
  out += "}";
  out.resize(size, ' ');
  return out;
}

constexpr const char kNpy[] = ".npy", kSafetensors[] = ".safetensors", kRecord[] = ".json";

const char* suffix_of(ArrayFormat format) {
  return format == ArrayFormat::npy ? kNpy : kSafetensors;
}

ArrayLayout with_provenance(ArrayLayout layout, const std::vector<std::string>& provenance) {
  if (layout.format == ArrayFormat::safetensors) layout.metadata = provenance_strings(provenance);
  return layout;
}

/// Throws Error if another file than such a table has the name of the table, which the user has not given.
void check_table(const std::string& command, const MatrixPlace& place) {
  const std::string path = place.stem() + place.table;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return;
  std::ifstream in(path);
  std::string first;
  if (std::getline(in, first) && first == place.heading) return;
  throw Error(command,
              path + " exists, and carbon " + command +
                  " has not written it; the run would replace it by the table of the rows of the matrix",
              {"or name another output with {-o}"});
}

}  // namespace

// The text is padded with spaces, which both formats allow.
std::string array_header(const ArrayLayout& layout, uint64_t rows) {
  const std::string shape = std::to_string(rows) + ", " + std::to_string(layout.columns);
  return layout.format == ArrayFormat::npy
             ? npy_header(layout, shape)
             : safetensors_header(layout, shape, rows * layout.columns * dtype_size(layout.type));
}

/// A tensor while it grows. All but the first are in files of their own, beside the one that they end up in.
class ArrayFile::Part {
 public:
  Part(const std::string& path, PathClaim claim)
      : target_(path, TemporaryName::unique, claim), fd_(target_.open()) {}
  ~Part() {
    if (fd_ >= 0) ::close(fd_);
  }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  uint64_t values() const { return values_; }
  void put(const std::string& bytes) { buffer_ += bytes; }
  void append(std::span<const float> values, DType type) {
    for (const float value : values) {
      if (type == DType::f16)
        put_little_endian(buffer_, float_to_half(value), 2);
      else
        put_little_endian(buffer_, std::bit_cast<uint32_t>(value), 4);
      if (buffer_.size() >= kBufferBytes) flush();
    }
    values_ += values.size();
  }
  void append(Part& other) {
    other.flush();
    const int from = ::open(other.target_.writable().c_str(), O_RDONLY | O_CLOEXEC);
    if (from < 0) other.fail("cannot read");
    buffer_.resize(kBufferBytes);
    ssize_t count = 0;
    while ((count = ::read(from, buffer_.data(), buffer_.size())) != 0) {
      if (count < 0 && errno != EINTR) break;
      if (count > 0) write(buffer_.data(), static_cast<size_t>(count));
    }
    ::close(from);
    buffer_.clear();
    if (count < 0) other.fail("cannot read");
  }
  void begin_with(const std::string& bytes) {
    flush();
    if (::lseek(fd_, 0, SEEK_SET) != 0) fail("cannot go back to the beginning of");
    write(bytes.data(), bytes.size());
    const int fd = std::exchange(fd_, -1);
    if (::close(fd) != 0) fail("cannot finish writing");
  }
  void flush() {
    write(buffer_.data(), buffer_.size());
    buffer_.clear();
  }
  void commit() { target_.commit(); }

 private:
  void write(const char* data, size_t bytes) {
    if (!write_all(fd_, data, bytes)) fail("cannot write");
  }
  [[noreturn]] void fail(const char* what) const {
    const int code = errno;
    throw Error("write_output", std::string(what) + " " + target_.shown() + ": " + std::strerror(code));
  }

  OutputPath target_;
  int fd_;
  uint64_t values_ = 0;
  std::string buffer_;
};

ArrayFile::ArrayFile(const std::string& path, ArrayLayout layout) : layout_(std::move(layout)) {
  const size_t tensors = layout_.format == ArrayFormat::npy ? 1 : layout_.tensors.size();
  for (size_t i = 0; i < tensors; ++i)
    parts_.push_back(std::make_unique<Part>(path, i == 0 ? PathClaim::own : PathClaim::of_owner));
  parts_.front()->put(std::string(array_header(layout_, 0).size(), ' '));
}

ArrayFile::~ArrayFile() = default;

void ArrayFile::append(std::span<const float> rows, size_t tensor) {
  parts_[tensor]->append(rows, layout_.type);
}

uint64_t ArrayFile::rows() const {
  return parts_.front()->values() / layout_.columns;
}

void ArrayFile::finish() {
  Part& file = *parts_.front();
  file.flush();
  for (size_t i = 1; i < parts_.size(); ++i) file.append(*parts_[i]);
  file.begin_with(array_header(layout_, rows()));
  parts_.resize(1);
}

void ArrayFile::commit() {
  parts_.front()->commit();
}

std::optional<ArrayFormat> array_format_of(const std::string& path) {
  if (is_compressed_name(path)) return std::nullopt;
  for (const ArrayFormat format : {ArrayFormat::npy, ArrayFormat::safetensors})
    if (format_of_name(path) == suffix_of(format) + 1) return format;
  return std::nullopt;
}

std::string MatrixPlace::stem() const {
  return array_format_of(path) == format ? stem_of_name(path) : path;
}

std::string MatrixPlace::matrix() const {
  return array_format_of(path) == format ? path : path + suffix_of(format);
}

void check_matrix_output(const std::string& command, const MatrixPlace& place, const Advice& advice) {
  const std::string stem = place.stem();
  const auto refuse = [&](const std::string& path) {
    throw Error(command,
                std::string(suffix_of(place.format) + 1) +
                    " output needs a regular file, because its beginning is written last" +
                    (path.empty() ? "" : ", and " + path + " is not one"),
                advice);
  };
  if (place.path == "-" || stem.empty() || stem.ends_with('/')) refuse("");
  for (const std::string& path : {place.path, place.matrix()})
    if (is_stream(path)) refuse(path);
  if (place.format == ArrayFormat::npy) check_provenance_file(command, stem + kRecord);
  check_table(command, place);
}

MatrixOutput::MatrixOutput(const MatrixPlace& place, ArrayLayout layout,
                           const std::vector<std::string>& provenance)
    : matrix_(place.matrix(), with_provenance(std::move(layout), provenance)),
      table_(place.stem() + place.table) {
  describe(place.heading);
  if (place.format == ArrayFormat::safetensors) return;
  record_.emplace(place.stem() + kRecord);
  record_->write(provenance_json(provenance));
}

void MatrixOutput::finish() {
  table_.finish();
  if (record_) record_->finish();
  matrix_.finish();
}

void MatrixOutput::commit() {
  table_.commit();
  if (record_) record_->commit();
  matrix_.commit();
}

}  // namespace carbon
