#include "src/report/sections/variant_counts.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "src/report/drawing/plot.hpp"
#include "src/report/drawing/theme.hpp"
#include "src/report/sections/variant_groups.hpp"

namespace carbon {
namespace {

constexpr std::string_view kTypes[] = {"SNV", "MNV", "INS", "DEL", "complex", "other"};
constexpr size_t kFlags = 30;  // different words that are kept apart
constexpr const char* kFurther = "further flags";

// In the order of carbon vep.
constexpr std::pair<std::string_view, std::string_view> kMeanings[] = {
    {"no_contig", "The reference sequences have no contig of this name."},
    {"edge", "The variant lies, wholly or partly, outside of the contig."},
    {"symbolic", "The allele is named instead of spelled out, and its bases are not exactly known."},
    {"star", "The allele is *, so a deletion of another record covers the place."},
    {"non_acgt", "The alleles, or the reference below them, have a letter other than A, C, G and T."},
    {"ref_mismatch", "REF is not what the reference sequence has at this place."},
    {"too_long", "An allele is too long for the window that the model reads."},
    {"multibase", "The recipe next-token scores changes of one base, and this is another one."},
};

size_t flag_order(const std::string& flag) {
  return static_cast<size_t>(std::find_if(std::begin(kMeanings), std::end(kMeanings),
                                          [&](const auto& m) { return m.first == flag; }) -
                             std::begin(kMeanings));
}

std::string meaning(const std::string& flag) {
  const size_t at = flag_order(flag);
  if (at < std::size(kMeanings)) return std::string(kMeanings[at].second);
  return flag == kFurther ? "More words, each of few alleles." : "This version of carbon has no such flag.";
}

std::vector<std::pair<std::string, uint64_t>> in_order(const std::map<std::string, uint64_t>& flags) {
  std::vector<std::pair<std::string, uint64_t>> out(flags.begin(), flags.end());
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return flag_order(a.first) < flag_order(b.first); });
  return out;
}

// "3 ref_mismatch, 1 without a flag"
std::string list_of(const std::map<std::string, uint64_t>& flags) {
  std::string out, unflagged;
  for (const auto& [flag, count] : in_order(flags)) {
    if (flag.empty())
      unflagged = count_text(count) + " without a flag";
    else
      out += (out.empty() ? "" : ", ") + count_text(count) + " " + flag;
  }
  return out + (out.empty() || unflagged.empty() ? "" : ", ") + unflagged;
}

Figure draw_flags(const std::string& tag, const std::string& sample,
                  const std::vector<std::pair<std::string, uint64_t>>& flags) {
  Figure out;
  out.title = "Why scores are missing: " + tag;
  uint64_t most = 0, all = 0;
  std::vector<std::string> names;
  for (const auto& [flag, count] : flags) names.push_back(flag), most = std::max(most, count), all += count;
  Axis counts = round_axis("Alleles", 0, 1.1 * static_cast<double>(most));
  Plot plot(out.title, 760, 84 + 30 * static_cast<double>(flags.size()), counts, category_axis("", names));
  nlohmann::ordered_json data;
  out.numbers.columns = {{"Flag"}, {"Alleles", "Alternative alleles with this flag", true}};
  for (size_t i = 0; i < flags.size(); ++i) {
    const auto& [flag, count] = flags[i];
    const auto middle = static_cast<double>(i), value = static_cast<double>(count);
    plot.bar(0, value, middle - 0.3, middle + 0.3, theme::kSeries[0]);
    plot.note(value, middle, 6, 4, count_text(count), {.colour = theme::kInk, .anchor = Anchor::start});
    out.numbers.rows.push_back({flag, std::to_string(count)});
    data[flag] = count;
  }
  out.svg = plot.picture();
  out.caption = "The alternative alleles with each flag of " + tag + ", " + count_text(all) +
                " together. A flag says why an allele has no score.";
  const auto largest = std::max_element(flags.begin(), flags.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  out.words =
      "The most frequent flag is " + largest->first + " with " + counted(largest->second, "allele") + ".";
  out.multiqc = nlohmann::ordered_json{{"plot_type", "bargraph"},
                                       {"pconfig", {{"title", "carbon: " + out.title}, {"ylab", "Alleles"}}},
                                       {"data", {{sample, data}}}}
                    .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return out;
}

Table explain(const std::string& tag, const std::vector<std::pair<std::string, uint64_t>>& flags) {
  Table out;
  out.title = "What the flags of " + tag + " mean";
  out.columns = {{"Flag"}, {"Alleles", "Alternative alleles with this flag", true}, {"Meaning"}};
  for (const auto& [flag, count] : flags) out.rows.push_back({flag, count_text(count), meaning(flag)});
  return out;
}

}  // namespace

