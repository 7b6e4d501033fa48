// The section of several files side by side.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <utility>

#include "src/base/words.hpp"
#include "src/files/file_name.hpp"
#include "src/report/drawing/plot.hpp"
#include "src/report/sections/distributions.hpp"
#include "src/report/sections/sections.hpp"
#include "src/report/sources/input.hpp"

namespace carbon {
namespace {

constexpr size_t kLongestName = 34, kLongestValue = 64;  // letters

// What a file has of one kind, with the ID of the model that has a value, if the file has several models.
using Values = std::vector<std::pair<std::string, std::string>>;

// What all values have alike, or "ID: value; ID: value"; "." for none.
std::string text_of(const Values& values) {
  if (values.empty()) return ".";
  std::string each;
  bool alike = true;
  for (const auto& [id, value] : values) {
    each += (each.empty() ? "" : "; ") + (id.empty() ? "" : id + ": ") + value;
    alike &= value == values[0].second;
  }
  return alike ? values[0].second : each;
}

struct Column {
  TableColumn head;
  std::vector<Values> values;  // of each file

  bool equal() const {
    return std::all_of(values.begin(), values.end(),
                       [&](const Values& one) { return text_of(one) == text_of(values[0]); });
  }
};

// Adds a value of one of the files to its column, or begins another.
void put(std::vector<Column>& columns, size_t files, const TableColumn& head, size_t file,
         const std::string& value, const std::string& id = "") {
  auto at = std::find_if(columns.begin(), columns.end(), [&](const Column& one) {
    return one.head.name == head.name && one.head.about == head.about;
  });
  if (at == columns.end()) at = columns.insert(at, {head, std::vector<Values>(files)});
  Values& values = at->values[file];
  if (values.empty() || values.back() != std::pair(id, value)) values.emplace_back(id, value);
}

// What headers say of how files were made. Names are those of variant_provenance().
std::vector<Column> settings_of(const std::vector<Section>& files) {
  std::vector<Column> out;
  for (size_t f = 0; f < files.size(); ++f)
    for (const auto& [name, value] : files[f].provenance) {
      if (name == "File" || name == "Command") continue;
      const size_t colon = name.find(": ");
      if (colon == name.npos) {
        put(out, files.size(), {name}, f, value);
      } else {
        put(out, files.size(), {"Tags"}, f, name.substr(0, colon));
        put(out, files.size(), {name.substr(colon + 2)}, f, value, name.substr(0, colon));
      }
    }
  return out;
}

// Of those with equal names the names are what tells them apart.
std::vector<Column> statistics_of(const std::vector<Section>& files) {
  std::vector<Column> out;
  for (size_t f = 0; f < files.size(); ++f)
    for (const auto& [key, title, about, value] : files[f].statistics) {
      const bool whole = value == std::round(value) && value >= 0 && value < 1e15;
      put(out, files.size(), {title, about, true}, f,
          whole ? count_text(static_cast<uint64_t>(value)) : six_digits(value));
    }
  std::map<std::string, size_t> names;
  for (const Column& one : out) ++names[one.head.name];
  for (Column& one : out)
    if (names[one.head.name] > 1) one.head.name = one.head.about;
  return out;
}

// A row for each file. What all of them have alike is said once, above.
void add_table(const std::vector<Section>& files, Section& out) {
  Table table;
  table.title = "All files: " + count_text(files.size());
  table.columns = {{"File"}, {"Content"}};
  for (const Section& file : files) table.rows.push_back({file.file, file.content});
  std::string alike;
  const auto add = [&](const Column& column) {
    table.columns.push_back(column.head);
    for (size_t f = 0; f < files.size(); ++f)
      table.rows[f].push_back(cut_middle(text_of(column.values[f]), kLongestValue));
  };
  for (const Column& column : statistics_of(files)) add(column);
  for (const Column& column : settings_of(files))
    if (column.equal())
      alike += (alike.empty() ? "" : "; ") + column.head.name + ": " +
               cut_middle(text_of(column.values[0]), kLongestValue);
    else
      add(column);
  if (!alike.empty()) out.paragraphs.push_back("Alike in all files: " + alike + ".");
  out.parts.emplace_back(std::move(table));
}

// Of the files that have numbers of the same kind of item, at least two, on one axis.
void add_distribution(const std::string& name, const std::vector<Section*>& files, Section& out) {
  const auto all_are = [&](auto text) {
    return std::all_of(files.begin(), files.end(),
                       [&](const Section* one) { return text(*one->sample) == text(*files[0]->sample); });
  };
  const bool one_name = all_are([](const Sample& one) { return one.name; });
  ScoreFigure about{name, "", {}, files[0]->sample->item};
  about.tag.name = one_name ? files[0]->sample->name : "first score of each file";
  if (all_are([](const Sample& one) { return one.unit; })) about.tag.unit = files[0]->sample->unit;
  std::vector<float> all;
  for (const Section* file : files)
    all.insert(all.end(), file->sample->values.begin(), file->sample->values.end());
  const ScoreBins bins = bins_for(all);
  std::vector<ScoreGroup> groups;
  for (Section* file : files) {
    Sample& sample = *file->sample;
    groups.push_back(score_group(one_name ? file->file : file->file + ": " + sample.name, sample.values, bins,
                                 sample.missing));
  }
  out.parts.emplace_back(score_rows(about, "file", groups, bins));
  out.parts.emplace_back(score_table(about, {{"file", &groups}}));
}

// An axis has no place for infinite numbers, such as the logarithm of 0.
void leave_out_infinite(std::vector<Section>& files, Section& out) {
  for (Section& file : files)
    if (file.sample) {
      const auto count =
          std::erase_if(file.sample->values, [](float value) { return !std::isfinite(value); });
      file.sample->missing += count;
      if (count > 0)
        out.paragraphs.push_back("The distribution of " + file.file + " leaves out " +
                                 plural(count, "infinite value") + ".");
    }
}

}  // namespace

std::vector<std::string> short_names(const std::vector<std::string>& paths) {
  std::map<std::string, size_t> files;
  TakenNames taken;
  for (const std::string& path : paths) ++files[file_name(path)];
  std::vector<std::string> out;
  for (const std::string& path : paths) {
    std::string name = file_name(path);
    if (files[name] > 1) {
      const std::string folder =
          std::filesystem::path(split_index_name(path).file).parent_path().filename().string();
      if (!folder.empty()) name.insert(0, folder + "/");
    }
    out.push_back(free_name(cut_middle(name, kLongestName), taken, " (", ")"));
  }
  return out;
}

Section runs_section(const std::string& name, std::vector<Section>& files) {
  Section out;
  out.name = name;
  out.title = "All files side by side";
  add_table(files, out);
  leave_out_infinite(files, out);
  std::vector<std::pair<std::string, std::vector<Section*>>> items;  // and the files that have some
  for (Section& file : files) {
    if (!file.sample || file.sample->values.empty()) continue;
    const std::string& item = file.sample->item;
    auto at = std::find_if(items.begin(), items.end(), [&](const auto& one) { return one.first == item; });
    if (at == items.end()) at = items.insert(at, {item, {}});
    at->second.push_back(&file);
  }
  for (const auto& [item, with] : items)
    if (with.size() > 1) add_distribution(name + "_scores", with, out);
  return out;
}

}  // namespace carbon
