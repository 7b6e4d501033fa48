#include "src/report/sources/variant_table.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/files/text_input.hpp"
#include "src/report/sources/header.hpp"
#include "src/report/sources/variant_provenance.hpp"

namespace carbon {
namespace {

constexpr size_t kFixed = 5;  // CHROM, POS, ID, REF, ALT

void split_tabs(std::string_view line, std::vector<std::string_view>& fields) {
  fields.clear();
  for (size_t begin = 0; begin <= line.size();) {
    const size_t end = std::min(line.find('\t', begin), line.size());
    fields.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
}

class TableSource final : public VariantSource {
 public:
  TableSource(const std::string& path, const ReportOptions& options) : path_(path), input_(path, "report") {
    std::vector<std::string> lines;
    while (read_line() && line_.starts_with("##"))
      if (line_.starts_with("##carbon_")) lines.push_back(line_);
    split_tabs(line_, fields_);
    if (!line_.starts_with("#CHROM\tPOS\tID\tREF\tALT"))
      fail("expected the line of columns #CHROM POS ID REF ALT and scores, separated by tabs");
    columns_ = fields_.size();
    read_columns(options.tags);
    layout_.provenance = variant_provenance(path, lines);
  }

  bool read(VariantRecord& record) override {
    if (!read_line()) return false;
    split_tabs(line_, fields_);
    if (fields_.size() != columns_)
      fail(std::to_string(fields_.size()) + " columns, and the line of names has " +
           std::to_string(columns_));
    record.contig = fields_[0], record.id = fields_[2], record.ref = fields_[3];
    record.filter.clear();
    record.pos = position(fields_[1]);
    record.alts.clear();
    if (fields_[4] != ".") record.alts.emplace_back(fields_[4]);
    record.scores.assign(score_columns_.size(), {});
    record.flags.assign(flag_columns_.size(), {});
    for (size_t t = 0; t < score_columns_.size() && !record.alts.empty(); ++t)
      record.scores[t].push_back(score(fields_[score_columns_[t]]));
    for (size_t f = 0; f < flag_columns_.size() && !record.alts.empty(); ++f) {
      const std::string_view flag = fields_[flag_columns_[f]];
      record.flags[f].emplace_back(flag == "." ? "" : flag);
    }
    return true;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error("report", input_.where() + ": " + what);
  }

  bool read_line() {
    if (!input_.line(line_)) {
      line_.clear();
      return false;
    }
    if (!input_.newline_seen())
      fail("the last line has no newline, so the file is probably cut; copy it again or add the newline");
    return true;
  }

  void read_columns(const std::vector<std::string>& wanted) {
    std::vector<KnownTag> known;
    for (size_t i = kFixed; i < fields_.size(); ++i)
      known.push_back({std::string(fields_[i]), fields_[i].ends_with("_FLAG") ? "String" : "Float"});
    layout_.table = true;
    choose_tags(known, {}, wanted, path_, layout_);
    const auto column = [&](const std::string& name) {
      size_t i = kFixed;
      while (fields_[i] != name) ++i;
      return i;
    };
    for (const ScoreTag& tag : layout_.tags) score_columns_.push_back(column(tag.name));
    for (const std::string& tag : layout_.flag_tags) flag_columns_.push_back(column(tag));
  }

  int64_t position(std::string_view text) const {
    int64_t pos = -1;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), pos);
    if (problem != std::errc() || end != text.data() + text.size() || pos < 0)
      fail("POS '" + printable(text) + "' is not a number");
    return pos;
  }

  float score(std::string_view text) const {
    if (text == ".") return std::numeric_limits<float>::quiet_NaN();
    float value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
      fail("the score '" + printable(text) + "' is not a number; a missing one is .");
    return value;
  }

  std::string path_;
  TextInput input_;
  std::string line_;
  std::vector<std::string_view> fields_;
  size_t columns_ = 0;
  std::vector<size_t> score_columns_, flag_columns_;
};

}  // namespace

std::unique_ptr<VariantSource> open_variant_table(const std::string& path, const ReportOptions& options) {
  if (!options.label.empty())
    throw Error("report", path + ": a table has scores alone, and labels are INFO tags; give the VCF or BCF");
  return std::make_unique<TableSource>(path, options);
}

}  // namespace carbon
