#include "src/vep/header.hpp"

#include <algorithm>

#include "src/base/advice_topics.hpp"
#include "src/base/lists.hpp"
#include "src/engine/model_line.hpp"
#include "src/formats/provenance.hpp"

namespace carbon {

namespace {

// Programs before 0.3 wrote one line for all tags of a run, whose ID was the prefix.
std::string line_start(const std::string& id) {
  return "##carbon_vepModel=<ID=" + id + ",";
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
  const std::vector<std::string> lines = vcf.header_lines("carbon_vepModel");
  EarlierScores earlier;
  for (const std::string& tag : vcf.info_tags()) {
    earlier.flag |= tag == flag_tag(prefix).id;
    const auto same = [&](const std::string& line) {
      return is_model_line(line, "vep", tag, scored.sha256, scored.dtype);
    };
    if (std::any_of(scored.tags.begin(), scored.tags.end(),
                    [&](const InfoTag& own) { return own.id == tag; }))
      earlier.replaced.push_back(tag);
    else if (is_score_tag(tag, prefix))
      (std::any_of(lines.begin(), lines.end(), same) ? earlier.kept : earlier.removed).push_back(tag);
  }
  return earlier;
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
  const auto add = [&](const std::vector<std::string>& tags, const std::string& what) {
    if (!tags.empty())
      text += (text.empty() ? ": " : "; ") + and_list(tags) + (tags.size() > 1 ? " are " : " is ") + what;
  };
  add(replaced, "computed anew");
  add(earlier.removed,
      "removed, because no header line says that this model, with this data type, has computed them");
  add(earlier.kept, "kept");
  if (text.empty()) return;
  text = "the input has scores of an earlier run" + text;
  if (!earlier.removed.empty())
    log.warning("vep", text, {AdviceTopic::tag_prefix});
  else if (!replaced.empty())
    log.warning("vep", text);
  else
    log.info("vep", text);
}

}  // namespace carbon
