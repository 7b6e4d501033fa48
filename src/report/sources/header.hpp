// What the header of a file with scores says: which tags are scores of carbon, which tag says why a score is
// missing, and how the file was made.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/formats/carbon_scores.hpp"
#include "src/report/sources/variants.hpp"

namespace carbon {

/// A tag, or a column of a table.
struct KnownTag {
  std::string name;
  std::string type = {}, number = {}, description = {};  // as in a line ##INFO; a column of a table has none
};

/// Fills tags and flag tags of `layout`: those that `wanted` names, or else those of carbon. Throws Error,
/// which names `path`, if there is none, and for a name that is no tag or not of Type Float.
void choose_tags(const std::vector<KnownTag>& known, const CarbonModels& models,
                 const std::vector<std::string>& wanted, const std::string& path, VariantLayout& layout);

/// Pairs of what it is and its value, of a file of any kind. `lines` are header lines that begin with
/// ##carbon_; others are left out.
std::vector<std::pair<std::string, std::string>> variant_provenance(const std::string& path,
                                                                    const std::vector<std::string>& lines);

/// A sentence for the head of a page: the model, and of the other fields of its header line those that matter
/// most. With the model that is part of carbon, another one that its scores are not to be used.
std::string model_sentence(const HeaderFields& fields);
/// One for each line of a model.
std::vector<std::string> model_sentences(const std::vector<std::string>& lines);

}  // namespace carbon