VariantCounts::VariantCounts(const VariantLayout& layout)
    : layout_(layout),
      types_(std::size(kTypes)),
      scored_(layout.tags.size()),
      missing_(layout.tags.size()),
      flags_(layout.flag_tags.size()) {}

// Damaged files could have any number of words.
void VariantCounts::count(const std::string& flag, ByFlag& flags) {
  const std::string word = cut_text(flag, 40);
  if (flags.size() >= kFlags && !flags.contains(word))
    ++flags[kFurther];
  else
    ++flags[word];
}

void VariantCounts::add(const VariantRecord& record) {
  ++records_;
  if (record.alts.empty()) ++without_alts_;
  alleles_ += record.alts.size();
  for (size_t alt = 0; alt < record.alts.size(); ++alt) {
    const std::string_view type = record.types[alt];
    ++types_[static_cast<size_t>(std::find(std::begin(kTypes), std::end(kTypes) - 1, type) -
                                 std::begin(kTypes))];
    for (size_t f = 0; f < flags_.size(); ++f)
      if (!record.flags[f][alt].empty()) count(record.flags[f][alt], flags_[f]);
    for (size_t t = 0; t < scored_.size(); ++t) {
      if (!std::isnan(record.scores[t][alt])) {
        ++scored_[t];
        continue;
      }
      const size_t flag_tag = layout_.tags[t].flag_tag;
      count(flag_tag == kNoFlagTag ? "" : record.flags[flag_tag][alt], missing_[t]);
    }
  }
}

std::string VariantCounts::sentences() const {
  const std::string records = layout_.table ? "line" : "record";
  std::string out =
      "The file has " + counted(records_, records) + " with " + counted(alleles_, "alternative allele");
  std::string types;
  for (size_t i = 0; i < types_.size(); ++i)
    if (types_[i] > 0)
      types += (types.empty() ? ": " : ", ") + count_text(types_[i]) + " " + std::string(kTypes[i]);
  out += types + ".";
  if (without_alts_ > 0)
    out += " " + counted(without_alts_, records) + (without_alts_ == 1 ? " has" : " have") +
           " no alternative allele.";
  for (size_t t = 0; t < scored_.size(); ++t) {
    const uint64_t missing = alleles_ - scored_[t];
    out += " " + layout_.tags[t].name + " has a score for " + counted(scored_[t], "allele");
    if (missing > 0)
      out +=
          "; " + count_text(missing) + (missing == 1 ? " has" : " have") + " none: " + list_of(missing_[t]);
    out += ".";
  }
  return out;
}

void VariantCounts::add_flag_figures(const std::string& name, const std::string& sample,
                                     Section& section) const {
  const std::vector<std::string> parts = figure_parts(layout_.flag_tags);
  for (size_t f = 0; f < flags_.size(); ++f) {
    if (flags_[f].empty()) continue;
    const auto flags = in_order(flags_[f]);
    Figure figure = draw_flags(layout_.flag_tags[f], sample, flags);
    figure.name = name + parts[f] + "_reasons";
    section.parts.emplace_back(std::move(figure));
    section.parts.emplace_back(explain(layout_.flag_tags[f], flags));
  }
}

}  // namespace carbon
