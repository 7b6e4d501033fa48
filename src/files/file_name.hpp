// What the name of a file says of its format: the one table of suffixes, for inputs and outputs. Capital and
// small letters mean the same.
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

/// A name without the end that stands for a format, such as x for x.fa.gz; another name as it is.
std::string stem_of_name(const std::string& path);

/// Throws Error, from `function`, if the name stands for a format that is none of `fitting`. `written` says
/// what the output is, and `way_out` what else can be done, for the message.
void check_output_name(const std::string& function, const std::string& path,
                       const std::vector<std::string_view>& fitting, const std::string& written,
                       const std::string& way_out);

}  // namespace carbon
