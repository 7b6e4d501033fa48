#include "src/report/run.hpp"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <string_view>

#include "src/base/error.hpp"
#include "src/report/files.hpp"
#include "src/report/html.hpp"
#include "src/report/sections/sections.hpp"
#include "src/report/sources/input.hpp"

namespace carbon {
namespace {

using MakeSection = Section (*)(const std::string& name, const std::string& path,
                                const ReportOptions& options);

MakeSection maker_of(InputKind kind) {
  switch (kind) {
    case InputKind::variants:
    case InputKind::variant_table:
      return variant_section;
    case InputKind::mutagenesis:
      return mutagenesis_section;
    case InputKind::base_scores:
      return base_score_section;
    case InputKind::scan:
      return scan_section;
    case InputKind::concordance:
      return concordance_section;
    case InputKind::bench:
      return bench_section;
    case InputKind::embedding_table:
    case InputKind::embedding_array:
      return embedding_section;
  }
  throw Error("run_report", "this kind of file has no section");
}

// A name for files and links: that of the file up to its first point, with other letters as _, and a number
// if two files would have the same.
std::string section_name(const std::string& path, std::set<std::string>& taken) {
  std::string stem = file_name(path);
  stem = stem.substr(0, stem.find('.', 1));
  for (char& c : stem)
    if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'))) c = '_';
  if (stem.empty() || (stem[0] >= '0' && stem[0] <= '9')) stem.insert(0, "file_");
  std::string name = stem;
  for (int copy = 2; !taken.insert(name).second; ++copy) name = stem + "_" + std::to_string(copy);
  return name;
}

std::string title_of(const ReportOptions& options) {
  if (!options.title.empty()) return options.title;
  std::string title;
  for (const std::string& file : options.files) title += (title.empty() ? "" : ", ") + file_name(file);
  return title;
}

// Sections name their figures without knowing one another, and the names are those of files.
void make_names_unique(Report& report) {
  std::set<std::string> taken;
  for (Section& section : report.sections)
    for (auto& part : section.parts) {
      auto* figure = std::get_if<Figure>(&part);
      if (!figure) continue;
      const std::string name = figure->name;
      for (int copy = 2; !taken.insert(figure->name).second; ++copy)
        figure->name = name + "_" + std::to_string(copy);
    }
}

// Refuses what was asked for and no file has a use for: most likely a file was forgotten, or the wrong one
// named.
void check_needed(const ReportOptions& options, const std::vector<InputKind>& kinds) {
  const auto check = [&](bool asked, std::initializer_list<InputKind> needed, const char* what,
                         const char* files, AdviceTopic topic) {
    const bool found = std::any_of(kinds.begin(), kinds.end(), [&](InputKind kind) {
      return std::find(needed.begin(), needed.end(), kind) != needed.end();
    });
    if (asked && !found) throw Error("run_report", std::string(what) + ", but no file has " + files, {topic});
  };
  const auto variants = {InputKind::variants, InputKind::variant_table};
  const auto bases = {InputKind::base_scores, InputKind::scan, InputKind::mutagenesis};
  const auto embeddings = {InputKind::embedding_table, InputKind::embedding_array};
  check(!options.tags.empty(), variants, "tags of scores are named", "variants", AdviceTopic::report_tags);
  check(!options.consequence_tag.empty(), {InputKind::variants}, "a tag of consequences is named",
        "records of variants", AdviceTopic::report_consequences);
  check(!options.label.empty(), variants, "a label of alleles is named", "variants",
        AdviceTopic::report_label);
  check(!options.probabilities.empty(), variants, "a table of probabilities beside variants is named",
        "variants", AdviceTopic::report_probabilities);
  check(!options.regions.empty(), bases, "regions are named", "scores of single bases",
        AdviceTopic::report_regions);
  check(!options.genes.empty(), bases, "genes are named", "scores of single bases",
        AdviceTopic::report_genes);
  check(!options.groups.empty(), embeddings, "a table of groups is named", "embeddings",
        AdviceTopic::report_groups);
}

}  // namespace

void run_report(const ReportOptions& options) {
  Report report;
  report.title = title_of(options);
  std::vector<InputKind> kinds;
  for (const std::string& file : options.files) kinds.push_back(input_kind(file));
  check_needed(options, kinds);
  std::set<std::string> names;
  for (size_t i = 0; i < options.files.size(); ++i)
    report.sections.push_back(
        maker_of(kinds[i])(section_name(options.files[i], names), options.files[i], options));
  make_names_unique(report);

  FileSet files;
  files.add(options.output, html_of(report, options.command));
  if (!options.svg.empty()) add_svg_files(report, options.svg, files);
  if (!options.multiqc.empty()) add_multiqc_files(report, options.multiqc, files);
  files.commit();
}

}  // namespace carbon
