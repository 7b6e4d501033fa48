// Places for tensors in shared memory. See tensor_buffer.hpp.
#include "src/model/tensor_buffer.hpp"

#include <sys/mman.h>

#include <limits>
#include <map>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/json.hpp"

namespace carbon {
namespace {

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
