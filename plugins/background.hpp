// The background of +rank: how many SNVs of a scan have which score, from the histograms of carbon scan.
//
// Knows neither records nor references.
#pragma once

#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "plugins/support.hpp"

namespace carbon_plugins {

/// What a header line ##KEY=<NAME=VALUE,...> says, by name. Compared instead of the text, because programs
/// that rewrite a header may quote values or change their order.
using HeaderFields = std::map<std::string, std::string>;

/// Nothing if the line is not of that form.
inline std::optional<HeaderFields> header_fields(std::string_view line) {
  HeaderFields fields;
  size_t at = line.find("=<");
  if (at == std::string_view::npos) return std::nullopt;
  ++at;
  while (line.substr(at, 1) == "<" || line.substr(at, 1) == ",") {
    const size_t equals = line.find('=', at);
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string name(line.substr(at + 1, equals - at - 1));
    at = equals + 1;
    const bool quoted = line.substr(at, 1) == "\"";
    const std::string_view ends = quoted ? "\"" : ",>";
    std::string value;
    for (at += quoted; at < line.size() && ends.find(line[at]) == std::string_view::npos; ++at) {
      if (quoted && line[at] == '\\' && at + 1 < line.size()) ++at;
      value += line[at];
    }
    if (quoted) ++at;
    fields[name] = value;
    if (at >= line.size()) return std::nullopt;
  }
  return line.substr(at) == ">" ? std::optional(fields) : std::nullopt;
}

/// In which fields two lines differ: "NAME (VALUE in the VCF, VALUE in the background), ..."; empty if in
/// none.
inline std::string differences(const HeaderFields& a, const std::string& in_a, const HeaderFields& b,
                               const std::string& in_b) {
  const auto shown = [](const HeaderFields& fields, const std::string& name) {
    const auto field = fields.find(name);
    return field == fields.end() ? "nothing" : field->second;
  };
  HeaderFields names = a;
  names.insert(b.begin(), b.end());
  std::string out;
  for (const auto& [name, value] : names) {
    const std::string of_a = shown(a, name), of_b = shown(b, name);
    if (a.contains(name) == b.contains(name) && of_a == of_b) continue;
    out += (out.empty() ? "" : ", ") + name + " (" + of_a + " in " + in_a + ", " + of_b + " in " + in_b + ")";
  }
  return out;
}

/// How many SNVs of one class have a score in each bin.
class Histogram {
 public:
  void add(int64_t bin, int64_t count) { counts_[bin] += count; }
  /// Adds up; no add() after it.
  void cumulate() {
    for (auto& [bin, count] : counts_) count = total_ += count;
  }
  /// -10 log10 of the share of the class in this bin and lower ones. The SNV that is ranked counts as one
  /// more of the class, so that there is a value below all bins.
  double phred(int64_t bin) const {
    const auto above = counts_.upper_bound(bin);
    const int64_t below = above == counts_.begin() ? 0 : std::prev(above)->second;
    const double share = (static_cast<double>(below) + 1) / (static_cast<double>(total_) + 1);
    return 0 - 10 * std::log10(share);  // not -10 * ..., which makes -0 of a share of 1
  }

 private:
  std::map<int64_t, int64_t> counts_;
  int64_t total_ = 0;
};

/// The bin of a score: floor(100 score), of the score as a VCF or a table has it, so that a score that went
/// through text stays in its bin.
inline int64_t score_bin(carbon_run* run, double score) {
  char text[32];
  const size_t length = run->api->format_float(static_cast<float>(score), text);
  double printed = 0;
  std::from_chars(text, text + length, printed);
  constexpr double limit = 1e15;  // no scan has such scores, but an INFO column may
  return static_cast<int64_t>(std::clamp(std::floor(100 * printed), -limit, limit));
}

/// Histograms of one scan or of its shards, one after the other in a file.
class Background {
 public:
  /// Reads the file. With `by_context`, each trinucleotide and ALT is a class of its own.
  Background(carbon_run* run, const std::string& path, bool by_context)
      : run_(run), by_context_(by_context), text_(checked(run->api->text_open(run, path.c_str()))) {
    for (std::string line; next(line);) {
      if (line.starts_with("##"))
        read_header(line);
      else if (line.starts_with('#'))
        read_names(line);
      else
        read_row(split(line, '\t'));
    }
    if (!names_seen_) fail(where() + ": the file ends without the line #TRI ALT BIN COUNT; " + kAdvice);
    if (!model_) fail(where() + ": the file ends without a line ##carbon_scanModel; " + kAdvice);
    if (total_ == 0) fail(where() + ": the file ends without a count, so there is nothing to rank against");
    for (auto& [name, histogram] : classes_) histogram.cumulate();
  }

