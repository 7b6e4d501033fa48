#include "src/report/sources/variants.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/letters.hpp"
#include "src/base/numbers.hpp"
#include "src/base/words.hpp"
#include "src/formats/carbon_scores.hpp"
#include "src/report/sources/input.hpp"
#include "src/statistics/allele_type.hpp"

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
  return type == InfoType::flag      ? LabelType::flag
         : type == InfoType::integer ? LabelType::integer
         : type == InfoType::real    ? LabelType::real
                                     : LabelType::text;
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
std::string list_of(std::vector<std::string> words) {
  if (const size_t count = words.size(); count > 3) {
    words.resize(2);
    words.push_back(std::to_string(count - 2) + " more");
  }
  return or_list(words);
}

// A tag, or a column of a table.
struct KnownTag {
  std::string name;
  std::string type = {}, number = {}, description = {};  // as in a line ##INFO; a column of a table has none
};

// A header may have lost its model lines; then names and descriptions tell.
bool is_of_carbon(const KnownTag& tag, const CarbonModels& models) {
  if (models.name(tag.name) || models.high_is_damaging(tag.name, tag.description)) return true;
  return tag.number == "A" && (tag.name.starts_with("CARBON_") || tag.description.starts_with("Carbon "));
}

bool is_log_ratio(const KnownTag& tag, const CarbonModels& models) {
  if (models.name(tag.name) || tag.name == "CARBON_SCAN") return true;
  if (is_measure_tag(tag.name) || models.high_is_damaging(tag.name, tag.description)) return false;
  return score_prefix(tag.name) != tag.name && is_of_carbon(tag, models);
}

// For a message: a header may define thousands.
std::string floats_of(const std::vector<KnownTag>& known) {
  constexpr size_t most = 8;
  std::vector<std::string> names;
  for (const KnownTag& tag : known)
    if (tag.type == "Float") names.push_back(printable(tag.name));
  if (names.empty()) return "no tag is of Type Float";
  const size_t count = names.size();
  names.resize(std::min(count, most));
  return "the tags of Type Float are " + joined(names, ", ") +
         (count > most ? " and " + std::to_string(count - most) + " more" : "");
}

const KnownTag& find_wanted(const std::vector<KnownTag>& known, const std::string& name,
                            const std::string& path, bool table) {
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const KnownTag& tag) { return tag.name == name; });
  if (found == known.end())
    throw Error("report", path + (table ? ": the table has no column " : ": the header has no INFO tag ") +
                              printable(name) + "; " +
                              (table ? "give a column after ALT" : floats_of(known)));
  if (found->type != "Float")
    throw Error("report", path + ": " + printable(name) + " is of Type " + printable(found->type) +
                              ", and a report draws numbers of Type Float; " + floats_of(known));
  return *found;
}

// Fills tags and flag tags of `layout`: those that `wanted` names, or else those of carbon. Throws Error,
// which names `path`, if there is none, and for a name that is no tag or not of Type Float.
void choose_tags(const std::vector<KnownTag>& known, const CarbonModels& models,
                 const std::vector<std::string>& wanted, const std::string& path, VariantLayout& layout) {
  std::vector<const KnownTag*> chosen;
  for (const std::string& name : wanted) {
    const KnownTag* tag = &find_wanted(known, name, path, layout.table);
    if (std::find(chosen.begin(), chosen.end(), tag) == chosen.end()) chosen.push_back(tag);
  }
  if (wanted.empty())
    for (const KnownTag& tag : known)
      if (tag.type == "Float" && (layout.table || is_of_carbon(tag, models))) chosen.push_back(&tag);
  if (chosen.empty())
    throw Error(
        "report",
        path + (layout.table ? ": the table has no column of scores after ALT"
                             : ": the header names no scores of carbon (no line ##carbon_...Model and no "
                               "tag CARBON_...), so the tags to draw must be named; " +
                                   floats_of(known)),
        layout.table ? Advice{} : Advice{"or add scores with carbon vep first"});
  for (const KnownTag* tag : chosen) {
    // Of a column of a table the name alone tells.
    const bool ratios = layout.table && !is_label_tag(tag->name) && !is_measure_tag(tag->name);
    ScoreTag score;
    score.name = tag->name;
    score.high = models.high_is_damaging(tag->name, tag->description);
    score.low = !score.high && (ratios || models.low_is_damaging(tag->name, tag->description));
    if (!score.high && (ratios || is_log_ratio(*tag, models))) score.unit = "nats";
    const std::string flag = std::string(score_prefix(tag->name)) + "_FLAG";
    const bool defined = std::any_of(known.begin(), known.end(), [&](const KnownTag& other) {
      return other.name == flag && other.type == "String";
    });
    if (defined) {
      const auto at = std::find(layout.flag_tags.begin(), layout.flag_tags.end(), flag);
      score.flag_tag = static_cast<size_t>(at - layout.flag_tags.begin());
      if (at == layout.flag_tags.end()) layout.flag_tags.push_back(flag);
    }
    layout.tags.push_back(std::move(score));
  }
}

