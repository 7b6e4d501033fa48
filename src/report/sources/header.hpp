// Which tags of a file are scores of carbon, and which tag says why a score is missing.
#pragma once

#include <string>
#include <vector>

#include "src/report/sources/header_fields.hpp"
#include "src/report/sources/variants.hpp"

namespace carbon {

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

}  // namespace carbon
