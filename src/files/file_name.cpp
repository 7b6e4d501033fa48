#include "src/files/file_name.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/letters.hpp"

namespace carbon {
namespace {

constexpr std::string_view kCompressed[] = {".gz", ".bgz", ".bgzf"};
constexpr std::pair<std::string_view, std::string_view> kEndings[] = {{".vcf", "vcf"},
                                                                      {".gvcf", "vcf"},
                                                                      {".bcf", "bcf"},
                                                                      {".tsv", "tsv"},
                                                                      {".csv", "csv"},
                                                                      {".bedgraph", "bedgraph"},
                                                                      {".bdg", "bedgraph"},
                                                                      {".bg", "bedgraph"},
                                                                      {".bed", "bed"},
                                                                      {".gff", "gff3"},
                                                                      {".gff3", "gff3"},
                                                                      {".gtf", "gtf"},
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
                                                                      {".html", "html"},
                                                                      {".htm", "html"},
                                                                      {".pdf", "pdf"},
                                                                      {".svg", "svg"},
                                                                      {".png", "png"},
                                                                      {".xlsx", "xlsx"}};

struct NameEnd {
  std::string_view format;  // "" for a name that says nothing
  size_t stem;              // the letters before the end
  bool compressed;
};

NameEnd end_of_name(const std::string& path) {
  std::string name = small_letters(path);
  const auto suffix = std::find_if(std::begin(kCompressed), std::end(kCompressed),
                                   [&](std::string_view one) { return name.ends_with(one); });
  const bool compressed = suffix != std::end(kCompressed);
  if (compressed) name.resize(name.size() - suffix->size());
  for (const auto& [ending, format] : kEndings)
    if (name.ends_with(ending)) return {format, name.size() - ending.size(), compressed};
  return {"", path.size(), compressed};
}

}  // namespace

std::string_view format_of_name(const std::string& path) {
  return end_of_name(path).format;
}

bool is_compressed_name(const std::string& path) {
  return end_of_name(path).compressed;
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
