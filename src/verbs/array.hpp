// The arrays of which the result of a verb consists.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace carbon {

/// Elements in row-major order, with a shape whose product is their number; {} for a single one.
class Array {
 public:
  using Data = std::variant<std::vector<double>, std::vector<float>, std::vector<int64_t>, std::string>;

  Array(std::string_view name, Data data, std::initializer_list<size_t> shape)
      : name_(name), data_(std::move(data)), shape_(shape.begin(), shape.end()) {
    int64_t bytes = size();
    strides_.resize(shape_.size());
    for (size_t i = shape_.size(); i-- > 0; bytes *= shape_[i]) strides_[i] = bytes;
  }
  /// One number, and letters.
  Array(std::string_view name, double number) : Array(name, std::vector<double>{number}, {}) {}
  Array(std::string_view name, int64_t number) : Array(name, std::vector<int64_t>{number}, {}) {}
  Array(std::string_view name, std::string letters) : Array(name, Data(), {letters.size()}) {
    data_ = std::move(letters);
    strides_ = {1};
  }

  std::string_view name() const { return name_; }
  /// Numbers or letters, by their type.
  const Data& data() const { return data_; }
  const std::vector<int64_t>& shape() const { return shape_; }
  /// In bytes.
  const std::vector<int64_t>& strides() const { return strides_; }

 private:
  int64_t size() const {
    return std::visit([](const auto& all) { return static_cast<int64_t>(sizeof(all[0])); }, data_);
  }

  std::string_view name_;  // a text of the program
  Data data_;
  std::vector<int64_t> shape_, strides_;
};

using Result = std::vector<Array>;

/// Appends a number so that it reads back exactly; null if it is not finite. The tree of a JSON library would
/// take gigabytes for a list of some million numbers.
void append_json(double number, std::string& text);
/// Appends an array: a number, a text, or lists. A row of several values of which none is there is null.
void append_json(const Array& array, std::string& text);

}  // namespace carbon
