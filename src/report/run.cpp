#include "src/report/run.hpp"

#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/letters.hpp"
#include "src/base/words.hpp"
#include "src/files/file_name.hpp"
#include "src/files/output.hpp"
#include "src/report/drawing/svg.hpp"
#include "src/report/sections/sections.hpp"
#include "src/report/sections/variant_parts.hpp"
#include "src/report/sources/input.hpp"
#include "src/report/sources/variants.hpp"

namespace carbon {
namespace {

void make_folder(const std::string& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem || !std::filesystem::is_directory(folder))
    throw Error("run_report",
                folder + ": cannot make this folder" + (problem ? ": " + problem.message() : ""));
}

// Throws Error if files could not be written into a folder, which is made when all is drawn.
void check_folder(const std::string& folder) {
  if (folder.empty()) return;
  std::error_code problem;
  std::filesystem::path place = std::filesystem::absolute(folder, problem);
  while (!std::filesystem::exists(place, problem) && place.has_relative_path()) place = place.parent_path();
  if (!std::filesystem::is_directory(place, problem) || access(place.c_str(), W_OK | X_OK) != 0)
    throw Error("run_report", folder + ": no files can be written there; name another folder");
}

using Json = nlohmann::ordered_json;

// MultiQC puts texts into its page as they are. Without tags there is nothing in them that a page could run:
// < and > become quotation marks of that shape. (Where MultiQC makes contents of a name, it turns a character
// reference back into the character, so a reference would not hold.)
std::string without_tags(std::string_view text) {
  std::string out;
  for (const char& c : text)
    out += c == '<'                              ? "\u2039"
           : c == '>'                            ? "\u203a"
           : c == '\n' || c == '\r' || c == '\t' ? " "
                                                 : std::string_view(&c, 1);
  return out;
}

// A value with all texts and keys so.
Json plot_without_tags(const Json& value) {
  if (value.is_string()) return without_tags(value.get_ref<const std::string&>());
  Json out = value;
  if (value.is_array())
    for (Json& one : out) one = plot_without_tags(one);
  if (!value.is_object()) return out;
  out = Json::object();
  for (const auto& [key, one] : value.items()) out[without_tags(key)] = plot_without_tags(one);
  return out;
}

// A name or a description, which MultiQC reads as HTML and, without `is_name`, as Markdown.
std::string as_text(const std::string& text, bool is_name) {
  const std::string_view special = is_name ? "&\"'" : "&\"'\\`*_{}[]!|~";
  std::string out;
  for (const char c : without_tags(text)) {
    if (special.find(c) == std::string_view::npos)
      out += c;
    else
      out += "&#" + std::to_string(static_cast<int>(c)) + ";";
  }
  return out;
}

// MultiQC shortens the keys of an object as if they were names of files (it cuts "a.fa" and "b/a" to "a"),
// but not those of an object within an array.
void keep_names(Json& plot) {
  const std::string type = plot.value("plot_type", "");
  if ((type == "bargraph" || type == "linegraph" || type == "scatter") && plot["data"].is_object())
    plot["data"] = Json::array({std::move(plot["data"])});
}

Json multiqc_of(const Section& section, const Figure& figure) {
  Json out;
  out["id"] = "carbon_" + figure.name;
  out["parent_id"] = "carbon_" + section.name;
  out["parent_name"] = as_text("carbon: " + section.title, true);
  out["section_name"] = as_text(figure.title, true);
  out["description"] =
      as_text(figure.multiqc_caption.empty() ? figure.caption : figure.multiqc_caption, false);
  out.update(plot_without_tags(Json::parse(figure.multiqc)));
  keep_names(out);
  return out;
}

template <class Use>
void for_figures(const Report& report, Use use) {
  for (const Section& section : report.sections)
    for (const auto& part : section.parts)
      if (const auto* figure = std::get_if<Figure>(&part)) use(section, *figure);
}

// Files that appear together, when all of them are complete.
class FileSet {
 public:
  // Throws Error if the file cannot be written.
  TextOutput& open(const std::string& path) {
    return *files_.emplace_back(std::make_unique<TextOutput>(path));
  }
  void add(const std::string& path, std::string_view bytes) {
    TextOutput& file = open(path);
    file.write(bytes);
    file.finish();
  }
  void add_json(const std::string& path, const Json& json) {
    add(path, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  }
  void commit() {
    for (const auto& file : files_) file->commit();
    files_.clear();
  }

 private:
  std::vector<std::unique_ptr<TextOutput>> files_;
};

// A file NAME.svg in `folder`, which is made if it is missing, for each figure.
void add_svg_files(const Report& report, const std::string& folder, FileSet& files) {
  make_folder(folder);
  for_figures(report, [&](const Section&, const Figure& figure) {
    files.add(folder + "/" + figure.name + ".svg", figure.svg + "\n");
    if (figure.other)
      files.add(folder + "/" + figure.name + "_" + figure.other->name + ".svg", figure.other->svg + "\n");
  });
}

// The row of each file in MultiQC's table of General Statistics.
void add_statistics(const Report& report, const std::string& folder, FileSet& files) {
  for (const Section& section : report.sections) {
    if (section.statistics.empty()) continue;
    Json columns = Json::array(), row = Json::object();
    for (const Statistic& one : section.statistics) {
      const std::string key = without_tags(one.key);
      // Without a format MultiQC writes an AUROC as 0.9.
      columns.push_back({{key,
                          {{"title", as_text(one.title, true)},
                           {"description", as_text(one.about, false)},
                           {"format", one.value == std::round(one.value) ? "{:,.0f}" : "{:.4g}"}}}});
      row[key] = one.value;
    }
    const std::string id = "carbon_" + section.name + "_statistics";
    files.add_json(
        folder + "/" + id + "_mqc.json",
        {{"id", id}, {"plot_type", "generalstats"}, {"pconfig", columns}, {"data", {{section.name, row}}}});
  }
}

// A file carbon_NAME_mqc.json for each figure that has a plot, in the form of MultiQC's custom content.
void add_multiqc_files(const Report& report, const std::string& folder, FileSet& files) {
  make_folder(folder);
  add_statistics(report, folder, files);
  for_figures(report, [&](const Section& section, const Figure& figure) {
    if (!figure.multiqc.empty())
      files.add_json(folder + "/carbon_" + figure.name + "_mqc.json", multiqc_of(section, figure));
  });
}

// What options about the data of files ask for; see check_needed().
enum Has : unsigned { kAlleles = 1, kRecords = 2, kBases = 4, kEmbeddings = 8 };

struct Kind {
  MakeSection* make;  // null for kAlleles, which variant_section() draws
  unsigned has = 0;
};

// In the order of InputKind.
constexpr Kind kKinds[] = {{nullptr, kAlleles | kRecords},    // variants
                           {nullptr, kAlleles},               // variant_table
                           {mutagenesis_section, kBases},     // mutagenesis
                           {base_score_section, kBases},      // base_scores
                           {scan_section, kBases},            // scan
                           {concordance_section},             // concordance
                           {embedding_section, kEmbeddings},  // embedding_table
                           {embedding_section, kEmbeddings},  // embedding_array
                           {score_summary_section},           // score_summary
                           {gene_summary_section},            // gene_summary
                           {separation_section},              // separation
                           {histogram_section},               // histogram
                           {annotation_section},              // genes
                           {coding_section, kBases}};         // coding
static_assert(std::size(kKinds) == static_cast<size_t>(InputKind::coding) + 1);

// A name for files and links: that of the file up to its first point, with other letters as _, and a number
// if two files would have the same.
std::string section_name(const std::string& path, TakenNames& taken) {
  std::string stem = file_name(path);
  stem = plain_name(stem.substr(0, stem.find('.', 1)));
  if (stem.empty() || is_digit(stem[0])) stem.insert(0, "file_");
  return free_name(stem, taken);
}

// Sections name their figures without knowing one another, and the names are those of files.
void make_names_unique(Report& report) {
  TakenNames taken;  // the page has links to sections, too
  for (const Section& section : report.sections) taken.try_emplace(section.name, 1);
  for (Section& section : report.sections)
    for (auto& part : section.parts)
      if (auto* figure = std::get_if<Figure>(&part)) figure->name = free_name(figure->name, taken);
}

// Refuses what was asked for and no file has a use for: most likely a file was forgotten, or the wrong one
// named.
void check_needed(const ReportOptions& options, const std::vector<Kind>& kinds) {
  if (!options.assembly.empty() && options.assembly != "none" && !find_assembly(options.assembly))
    throw Error(
        "run_report",
        "the assembly " + printable(options.assembly) + " is not one of " + assembly_names() + " and none",
        {"correct {--assembly}, or leave it out"});
  const struct {
    bool asked;
    unsigned needs;
    const char *what, *files, *advice;
  } rules[] = {
      {!options.tags.empty(), kAlleles, "tags of scores are named", "variants",
       "leave out {--tags}, or add a file of vep"},
      {!options.consequence_tag.empty(), kRecords, "a tag of consequences is named", "records of variants",
       "correct {--consequence-tag}, or leave it out"},
      {!options.assembly.empty(), kAlleles, "an assembly is named", "variants",
       "leave out {--assembly}, or add a file of vep"},
      {!options.label.empty(), kAlleles, "a label of alleles is named", "variants",
       "leave out {--label}, or add a file of vep"},
      {!options.probabilities.empty(), kAlleles, "a table of probabilities beside variants is named",
       "variants", "leave out {--probabilities}, or add a file of vep"},
      {!options.regions.empty() && options.session.empty(), kBases, "regions are named",
       "scores of single bases",
       "leave out {--regions}, or add a table of score, scan, annotate or +mutagenesis"},
      {!options.genes.empty(), kAlleles | kBases, "genes are named", "variants or scores of single bases",
       "leave out {--genes}, or add variants or a table of score, scan, annotate or +mutagenesis"},
      {!options.groups.empty(), kEmbeddings, "a table of groups is named", "embeddings",
       "leave out {--groups} and {--colour}, or add a file of embed"}};
  if (options.negate && options.label.empty())
    throw Error("run_report", "the sign of scores matters to the curves of a label alone, and none is named",
                {"leave out {--negate}, or add {--label}"});
  unsigned there = 0;
  for (const Kind& kind : kinds) there |= kind.has;
  for (const auto& rule : rules)
    if (rule.asked && (rule.needs & there) == 0)
      throw Error("run_report", std::string(rule.what) + ", but no file has " + rule.files, {rule.advice});
}

// A section for each file, and before several of them one that sets them side by side.
void add_sections(const std::vector<Kind>& kinds, const ReportOptions& options, Report& report) {
  const std::vector<std::string> short_name = short_names(options.files);
  VariantComparison comparison;
  TakenNames names;
  for (size_t i = 0; i < options.files.size(); ++i) {
    const std::string& file = options.files[i];
    const std::string name = section_name(file, names);
    const bool alleles = (kinds[i].has & kAlleles) != 0, compared = alleles && options.files.size() > 1;
    if (compared) comparison.next_file(short_name[i]);
    report.sections.push_back(alleles ? variant_section(name, file, options, compared ? &comparison : nullptr)
                                      : kinds[i].make(name, file, options));
    report.sections.back().file = short_name[i];
  }
  if (options.files.size() < 2) return;
  Section all = runs_section(section_name("comparison", names), report.sections);
  comparison.finish(options.label, all);
  report.sections.insert(report.sections.begin(), std::move(all));
}

// ---- The session of IGV

constexpr const char* kFunction = "report_session";
constexpr std::string_view kGenome = "fasta";

bool has(std::initializer_list<std::string_view> formats, const std::string& file) {
  const std::string_view format = format_of_name(split_index_name(file).file);
  return std::find(formats.begin(), formats.end(), format) != formats.end();
}

// The absolute path of a file under its own name, whatever links lead to its folder.
std::filesystem::path place_of(const std::string& file) {
  namespace fs = std::filesystem;
  const fs::path path(file);
  std::error_code failed;
  const fs::path folder = fs::canonical(path.has_parent_path() ? path.parent_path() : fs::path("."), failed);
  if (failed) throw Error(kFunction, printable(file) + ": cannot find its folder: " + failed.message());
  return folder / path.filename();
}

// An attribute with a leading space.
std::string attribute(const char* name, const std::string& value) {
  const std::string text = escape_xml(value);
  if (text.find("\uFFFD") != text.npos || text.find_first_of("\n\t") != text.npos)
    throw Error(kFunction, "the name " + printable(value) +
                               " has bytes that XML cannot hold; rename the file or folder");
  return std::string(" ") + name + "=\"" + text + "\"";
}

// A file as the session names it. What is read from elsewhere keeps its address.
std::string path_of(const std::string& named, const std::filesystem::path& folder) {
  const std::string file = split_index_name(named).file;
  if (is_remote(file)) return file;
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) throw Error(kFunction, printable(file) + ": no such file");
  return place_of(file).lexically_relative(folder).string();
}

// All files of the report, each once, in the order of the command line.
std::vector<std::string> all_files(const ReportOptions& options) {
  std::vector<std::string> files;
  const auto add = [&](const std::string& file) {
    if (!file.empty() && std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
  };
  for (const std::string& file : options.files) add(file);
  add(options.genes);
  return files;
}

// The options with the files that the page draws. Of a run with a session, bigWig, bedGraph, BED, GTF and
// FASTA files are for the session alone; of others, all files are left.
ReportOptions options_of_page(const ReportOptions& options) {
  ReportOptions page = options;
  if (options.session.empty()) return page;
  std::erase_if(page.files, [](const std::string& file) {
    return has({"bigwig", "bedgraph", "bed", "gtf", "wig", kGenome}, file);
  });
  if (page.files.empty())
    throw Error(kFunction, "no file is named that the page could draw: these are for the session alone",
                {"add a file with scores, such as the VCF of vep"});
  return page;
}

// The text of options.session. Throws Error if IGV has a use for no file, for two FASTA files, for a file
// that is not there, and for a name that XML cannot hold or that would be no session for IGV. Warns of files
// that IGV does not read.
std::string session_text(const ReportOptions& options) {
  if (is_stream(options.session) || !options.session.ends_with(".xml"))
    throw Error(kFunction, printable(options.session) +
                               ": IGV knows a session by a name that ends in .xml; give such a name");
  const std::filesystem::path folder = place_of(options.session).parent_path();
  std::string genome, fasta, resources;
  if (const Assembly* named = find_assembly(options.assembly)) genome = named->ucsc;
  for (const std::string& file : all_files(options)) {
    if (has({kGenome}, file)) {
      if (!fasta.empty()) throw Error(kFunction, printable(file) + ": a second FASTA; a session has one");
      fasta = path_of(file, folder);
    } else if (has({"vcf", "bigwig", "bedgraph", "bed", "gff3", "gtf", "wig"}, file)) {
      resources += "        <Resource" + attribute("name", file_name(file)) +
                   attribute("path", path_of(file, folder)) + "/>\n";
    } else if (has({"bcf"}, file)) {
      options.log->warning("report", printable(file) + " is left out of the session: IGV reads VCF, not BCF");
    } else if (const auto kind = file == options.genes ? InputKind::coding : input_kind(file);
               kind == InputKind::variants || kind == InputKind::genes) {
      options.log->warning("report", shown_path(file) +
                                         " is left out of the session: IGV knows files by names such as "
                                         ".vcf.gz and .gff3");
    }
    // IGV calls genomes as UCSC does.
    if (genome.empty() && options.assembly.empty() && has({"vcf", "bcf"}, file))
      if (const Assembly* found = assembly_of(VcfReader(file, {}, *options.log))) genome = found->ucsc;
  }
  if (!fasta.empty()) genome = fasta;
  if (resources.empty())
    throw Error(kFunction,
                "no file is one that IGV draws, by its name: .vcf.gz, .bw, .bedgraph, .bed, .gff3 or .gtf",
                {"add one, or leave out {--session}"});
  return "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n<Session" +
         (genome.empty() ? "" : attribute("genome", genome)) +
         attribute("locus", options.regions.empty() ? "All" : options.regions.front()) +
         attribute("version", "8") + ">\n    <Resources>\n" + resources + "    </Resources>\n</Session>\n";
}

}  // namespace

void run_report(const ReportOptions& given) {
  const ReportOptions options = options_of_page(given);
  const std::string session = given.session.empty() ? "" : session_text(given);
  Report report;
  report.title = options.title.empty() ? joined(options.files, ", ", file_name) : options.title;
  std::vector<Kind> kinds;
  for (const std::string& file : options.files)
    kinds.push_back(kKinds[static_cast<size_t>(input_kind(file))]);
  check_needed(options, kinds);
  check_folder(options.svg);
  check_folder(options.multiqc);
  FileSet files;
  TextOutput& page = files.open(options.output);
  add_sections(kinds, options, report);
  make_names_unique(report);

  page.write(html_of(report, options.command));
  page.finish();
  if (!options.svg.empty()) add_svg_files(report, options.svg, files);
  if (!options.multiqc.empty()) add_multiqc_files(report, options.multiqc, files);
  if (!given.session.empty()) files.add(given.session, session);
  files.commit();
}

}  // namespace carbon
