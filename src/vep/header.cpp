#include "src/vep/header.hpp"

#include <algorithm>

#include "src/engine/model_line.hpp"
#include "src/formats/provenance.hpp"

namespace carbon {

namespace {

std::vector<std::string> header_lines(const LoadedModel& model, const VepOptions& options,
                                      const RecipeList& recipes) {
  std::vector<std::string> lines;
  if (options.version_lines) lines = version_lines("vep", options.command_line);
  lines.push_back(model_line("vep", options.tag_prefix, model, header_text(settings_of(recipes))));
  return lines;
}

}  // namespace

VcfWriterOptions writer_options(const LoadedModel& model, const VepOptions& options,
                                const RecipeList& recipes, const VcfReader& vcf, const IndexedFasta& fasta) {
  VcfWriterOptions out = output_options(options);
  out.tags = score_tags(recipes, options.tag_prefix);
  out.tags.push_back(flag_tag(options.tag_prefix));
  bool earlier = false;
  for (const std::string& tag : vcf.info_tags()) {
    const bool score = is_score_tag(tag, options.tag_prefix);
    earlier |= score || tag == out.tags.back().id;
    const auto same = [&](const InfoTag& ours) { return ours.id == tag; };
    if (score && std::none_of(out.tags.begin(), out.tags.end(), same)) out.drop_infos.push_back(tag);
  }
  out.drop_header_lines = {"##carbon_vepModel=<ID=" + options.tag_prefix + ","};
  out.header_lines = header_lines(model, options, recipes);
  if (options.chr_map.empty() && options.unify_chr_names.empty())
    for (const std::string& name : fasta.names()) out.contigs.emplace_back(name, fasta.length(name));
  const bool replaces = output_type(out) != 't';
  if (replaces && earlier)
    options.log->warning(
        "vep", "the input has " + options.tag_prefix + " scores of an earlier run, which are replaced");
  return out;
}

}  // namespace carbon
