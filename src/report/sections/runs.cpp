#include "src/report/sections/runs.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

#include "src/base/words.hpp"
#include "src/report/drawing/plot.hpp"
#include "src/report/sections/distributions.hpp"

namespace carbon {
namespace {

constexpr size_t kLongestName = 40, kLongestValue = 60;  // letters

struct Column {
  TableColumn head;
  std::vector<std::string> values;  // of each file; "." for none

  bool equal() const {
    return std::all_of(values.begin(), values.end(), [&](const auto& one) { return one == values[0]; });
  }
};

// Columns in the order in which files have them.
class Columns {
 public:
  explicit Columns(size_t files) : files_(files) {}

  void put(const TableColumn& head, size_t file, std::string value) {
    const auto same = [&](const Column& one) {
      return one.head.name == head.name && one.head.about == head.about;
    };
    auto at = std::find_if(all_.begin(), all_.end(), same);
    if (at == all_.end()) at = all_.insert(at, Column{head, std::vector<std::string>(files_, ".")});
    at->values[file] = std::move(value);
  }
  const std::vector<Column>& all() const { return all_; }

 private:
  size_t files_;
  std::vector<Column> all_;
};

// What the headers say of how the files were made.
Columns facts_of(const std::vector<Section>& files) {
  Columns out(files.size());
  for (size_t f = 0; f < files.size(); ++f)
    for (const auto& [name, value] : files[f].provenance)
      if (name != "File" && name != "Command") out.put({name}, f, cut_text(value, kLongestValue));
  return out;
}

Columns statistics_of(const std::vector<Section>& files) {
  Columns out(files.size());
  for (size_t f = 0; f < files.size(); ++f)
    for (const auto& [key, title, about, value] : files[f].statistics) {
      const bool whole = value == std::round(value) && value >= 0;
      out.put({title, about, true}, f, whole ? count_text(static_cast<uint64_t>(value)) : six_digits(value));
    }
  return out;
}

// A row for each file. What all of them have alike is said once, above.
void add_table(const std::vector<Section>& files, Section& out) {
  Table table;
  table.title = "All files: " + count_text(files.size());
  table.columns = {{"File"}, {"Content"}};
  for (const Section& file : files) table.rows.push_back({cut_text(file.file, kLongestName), file.content});
  std::string alike;
  const auto add = [&](const Column& column) {
    table.columns.push_back(column.head);
    for (size_t f = 0; f < files.size(); ++f) table.rows[f].push_back(column.values[f]);
  };
  const Columns facts = facts_of(files), statistics = statistics_of(files);
  for (const Column& column : statistics.all()) add(column);
  for (const Column& column : facts.all())
    if (column.equal())
      alike += (alike.empty() ? "" : "; ") + column.head.name + ": " + column.values[0];
    else
      add(column);
  if (!alike.empty()) out.paragraphs.push_back("Alike in all files: " + alike + ".");
  out.parts.emplace_back(std::move(table));
}

// Of the files that have numbers of the same kind of item, on one axis.
void add_distribution(const std::string& name, const std::vector<Section*>& files, Section& out) {
  const auto all_are = [&](auto text) {
    return std::all_of(files.begin(), files.end(),
                       [&](const Section* one) { return text(*one->sample) == text(*files[0]->sample); });
  };
  const bool one_name = all_are([](const Sample& one) { return one.name; });
  ScoreTag tag;
  tag.name = one_name ? files[0]->sample->name : "first score of each file";
  if (all_are([](const Sample& one) { return one.unit; })) tag.unit = files[0]->sample->unit;
  std::vector<float> all;
  for (const Section* file : files)
    std::copy_if(file->sample->values.begin(), file->sample->values.end(), std::back_inserter(all),
                 [](float value) { return std::isfinite(value); });
  if (all.empty()) return;
  const ScoreBins bins = bins_for(all);
  std::vector<ScoreGroup> groups;
  for (Section* file : files) {
    Sample& sample = *file->sample;
    const std::string label = cut_text(file->file, kLongestName);
    ScoreGroup& group = groups.emplace_back();
    group.name = one_name ? label : sample.name + " in " + label;
    group.alleles = sample.values.size() + sample.missing;
    std::erase_if(sample.values, [](float value) { return !std::isfinite(value); });
    for (const float value : sample.values) group.bins.add(bins, value);
    group.scores = ScoreSummary(sample.values);
  }
  ScoreFigure about{name, "", tag};
  about.item = files[0]->sample->item;
  out.parts.emplace_back(score_rows(about, "file", groups, bins));
  out.parts.emplace_back(score_table(about, {{"file", &groups}}));
}

}  // namespace

Section runs_section(const std::string& name, std::vector<Section>& files) {
  Section out;
  out.name = name;
  out.title = "All files side by side";
  add_table(files, out);
  std::vector<std::string_view> items;  // that some file has
  for (const Section& file : files)
    if (file.sample && std::find(items.begin(), items.end(), file.sample->item) == items.end())
      items.push_back(file.sample->item);
  for (const std::string_view item : items) {
    std::vector<Section*> with;
    for (Section& file : files)
      if (file.sample && file.sample->item == item) with.push_back(&file);
    if (with.size() > 1) add_distribution(name + "_scores", with, out);
  }
  return out;
}

}  // namespace carbon
