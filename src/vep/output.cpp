#include "src/vep/output.hpp"

#include <algorithm>
#include <cmath>

#include "src/base/error.hpp"
#include "src/files/output.hpp"

namespace carbon {
namespace {

class VcfSiteOutput final : public SiteOutput {
 public:
  VcfSiteOutput(const VcfReader& reader, const VcfWriterOptions& options) : writer_(reader, options) {
    for (const InfoTag& tag : options.tags) tags_.push_back(tag.id);
  }

  void write(VcfRecord& record, const SiteScores& scores) override {
    for (size_t i = 0; i < scores.values.size() && !record.alts().empty(); ++i)
      writer_.set_floats(record, tags_[i], scores.values[i]);
    const bool any_flag = std::any_of(scores.flags.begin(), scores.flags.end(),
                                      [](const std::string& flag) { return !flag.empty(); });
    if (any_flag) writer_.set_strings(record, tags_.back(), scores.flags);
    writer_.write(record);
  }

  Output& file() override { return writer_; }

 private:
  std::vector<std::string> tags_;
  VcfWriter writer_;
};

/// A table that `tabix -s1 -b2 -e2` can index if the records are sorted: all lines without scores begin with
/// '#', unless the header is plain.
class TableSiteOutput final : public SiteOutput {
 public:
  TableSiteOutput(const VcfWriterOptions& options, TableHeader header)
      : output_(options.path, options.temporary), plain_(header == TableHeader::plain) {
    if (!plain_)
      for (const std::string& line : options.header_lines) output_.write(line + "\n");
    std::string names = plain_ ? "CHROM\tPOS\tID\tREF\tALT" : "#CHROM\tPOS\tID\tREF\tALT";
    for (const InfoTag& tag : options.tags) {
      names += "\t" + tag.id;
      without_alts_ += "\t.";
    }
    output_.write(names + "\n");
    without_alts_ = "." + without_alts_ + "\n";
  }

  void write(VcfRecord& record, const SiteScores& scores) override {
    text_.clear();
    if (!plain_ && record.contig().starts_with('#'))
      throw Error("vep",
                  "contig " + record.contig() + " begins with #, so its lines in a table would be comments",
                  {"choose VCF or BCF with {-O} u, b, v or z"});
    const std::string site = record.contig() + "\t" + std::to_string(record.pos() + 1) + "\t" + record.id() +
                             "\t" + record.ref() + "\t";
    if (record.alts().empty()) text_ += site + without_alts_;
    for (size_t i = 0; i < record.alts().size(); ++i) {
      text_ += site;
      text_ += record.alts()[i];
      for (const std::vector<float>& values : scores.values) put(values[i]);
      text_ += '\t';
      text_ += scores.flags[i].empty() ? "." : scores.flags[i];
      text_ += '\n';
    }
    output_.write(text_);
  }

  Output& file() override { return output_; }

 private:
  void put(float value) {
    text_ += '\t';
    if (std::isnan(value)) {
      text_ += '.';
    } else {
      append_vcf_float(value, text_);
    }
  }

  TextOutput output_;
  bool plain_;
  std::string without_alts_, text_;
};

}  // namespace

std::vector<std::string> flag_texts(const std::vector<AlleleFlag>& flags,
                                    const std::vector<std::string>& earlier) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < flags.size(); ++i) {
    const bool kept = flags[i] == AlleleFlag::scored && i < earlier.size() && earlier[i] != ".";
    texts.push_back(kept ? earlier[i] : flag_name(flags[i]));
  }
  return texts;
}

std::unique_ptr<SiteOutput> make_site_output(const VcfReader& reader, const VcfWriterOptions& options,
                                             TableHeader header) {
  if (output_type(options) != 't') return std::make_unique<VcfSiteOutput>(reader, options);
  if (options.level >= 0)
    throw Error("vep", "a table cannot have a compression level; it is compressed if its name ends in .gz",
                {"leave out the digit of {-O}"});
  return std::make_unique<TableSiteOutput>(options, header);
}

}  // namespace carbon