std::string upper(std::string bases) {
  std::transform(bases.begin(), bases.end(), bases.begin(), capital_letter);
  return bases;
}

std::vector<KnownTag> known_tags(const VcfReader& reader) {
  std::vector<KnownTag> known;
  for (const std::string& line : reader.header_lines("INFO")) {
    const HeaderFields fields = header_fields(line);
    known.push_back({header_field(fields, "ID"), header_field(fields, "Type"), header_field(fields, "Number"),
                     header_field(fields, "Description")});
  }
  return known;
}

CarbonModels models_of(const std::vector<std::string>& lines) {
  CarbonModels models;
  for (const std::string& line : lines) {
    const auto named = [&](const char* key) { return has_key(line, key); };
    if (named(kCombineKey) || std::any_of(std::begin(kModelKeys), std::end(kModelKeys), named))
      models.add(line);
  }
  return models;
}

// All lines of carbon: what was run, with which models, and what the ranks of +combine are made of.
std::vector<std::string> carbon_lines(const VcfReader& reader) {
  std::vector<std::string> out;
  const auto add = [&](const std::string& key) {
    for (std::string& line : reader.header_lines(key)) out.push_back(std::move(line));
  };
  for (const std::string end : {"Version", "Command", "Model"})
    for (const std::string command : {"vep", "scan", "mutagenesis", "plugin"}) add("carbon_" + command + end);
  add(kCombineKey);
  return out;
}

class VcfSource final : public VariantSource {
 public:
  VcfSource(const std::string& path, const ReportOptions& options)
      : path_(path == "-" ? file_name(path) : path), log_(*options.log), reader_(path, {}, log_) {
    const std::vector<KnownTag> known = known_tags(reader_);
    layout_.header = carbon_lines(reader_);
    choose_tags(known, models_of(layout_.header), options.tags, path_, layout_);
    choose_consequences(known, options.consequence_tag);
    layout_.assembly = options.assembly.empty() ? assembly_of(reader_) : find_assembly(options.assembly);
    if (!options.label.empty()) {
      judge_.emplace(path_, options.label, reader_);
      layout_.classes = judge_->names();
    }
  }

  std::string label_words() const override { return judge_ ? judge_->words() : ""; }

  bool read(VariantRecord& out) override {
    if (!reader_.next(record_)) {
      if (judge_) judge_->check_words(log_);
      return false;
    }
    out.contig = record_.contig(), out.id = record_.id(), out.ref = record_.ref();
    out.pos = record_.pos() + 1;
    out.alts = record_.alts();
    out.filter = reader_.filter(record_);
    out.scores.resize(layout_.tags.size());
    for (size_t t = 0; t < layout_.tags.size(); ++t) read_scores(layout_.tags[t].name, out.scores[t]);
    out.flags.resize(layout_.flag_tags.size());
    for (size_t f = 0; f < layout_.flag_tags.size(); ++f) read_flags(layout_.flag_tags[f], out.flags[f]);
    out.consequences.clear();
    if (consequences_)
      out.consequences = consequences_->read(reader_.info(record_, layout_.consequence_tag).texts, out.pos,
                                             out.ref, out.alts);
    out.labels.clear();
    for (size_t i = 0; judge_ && i < out.alts.size(); ++i)
      out.labels.push_back(judge_->judge(reader_, record_, i));
    return true;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error("report", path_ + ": " + place(record_) + ": " + what);
  }

