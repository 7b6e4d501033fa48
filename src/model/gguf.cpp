// The container format GGUF: a header, key-value pairs, the list of tensors, their bytes. See gguf.hpp.
#include "src/model/gguf.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/numbers.hpp"

namespace carbon {
namespace {

static_assert(std::endian::native == std::endian::little, "values are copied from the file as they are");

constexpr uint64_t kHeaderBytes = 24;  // magic, version, two counts
// Far above what any model has, and small enough that reading a hostile header takes no time.
constexpr uint64_t kMaxKeys = 1 << 16, kMaxTensors = 1 << 16, kMaxKeyLength = 1 << 16, kMaxTensorName = 256,
                   kMaxHeader = uint64_t{1} << 30, kMaxAlignment = 1 << 20, kMaxDimensions = 4;
constexpr uint64_t kDefaultAlignment = 32;
constexpr int kMaxNesting = 4;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error("open_gguf", path + ": " + what);
}

/// A type of tensors: the numbers of a block and its bytes.
struct GgufTensorType {
  uint32_t number;
  const char* name;
  uint64_t block, block_bytes;
};

constexpr GgufTensorType kTensorTypes[] = {
    {0, "F32", 1, 4},         {1, "F16", 1, 2},         {2, "Q4_0", 32, 18},      {3, "Q4_1", 32, 20},
    {6, "Q5_0", 32, 22},      {7, "Q5_1", 32, 24},      {8, "Q8_0", 32, 34},      {9, "Q8_1", 32, 36},
    {10, "Q2_K", 256, 84},    {11, "Q3_K", 256, 110},   {12, "Q4_K", 256, 144},   {13, "Q5_K", 256, 176},
    {14, "Q6_K", 256, 210},   {15, "Q8_K", 256, 292},   {16, "IQ2_XXS", 256, 66}, {17, "IQ2_XS", 256, 74},
    {18, "IQ3_XXS", 256, 98}, {19, "IQ1_S", 256, 50},   {20, "IQ4_NL", 32, 18},   {21, "IQ3_S", 256, 110},
    {22, "IQ2_S", 256, 82},   {23, "IQ4_XS", 256, 136}, {24, "I8", 1, 1},         {25, "I16", 1, 2},
    {26, "I32", 1, 4},        {27, "I64", 1, 8},        {28, "F64", 1, 8},        {29, "IQ1_M", 256, 56},
    {30, "BF16", 1, 2},       {34, "TQ1_0", 256, 54},   {35, "TQ2_0", 256, 66},   {39, "MXFP4", 32, 17}};

const GgufTensorType* tensor_type(uint32_t number) {
  const auto at = std::find_if(std::begin(kTensorTypes), std::end(kTensorTypes),
                               [&](const GgufTensorType& type) { return type.number == number; });
  return at == std::end(kTensorTypes) ? nullptr : at;
}

/// Bytes of a value with a fixed size; 0 for the others.
uint64_t fixed_size(GgufType type) {
  switch (type) {
    case GgufType::u8:
    case GgufType::i8:
    case GgufType::boolean:
      return 1;
    case GgufType::u16:
    case GgufType::i16:
      return 2;
    case GgufType::u32:
    case GgufType::i32:
    case GgufType::f32:
      return 4;
    case GgufType::u64:
    case GgufType::i64:
    case GgufType::f64:
      return 8;
    default:
      return 0;
  }
}

template <class T>
T at(std::string_view bytes, size_t offset = 0) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// Reads the header from its beginning to its end. `where` in messages is what is being read.
class Cursor {
 public:
  Cursor(const std::string& path, std::string_view bytes) : path_(path), bytes_(bytes) {}

  std::string_view take(uint64_t n, const std::string& where) {
    if (n > bytes_.size() - position_)
      fail(path_, where + " reaches past the end of the file (" + std::to_string(bytes_.size()) +
                      " bytes); incomplete download?");
    if (position_ + n > kMaxHeader)
      fail(path_, where + " lies behind 1 GiB of header; this is not a GGUF file of a model");
    const std::string_view taken = bytes_.substr(position_, n);
    position_ += n;
    return taken;
  }
  template <class T>
  T number(const std::string& where) {
    return at<T>(take(sizeof(T), where));
  }
  std::string_view text(uint64_t longest, const std::string& where) {
    const auto length = number<uint64_t>(where);
    if (length > longest)
      fail(path_, where + " claims a length of " + std::to_string(length) + " bytes; damaged file?");
    return take(length, where);
  }
  GgufType type(const std::string& where) {
    const auto number = this->number<uint32_t>(where);
    if (number > static_cast<uint32_t>(GgufType::f64))
      fail(path_, where + " has a value of the unknown type " + std::to_string(number));
    return static_cast<GgufType>(number);
  }
  GgufValue value(GgufType type, const std::string& where) {
    if (type == GgufType::text) return {type, type, 0, text(kMaxHeader, where)};
    if (type != GgufType::array) return {type, type, 0, take(fixed_size(type), where)};
    const GgufType element = this->type(where);
    const auto count = number<uint64_t>(where);
    const uint64_t begin = position_;
    skip(element, count, 1, where);
    return {type, element, count, bytes_.substr(begin, position_ - begin)};
  }
  uint64_t position() const { return position_; }

