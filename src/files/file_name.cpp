#include "src/files/file_name.hpp"

#include <htslib/hfile.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "src/base/error.hpp"
#include "src/base/letters.hpp"
#include "src/base/words.hpp"

namespace carbon {
namespace {

constexpr std::string_view kCompressed[] = {".gz", ".bgz", ".bgzf"};
// The endings of each format, of which the first is its name.
constexpr std::string_view kFormats[] = {
    "vcf gvcf", "bcf",         "tsv",     "csv",          "bedgraph bdg bg",
    "bed",      "gff3 gff",    "gtf",     "bigwig bw",    "npy",
    "npz",      "safetensors", "parquet", "fasta fa fna", "json",
    "html htm", "pdf",         "svg",     "png",          "xlsx xls",
    "wig",      "pt pth",      "hdf5 h5"};

struct NameEnd {
  std::string_view format;  // "" for a name that says nothing
  size_t stem;              // the letters before the end
  bool compressed;
};

NameEnd end_of_name(const std::string& path) {
  std::string name = small_letters(path);
  const auto suffix = std::ranges::find_if(kCompressed, [&](auto one) { return name.ends_with(one); });
  const bool compressed = suffix != std::end(kCompressed);
  if (compressed) name.resize(name.size() - suffix->size());
  const size_t dot = name.rfind('.');
  for (const std::string_view format : kFormats) {
    const std::vector<std::string_view> endings = words_of(format);
    if (dot != std::string::npos && std::ranges::find(endings, name.substr(dot + 1)) != endings.end())
      return {endings.front(), dot, compressed};
  }
  return {"", path.size(), compressed};
}

// What stands before "://", or "".
std::string scheme_of(const std::string& name) {
  const size_t end = name.find("://");
  if (end == std::string::npos) return "";
  const std::string scheme = name.substr(0, end);
  return std::ranges::all_of(scheme, [](char c) { return is_letter_or_digit(c) || c == '+'; }) ? scheme : "";
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
  if (format.empty() || std::ranges::count(fitting, format) > 0) return;
  throw Error(function, path + ": a name of this kind is for " + std::string(format) +
                            ", and the output is " + written + "; " + way_out);
}

bool is_remote(const std::string& name) {
  return hisremote(name.c_str()) != 0;
}

void check_url(const std::string& name, const std::string& function) {
  const std::string scheme = scheme_of(name);
  if (scheme.empty() || access(name.c_str(), F_OK) == 0) return;
  if (std::ranges::count(readable_schemes(), scheme) > 0) return;
  throw Error(function, name + " is a URL, and this carbon cannot read one that begins with " + scheme +
                            "://; download the file first, for example with curl -O, and give its name");
}

}  // namespace carbon
