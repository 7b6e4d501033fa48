#include "src/report/sources/embeddings.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "kernels/tensor.hpp"
#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/numbers.hpp"
#include "src/files/text_input.hpp"
#include "src/formats/matrix_output.hpp"
#include "src/formats/provenance.hpp"
#include "src/model/safetensors.hpp"
#include "src/report/sources/input.hpp"

namespace carbon {
namespace {

constexpr const char* kFunction = "read_embeddings";

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  throw Error(kFunction, where + ": " + what);
}

// The dictionary of a .npy header, which is a literal of Python with three keys. Read as JSON, from which it
// differs in its quotes, the brackets of a tuple, the names of truth values, and commas before a bracket.
nlohmann::json npy_dictionary(std::string_view text, const std::string& path) {
  std::string json;
  for (char c : text) {
    c = c == '\'' ? '"' : c == '(' ? '[' : c == ')' ? ']' : c;
    if (c == ']' || c == '}')
      if (const size_t last = json.find_last_not_of(" \n\t"); last != json.npos && json[last] == ',')
        json.resize(last);
    json += c;
  }
  for (const auto& [python, word] : {std::pair("False", "false"), std::pair("True", "true")})
    if (const size_t at = json.find(python); at != json.npos) json.replace(at, std::strlen(python), word);
  try {
    nlohmann::json out = parse_json(json, path);
    const nlohmann::json& shape = out.at("shape");
    if (out.size() == 3 && out.at("descr").is_string() && out.at("fortran_order").is_boolean() &&
        shape.is_array() &&
        std::all_of(shape.begin(), shape.end(), [](const auto& one) { return one.is_number_unsigned(); }))
      return out;
  } catch (const Error&) {
  } catch (const nlohmann::json::exception&) {
  }
  fail(path, "the header of this .npy file is damaged");
}

void check_columns(const std::string& path, uint64_t columns) {
  if (columns == 0 || columns > kMostEmbeddingColumns)
    fail(path, "the matrix has " + std::to_string(columns) + " columns; a report draws from 1 to " +
                   std::to_string(kMostEmbeddingColumns));
}

// `before`: columns in front of the values.
void parse_values(const TableReader& table, size_t before, std::vector<float>& values) {
  const std::string expected = "expected " + std::to_string(values.size()) + " numbers after the name";
  if (table.size() != before + values.size())
    table.fail(expected + ", and there are " + std::to_string(table.size() - before));
  for (size_t i = 0; i < values.size(); ++i)
    if (!parse_number(table[before + i], values[i]) || !std::isfinite(values[i]))
      table.fail(expected + "; e" + std::to_string(i) + " is none");
}

void read_table(const std::string& path, bool per_kmer, size_t columns, const UseEmbeddingRow& use) {
  TableReader table(path, kFunction);
  table.read_header();
  std::string name;
  std::vector<float> values(columns);
  uint64_t sequences = 0, kmer = 0;
  while (table.next()) {
    if (table[0].empty()) table.fail("the line has no name");
    const uint64_t previous = kmer;
    if (per_kmer && (table.size() < 2 || !parse_number(table[1], kmer)))
      table.fail("the second column is not the number of a 6-mer");
    const bool continues = per_kmer && sequences > 0 && kmer > 0;
    if (continues ? kmer != previous + 1 || table[0] != name : per_kmer && kmer != 0)
      table.fail("the 6-mers of a sequence are not numbered one after the other from 0");
    if (!continues) {
      ++sequences;
      name = table[0];
    }
    parse_values(table, per_kmer ? 2 : 1, values);
    use({name, sequences - 1, values});
  }
}

Embeddings open_table(const std::string& path) {
  TableReader table(path, kFunction);
  table.read_header();
  if (table.size() == 0) fail(path, "it is empty");
  if (table[0] != "#name") table.fail("expected a line that begins with #name");
  const bool per_kmer = table.size() > 1 && table[1] == "kmer";
  const size_t before = per_kmer ? 2 : 1, columns = table.size() - before;
  for (size_t i = 0; i < columns; ++i)
    if (table[before + i] != "e" + std::to_string(i))
      table.fail("expected column e" + std::to_string(i) + ", not '" + printable(table[before + i]) + "'");
  check_columns(table.where(), columns);
  return {columns, per_kmer ? "table, a row for each 6-mer" : "table", "", table.header(),
          [=](const UseEmbeddingRow& use) { read_table(path, per_kmer, columns, use); }};
}

// The table of names beside an array, read along with it.
class NameTable {
 public:
  explicit NameTable(const std::string& path) : path_(path), table_(path, kFunction) {
    if (!table_.next() || table_.line() != "#name\tfirst_row\trows")
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

  std::string_view name() const { return table_[0]; }
  uint64_t sequence() const { return sequences_ - 1; }

 private:
  bool next() {
    if (!table_.next()) return false;
    uint64_t first = 0, count = 0;
    if (table_.size() != 3 || table_[0].empty() || !parse_number(table_[1], first) ||
        !parse_number(table_[2], count))
      table_.fail("expected a name and two numbers, with tabs between them");
    if (first != end_)
      table_.fail("first_row is " + std::to_string(first) + ", expected " + std::to_string(end_));
    if (__builtin_add_overflow(end_, count, &end_)) table_.fail("the number of rows is too large");
    ++sequences_;
    return true;
  }

  std::string path_;
  TableReader table_;
  uint64_t end_ = 0, sequences_ = 0;
};

void decode(std::string_view bytes, bool half, std::vector<float>& values) {
  const size_t size = half ? 2 : 4;
  for (size_t i = 0; i < values.size(); ++i) {
    uint32_t bits = 0;
    for (size_t b = 0; b < size; ++b)
      bits |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[i * size + b])) << (8 * b);
    values[i] = half ? half_to_float(static_cast<uint16_t>(bits)) : std::bit_cast<float>(bits);
  }
}

