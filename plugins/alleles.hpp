// What a record's INFO column says of each of its ALTs: a number, a label.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugins/support.hpp"
#include "src/formats/carbon_scores.hpp"
#include "src/statistics/label.hpp"

namespace carbon_plugins {

inline carbon_values info(carbon_run* run, const carbon_record* record, const std::string& tag) {
  carbon_values values{};
  checked(run->api->record_info(run, record, tag.c_str(), &values));
  return values;
}

inline size_t alt_count(carbon_run* run, const carbon_record* record) {
  return run->api->record_allele_count(run, record) - 1;
}

/// `contig:position`, for messages.
inline std::string place(carbon_run* run, const carbon_record* record) {
  return std::string(run->api->record_contig(run, record)) + ":" +
         std::to_string(run->api->record_pos(run, record) + 1);
}

/// REF for 0, else an ALT. The letters of bases mean the same in any case; names of contigs in breakends and
/// of symbolic alleles do not.
inline std::string allele_text(carbon_run* run, const carbon_record* record, size_t index) {
  std::string text = checked(run->api->record_allele(run, record, index));
  return text.find_first_of("<[]") == std::string::npos ? upper_case(std::move(text)) : text;
}

/// Where the values of the i-th ALT begin and how many there are.
inline std::pair<size_t, size_t> values_of(carbon_run* run, const carbon_record* record,
                                           const carbon_values& values, const std::string& tag, size_t i) {
  const bool of_alts = values.per == CARBON_PER_ALT, of_alleles = values.per == CARBON_PER_ALLELE;
  if (!of_alts && !of_alleles) return {0, values.count};
  const size_t alts = alt_count(run, record);
  if (values.count == alts + of_alleles) return {i + of_alleles, 1};
  if (values.count <= 1) return {0, values.count};  // a single '.' for all, or the tag alone
  fail(place(run, record) + ": " + std::to_string(values.count) + " values of " + tag + " for " +
       std::to_string(alts) + " alternative alleles");
}

/// The number of the i-th ALT: nothing if the record lacks the tag, NaN for a missing value.
inline std::optional<double> number_of(carbon_run* run, const carbon_record* record,
                                       const carbon_values& values, const std::string& tag, size_t i) {
  const auto [at, count] = values_of(run, record, values, tag, i);
  if (count > 1)
    fail(place(run, record) + ": " + tag + " has " + std::to_string(count) +
         " values, and the header does not say of which allele each is (Number=A or R)");
  return count == 0 ? std::nullopt : std::optional(values.numbers[at]);
}

/// Calls `use` with each header line of a key.
template <class Use>
void for_header_lines(carbon_run* run, const char* key, Use use) {
  const char* line = nullptr;
  for (size_t i = 0; checked(run->api->header_line(run, key, i, &line)), line; ++i) use(line);
}

/// Warns where the scores of the input are those of the bundled model, which are no result.
inline void warn_of_demonstration(carbon_run* run) {
  bool tiny = false;
  for (const char* key : carbon::kModelKeys)
    for_header_lines(run, key, [&](const char* line) {
      const std::string model = carbon::header_field(carbon::header_fields(line), "Model");
      tiny |= model.substr(model.rfind('/') + 1) == "carbon-tiny";
    });
  if (tiny)
    run->api->message(
        run, CARBON_WARNING,
        "the input has scores of carbon-tiny, a demonstration model: not meaningful for variants");
}

/// Which values of a tag are those of damaging alleles, by the header.
inline carbon::ScoreDirection direction_of(carbon_run* run, const std::string& tag) {
  carbon::CarbonModels models;
  for (const char* key : carbon::kModelKeys)
    for_header_lines(run, key, [&](const char* line) { models.add(line); });
  for_header_lines(run, carbon::kCombineKey, [&](const char* line) { models.add(line); });
  std::string description;
  for_header_lines(run, "INFO", [&](const char* line) {
    const carbon::HeaderFields fields = carbon::header_fields(line);
    if (carbon::header_field(fields, "ID") == tag) description = carbon::header_field(fields, "Description");
  });
  return models.direction(tag, description);
}

/// Fails if the header knows the direction of a tag that --negate is given for.
inline void check_negate(const std::string& tag, carbon::ScoreDirection direction) {
  if (direction == carbon::ScoreDirection::unknown) return;
  const bool low = direction == carbon::ScoreDirection::low;
  fail("--negate is for tags whose direction is not known: by the header " +
       std::string(low ? "low" : "high") + " values of " + tag + " are those of damaging alleles" +
       (low ? ", and minus the score is taken already" : "") + "; leave it out");
}

using carbon::Label;
using carbon::Verdict;

/// The expression of --label.
inline Label parsed_label(const std::string& text) {
  try {
    return Label(text);
  } catch (const carbon::LabelError& error) {
    fail("--label " + error.reason);
  }
}

/// Tells the label its tag's type by the header, any but CARBON_TYPE_NONE.
inline void set_label_type(Label& label, int type) {
  using carbon::LabelType;
  try {
    label.set_type(type == CARBON_TYPE_FLAG      ? LabelType::flag
                   : type == CARBON_TYPE_INTEGER ? LabelType::integer
                   : type == CARBON_TYPE_FLOAT   ? LabelType::real
                                                 : LabelType::text);
  } catch (const carbon::LabelError& error) {
    fail("--label: " + error.reason);
  }
}

/// What the label says of each ALT. `words` counts the values of its tag.
inline std::vector<Verdict> judge(carbon_run* run, const carbon_record* record, const Label& label,
                                  carbon::LabelWords& words) {
  const carbon_values values = info(run, record, label.tag());
  std::vector<Verdict> out(alt_count(run, record));
  if (label.is_flag()) {
    const bool present = values.type == CARBON_TYPE_FLAG;
    std::fill(out.begin(), out.end(), Verdict{Verdict::classed, present, present ? 1.0 : 0.0});
    return out;
  }
  for (size_t i = 0; i < out.size(); ++i) {
    if (values.type == CARBON_TYPE_STRING) {
      const auto [at, count] = values_of(run, record, values, label.tag(), i);
      out[i] = label.judge_texts(values.texts + at, count, &words);
    } else if (values.type != CARBON_TYPE_NONE) {
      out[i] = label.judge_numbers(number_of(run, record, values, label.tag(), i), &words);
    }
  }
  return out;
}

/// After the last record: says which words a preset found. Warns of words of --label that no allele has, and
/// fails if they are all those of a class.
inline void check_words(carbon_run* run, const Label& label, const carbon::LabelWords& words) {
  if (label.is_preset()) run->api->message(run, CARBON_WARNING, words.sentence().c_str());
  const auto unfound = label.unfound(words);
  if (!unfound) return;
  if (unfound->whole_class) fail("--label: " + unfound->reason);
  run->api->message(run, CARBON_WARNING, ("--label: " + unfound->reason).c_str());
}

}  // namespace carbon_plugins
