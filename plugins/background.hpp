// The background of +rank: how many SNVs of a scan, or alleles of a run of vep, have which score, from the
// histograms of carbon scan and carbon vep.
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
#include "src/statistics/allele_type.hpp"

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

/// How many alleles of one class have a score in each bin.
class Histogram {
 public:
  void add(int64_t bin, int64_t count) { counts_[bin] += count; }
  /// Adds up; no add() after it.
  void cumulate() {
    for (auto& [bin, count] : counts_) count = total_ += count;
  }
  /// -10 log10 of the share of the class in this bin and lower ones. The allele that is ranked counts as one
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

/// The bin of a score.
inline int64_t score_bin(carbon_run* run, double score) {
  char text[32];
  const size_t length = run->api->format_float(static_cast<float>(score), text);
  return carbon::histogram_bin(std::string_view(text, length));
}

/// The two kinds of histograms, by the command that writes them.
struct BackgroundKind {
  const char* command;
  const char* model_key;  // of the header line that says what the scores depend on
  const char* names;      // of the columns
  const char* names_text;
};
inline constexpr BackgroundKind kScanBackground{"carbon scan", "carbon_scanModel", "#TRI\tALT\tBIN\tCOUNT",
                                                "#TRI ALT BIN COUNT"};
inline constexpr BackgroundKind kVepBackground{"carbon vep", "carbon_vepModel", "#TAG\tTYPE\tBIN\tCOUNT",
                                               "#TAG TYPE BIN COUNT"};

/// The only tag of a scan.
inline constexpr const char* kScanTag = "CARBON_SCAN";

/// Histograms of one scan or one run of vep, or of their shards, one after the other in a file.
class Background {
 public:
  /// Reads the file.
  Background(carbon_run* run, const std::string& path)
      : run_(run), text_(checked(run->api->text_open(run, path.c_str()))) {
    for (std::string line; next(line);) {
      if (line.starts_with("##"))
        read_header(line);
      else if (line.starts_with('#'))
        read_names(line);
      else
        read_row(split(line, '\t'));
    }
    if (!names_seen_)
      fail(where() + ": the file ends without the line " +
           (kind_ ? kind_->names_text
                  : std::string(kScanBackground.names_text) + " or " + kVepBackground.names_text) +
           "; " + kAdvice);
    if (models_.empty())
      fail(where() + ": the file ends without a line ##" + kind_->model_key + "; " + kAdvice);
    if (total_ == 0) fail(where() + ": the file ends without a count, so there is nothing to rank against");
  }

  /// Whether it is of carbon scan, and so of SNVs and CARBON_SCAN alone.
  bool of_scan() const { return kind_ == &kScanBackground; }
  const BackgroundKind& kind() const { return *kind_; }
  /// The tags whose scores it has, and what the scores of each depend on.
  const std::map<std::string, HeaderFields>& models() const { return models_; }

  /// The counts of a class, the alleles for which `chosen` returns true for the first two columns; null if
  /// there are none. Made once for each name.
  template <class Chosen>
  const Histogram* class_of(const std::string& name, Chosen chosen) {
    const auto known = classes_.find(name);
    if (known != classes_.end()) return known->second ? &*known->second : nullptr;
    std::optional<Histogram>& made = classes_[name];
    for (const auto& [columns, bins] : rows_) {
      if (!chosen(columns.first, columns.second)) continue;
      if (!made) made.emplace();
      for (const auto& [bin, count] : bins) made->add(bin, count);
    }
    if (made) made->cumulate();
    return made ? &*made : nullptr;
  }

 private:
  static constexpr const char* kAdvice =
      "give a file that carbon scan --histogram or carbon vep --histogram wrote";

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

  void set_kind(const BackgroundKind& kind) {
    if (kind_ && kind_ != &kind)
      fail(where() +
           ": histograms of carbon scan and of carbon vep do not add up; give a file of one of them");
    kind_ = &kind;
  }