 private:
  /// Passes over the elements of an array, which end inside the file.
  void skip(GgufType element, uint64_t count, int depth, const std::string& where) {
    if (const uint64_t size = fixed_size(element)) {
      if (count > bytes_.size() / size)
        fail(path_, where + " claims " + std::to_string(count) + " elements; incomplete download?");
      take(count * size, where);
      return;
    }
    if (element == GgufType::array && depth == kMaxNesting)
      fail(path_, where + " nests lists more than " + std::to_string(kMaxNesting) + " deep");
    for (uint64_t i = 0; i < count; ++i) {  // each element takes bytes, so the end of the file ends the loop
      if (element == GgufType::text) {
        text(kMaxHeader, where);
      } else {
        const GgufType inner = type(where);
        const auto inner_count = number<uint64_t>(where);
        skip(inner, inner_count, depth + 1, where);
      }
    }
  }

  const std::string& path_;
  std::string_view bytes_;
  uint64_t position_ = 0;
};

/// Reads magic and version.
void read_preamble(const std::string& path, Cursor& cursor) {
  if (cursor.take(4, "the header") != "GGUF") fail(path, "is not a GGUF file: it does not begin with GGUF");
  const auto version = cursor.number<uint32_t>("the version");
  if (version == 2 || version == 3) return;
  if (version != 0 && (version & 0xffffu) == 0)
    fail(path, "is a big-endian GGUF file, which is not supported; convert the model on this machine");
  fail(path, "has version " + std::to_string(version) +
                 " of GGUF; supported are 2 and 3: convert the model again with a current llama.cpp");
}

std::map<std::string, GgufValue, std::less<>> read_metadata(const std::string& path, Cursor& cursor,
                                                            uint64_t count) {
  std::map<std::string, GgufValue, std::less<>> metadata;
  for (uint64_t i = 0; i < count; ++i) {
    const std::string number = "metadata entry " + std::to_string(i + 1);
    const std::string_view key = cursor.text(kMaxKeyLength, number);
    const std::string where = "key '" + printable(key) + "'";
    const GgufType type = cursor.type(where);
    if (!metadata.emplace(key, cursor.value(type, where)).second) fail(path, where + " is given twice");
  }
  return metadata;
}

uint64_t read_alignment(const std::string& path, const GgufValue* value) {
  if (value == nullptr) return kDefaultAlignment;
  const std::optional<uint64_t> alignment = value->whole();
  if (!alignment || !std::has_single_bit(*alignment) || *alignment > kMaxAlignment)
    fail(path, "general.alignment " + value->shown() + ": must be a power of two up to " +
                   std::to_string(kMaxAlignment));
  return *alignment;
}

/// One entry of the list of tensors; begin and end are still counted from the beginning of the data.
std::pair<std::string, TensorInfo> read_tensor(const std::string& path, Cursor& cursor, uint64_t number) {
  const std::string_view name = cursor.text(kMaxTensorName, "tensor " + std::to_string(number));
  const std::string where = "tensor '" + printable(name) + "'";
  TensorInfo info;
  const auto dimensions = cursor.number<uint32_t>(where);
  if (dimensions > kMaxDimensions)
    fail(path, where + " has " + std::to_string(dimensions) + " dimensions; damaged file?");
  for (uint32_t i = 0; i < dimensions; ++i) info.shape.push_back(cursor.number<uint64_t>(where));
  const auto type_number = cursor.number<uint32_t>(where);
  const GgufTensorType* const type = tensor_type(type_number);
  if (type == nullptr)
    fail(path, where + " has the unknown type " + std::to_string(type_number) +
                   "; convert the model with --outtype bf16 or q8_0");
  info.dtype = type->name;
  uint64_t count = 1;
  for (const uint64_t n : info.shape) {
    if (n != 0 && count > std::numeric_limits<uint64_t>::max() / type->block_bytes / n)
      fail(path, where + ": its shape overflows 64 bits");
    count *= n;
  }
  if (type->block > 1 && (info.shape.empty() || info.shape.front() % type->block != 0))
    fail(path, where + ": a row of " + std::to_string(info.shape.empty() ? 1 : info.shape.front()) +
                   " numbers is not made of whole blocks of " + info.dtype);
  info.begin = cursor.number<uint64_t>(where);
  const uint64_t bytes = count / type->block * type->block_bytes;
  if (info.begin > std::numeric_limits<uint64_t>::max() - bytes)
    fail(path, where + ": its offset overflows 64 bits");
  info.end = info.begin + bytes;
  std::reverse(info.shape.begin(), info.shape.end());
  return {std::string(name), std::move(info)};
}

std::map<std::string, TensorInfo> read_tensors(const std::string& path, Cursor& cursor, uint64_t count,
                                               uint64_t alignment, uint64_t size) {
  std::map<std::string, TensorInfo> tensors;
  for (uint64_t i = 0; i < count; ++i) {
    auto entry = read_tensor(path, cursor, i + 1);
    const std::string where = "tensor '" + printable(entry.first) + "'";
    if (!tensors.insert(std::move(entry)).second) fail(path, where + " is given twice");
  }
  const uint64_t base = (cursor.position() + alignment - 1) / alignment * alignment;
  for (auto& [name, info] : tensors) {
    const std::string where = "tensor '" + printable(name) + "'";
    if (info.begin % alignment != 0)
      fail(path, where + ": its offset " + std::to_string(info.begin) + " is not a multiple of " +
                     std::to_string(alignment) + ", the alignment of the file");
    if (base > size || info.end > size - base)
      fail(path, where + " needs " + std::to_string(info.end) + " bytes of data, and the file has " +
                     std::to_string(base > size ? 0 : size - base) + "; incomplete download?");
    info.begin += base;
    info.end += base;
  }
  if (const auto both = overlapping(tensors))
    fail(path, "tensors '" + printable(both->first) + "' and '" + printable(both->second) + "' overlap");
  return tensors;
}

}  // namespace