  // The first tag of a usual name that can be read, or the one that is asked for, which must be readable.
  void choose_consequences(const std::vector<KnownTag>& known, const std::string& wanted) {
    const std::vector<std::string> names =
        wanted.empty() ? std::vector<std::string>{"BCSQ", "CSQ", "ANN"} : std::vector<std::string>{wanted};
    for (const std::string& name : names)
      for (const KnownTag& tag : known) {
        if (tag.name != name || tag.type != "String") continue;
        ConsequenceLayout fields(name, tag.description);
        if (!fields.known()) {
          layout_.unread_consequences = name;
          continue;
        }
        layout_.consequence_tag = name;
        layout_.unread_consequences.clear();
        consequences_.emplace(std::move(fields));
        return;
      }
    if (wanted.empty()) return;
    throw Error("report",
                path_ +
                    (layout_.unread_consequences.empty()
                         ? ": the header defines no INFO tag " + wanted + " of Type=String"
                         : ": the header does not say which fields " + wanted + " has") +
                    ", so no consequences can be read from it",
                {"correct {--consequence-tag}, or leave it out"});
  }

  void read_scores(const std::string& tag, std::vector<float>& out) {
    const size_t alts = record_.alts().size();
    out.assign(alts, NAN);
    const InfoValues values = reader_.info(record_, tag);
    const size_t count = values.numbers.size(), skipped = values.number == InfoNumber::allele ? 1 : 0;
    if (count == 0 || alts == 0) return;
    if (count == alts + skipped) {
      for (size_t i = 0; i < alts; ++i) out[i] = static_cast<float>(values.numbers[i + skipped]);
    } else if (count == 1 && (std::isnan(values.numbers[0]) || values.number == InfoNumber::other)) {
      out.assign(alts, static_cast<float>(values.numbers[0]));
    } else {
      fail(tag + " has " + plural(count, "value") + " for " + plural(alts, "alternative allele") +
           "; a score needs one for each");
    }
    if (std::any_of(out.begin(), out.end(), [](float value) { return std::isinf(value); }))
      fail(tag + " is infinite; a missing score is .");
  }

  void read_flags(const std::string& tag, std::vector<std::string>& out) {
    out.assign(record_.alts().size(), "");
    const InfoValues values = reader_.info(record_, tag);
    for (size_t i = 0; i < std::min(out.size(), values.texts.size()); ++i)
      if (values.texts[i] != ".") out[i] = values.texts[i];
  }

  std::string path_;
  Log& log_;
  VcfReader reader_;
  VcfRecord record_;
  std::optional<ConsequenceLayout> consequences_;
  std::optional<LabelJudge> judge_;
};

// The table of vep -O t: lines of one allele each.
class TableSource final : public VariantSource {
 public:
  TableSource(const std::string& path, const ReportOptions& options) : table_(path, "report") {
    table_.read_header();
    columns_ = table_.size();
    layout_.header = table_.header();
    read_columns(path, options.tags);
    layout_.assembly = find_assembly(options.assembly);
  }

  bool read(VariantRecord& record) override {
    if (!table_.next()) return false;
    table_.expect_columns(columns_);
    record.contig = table_[0], record.id = table_[2], record.ref = table_[3];
    record.filter.clear();
    if (!parse_number(table_[1], record.pos) || record.pos < 0 || record.pos > kLastPosition)
      table_.fail("POS '" + printable(table_[1]) + "' is not a position");
    record.alts.clear();
    if (table_[4] != ".") record.alts.emplace_back(table_[4]);
    record.scores.assign(score_columns_.size(), {});
    record.flags.assign(flag_columns_.size(), {});
    for (size_t t = 0; t < score_columns_.size() && !record.alts.empty(); ++t)
      record.scores[t].push_back(score(table_[score_columns_[t]]));
    for (size_t f = 0; f < flag_columns_.size() && !record.alts.empty(); ++f) {
      const std::string_view flag = table_[flag_columns_[f]];
      record.flags[f].emplace_back(flag == "." ? "" : flag);
    }
    return true;
  }