  void read_header(const std::string& line) {
    for (const BackgroundKind* kind : {&kScanBackground, &kVepBackground}) {
      const std::string start = std::string("##") + kind->model_key;
      if (!line.starts_with(start + "=")) continue;
      const std::optional<HeaderFields> fields = header_fields(line);
      if (!fields || !fields->contains("ID"))
        fail(where() + ": the line " + start + " is damaged; " + kAdvice);
      set_kind(*kind);
      add_model(kind == &kScanBackground ? kScanTag : fields->at("ID"), *fields);
    }
  }

  /// Each part of a file has its own line, and all of a tag have to agree.
  void add_model(const std::string& tag, const HeaderFields& fields) {
    const auto [known, added] = models_.emplace(tag, fields);
    if (added) {
      model_where_[tag] = where();
      return;
    }
    const std::string text = differences(known->second, model_where_[tag], fields, where());
    if (!text.empty())
      fail(where() + ": histograms of different " + (of_scan() ? "scans" : "runs") +
           " do not add up; they differ in " + text);
  }

  void read_names(const std::string& line) {
    if (line == kScanBackground.names)
      set_kind(kScanBackground);
    else if (line == kVepBackground.names)
      set_kind(kVepBackground);
    else
      fail(
          where() +
          ": expected the names #TRI, ALT, BIN and COUNT, or #TAG, TYPE, BIN and COUNT, separated by tabs; " +
          kAdvice);
    names_seen_ = true;
  }

  void read_row(const std::vector<std::string>& fields) {
    if (!names_seen_)
      fail(where() + ": a line before " + (kind_ ? kind_->names_text : "the names of the columns") + "; " +
           kAdvice);
    if (fields.size() != 4)
      fail(where() + ": " + std::to_string(fields.size()) + " columns; expected 4, separated by tabs");
    if (of_scan())
      check_snv(fields[0], fields[1]);
    else
      check_type(fields[0], fields[1]);
    int64_t bin = 0, count = 0;
    if (!parse_number(fields[2], bin))
      fail(where() + ": BIN is " + shown(fields[2]) + "; expected an integer");
    if (!parse_number(fields[3], count) || count <= 0)
      fail(where() + ": COUNT is " + shown(fields[3]) + "; expected a positive integer below 2^63");
    if (count > std::numeric_limits<int64_t>::max() - total_)
      fail(where() + ": the counts up to here add up to 2^63 or more");
    total_ += count;
    rows_[{fields[0], fields[1]}][bin] += count;
  }

  void check_snv(const std::string& trinucleotide, const std::string& alt) const {
    constexpr std::string_view letters = "ACGT";
    const bool known = trinucleotide != ".";
    if (known && (trinucleotide.size() != 3 || trinucleotide.find_first_not_of(letters) != std::string::npos))
      fail(where() + ": TRI is " + shown(trinucleotide) + "; expected three letters A, C, G, T, or .");
    if (alt.size() != 1 || letters.find(alt) == std::string::npos)
      fail(where() + ": ALT is " + shown(alt) + "; expected A, C, G or T");
    if (known && trinucleotide[1] == alt[0])
      fail(where() + ": ALT " + alt + " is the base in the middle of " + trinucleotide +
           ", so this is no SNV");
  }

  void check_type(const std::string& tag, const std::string& type) const {
    if (!models_.contains(tag))
      fail(where() + ": TAG is " + shown(tag) + ", of which no line ##carbon_vepModel before it speaks; " +
           kAdvice);
    if (std::find(std::begin(carbon::kRankTypes), std::end(carbon::kRankTypes), type) ==
        std::end(carbon::kRankTypes))
      fail(where() + ": TYPE is " + shown(type) +
           "; expected snv, mnv, other, or ins: or del: with 1, 2, 3, 4-6, " + "7-12, 13-24, 25-48 or 49+");
  }

  using Bins = std::map<int64_t, int64_t>;

  carbon_run* run_;
  carbon_text* text_;
  const BackgroundKind* kind_ = nullptr;  // null before a line says it
  std::map<std::string, HeaderFields> models_;
  std::map<std::string, std::string> model_where_;
  bool names_seen_ = false;
  int64_t total_ = 0;
  std::map<std::pair<std::string, std::string>, Bins> rows_;  // by the first two columns
  std::map<std::string, std::optional<Histogram>> classes_;
};

}  // namespace carbon_plugins