  const HeaderFields& model() const { return *model_; }
  /// The class of an SNV, null if the background has none of it. The trinucleotide may be empty if the
  /// classes do not depend on it.
  const Histogram* find(const std::string& trinucleotide, char alt) const {
    const auto found = classes_.find(class_name(trinucleotide, alt));
    return found == classes_.end() ? nullptr : &found->second;
  }

 private:
  static constexpr const char* kNames = "#TRI\tALT\tBIN\tCOUNT";
  static constexpr const char* kAdvice = "give a file that carbon scan --histogram wrote";

  std::string class_name(const std::string& trinucleotide, char alt) const {
    return by_context_ ? trinucleotide + alt : "";
  }

  bool next(std::string& line) {
    const char* bytes = nullptr;
    size_t length = 0;
    if (checked(run_->api->text_line(run_, text_, &bytes, &length)) == 0) return false;
    line.assign(bytes, length);
    return true;
  }
  static std::string shown(const std::string& field) {
    return "'" + (field.size() > 40 ? field.substr(0, 40) + "..." : field) + "'";
  }
  std::string where() const { return checked(run_->api->text_where(run_, text_)); }

  void read_header(const std::string& line) {
    if (!line.starts_with("##carbon_scanModel=")) return;
    const std::optional<HeaderFields> fields = header_fields(line);
    if (!fields) fail(where() + ": the line ##carbon_scanModel is damaged; " + kAdvice);
    if (!model_) {
      model_ = fields;
      model_where_ = where();
    } else if (const std::string text = differences(*model_, model_where_, *fields, where()); !text.empty()) {
      fail(where() + ": histograms of different scans do not add up; they differ in " + text);
    }
  }

  void read_names(const std::string& line) {
    if (line != kNames)
      fail(where() + ": expected the names #TRI, ALT, BIN and COUNT, separated by tabs; " + kAdvice);
    names_seen_ = true;
  }

  void read_row(const std::vector<std::string>& fields) {
    constexpr std::string_view letters = "ACGT";
    if (!names_seen_) fail(where() + ": a line before #TRI ALT BIN COUNT; " + kAdvice);
    if (fields.size() != 4)
      fail(where() + ": " + std::to_string(fields.size()) + " columns; expected 4, separated by tabs");
    const std::string &trinucleotide = fields[0], &alt = fields[1];
    const bool known = trinucleotide != ".";
    if (known && (trinucleotide.size() != 3 || trinucleotide.find_first_not_of(letters) != std::string::npos))
      fail(where() + ": TRI is " + shown(trinucleotide) + "; expected three letters A, C, G, T, or .");
    if (alt.size() != 1 || letters.find(alt) == std::string::npos)
      fail(where() + ": ALT is " + shown(alt) + "; expected A, C, G or T");
    if (known && trinucleotide[1] == alt[0])
      fail(where() + ": ALT " + alt + " is the base in the middle of " + trinucleotide +
           ", so this is no SNV");
    int64_t bin = 0, count = 0;
    if (!parse_number(fields[2], bin))
      fail(where() + ": BIN is " + shown(fields[2]) + "; expected an integer");
    if (!parse_number(fields[3], count) || count <= 0)
      fail(where() + ": COUNT is " + shown(fields[3]) + "; expected a positive integer below 2^63");
    if (count > std::numeric_limits<int64_t>::max() - total_)
      fail(where() + ": the counts up to here add up to 2^63 or more");
    total_ += count;
    classes_[class_name(trinucleotide, alt[0])].add(bin, count);
  }

  carbon_run* run_;
  bool by_context_;
  carbon_text* text_;
  std::optional<HeaderFields> model_;
  std::string model_where_;
  bool names_seen_ = false;
  int64_t total_ = 0;
  std::map<std::string, Histogram> classes_;
};

}  // namespace carbon_plugins
