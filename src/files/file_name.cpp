#include "src/files/file_name.hpp"

#include <htslib/hfile.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

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

namespace {

// What stands before "://", or "".
std::string scheme_of(const std::string& name) {
  const size_t end = name.find("://");
  if (end == std::string::npos) return "";
  const std::string scheme = name.substr(0, end);
  const bool plain = std::all_of(scheme.begin(), scheme.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+';
  });
  return plain ? scheme : "";
}

std::vector<std::string> readable_schemes() {
  int count = 0;
  const int all = hfile_list_schemes(nullptr, nullptr, &count);
  std::vector<const char*> names(static_cast<size_t>(std::max(all, 0)));
  count = static_cast<int>(names.size());
  (void)hfile_list_schemes(nullptr, names.data(), &count);
  return {names.begin(), names.begin() + count};
}

}  // namespace

bool is_remote(const std::string& name) {
  return hisremote(name.c_str()) != 0;
}

void check_url(const std::string& name, const std::string& function) {
  const std::string scheme = scheme_of(name);
  if (scheme.empty() || access(name.c_str(), F_OK) == 0) return;
  const std::vector<std::string> readable = readable_schemes();
  if (std::find(readable.begin(), readable.end(), scheme) != readable.end()) return;
  throw Error(function, name + " is a URL, and this carbon cannot read one that begins with " + scheme +
                            "://; download the file first, for example with curl -O, and give its name");
}

}  // namespace carbon
