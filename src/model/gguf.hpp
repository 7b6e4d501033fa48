// A GGUF file, the format of llama.cpp, mapped read-only: metadata and tensors. Versions 2 and 3,
// little-endian. The file is hostile input: counts, lengths, offsets and sizes are checked before use.
//
// This is the container alone: it does not know what the keys and the tensors mean (gguf_model.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/model/tensor_file.hpp"

namespace carbon {

/// The types of values, with the numbers that stand for them in a file.
enum class GgufType : uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, text, array, u64, i64, f64 };

/// A value of the metadata: a view of the file, which must be open as long as it is used. Each function gives
/// nothing for a value of another type.
class GgufValue {
 public:
  GgufValue() = default;
  GgufValue(GgufType type, GgufType element, uint64_t count, std::string_view bytes)
      : type_(type), element_(element), count_(count), bytes_(bytes) {}

  /// A whole number of any type that is not negative.
  std::optional<uint64_t> whole() const;
  std::optional<double> number() const;
  std::optional<bool> boolean() const;
  std::optional<std::string_view> text() const;
  /// The texts of an array of texts.
  std::optional<std::vector<std::string_view>> texts() const;
  /// The numbers of an array of 32-bit whole numbers.
  std::optional<std::vector<int32_t>> integers() const;
  /// The length of an array.
  std::optional<uint64_t> length() const;
  /// The value in a form for messages: a number, a text in quotes, "a list".
  std::string shown() const;

 private:
  GgufType type_ = GgufType::boolean, element_ = GgufType::boolean;
  uint64_t count_ = 0;      // of an array
  std::string_view bytes_;  // of a text without its length, of an array without type and count
};

/// The tensors have the names and dtypes of llama.cpp ("Q4_K" also where the program cannot compute with
/// it), and their shapes in the order of this program: the last dimension is the one whose numbers lie side
/// by side.
class GgufFile final : public TensorFile {
 public:
  /// Maps the file and reads its header. Throws Error, which names the file and the key or tensor, for a file
  /// that is not GGUF, of another version or byte order, cut off, or inconsistent.
  explicit GgufFile(const std::string& path);

  /// In the order of their keys.
  const std::map<std::string, GgufValue, std::less<>>& metadata() const { return metadata_; }
  /// The value of a key, or null.
  const GgufValue* find(std::string_view key) const;

 private:
  MappedFile file_;
  std::map<std::string, GgufValue, std::less<>> metadata_;
};

}  // namespace carbon
