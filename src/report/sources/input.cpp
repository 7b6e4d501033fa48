#include "src/report/sources/input.hpp"

#include <algorithm>
#include <string_view>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/files/output.hpp"
#include "src/files/text_input.hpp"
#include "src/formats/matrix_output.hpp"

namespace carbon {
namespace {

constexpr size_t kBeginning = 1 << 16;  // enough of a file to know JSON by its keys

[[noreturn]] void refuse(const std::string& path, const std::string& seen) {
  throw Error(
      "input_kind",
      (path == "-" ? "standard input" : path) + ": " + seen +
          "; a report draws VCF and BCF with scores, the tables of vep -O t, score -O tsv, scan, embed and "
          "+mutagenesis --matrix, embeddings in .npy and .safetensors, and the JSON of bench and "
          "+concord");
}

// The first line that does not begin with ##; "" if there is none. A line with a command can be long.
std::string column_line(TextInput& input) {
  std::string line;
  while (input.line(line))
    if (!line.starts_with("##")) return line;
  return "";
}

bool has_key(std::string_view text, std::string_view key) {
  return text.find("\"" + std::string(key) + "\"") != std::string_view::npos;
}

InputKind json_kind(const std::string& path, std::string_view text) {
  if (has_key(text, "tests") || has_key(text, "limits")) return InputKind::bench;
  if (has_key(text, "strata") || has_key(text, "pearson")) return InputKind::concordance;
  refuse(path, "this JSON is of none of the known commands");
}

}  // namespace

InputKind table_kind(const std::string& path, std::string_view columns) {
  if (columns.starts_with("#CHROM\tPOS\tID\tREF\tALT\tQUAL")) return InputKind::variants;
  if (columns.starts_with("#CHROM\tPOS\tID\tREF\tALT\t")) return InputKind::variant_table;
  if (columns == "#CHROM\tPOS\tREF\tA\tC\tG\tT" || columns == "#CHROM\tPOS\tREF\tdel\tA\tC\tG\tT")
    return InputKind::mutagenesis;
  if (columns == "#CHROM\tPOS\tREF\tALT\tCARBON_SCAN") return InputKind::scan;
  if (columns == "#name\tpos\tbase\tlogp\tentropy\tA\tC\tG\tT") return InputKind::base_scores;
  if (columns.starts_with("#name\te0\t") || columns.starts_with("#name\tkmer\te0\t"))
    return InputKind::embedding_table;
  refuse(path, columns.empty() ? "its beginning has no line of columns"
                               : "its columns '" + printable(columns.substr(0, 60)) +
                                     "' are of none of the known commands");
}

InputKind input_kind(const std::string& path) {
  TextInput input(path, "input_kind");
  const std::string_view block = input.peek();
  const std::string_view text = block.substr(0, std::min(block.size(), kBeginning));
  if (text.empty()) refuse(path, "it is empty");
  if (text.starts_with("BCF")) return InputKind::variants;
  if (text.starts_with("\x93NUMPY") || array_format_of(path) == ArrayFormat::safetensors) {
    if (is_stream(path))
      refuse(path, "a matrix is drawn with the table of names beside it, so it needs to be a regular file");
    return InputKind::embedding_array;
  }
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{') return json_kind(path, text);
  if (text.starts_with("##fileformat=VCF")) return InputKind::variants;
  return table_kind(path, column_line(input));
}

std::string file_name(const std::string& path) {
  return path == "-" ? "standard input" : path.substr(path.rfind('/') + 1);
}

}  // namespace carbon
