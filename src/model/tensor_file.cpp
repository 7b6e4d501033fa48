// Mapped files, types and sizes of tensors, and their rows as f32. See tensor_file.hpp.
#include "src/model/tensor_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

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

/// Rounds the numbers to a type that has no blocks.
void round_to(WeightType type, std::vector<float>& numbers) {
  if (type == WeightType::bf16)
    for (float& number : numbers) number = to_float(to_bf16(number));
  if (type == WeightType::f16)
    for (float& number : numbers) number = half_to_float(float_to_half(number));
}

bool equal_rows(const TensorView& copy, const TensorView& original) {
  if (copy.dtype == original.dtype) return std::memcmp(copy.data, original.data, copy.bytes()) == 0;
  if (copy.dtype == WeightType::q8_0) return false;
  std::vector<float> a(copy.cols), b(copy.cols);
  for (size_t i = 0; i < copy.rows; ++i) {
    widen_row(copy, i, a.data());
    widen_row(original, i, b.data());
    round_to(copy.dtype, b);
    if (a != b) return false;
  }
  return true;
}

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

std::optional<WeightType> weight_type_of(std::string_view dtype) {
  if (dtype == "BF16") return WeightType::bf16;
  if (dtype == "F16") return WeightType::f16;
  if (dtype == "F32") return WeightType::f32;
  if (dtype == "Q8_0") return WeightType::q8_0;
  return std::nullopt;
}

std::optional<uint64_t> tensor_bytes(WeightType type, const std::vector<uint64_t>& shape) {
  const WeightFormat format = weight_format(type);
  if (format.block > 1 && (shape.empty() || shape.back() % format.block != 0)) return std::nullopt;
  uint64_t count = 1;
  for (const uint64_t n : shape) {
    if (n != 0 && count > std::numeric_limits<uint64_t>::max() / format.block_bytes / n) return std::nullopt;
    count *= n;
  }
  return count / format.block * format.block_bytes;
}

std::string shape_text(const std::vector<uint64_t>& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? "," : "") + std::to_string(shape[i]);
  return text + "]";
}

std::optional<std::pair<std::string, std::string>> overlapping(
    const std::map<std::string, TensorInfo>& tensors) {
  std::vector<std::pair<const std::string*, const TensorInfo*>> by_position;
  for (const auto& [name, info] : tensors) {
    if (info.end > info.begin) by_position.emplace_back(&name, &info);
  }
  std::sort(by_position.begin(), by_position.end(),
            [](const auto& a, const auto& b) { return a.second->begin < b.second->begin; });
  for (size_t i = 1; i < by_position.size(); ++i) {
    if (by_position[i].second->begin < by_position[i - 1].second->end)
      return std::pair(*by_position[i - 1].first, *by_position[i].first);
  }
  return std::nullopt;
}

void widen_row(const TensorView& matrix, size_t row, float* out) {
  if (matrix.dtype == WeightType::q8_0) return widen_q8_0(matrix.row(row), matrix.cols, out);
  if (matrix.dtype == WeightType::f32) {
    std::memcpy(out, matrix.row(row), matrix.cols * sizeof(float));
    return;
  }
  const char* const data = static_cast<const char*>(matrix.row(row));
  for (size_t j = 0; j < matrix.cols; ++j) {
    uint16_t half;
    std::memcpy(&half, data + j * sizeof half, sizeof half);
    out[j] = matrix.dtype == WeightType::bf16 ? to_float(bf16{half}) : half_to_float(half);
  }
}

bool is_copy_of(const TensorView& copy, const TensorView& original) {
  if (copy.rows != original.rows || copy.cols != original.cols) return false;
  const bool same = equal_rows(copy, original);
  for (const TensorView& read : {copy, original})
    if (read.mapped_file) give_back_pages(read.data, read.bytes());
  return same;
}

}  // namespace carbon
