#include "src/vep/header.hpp"

#include <algorithm>

#include "src/engine/model_line.hpp"
#include "src/genome/provenance.hpp"
#include "src/vep/tags.hpp"

namespace carbon {

std::string strand_text(VepStrand strand) {
  switch (strand) {
    case VepStrand::forward:
      return "+";
    case VepStrand::reverse:
      return "-";
    case VepStrand::both:
      return "both";
    case VepStrand::recipe_default:
      break;
  }
  return "default";
}

std::string phases_text(PhaseChoice phases) {
  return phases == PhaseChoice::automatic ? "auto" : phases == PhaseChoice::one ? "1" : "6";
}

std::string recipe_text(const VepOptions& options) {
  constexpr const char* names[] = {"centered", "next-token", "anchored"};
  std::string text;
  for (const Recipe recipe : options.recipes)
    text += (text.empty() ? "" : "+") + std::string(names[static_cast<int>(recipe)]);
  return text;
}

std::string horizons_text(const VepOptions& options) {
  std::string text;
  for (const int64_t horizon : options.horizons) text += (text.empty() ? "" : "+") + std::to_string(horizon);
  return text;
}

namespace {

// What the scores depend on besides the input and the model.
std::string settings_text(const VepOptions& options) {
  std::string strands;
  for (const Recipe recipe : options.recipes) {
    const std::string strand = options.strand != VepStrand::recipe_default ? strand_text(options.strand)
                               : recipe == Recipe::next_token              ? "+"
                                                                           : "both";
    strands += (strands.empty() ? "" : "/") + strand;
  }
  std::string text = "Recipe=" + recipe_text(options);
  const bool centered = options.wants(Recipe::centered), anchored = options.wants(Recipe::anchored);
  if (centered) text += ",Window=" + std::to_string(options.window);
  if (centered || anchored) text += ",Phases=" + phases_text(options.phases);
  std::string contexts;
  if (options.wants(Recipe::next_token)) contexts = std::to_string(*options.context);
  if (anchored) contexts += (contexts.empty() ? "" : "/") + std::to_string(options.anchored_context);
  if (!contexts.empty()) text += ",Context=" + contexts;
  if (anchored) text += ",Horizon=" + horizons_text(options);
  return text + ",Strand=" + strands;
}

std::vector<std::string> header_lines(const LoadedModel& model, const VepOptions& options) {
  std::vector<std::string> lines;
  if (options.version_lines) lines = version_lines("vep", options.command_line);
  lines.push_back(model_line("vep", options.tag_prefix, model, settings_text(options)));
  return lines;
}

}  // namespace

VcfWriterOptions writer_options(const LoadedModel& model, const VepOptions& options, const VcfReader& vcf,
                                const IndexedFasta& fasta) {
  VcfWriterOptions out = output_options(options);
  out.tags = score_tags(options);
  out.tags.push_back(flag_tag(options));
  bool earlier = false;
  for (const std::string& tag : vcf.info_tags()) {
    const bool score = is_score_tag(tag, options.tag_prefix);
    earlier |= score || tag == out.tags.back().id;
    const auto same = [&](const InfoTag& ours) { return ours.id == tag; };
    if (score && std::none_of(out.tags.begin(), out.tags.end(), same)) out.drop_infos.push_back(tag);
  }
  out.drop_header_lines = {"##carbon_vepModel=<ID=" + options.tag_prefix + ","};
  out.header_lines = header_lines(model, options);
  if (options.chr_map.empty() && options.unify_chr_names.empty())
    for (const std::string& name : fasta.names()) out.contigs.emplace_back(name, fasta.length(name));
  const bool replaces = output_type(out) != 't';
  if (replaces && earlier)
    options.log->warning(
        "vep", "the input has " + options.tag_prefix + " scores of an earlier run, which are replaced");
  return out;
}

}  // namespace carbon
