// What the header of a file with scores says: the fields of its structured lines, which tags are scores of
// carbon, which tag says why a score is missing, and how the file was made.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/report/sources/variants.hpp"

namespace carbon {

/// Of a line such as ##INFO=<ID=AF,Number=A,...>: names and values.
using HeaderFields = std::vector<std::pair<std::string, std::string>>;

/// The fields in order, without quotation marks around values; none for a line of another form. A line that
/// breaks off keeps the fields before that.
HeaderFields header_fields(std::string_view line);
/// The value of a field, or "".
std::string header_field(const HeaderFields& fields, std::string_view key);

/// A tag, or a column of a table.
struct KnownTag {
  std::string name;
  std::string type = {}, number = {}, description = {};  // as in a line ##INFO; a column of a table has none
};

/// The prefixes of the tags of carbon vep, and the tags of carbon scan, by the lines ##carbon_vepModel,
/// ##carbon_mutagenesisModel and ##carbon_scanModel.
struct CarbonModels {
  std::vector<std::string> prefixes, tags;
};
CarbonModels carbon_models(const std::vector<std::string>& model_lines);

/// Fills tags and flag tags of `layout`: those that `wanted` names, or else those of carbon. Throws Error,
/// which names `path`, if there is none, and for a name that is no tag or not of Type Float.
void choose_tags(const std::vector<KnownTag>& known, const CarbonModels& models,
                 const std::vector<std::string>& wanted, const std::string& path, VariantLayout& layout);

/// `lines` are header lines that begin with ##carbon_; others are left out.
std::vector<std::pair<std::string, std::string>> variant_provenance(const std::string& path,
                                                                    const std::vector<std::string>& lines);

}  // namespace carbon
