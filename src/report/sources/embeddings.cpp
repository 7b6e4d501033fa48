// Reads matrices of embeddings. See embedding_reader.hpp.
#include "src/report/sources/embeddings.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <vector>

#include "kernels/tensor.hpp"
#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/files/text_input.hpp"
#include "src/model/safetensors.hpp"

namespace carbon {
namespace {

constexpr const char* kFunction = "read_embeddings";
constexpr std::string_view kNpy = ".npy", kSafetensors = ".safetensors", kNames = ".names.tsv";

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  throw Error(kFunction, where + ": " + what);
}

// The text up to the next tab, which is removed from `line` with it.
std::string_view take_field(std::string_view& line) {
  const size_t end = line.find('\t');
  const std::string_view field = line.substr(0, end);
  line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  return field;
}

template <class T>
bool parse_whole(std::string_view text, T& value) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size();
}

void check_columns(const std::string& path, uint64_t columns) {
  if (columns == 0 || columns > kMostEmbeddingColumns)
    fail(path, "the matrix has " + std::to_string(columns) + " columns; a report draws from 1 to " +
                   std::to_string(kMostEmbeddingColumns));
}

// ---- the table
// -------------------------------------------------------------------------------------------------

class TableReader final : public EmbeddingReader {
 public:
  explicit TableReader(const std::string& path) : path_(path) {
    TextInput input(path_, kFunction);
    read_header(input);
    format_ = per_kmer_ ? "table, a row for each 6-mer" : "table";
  }

  void read(const std::function<void(const EmbeddingRow&)>& use) const override {
    TextInput input(path_, kFunction);
    std::string line, name;
    input.line(line);
    std::vector<float> values(columns_);
    uint64_t sequences = 0, kmer = 0;
    while (input.line(line)) {
      std::string_view rest = line;
      const std::string_view field = take_field(rest);
      if (field.empty()) fail(input.where(), "the line has no name");
      const uint64_t before = kmer;
      if (per_kmer_ && !parse_whole(take_field(rest), kmer))
        fail(input.where(), "the second column is no number of a 6-mer");
      const bool continues = per_kmer_ && sequences > 0 && kmer > 0;
      if (continues ? kmer != before + 1 || field != name : per_kmer_ && kmer != 0)
        fail(input.where(), "the 6-mers of a sequence are not numbered one after the other from 0");
      if (!continues) {
        ++sequences;
        name = field;
      }
      parse_values(rest, values, input);
      use({name, sequences - 1, values});
    }
  }

 private:
  void read_header(TextInput& input) {
    std::string line;
    if (!input.line(line)) fail(path_, "it is empty");
    std::string_view rest = line;
    if (take_field(rest) != "#name") fail(input.where(), "expected a line that begins with #name");
    if (rest.starts_with("kmer\t")) {
      per_kmer_ = true;
      take_field(rest);
    }
    for (; !rest.empty(); ++columns_)
      if (const std::string_view field = take_field(rest); field != "e" + std::to_string(columns_))
        fail(input.where(),
             "expected column e" + std::to_string(columns_) + ", not '" + printable(field) + "'");
    check_columns(input.where(), columns_);
  }

  void parse_values(std::string_view rest, std::vector<float>& values, const TextInput& input) const {
    const char *at = rest.data(), *const end = at + rest.size();
    for (size_t i = 0; i < values.size(); ++i) {
      const auto [stop, problem] = std::from_chars(at, end, values[i]);
      const bool last = i + 1 == values.size();
      if (problem != std::errc() || !std::isfinite(values[i]) || (stop == end) != last ||
          (!last && *stop != '\t'))
        fail(input.where(), "expected " + std::to_string(values.size()) + " numbers after the name; e" +
                                std::to_string(i) + " is none, or is followed by too few or too many");
      at = stop + (last ? 0 : 1);
    }
  }

  std::string path_;
  bool per_kmer_ = false;
};

// ---- arrays
// ----------------------------------------------------------------------------------------------------

// The table of names beside an array, read along with it.
class NameTable {
 public:
  NameTable(const std::string& path) : path_(path), input_(path, kFunction) {
    if (!input_.line(line_) || line_ != "#name\tfirst_row\trows")
      fail(path_, "its first line is not '#name first_row rows' with tabs");
  }

  /// Goes to the sequence that has row number `row`. Rows are asked for one after the other.
  void go_to(uint64_t row) {
    while (row >= end_)
      if (!next())
        fail(path_, "the matrix has more rows than the " + std::to_string(end_) + " of this table");
  }
  void check_end(uint64_t rows) {
    while (next()) {
    }
    if (end_ != rows)
      fail(path_,
           "the table has " + std::to_string(end_) + " rows, and the matrix has " + std::to_string(rows));
  }