void read_array(const std::string& path, const NpyHeader& shape, const std::string& names_path,
                const UseEmbeddingRow& use) {
  NameTable names(names_path);
  std::ifstream in(path, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(shape.begin));
  std::vector<float> values(shape.columns);
  std::string bytes(shape.columns * (shape.half ? 2 : 4), '\0');
  for (uint64_t row = 0; row < shape.rows; ++row) {
    names.go_to(row);
    if (!in.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
      fail(path, "reading failed at row " + std::to_string(row) + " of " + std::to_string(shape.rows));
    decode(bytes, shape.half, values);
    for (size_t i = 0; i < values.size(); ++i)
      if (!std::isfinite(values[i]))
        fail(path,
             "row " + std::to_string(row) + ", column " + std::to_string(i) + " is not a finite number");
    use({names.name(), names.sequence(), values});
  }
  names.check_end(shape.rows);
}

// `stem` is that of the name of the file.
Embeddings open_array(const std::string& path, const NpyHeader& shape, const std::string& kind,
                      const std::string& stem, std::vector<std::string> header) {
  const std::string names = stem + ".names.tsv";
  if (!std::ifstream(names))
    fail(names, "cannot be opened; the names of the rows of " + path +
                    " stand in this file, which carbon embed writes beside the matrix");
  return {shape.columns, kind + (shape.half ? ", f16" : ", f32"), names, std::move(header),
          [=](const UseEmbeddingRow& use) { read_array(path, shape, names, use); }};
}

// Checks that the file holds all that the header promises, no more and no less.
void check_size(const std::string& path, const NpyHeader& shape, uint64_t file_size) {
  uint64_t bytes = 0;
  const bool over = __builtin_mul_overflow(shape.rows, shape.columns * (shape.half ? 2 : 4), &bytes) ||
                    __builtin_add_overflow(bytes, shape.begin, &bytes);
  if (over || bytes != file_size)
    fail(path, "a matrix of " + std::to_string(shape.rows) + " rows and " + std::to_string(shape.columns) +
                   " columns needs " + (over ? "more than 2^64" : std::to_string(bytes)) +
                   " bytes, and the file has " + std::to_string(file_size) + "; it is cut or damaged");
}

Embeddings open_npy(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string beginning(size_t{1} << 16, '\0');
  in.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  beginning.resize(static_cast<size_t>(in.gcount()));
  const NpyHeader header = parse_npy_header(beginning, path);
  check_columns(path, header.columns);
  in.clear();
  in.seekg(0, std::ios::end);
  check_size(path, header, static_cast<uint64_t>(in.tellg()));
  const std::string stem = MatrixPlace{path, ArrayFormat::npy, "", ""}.stem();
  return open_array(path, header, "numpy array", stem, provenance_of_file(stem + ".json"));
}

Embeddings open_safetensors(const std::string& path) {
  const SafetensorsFile file(path);
  const auto found = file.tensors().find("embeddings");
  if (found == file.tensors().end()) fail(path, "the file has no tensor 'embeddings'");
  const TensorInfo& tensor = found->second;
  if ((tensor.dtype != "F32" && tensor.dtype != "F16") || tensor.shape.size() != 2)
    fail(path, "the tensor 'embeddings' is not a matrix of F32 or F16");
  check_columns(path, tensor.shape[1]);
  return open_array(path, NpyHeader{tensor.dtype == "F16", tensor.shape[0], tensor.shape[1], tensor.begin},
                    "safetensors", MatrixPlace{path, ArrayFormat::safetensors, "", ""}.stem(),
                    provenance_of_json(file.metadata(), path));
}

// Different whole numbers of a column that are names of groups, such as those of clusters.
constexpr size_t kFewWholeNumbers = 8;

// Where the column stands in the first line, which may begin with #.
size_t column_number(const TableReader& table, const std::string& column) {
  std::string known;
  size_t found = 0;
  for (size_t i = 1; i < table.size(); ++i) {
    known += (known.empty() ? "" : ", ") + printable(table[i]);
    if (table[i] != column) continue;
    if (found != 0) table.fail("two columns are named '" + printable(column) + "'");
    found = i;
  }
  if (found != 0) return found;
  table.fail("no column '" + printable(column) + "' after the first, which has the names of sequences; " +
             (known.empty() ? "there are no further columns; are they separated by tabs?"
                            : "the columns are " + known));
}

}  // namespace