 private:
  static constexpr size_t kFixed = 5;  // CHROM, POS, ID, REF, ALT

  void read_columns(const std::string& path, const std::vector<std::string>& wanted) {
    std::vector<KnownTag> known;
    for (size_t i = kFixed; i < columns_; ++i) {
      if (std::any_of(known.begin(), known.end(), [&](const KnownTag& one) { return one.name == table_[i]; }))
        table_.fail("two columns are named '" + printable(table_[i]) + "'");
      known.push_back({std::string(table_[i]), table_[i].ends_with("_FLAG") ? "String" : "Float"});
    }
    layout_.table = true;
    choose_tags(known, models_of(layout_.header), wanted, path, layout_);
    const auto column = [&](const std::string& name) {
      size_t i = kFixed;
      while (table_[i] != name) ++i;
      return i;
    };
    for (const ScoreTag& tag : layout_.tags) score_columns_.push_back(column(tag.name));
    for (const std::string& tag : layout_.flag_tags) flag_columns_.push_back(column(tag));
  }

  float score(std::string_view text) const {
    if (text == ".") return NAN;
    float value = 0;
    if (!parse_number(text, value) || !std::isfinite(value))
      table_.fail("the score '" + printable(text) + "' is not a number; a missing one is .");
    return value;
  }

  TableReader table_;
  size_t columns_ = 0;
  std::vector<size_t> score_columns_, flag_columns_;
};

std::string cut_name(const std::string& text) {
  size_t end = 20;
  if (text.size() <= end) return text;
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xC0) == 0x80) --end;  // not within a letter of UTF-8
  return text.substr(0, end) + "\u2026";
}

// Named alleles are counted with those that spell the same change.
std::string_view type_of_allele(const std::string& ref, const std::string& alt) {
  if (alt.starts_with("<DEL")) return "DEL";
  if (alt.starts_with("<INS") || alt.starts_with("<DUP")) return "INS";
  return allele_type(ref, alt);
}

}  // namespace

LabelJudge::LabelJudge(const std::string& path, const std::string& expression, const VcfReader& reader)
    : path_(path), expression_(expression), label_(parsed(expression)) {
  const InfoType type = reader.info_type(label_.tag());
  if (type == InfoType::none)
    throw Error(kHere, path_ + ": the label " + printable(expression) + ": the header has no INFO tag " +
                           printable(label_.tag()));
  try {
    label_.set_type(type_of(type));
  } catch (const LabelError& error) {
    throw Error(kHere, path_ + ": the label " + printable(expression) + ": " + printable(error.reason));
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

void LabelJudge::check_words(Log& log) const {
  const auto unfound = label_.unfound(words_);
  if (!unfound) return;
  const std::string text = path_ + ": the label " + printable(expression_) + ": " + unfound->reason;
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

std::string change_name(const VariantRecord& record, size_t alt) {
  return cut_name(record.ref) + ">" + cut_name(record.alts[alt]);
}

std::string allele_name(const VariantRecord& record, size_t alt) {
  return cut_name(record.contig) + ":" + count_text(static_cast<uint64_t>(record.pos)) + " " +
         change_name(record, alt);
}

bool VariantSource::next(VariantRecord& record) {
  if (!read(record)) return false;
  record.types.clear();
  const std::string ref = upper(record.ref);
  for (const std::string& alt : record.alts) record.types.emplace_back(type_of_allele(ref, upper(alt)));
  return true;
}

std::unique_ptr<VariantSource> open_variants(const std::string& path, const ReportOptions& options) {
  if (input_kind(path) != InputKind::variant_table) return std::make_unique<VcfSource>(path, options);
  if (!options.label.empty())
    throw Error("report", path + ": a table has scores alone, and labels are INFO tags; give the VCF or BCF");
  return std::make_unique<TableSource>(path, options);
}

}  // namespace carbon
