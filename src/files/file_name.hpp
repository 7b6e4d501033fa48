// What the name of a file says: its format, by the one table of suffixes, for inputs and outputs (capital and
// small letters mean the same); where its index lies; and whether it is a URL.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace carbon {

/// The format that the end of a name stands for, such as "bedgraph" for x.bedGraph and x.bg.gz, and "vcf" for
/// x.gvcf.gz; "" for a name that says nothing.
std::string_view format_of_name(const std::string& path);

/// Whether the name ends in .gz, .bgz or .bgzf. An output of such a name is compressed as BGZF.
bool is_compressed_name(const std::string& path);
/// The path as messages have it: "standard input" for "-".
inline std::string shown_path(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

/// A name without the end that stands for a format, such as x for x.fa.gz; another name as it is.
std::string stem_of_name(const std::string& path);

/// Throws Error, from `function`, if the name stands for a format that is none of `fitting`. `written` says
/// what the output is, and `way_out` what else can be done, for the message.
void check_output_name(const std::string& function, const std::string& path,
                       const std::vector<std::string_view>& fitting, const std::string& written,
                       const std::string& way_out);

/// Of FILE##idx##INDEX, htslib's way to name the index of a file that lies elsewhere or has another name: the
/// file and, if the name has one, the index; otherwise that is "".
struct IndexedName {
  std::string file, index;
};

inline IndexedName split_index_name(const std::string& name) {
  constexpr const char kDelimiter[] = "##idx##";
  const size_t at = name.find(kDelimiter);
  if (at == std::string::npos) return {name, ""};
  return {name.substr(0, at), name.substr(at + sizeof kDelimiter - 1)};
}

/// Whether htslib reads the input from elsewhere, without a copy on this machine.
bool is_remote(const std::string& name);

/// Throws Error, in the name of `function`, for a URL of a kind that htslib here cannot read: one that is
/// built without libcurl, as in the portable archive, reads none. A file of that name on this machine is
/// none.
void check_url(const std::string& name, const std::string& function);

}  // namespace carbon
