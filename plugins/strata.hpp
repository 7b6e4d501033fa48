// The parts of a file whose alleles are compared with one another, or reported one by one: those of a type,
// of a FILTER, of a value of an INFO tag.
#pragma once

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plugins/alleles.hpp"
#include "plugins/support.hpp"
#include "src/statistics/allele_type.hpp"

namespace carbon_plugins {

/// The number of an ALT in a tag of whatever type; none unless there is one for each ALT.
inline std::optional<double> number_of_alt(carbon_run* run, const carbon_record* record, const char* tag,
                                           size_t i) {
  const carbon_values values = info(run, record, tag);
  if (values.count != alt_count(run, record)) return std::nullopt;
  double number = std::numeric_limits<double>::quiet_NaN();
  if (values.type == CARBON_TYPE_STRING) {
    std::string text = values.texts[i] ? values.texts[i] : "";
    if (text.starts_with('+')) text.erase(0, 1);
    if (!parse_number(text, number)) return std::nullopt;
  } else {
    number = values.numbers[i];
  }
  return std::isnan(number) ? std::nullopt : std::optional(number);
}

/// The bases that a named allele changes, by END where that is of this ALT, else by SVLEN; 0 if the record
/// does not say. That both agree, and the ends are exact, carbon vep has seen to before it gave a score.
inline int64_t named_length(carbon_run* run, const carbon_record* record, size_t i) {
  const std::optional<double> end = number_of_alt(run, record, "END", i),
                              length = number_of_alt(run, record, "SVLEN", i);
  const double bases = end      ? *end - static_cast<double>(run->api->record_pos(run, record) + 1)
                       : length ? std::abs(*length)
                                : 0;
  return bases >= 1 && bases < 1e15 ? static_cast<int64_t>(bases) : 0;
}

/// The number among kRankTypes of the i-th ALT: types of alleles whose scores may be compared.
inline std::optional<size_t> rank_type_of(carbon_run* run, const carbon_record* record, size_t i) {
  const std::string alt = upper_case(checked(run->api->record_allele(run, record, i + 1)));
  if (alt.starts_with('<')) return carbon::named_rank_type(alt, named_length(run, record, i));
  return carbon::rank_type(upper_case(checked(run->api->record_allele(run, record, 0))), alt);
}

/// Of so many ranks among alleles of all types.
inline void warn_of_indels(carbon_run* run, uint64_t count) {
  if (count == 0) return;
  run->api->message(run, CARBON_WARNING,
                    (std::to_string(count) +
                     " ranks are those of insertions and deletions, whose scores grow with their length; "
                     "--by type compares those of a length")
                        .c_str());
}

class Strata {
 public:
  static constexpr size_t kMost = 1000;

  /// `by` is type (rank_type_of), TYPE, FILTER, a tag, or INFO/TAG, which a tag of one of these names needs;
  /// and if `may_be_one`, none: all alleles are one stratum.
  Strata(carbon_run* run, const std::string& by, bool may_be_one = false) : run_(run), by_(by) {
    if ((may_be_one && by == "none") || by == "type" || by == "TYPE" || by == "FILTER") return;
    tag_ = by.starts_with("INFO/") ? by.substr(5) : by;
    if (checked(run->api->info_type(run, tag_.c_str())) == CARBON_TYPE_NONE)
      fail("--by " + by + ": the header of the first file has no INFO tag " + tag_ + "; expected type, " +
           (may_be_one ? "none, " : "") + "TYPE, FILTER or a tag");
  }

  /// The number of the stratum of each ALT.
  std::vector<uint32_t> of(const carbon_record* record) {
    std::vector<uint32_t> out(alt_count(run_, record));
    const carbon_values values = tag_.empty() ? carbon_values{} : info(run_, record, tag_);
    for (size_t i = 0; i < out.size(); ++i) out[i] = number(name(record, values, i));
    return out;
  }
  /// In the order of the file.
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::string name(const carbon_record* record, const carbon_values& values, size_t i) {
    if (!tag_.empty()) return text(record, values, i);
    if (by_ == "FILTER") return checked(run_->api->record_filter(run_, record));
    if (by_ == "none") return "all";
    if (by_ == "type") {
      const std::optional<size_t> type = rank_type_of(run_, record, i);
      return type ? carbon::kRankTypes[*type] : ".";
    }
    return carbon::allele_type(allele_text(run_, record, 0), allele_text(run_, record, i + 1));
  }

  /// The tag's values as they stand in the file; `.` without the tag, 1 for a flag.
  std::string text(const carbon_record* record, const carbon_values& values, size_t i) {
    if (values.type == CARBON_TYPE_NONE) return ".";
    if (values.type == CARBON_TYPE_FLAG) return "1";
    const auto [at, count] = values_of(run_, record, values, tag_, i);
    std::string out;
    for (size_t v = at; v < at + count; ++v) out += (v > at ? "," : "") + value_text(values, v);
    return out;
  }
  std::string value_text(const carbon_values& values, size_t at) {
    if (values.type == CARBON_TYPE_STRING) return values.texts[at] ? values.texts[at] : ".";
    if (values.type == CARBON_TYPE_INTEGER) return to_text(values.numbers[at]);
    char digits[32];
    if (std::isnan(values.numbers[at])) return ".";
    return {digits, run_->api->format_float(static_cast<float>(values.numbers[at]), digits)};
  }

  uint32_t number(const std::string& name) {
    const auto [at, added] = numbers_.emplace(name, static_cast<uint32_t>(names_.size()));
    if (added) names_.push_back(name);
    if (names_.size() > kMost)
      fail("--by " + by_ + ": more than " + std::to_string(kMost) +
           " different values; give a tag with few values, such as classes or bins");
    return at->second;
  }

  carbon_run* run_;
  std::string by_, tag_;  // a tag, or none
  std::map<std::string, uint32_t> numbers_;
  std::vector<std::string> names_;
};

}  // namespace carbon_plugins