  const std::string& name() const { return name_; }
  uint64_t sequence() const { return sequences_ - 1; }

 private:
  bool next() {
    if (!input_.line(line_)) return false;
    std::string_view rest = line_;
    name_ = take_field(rest);
    uint64_t first = 0, count = 0;
    const bool numbers = parse_whole(take_field(rest), first) && parse_whole(rest, count);
    if (name_.empty() || !numbers)
      fail(input_.where(), "expected a name and two numbers, with tabs between them");
    if (first != end_)
      fail(input_.where(), "first_row is " + std::to_string(first) + ", expected " + std::to_string(end_));
    if (__builtin_add_overflow(end_, count, &end_)) fail(input_.where(), "the number of rows is too large");
    ++sequences_;
    return true;
  }

  std::string path_, line_, name_;
  TextInput input_;
  uint64_t end_ = 0, sequences_ = 0;
};

class ArrayReader final : public EmbeddingReader {
 public:
  ArrayReader(const std::string& path, const NpyHeader& shape, std::string_view kind, std::string_view suffix)
      : path_(path), shape_(shape) {
    columns_ = shape.columns;
    format_ = std::string(kind) + (shape.half ? ", f16" : ", f32");
    const std::string stem = path.ends_with(suffix) ? path.substr(0, path.size() - suffix.size()) : path;
    names_path_ = stem + std::string(kNames);
    if (!std::ifstream(names_path_))
      fail(names_path_, "cannot be opened; the names of the rows of " + path +
                            " stand in this file, which carbon embed writes beside the matrix");
  }

  void read(const std::function<void(const EmbeddingRow&)>& use) const override {
    NameTable names(names_path_);
    std::ifstream in(path_, std::ios::binary);
    in.seekg(static_cast<std::streamoff>(shape_.begin));
    std::vector<float> values(columns_);
    std::string bytes(columns_ * (shape_.half ? 2 : 4), '\0');
    for (uint64_t row = 0; row < shape_.rows; ++row) {
      names.go_to(row);
      if (!in.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
        fail(path_, "reading failed at row " + std::to_string(row) + " of " + std::to_string(shape_.rows));
      decode(bytes, values, row);
      use({names.name(), names.sequence(), values});
    }
    names.check_end(shape_.rows);
  }

 private:
  void decode(std::string_view bytes, std::vector<float>& values, uint64_t row) const {
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t size = shape_.half ? 2 : 4;
      uint32_t bits = 0;
      for (size_t b = 0; b < size; ++b)
        bits |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[i * size + b])) << (8 * b);
      values[i] = shape_.half ? half_to_float(static_cast<uint16_t>(bits)) : std::bit_cast<float>(bits);
      if (!std::isfinite(values[i]))
        fail(path_, "row " + std::to_string(row) + ", column " + std::to_string(i) + " is no finite number");
    }
  }

  std::string path_;
  NpyHeader shape_;
};

// The dictionary of a .npy header: a literal of Python with three keys.
class NpyDictionary {
 public:
  NpyDictionary(std::string_view text, const std::string& path) : text_(text), path_(path) {
    expect('{');
    while (!seen('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr")
        type_ = quoted();
      else if (key == "fortran_order")
        fortran_ = word();
      else if (key == "shape")
        read_shape();
      else
        damaged();
      if (!seen(',')) {
        expect('}');
        break;
      }
    }
    skip_spaces();
    if (at_ != text_.size() || type_.empty() || fortran_.empty() || !shaped_) damaged();
  }

  std::string_view type() const { return type_; }
  std::string_view fortran() const { return fortran_; }
  const std::vector<uint64_t>& shape() const { return shape_; }

 private:
  [[noreturn]] void damaged() const { fail(path_, "the header of this .npy file is damaged"); }
  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool seen(char c) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!seen(c)) damaged();
  }
  std::string_view quoted() {
    const char quote = seen('\'') ? '\'' : seen('"') ? '"' : '\0';
    const size_t end = quote == '\0' ? std::string_view::npos : text_.find(quote, at_);
    if (end == std::string_view::npos) damaged();
    const std::string_view out = text_.substr(at_, end - at_);
    at_ = end + 1;
    return out;
  }
  std::string_view word() {
    skip_spaces();
    const size_t end = std::min(text_.find_first_of(",} \n", at_), text_.size());
    const std::string_view out = text_.substr(at_, end - at_);
    at_ = end;
    return out;
  }
  void read_shape() {
    shaped_ = true;
    shape_.clear();
    expect('(');
    while (!seen(')')) {
      uint64_t size = 0;
      skip_spaces();
      const auto [stop, problem] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
      if (problem != std::errc() || shape_.size() > 8) damaged();
      shape_.push_back(size);
      at_ = static_cast<size_t>(stop - text_.data());
      if (!seen(',')) {
        expect(')');
        break;
      }
    }
  }

  std::string_view text_;
  const std::string& path_;
  size_t at_ = 0;
  std::string_view type_, fortran_;
  std::vector<uint64_t> shape_;
  bool shaped_ = false;
};