NpyHeader parse_npy_header(std::string_view bytes, const std::string& path) {
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(bytes[i])); };
  if (bytes.size() < 12 || !is_npy(bytes)) fail(path, "the file is too short for a .npy file");
  const size_t version = byte(6), start = version == 1 ? 10 : 12;
  if (version < 1 || version > 3 || byte(7) != 0)
    fail(path, "version " + std::to_string(version) + "." + std::to_string(byte(7)) +
                   " of the .npy format is not known; those from 1.0 to 3.0 are");
  size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > bytes.size() - start)
    fail(path, "the header claims " + std::to_string(length) +
                   " bytes; the file is cut, or is not a matrix of carbon embed");
  const nlohmann::json header = npy_dictionary(bytes.substr(start, length), path);
  const auto type = header["descr"].get<std::string>();
  if (type != "<f4" && type != "<f2")
    fail(path, "the values have type '" + printable(type) + "'; carbon embed writes '<f4' and '<f2'");
  if (header["fortran_order"].get<bool>())
    fail(path, "the array is not in C order (fortran_order is 'True')");
  const nlohmann::json& shape = header["shape"];
  if (shape.size() != 2)
    fail(path, "the array has " + std::to_string(shape.size()) + " dimensions; a matrix has 2");
  return {type == "<f2", shape[0].get<uint64_t>(), shape[1].get<uint64_t>(), start + length};
}

Embeddings open_embeddings(const std::string& path) {
  {
    TextInput input(path, kFunction);
    const std::string_view beginning = input.peek();
    if (is_npy(beginning)) return open_npy(path);
    if (is_safetensors(beginning)) return open_safetensors(path);
  }
  return open_table(path);
}

GroupTable::GroupTable(const std::string& path, const std::string& column) {
  TableReader table(path, "read_groups", true);
  table.read_header();  // the table may be one of carbon score
  if (table.size() == 0) throw Error("read_groups", path + ": the table of groups is empty");
  const size_t wanted = column_number(table, column), columns = table.size();
  while (table.next()) {
    if (table.line().empty()) continue;
    if (table.size() != columns)
      table.fail("the line has " + std::to_string(table.size()) + " columns, and the first line has " +
                 std::to_string(columns));
    if (!add(table[0], table[wanted]))
      table.refuse(0, "has another value on an earlier line; give each sequence one value");
  }
  value_numbers_.clear();
  find_numbers();
}

bool GroupTable::add(std::string_view name, std::string_view value) {
  Entry entry;
  if (!value.empty() && value != "." && value != "NA") {
    const auto [known, added] = value_numbers_.try_emplace(std::string(value), values_.size());
    if (added) values_.emplace_back(value);
    entry.value = known->second;
  }
  const auto [at, added] = entries_.try_emplace(std::string(name), entry);
  return added || at->second.value == entry.value;
}

void GroupTable::find_numbers() {
  std::vector<double> numbers;
  bool whole = true;
  for (const std::string& value : values_) {
    double number = 0;
    if (!parse_number(std::string_view(value), number) || !std::isfinite(number)) return;
    whole = whole && number == std::floor(number);
    numbers.push_back(number);
  }
  if (!(whole && numbers.size() <= kFewWholeNumbers)) numbers_ = std::move(numbers);
}

std::optional<size_t> GroupTable::find(std::string_view name) {
  const auto at = entries_.find(name);
  if (at == entries_.end()) return std::nullopt;
  found_ += !at->second.found;
  at->second.found = true;
  return at->second.value;
}

}  // namespace carbon
