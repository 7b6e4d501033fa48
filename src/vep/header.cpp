#include "src/vep/header.hpp"

#include <algorithm>

#include "src/base/words.hpp"
#include "src/engine/loaded_model.hpp"
#include "src/formats/carbon_scores.hpp"
#include "src/formats/provenance.hpp"

namespace carbon {

namespace {

// Programs before 0.3 wrote one line for all tags of a run, whose ID was the prefix.
std::string line_start(const std::string& id) {
  return "##carbon_vepModel=<ID=" + id + ",";
}

// Which model a header says has computed a tag: "Carbon-500M (bf16)", or "".
std::string model_of(const std::vector<std::string>& lines, const std::string& tag,
                     const std::string& prefix) {
  for (const std::string& id : {tag, prefix})
    for (const std::string& line : lines) {
      const HeaderFields fields = header_fields(line);
      if (header_field(fields, "ID") != id) continue;
      const std::string dtype = header_field(fields, "Dtype");
      return header_field(fields, "Model") + (dtype.empty() ? "" : " (" + dtype + ")");
    }
  return {};
}

}  // namespace

ScoredTags scored_tags(const LoadedModel& model, const std::string& prefix, const RecipeList& recipes,
                       const ScoreTables* tables) {
  ScoredTags scored{model.model_sha256(), model.dtype(), score_tags(recipes, prefix), {}};
  const std::vector<std::string> settings = tag_settings(recipes);
  for (size_t i = 0; i < settings.size(); ++i)
    scored.lines.push_back(model_line("vep", scored.tags[i].id, model, settings[i]));
  if (tables) {
    scored.tags.push_back(tables->tag(prefix));
    scored.lines.push_back(tables->model_line(scored.tags.back().id));
  }
  return scored;
}

ScoredTags scored_tags(const std::string& prefix, const ScoreTables& tables) {
  const InfoTag tag = tables.tag(prefix);
  return {tables.field("SHA256"), tables.field("Dtype"), {tag}, {tables.model_line(tag.id)}};
}

EarlierScores earlier_scores(const ScoredTags& scored, const std::string& prefix, const VcfReader& vcf) {
  const std::vector<std::string> lines = vcf.header_lines("carbon_vepModel"),
                                 scan_lines = vcf.header_lines("carbon_scanModel");
  EarlierScores earlier;
  for (const std::string& tag : vcf.info_tags()) {
    earlier.flag |= tag == flag_tag(prefix).id;
    const bool own = std::any_of(scored.tags.begin(), scored.tags.end(),
                                 [&](const InfoTag& one) { return one.id == tag; });
    const auto same_in = [&](const std::vector<std::string>& models, const char* command) {
      return std::any_of(models.begin(), models.end(), [&](const std::string& line) {
        return is_model_line(line, command, tag, scored.sha256, scored.dtype);
      });
    };
    // What tables gave stays in any case, since others than carbon can have written it.
    if (!own && tag == prefix + "_SCAN" && same_in(scan_lines, "scan")) earlier.kept.push_back(tag);
    if (!own && !is_score_tag(tag, prefix)) continue;
    const bool same = same_in(lines, "vep");
    (own ? earlier.replaced : same ? earlier.kept : earlier.removed).push_back(tag);
    if (std::string model = same ? "" : model_of(lines, tag, prefix); !model.empty())
      earlier.other_models.emplace(tag, std::move(model));
  }
  return earlier;
}

KeptScores kept_scores(const EarlierScores& earlier, const std::string& prefix) {
  return {earlier.kept, earlier.flag && !earlier.kept.empty() ? flag_tag(prefix).id : ""};
}

VcfWriterOptions writer_options(const VepOptions& options, const ScoredTags& scored,
                                const EarlierScores& earlier) {
  VcfWriterOptions out = output_options(options);
  out.tags = scored.tags;
  out.tags.push_back(flag_tag(options.tag_prefix));
  out.drop_infos = earlier.removed;
  out.drop_header_lines = {line_start(options.tag_prefix)};
  for (const std::string& tag : earlier.removed) out.drop_header_lines.push_back(line_start(tag));
  for (const std::string& line : scored.lines)
    out.drop_header_lines.push_back(line.substr(0, line.find(',') + 1));
  out.header_lines = provenance_lines("vep", {options.command_line, !options.version_lines}, scored.lines);
  return out;
}

void say_earlier(const EarlierScores& earlier, const std::string& prefix, Log& log) {
  std::vector<std::string> replaced = earlier.replaced;
  const bool alone = replaced.empty() && earlier.removed.empty() && earlier.kept.empty();
  if (earlier.flag && alone) replaced = {flag_tag(prefix).id};
  std::string text;
  const auto add = [&](const std::vector<std::string>& tags, const std::string& of, const char* what) {
    if (!tags.empty())
      text +=
          (text.empty() ? ": " : "; ") + and_list(tags) + of + (tags.size() > 1 ? " are " : " is ") + what;
  };
  // Tags of one model together, those of no other one under "".
  const auto by_model = [&](const std::vector<std::string>& tags) {
    std::map<std::string, std::vector<std::string>> out;
    for (const std::string& tag : tags) {
      const auto model = earlier.other_models.find(tag);
      out[model == earlier.other_models.end() ? "" : " of " + model->second].push_back(tag);
    }
    return out;
  };
  for (const auto& [of, tags] : by_model(replaced)) add(tags, of, of.empty() ? "computed anew" : "replaced");
  for (const auto& [of, tags] : by_model(earlier.removed))
    add(tags, of,
        of.empty() ? "removed, because no header line says which model has computed them"
                   : "removed, because another model, or another data type, has computed them");
  add(earlier.kept, "", "kept");
  if (text.empty()) return;
  text = "the input has scores of an earlier run" + text;
  if (!earlier.removed.empty() || !earlier.other_models.empty())
    log.warning("vep", text, {"to keep both, run again with another {--tag-prefix}"});
  else if (!replaced.empty())
    log.warning("vep", text);
  else
    log.info("vep", text);
}

}  // namespace carbon
