// A safetensors file: 8 bytes of header length, a JSON header, the tensors' bytes. See safetensors.hpp.
#include "src/model/safetensors.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/json.hpp"

namespace carbon {

namespace {

using json = nlohmann::json;

// The format's own limit. A longer header is not a checkpoint.
constexpr uint64_t kMaxHeader = 100'000'000;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error("open_safetensors", path + ": " + what);
}

/// Bytes of one element, or nothing for a type that is not in the format.
std::optional<uint64_t> element_size(std::string_view dtype) {
  static constexpr std::pair<std::string_view, uint64_t> kSizes[] = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1}, {"I16", 2}, {"U16", 2}, {"F16", 2},
      {"BF16", 2}, {"I32", 4}, {"U32", 4}, {"F32", 4},     {"I64", 8},     {"U64", 8}, {"F64", 8}};
  for (const auto& [name, size] : kSizes) {
    if (name == dtype) return size;
  }
  return std::nullopt;
}

/// One tensor of the header. The tensors begin at byte `base` of the file, which has `size` bytes.
TensorInfo read_entry(const std::string& where, const json& entry, uint64_t base, uint64_t size) {
  if (!entry.is_object()) fail(where, "its header entry is not an object");
  TensorInfo info;
  const auto dtype = entry.find("dtype");
  if (dtype == entry.end() || !dtype->is_string()) fail(where, "has no dtype");
  info.dtype = dtype->get<std::string>();
  const std::optional<uint64_t> element = element_size(info.dtype);
  if (!element) fail(where, "unknown dtype '" + printable(info.dtype) + "'");

  const auto shape = entry.find("shape");
  if (shape == entry.end() || !shape->is_array()) fail(where, "has no shape");
  uint64_t bytes = *element;
  for (const json& dimension : *shape) {
    if (!dimension.is_number_unsigned()) fail(where, "its shape holds something other than a size");
    const uint64_t n = dimension.get<uint64_t>();
    if (n != 0 && bytes > std::numeric_limits<uint64_t>::max() / n)
      fail(where, "its shape overflows 64 bits");
    bytes *= n;
    info.shape.push_back(n);
  }

  const auto offsets = entry.find("data_offsets");
  if (offsets == entry.end() || !offsets->is_array() || offsets->size() != 2 ||
      !(*offsets)[0].is_number_unsigned() || !(*offsets)[1].is_number_unsigned()) {
    fail(where, "has no pair of data_offsets");
  }
  const uint64_t begin = (*offsets)[0].get<uint64_t>(), end = (*offsets)[1].get<uint64_t>();
  const std::string range = "data_offsets " + std::to_string(begin) + ".." + std::to_string(end);
  if (end < begin) fail(where, range + " end before they begin");
  if (end > size - base) {
    fail(where, range + " reach past the end of the file (" + std::to_string(size - base) +
                    " bytes of tensors); incomplete download?");
  }
  if (end - begin != bytes) {
    fail(where, range + " hold " + std::to_string(end - begin) + " bytes but dtype and shape need " +
                    std::to_string(bytes));
  }
  info.begin = base + begin;
  info.end = base + end;
  return info;
}

std::map<std::string, TensorInfo> read_header(const std::string& path, const uint8_t* data, uint64_t size,
                                              std::string& metadata) {
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = length << 8 | data[i];
  if (length > size - 8 || length > kMaxHeader) {
    fail(path, "its header claims " + std::to_string(length) + " bytes in a file of " + std::to_string(size) +
                   "; not a safetensors file, or an incomplete download");
  }
  const uint64_t base = 8 + length;
  const json header = parse_json({reinterpret_cast<const char*>(data) + 8, length}, path + ": header");
  if (!header.is_object()) fail(path, "its header is not a JSON object");

  std::map<std::string, TensorInfo> tensors;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      metadata = entry.dump(-1, ' ', false, json::error_handler_t::replace);
      continue;
    }
    tensors.emplace(name, read_entry(path + ": tensor '" + printable(name) + "'", entry, base, size));
  }

  if (const auto both = overlapping(tensors)) {
    fail(path, "tensors '" + printable(both->first) + "' and '" + printable(both->second) + "' overlap");
  }
  return tensors;
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::string& path)
    : TensorFile(path), file_(path, "open_safetensors", "safetensors file", 8) {
  data_ = file_.data();
  size_ = file_.size();
  stamp_ = file_.stamp();
  tensors_ = read_header(path_, data_, size_, metadata_);
}

void SafetensorsFile::rename(const std::function<std::string(const std::string&)>& new_name) {
  std::map<std::string, TensorInfo> renamed;
  for (const auto& [name, info] : tensors_) {
    std::string other = new_name(name);
    const std::string& chosen = other == name || tensors_.contains(other) ? name : other;
    if (!renamed.emplace(chosen, info).second)
      fail(path_, "holds two tensors that are both " + printable(chosen) + "; save the model again");
  }
  tensors_ = std::move(renamed);
}

}  // namespace carbon
