#include "src/vep/header.hpp"

#include "src/genome/provenance.hpp"

namespace carbon {
namespace {

std::vector<InfoTag> tag_definitions(const VepOptions& options, const TagNames& tags) {
  std::vector<InfoTag> out;
  if (options.wants(Recipe::centered))
    out.push_back(
        {tags.llr, "A", "Float",
         "Carbon log-likelihood ratio of the " + std::to_string(options.window) +
             " bp window, alternative minus reference, in nats; negative = the alternative is less likely"});
  if (options.wants(Recipe::next_token))
    out.push_back({tags.nt, "A", "Float",
                   "Carbon ln(P(ALT)/P(REF)) of the base after the " + std::to_string(options.context) +
                       " bp context; negative = the alternative is less likely"});
  out.push_back({tags.flag, "A", "String",
                 "Why a Carbon score is missing: no_contig, edge, symbolic, star, non_acgt, ref_mismatch, "
                 "too_long, multibase"});
  return out;
}

}  // namespace

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
  std::string text;
  for (const Recipe recipe : options.recipes)
    text += (text.empty() ? "" : "+") + std::string(recipe == Recipe::centered ? "centered" : "next-token");
  return text;
}

namespace {

// The ##carbon_vepModel line: everything that the scores depend on besides the input. Runs with the same line
// give the same bytes.
std::string model_line(const LoadedModel& model, const VepOptions& options) {
  std::string strands;
  for (const Recipe recipe : options.recipes) {
    const bool centered = recipe == Recipe::centered;
    const std::string strand = options.strand != VepStrand::recipe_default ? strand_text(options.strand)
                               : centered                                  ? "both"
                                                                           : "+";
    strands += (strands.empty() ? "" : "/") + strand;
  }
  std::string line = "##carbon_vepModel=<ID=" + options.tag_prefix + ",Model=\"" + model.checkpoint().id() +
                     "\",SHA256=" + model.model_sha256() + ",Dtype=" + model.dtype() + ",Device=\"" +
                     model.device_kind() + "\",Recipe=" + recipe_text(options);
  if (options.wants(Recipe::centered))
    line += ",Window=" + std::to_string(options.window) + ",Phases=" + phases_text(options.phases);
  if (options.wants(Recipe::next_token)) line += ",Context=" + std::to_string(options.context);
  line += ",Strand=" + strands;
  if (const std::string& scaling = model.checkpoint().rope_override(); !scaling.empty())
    line += ",RopeScaling=" + scaling;
  return line + ">";
}

std::vector<std::string> header_lines(const LoadedModel& model, const VepOptions& options) {
  std::vector<std::string> lines;
  if (options.version_lines) lines = version_lines("vep", options.command_line);
  lines.push_back(model_line(model, options));
  return lines;
}

}  // namespace

VcfWriterOptions output_options(const VepOptions& options) {
  VcfWriterOptions out;
  out.path = options.output;
  out.log = options.log;
  if (!options.output_type.empty()) parse_output_type(options.output_type, out);
  if (!options.write_index.empty()) parse_write_index(options.write_index, out);
  return out;
}

VcfWriterOptions writer_options(const LoadedModel& model, const VepOptions& options, const VcfReader& vcf,
                                const IndexedFasta& fasta) {
  VcfWriterOptions out = output_options(options);
  const TagNames tags(options.tag_prefix);
  out.tags = tag_definitions(options, tags);
  if (!options.wants(Recipe::centered)) out.drop_infos.push_back(tags.llr);
  if (!options.wants(Recipe::next_token)) out.drop_infos.push_back(tags.nt);
  out.drop_header_lines = {"##carbon_vepModel=<ID=" + options.tag_prefix + ","};
  out.header_lines = header_lines(model, options);
  if (options.chr_map.empty() && options.unify_chr_names.empty())
    for (const std::string& name : fasta.names()) out.contigs.emplace_back(name, fasta.length(name));
  const bool replaces = output_type(out) != 't';
  if (replaces && (vcf.has_info(tags.llr) || vcf.has_info(tags.nt) || vcf.has_info(tags.flag)))
    options.log->warning(
        "vep", "the input has " + options.tag_prefix + " scores of an earlier run, which are replaced");
  return out;
}

}  // namespace carbon