std::optional<uint64_t> GgufValue::whole() const {
  const auto positive = [](auto v) {
    return v < 0 ? std::nullopt : std::optional<uint64_t>(static_cast<uint64_t>(v));
  };
  switch (type_) {
    case GgufType::u8:
      return at<uint8_t>(bytes_);
    case GgufType::u16:
      return at<uint16_t>(bytes_);
    case GgufType::u32:
      return at<uint32_t>(bytes_);
    case GgufType::u64:
      return at<uint64_t>(bytes_);
    case GgufType::i8:
      return positive(at<int8_t>(bytes_));
    case GgufType::i16:
      return positive(at<int16_t>(bytes_));
    case GgufType::i32:
      return positive(at<int32_t>(bytes_));
    case GgufType::i64:
      return positive(at<int64_t>(bytes_));
    default:
      return std::nullopt;
  }
}

std::optional<double> GgufValue::number() const {
  if (type_ == GgufType::f32) return static_cast<double>(at<float>(bytes_));
  if (type_ == GgufType::f64) return at<double>(bytes_);
  if (const auto n = whole()) return static_cast<double>(*n);
  return std::nullopt;
}

std::optional<bool> GgufValue::boolean() const {
  if (type_ != GgufType::boolean) return std::nullopt;
  return at<uint8_t>(bytes_) != 0;
}

std::optional<std::string_view> GgufValue::text() const {
  if (type_ != GgufType::text) return std::nullopt;
  return bytes_;
}

std::optional<std::vector<std::string_view>> GgufValue::texts() const {
  if (type_ != GgufType::array || element_ != GgufType::text) return std::nullopt;
  std::vector<std::string_view> list;
  list.reserve(count_);  // each took eight bytes of the file
  for (size_t position = 0; list.size() < count_;) {
    const auto length = at<uint64_t>(bytes_, position);
    list.push_back(bytes_.substr(position + sizeof length, length));
    position += sizeof length + length;
  }
  return list;
}

std::optional<std::vector<int32_t>> GgufValue::integers() const {
  if (type_ != GgufType::array || (element_ != GgufType::i32 && element_ != GgufType::u32))
    return std::nullopt;
  std::vector<int32_t> list(count_);
  if (count_ > 0) std::memcpy(list.data(), bytes_.data(), bytes_.size());
  return list;
}

std::optional<uint64_t> GgufValue::length() const {
  return type_ == GgufType::array ? std::optional(count_) : std::nullopt;
}

std::string GgufValue::shown() const {
  if (const auto words = text()) return "'" + printable(*words) + "'";
  if (const auto yes = boolean()) return *yes ? "true" : "false";
  if (const auto n = whole()) return std::to_string(*n);
  if (type_ == GgufType::array) return "a list";
  if (const auto x = number()) return general_text(*x, 9);
  return "a negative number";
}

GgufFile::GgufFile(const std::string& path)
    : TensorFile(path), file_(path, "open_gguf", "GGUF file", kHeaderBytes) {
  data_ = file_.data();
  size_ = file_.size();
  stamp_ = file_.stamp();
  Cursor cursor(path_, {reinterpret_cast<const char*>(data_), size_});
  read_preamble(path_, cursor);
  const auto tensors = cursor.number<uint64_t>("the header"), keys = cursor.number<uint64_t>("the header");
  if (tensors > kMaxTensors || keys > kMaxKeys)
    fail(path_, "claims " + std::to_string(tensors) + " tensors and " + std::to_string(keys) +
                    " metadata entries; damaged file?");
  metadata_ = read_metadata(path_, cursor, keys);
  tensors_ = read_tensors(path_, cursor, tensors, read_alignment(path_, find("general.alignment")), size_);
}

const GgufValue* GgufFile::find(std::string_view key) const {
  const auto found = metadata_.find(key);
  return found == metadata_.end() ? nullptr : &found->second;
}

}  // namespace carbon
