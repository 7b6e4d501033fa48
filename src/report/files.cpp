#include "src/report/files.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "src/base/error.hpp"

namespace carbon {
namespace {

void make_folder(const std::string& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem || !std::filesystem::is_directory(folder))
    throw Error("run_report",
                folder + ": cannot make this folder" + (problem ? ": " + problem.message() : ""));
}

using Json = nlohmann::ordered_json;

// MultiQC puts texts into its page as they are. Without tags there is nothing in them that a page could run:
// < and > become quotation marks of that shape. (Where MultiQC makes contents of a name, it turns a character
// reference back into the character, so a reference would not hold.)
std::string without_tags(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "\u2039";
    else if (c == '>')
      out += "\u203a";
    else if (c == '\n' || c == '\r' || c == '\t')
      out += ' ';
    else
      out += c;
  }
  return out;
}

// All texts and keys within a value.
Json without_tags(const Json& value) {
  if (value.is_string()) return without_tags(std::string_view(value.get_ref<const std::string&>()));
  Json out = value;
  if (value.is_array())
    for (Json& one : out) one = without_tags(one);
  if (!value.is_object()) return out;
  out = Json::object();
  for (const auto& [key, one] : value.items()) out[without_tags(std::string_view(key))] = without_tags(one);
  return out;
}

// A name or a description, which MultiQC reads as HTML and, without `is_name`, as Markdown.
std::string as_text(const std::string& text, bool is_name) {
  const std::string_view special = is_name ? "&\"'" : "&\"'\\`*_{}[]!|~";
  std::string out;
  for (const char c : without_tags(std::string_view(text))) {
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
  if ((type == "bargraph" || type == "linegraph" || type == "scatter" || type == "table" || type == "box") &&
      plot["data"].is_object())
    plot["data"] = Json::array({std::move(plot["data"])});
}

std::string multiqc_text(const Section& section, const Figure& figure) {
  Json out;
  out["id"] = "carbon_" + figure.name;
  out["parent_id"] = "carbon_" + section.name;
  out["parent_name"] = as_text("carbon: " + section.title, true);
  out["section_name"] = as_text(figure.title, true);
  out["description"] = as_text(figure.caption, false);
  out.update(without_tags(Json::parse(figure.multiqc)));
  keep_names(out);
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

template <class Use>
void for_figures(const Report& report, Use use) {
  for (const Section& section : report.sections)
    for (const auto& part : section.parts)
      if (const auto* figure = std::get_if<Figure>(&part)) use(section, *figure);
}

}  // namespace

void FileSet::add(const std::string& path, std::string_view bytes) {
  auto& file = files_.emplace_back(std::make_unique<TextOutput>(path));
  file->write(bytes);
  file->finish();
}

void FileSet::commit() {
  for (const auto& file : files_) file->commit();
  files_.clear();
}

void add_svg_files(const Report& report, const std::string& folder, FileSet& files) {
  make_folder(folder);
  for_figures(report, [&](const Section&, const Figure& figure) {
    files.add(folder + "/" + figure.name + ".svg", figure.svg + "\n");
  });
}

void add_multiqc_files(const Report& report, const std::string& folder, FileSet& files) {
  make_folder(folder);
  for_figures(report, [&](const Section& section, const Figure& figure) {
    if (figure.multiqc.empty()) return;
    files.add(folder + "/carbon_" + figure.name + "_mqc.json", multiqc_text(section, figure));
  });
}

}  // namespace carbon
