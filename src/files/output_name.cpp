#include "src/files/output_name.hpp"

#include <algorithm>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/letters.hpp"

namespace carbon {
namespace {

constexpr std::pair<std::string_view, std::string_view> kEndings[] = {{".vcf", "vcf"},
                                                                      {".bcf", "bcf"},
                                                                      {".tsv", "tsv"},
                                                                      {".csv", "csv"},
                                                                      {".bedgraph", "bedgraph"},
                                                                      {".bdg", "bedgraph"},
                                                                      {".bg", "bedgraph"},
                                                                      {".bed", "bed"},
                                                                      {".bw", "bigwig"},
                                                                      {".bigwig", "bigwig"},
                                                                      {".npy", "npy"},
                                                                      {".npz", "npz"},
                                                                      {".safetensors", "safetensors"},
                                                                      {".parquet", "parquet"},
                                                                      {".fa", "fasta"},
                                                                      {".fasta", "fasta"},
                                                                      {".fna", "fasta"},
                                                                      {".json", "json"},
                                                                      {".html", "html"}};

struct NameEnd {
  std::string_view format;  // "" for a name that says nothing
  size_t stem;              // the letters before the end
};

NameEnd end_of_name(const std::string& path) {
  std::string name = small_letters(path);
  for (const std::string_view compressed : {".gz", ".bgz"})
    if (name.ends_with(compressed)) {
      name.resize(name.size() - compressed.size());
      break;
    }
  for (const auto& [ending, format] : kEndings)
    if (name.ends_with(ending)) return {format, name.size() - ending.size()};
  return {"", path.size()};
}

}  // namespace

std::string_view format_of_name(const std::string& path) {
  return end_of_name(path).format;
}

std::string stem_of_name(const std::string& path) {
  return path.substr(0, end_of_name(path).stem);
}

void check_output_name(const std::string& function, const std::string& path,
                       const std::vector<std::string_view>& fitting, const std::string& written,
                       const std::string& way_out) {
  const std::string_view format = format_of_name(path);
  if (format.empty() || std::find(fitting.begin(), fitting.end(), format) != fitting.end()) return;
  throw Error(function, path + ": a name of this kind is for " + std::string(format) +
                            ", and the output is " + written + "; " + way_out);
}

}  // namespace carbon