// Checks that the file holds all that the header promises, no more and no less.
void check_size(const std::string& path, const NpyHeader& shape, uint64_t file_size) {
  uint64_t bytes = 0;
  const bool over =
      __builtin_mul_overflow(shape.rows, uint64_t{shape.columns} * (shape.half ? 2 : 4), &bytes) ||
      __builtin_add_overflow(bytes, shape.begin, &bytes);
  if (over || bytes != file_size)
    fail(path, "a matrix of " + std::to_string(shape.rows) + " rows and " + std::to_string(shape.columns) +
                   " columns needs " + (over ? "more than 2^64" : std::to_string(bytes)) +
                   " bytes, and the file has " + std::to_string(file_size) + "; it is cut or damaged");
}

std::unique_ptr<EmbeddingReader> open_npy(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string beginning(size_t{1} << 16, '\0');
  in.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  beginning.resize(static_cast<size_t>(in.gcount()));
  const NpyHeader header = parse_npy_header(beginning, path);
  in.clear();
  in.seekg(0, std::ios::end);
  check_size(path, header, static_cast<uint64_t>(in.tellg()));
  return std::make_unique<ArrayReader>(path, header, "numpy array", kNpy);
}

std::unique_ptr<EmbeddingReader> open_safetensors(const std::string& path) {
  const SafetensorsFile file(path);
  const auto found = file.tensors().find("embeddings");
  if (found == file.tensors().end()) fail(path, "the file has no tensor 'embeddings'");
  const TensorInfo& tensor = found->second;
  if ((tensor.dtype != "F32" && tensor.dtype != "F16") || tensor.shape.size() != 2)
    fail(path, "the tensor 'embeddings' is no matrix of F32 or F16");
  check_columns(path, tensor.shape[1]);
  return std::make_unique<ArrayReader>(
      path,
      NpyHeader{tensor.dtype == "F16", tensor.shape[0], static_cast<size_t>(tensor.shape[1]), tensor.begin},
      "safetensors", kSafetensors);
}

}  // namespace

NpyHeader parse_npy_header(std::string_view bytes, const std::string& path) {
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(bytes[i])); };
  if (bytes.size() < 12 || !bytes.starts_with("\x93NUMPY"))
    fail(path, "the file is too short for a .npy file");
  const size_t version = byte(6), start = version == 1 ? 10 : 12;
  if (version < 1 || version > 3 || byte(7) != 0)
    fail(path, "version " + std::to_string(version) + "." + std::to_string(byte(7)) +
                   " of the .npy format is not known; those from 1.0 to 3.0 are");
  size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > bytes.size() - start)
    fail(path, "the header claims " + std::to_string(length) +
                   " bytes; the file is cut, or is no matrix of carbon embed");
  const NpyDictionary header(bytes.substr(start, length), path);
  if (header.type() != "<f4" && header.type() != "<f2")
    fail(path, "the values have type '" + printable(header.type()) +
                   "'; a report draws '<f4' and '<f2', which carbon embed writes");
  if (header.fortran() != "False")
    fail(path, "the array is not in C order (fortran_order is '" + printable(header.fortran()) + "')");
  if (header.shape().size() != 2)
    fail(path, "the array has " + std::to_string(header.shape().size()) + " dimensions; a matrix has 2");
  check_columns(path, header.shape()[1]);
  return {header.type() == "<f2", header.shape()[0], static_cast<size_t>(header.shape()[1]), start + length};
}

std::unique_ptr<EmbeddingReader> open_embeddings(const std::string& path) {
  {
    TextInput input(path, kFunction);
    if (input.peek().starts_with("\x93NUMPY")) return open_npy(path);
  }
  if (path.ends_with(kSafetensors)) return open_safetensors(path);
  return std::make_unique<TableReader>(path);
}

}  // namespace carbon
