// Types and sizes of tensors. See tensor_file.hpp.
#include "src/model/tensor_file.hpp"

#include <algorithm>
#include <limits>

namespace carbon {

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

}  // namespace carbon
