#include "src/report/sources/labels.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "src/base/error.hpp"
#include "src/base/json.hpp"

namespace carbon {
namespace {

constexpr const char* kHere = "read_label";

Label parsed(const std::string& expression) {
  try {
    return Label(expression);
  } catch (const LabelError& error) {
    // The reason begins with the expression; each of the two may be cut.
    throw Error(kHere,
                "the label " + printable(expression) + printable(error.reason.substr(expression.size())));
  }
}

LabelType type_of(InfoType type) {
  switch (type) {
    case InfoType::flag:
      return LabelType::flag;
    case InfoType::integer:
      return LabelType::integer;
    case InfoType::real:
      return LabelType::real;
    default:
      return LabelType::text;
  }
}

std::string place(const VcfRecord& record) {
  return record.contig() + ":" + std::to_string(record.pos() + 1);
}

// Where the values of an ALT begin and how many there are.
std::pair<size_t, size_t> values_of(const VcfRecord& record, const InfoValues& values, const std::string& tag,
                                    size_t alt) {
  const size_t count = std::max(values.numbers.size(), values.texts.size());
  const bool of_alleles = values.number == InfoNumber::allele;
  if (values.number != InfoNumber::alt && !of_alleles) return {0, count};
  const size_t alts = record.alts().size();
  if (count == alts + of_alleles) return {alt + of_alleles, 1};
  if (count <= 1) return {0, count};  // a single '.' for all, or the tag alone
  throw Error(kHere, place(record) + ": " + std::to_string(count) + " values of " + tag + " for " +
                         std::to_string(alts) + " alternative alleles");
}

// "A", "A or B", "A, B or 3 more"
std::string list_of(const std::vector<std::string>& words) {
  constexpr size_t kShown = 3;
  std::string out = words[0];
  const size_t shown = words.size() <= kShown ? words.size() : kShown - 1;
  for (size_t i = 1; i < shown; ++i) out += (i + 1 == words.size() ? " or " : ", ") + words[i];
  return shown == words.size() ? out : out + " or " + std::to_string(words.size() - shown) + " more";
}

}  // namespace

LabelJudge::LabelJudge(const std::string& expression, const VcfReader& reader)
    : expression_(expression), label_(parsed(expression)) {
  const InfoType type = reader.info_type(label_.tag());
  if (type == InfoType::none)
    throw Error(kHere, "the label " + printable(expression) + ": the header has no INFO tag " +
                           printable(label_.tag()));
  try {
    label_.set_type(type_of(type));
  } catch (const LabelError& error) {
    throw Error(kHere, "the label " + printable(expression) + ": " + printable(error.reason));
  }
}

Verdict LabelJudge::verdict(const VcfRecord& record, const InfoValues& values, size_t alt) {
  if (values.type == InfoType::none) return {};
  const auto [at, count] = values_of(record, values, label_.tag(), alt);
  if (values.type == InfoType::text) {
    std::vector<const char*> texts;
    for (size_t i = at; i < at + count; ++i)
      texts.push_back(values.texts[i] == "." ? nullptr : values.texts[i].c_str());
    return label_.judge_texts(texts.data(), texts.size(), &words_);
  }
  if (count > 1)
    throw Error(kHere, place(record) + ": " + label_.tag() + " has " + std::to_string(count) +
                           " values, and the header does not say of which allele each is (Number=A or R)");
  return count == 0 ? carbon::Verdict{} : label_.judge_numbers(values.numbers[at], &words_);
}

ClassNames LabelJudge::names() const {
  if (label_.is_preset()) return {"pathogenic", "benign"};
  if (label_.is_flag()) return {label_.tag(), "other"};
  if (label_.is_tag_alone()) return {label_.tag() + "=1", label_.tag() + "=0"};
  if (label_.positive_words().empty()) return {expression_, "other"};
  return {list_of(label_.positive_words()),
          label_.negative_words().empty() ? "other" : list_of(label_.negative_words())};
}

void LabelJudge::check_words(const std::string& path, Log& log) const {
  const auto unfound = label_.unfound(words_);
  if (!unfound) return;
  const std::string text = path + ": the label " + printable(expression_) + ": " + unfound->reason;
  if (unfound->whole_class) throw Error(kHere, text);
  log.warning("report", text);
}

LabelJudge::Verdict LabelJudge::judge(const VcfReader& reader, const VcfRecord& record, size_t alt) {
  const InfoValues values = reader.info(record, label_.tag());
  if (label_.is_flag()) return values.type == InfoType::flag ? Verdict::positive : Verdict::negative;
  const carbon::Verdict found = verdict(record, values, alt);
  if (found.kind == carbon::Verdict::missing) return Verdict::missing;
  if (found.kind == carbon::Verdict::neither) return Verdict::other;
  if (!has_class(found))
    throw Error(kHere, place(record) + ": " + label_.tag() + " is neither 0 nor 1, so that " + label_.tag() +
                           " alone names no classes; compare it with a number, as in " + label_.tag() +
                           ">0.5");
  return is_positive(found) ? Verdict::positive : Verdict::negative;
}

}  // namespace carbon
