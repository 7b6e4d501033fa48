// The parts of a file that are reported one by one: alleles of a type, of a FILTER, of a value of an INFO
// tag.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plugins/alleles.hpp"
#include "plugins/support.hpp"
#include "src/statistics/allele_type.hpp"

namespace carbon_plugins {

class Strata {
 public:
  static constexpr size_t kMost = 1000;

  /// `by` is TYPE, FILTER, a tag, or INFO/TAG, which a tag of the name TYPE or FILTER needs.
  Strata(carbon_run* run, const std::string& by) : run_(run), by_(by) {
    if (by == "TYPE" || by == "FILTER") return;
    tag_ = by.starts_with("INFO/") ? by.substr(5) : by;
    if (checked(run->api->info_type(run, tag_.c_str())) == CARBON_TYPE_NONE)
      fail("--by " + by + ": the header of the first file has no INFO tag " + tag_ +
           "; expected TYPE, FILTER or a tag");
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
  std::string by_, tag_;  // no tag with TYPE and FILTER
  std::map<std::string, uint32_t> numbers_;
  std::vector<std::string> names_;
};

}  // namespace carbon_plugins
