#include "src/vep/output.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/numbers.hpp"
#include "src/base/words.hpp"
#include "src/files/output.hpp"
#include "src/formats/fasta.hpp"
#include "src/formats/provenance.hpp"
#include "src/vep/structural.hpp"

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
      : output_(options.path, options.temporary, {-1, options.compression_threads}),
        plain_(header == TableHeader::plain) {
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
    if (!plain_) check_row_name("vep", record.contig(), "choose BCF with {-O} b");
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

MatrixPlace place_of(const std::string& path) {
  const std::optional<ArrayFormat> format = array_format_of(path);
  if (!format)
    throw Error("vep", path + ": embeddings are written to a file whose name ends in .safetensors or .npy");
  return {path, *format, ".variants.tsv", "#CHROM\tPOS\tID\tREF\tALT\trow"};
}

ArrayLayout layout_of(ArrayFormat format, size_t hidden) {
  if (format == ArrayFormat::npy) return {format, DType::f32, 2 * hidden};
  return {format, DType::f32, hidden, {"ref", "alt"}};
}

}  // namespace

std::vector<std::string> kept_reasons(const KeptScores& kept, const InfoSource& info) {
  if (kept.flag.empty()) return {};
  std::vector<std::string> reasons = info(kept.flag).texts;
  std::vector<bool> missing(reasons.size());
  if (!reasons.empty())
    for (const std::string& tag : kept.tags) {
      const std::vector<double> values = info(tag).numbers;
      for (size_t i = 0; i < missing.size(); ++i)
        if (i >= values.size() || std::isnan(values[i])) missing[i] = true;
    }
  for (size_t i = 0; i < missing.size(); ++i)
    if (!missing[i]) reasons[i] = ".";
  return reasons;
}

std::vector<std::string> flag_texts(const std::vector<AlleleFlag>& flags,
                                    const std::vector<std::string>& earlier) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < flags.size(); ++i) {
    texts.emplace_back(flag_name(flags[i]));
    if (i >= earlier.size() || earlier[i] == ".") continue;
    // A reason that another version of the program has written stays where there is no other.
    const std::optional<AlleleFlag> before = flag_of(earlier[i]);
    if (flags[i] == AlleleFlag::scored || (before && *before < flags[i])) texts.back() = earlier[i];
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

std::vector<std::optional<size_t>> rank_types(const VcfRecord& record, const InfoSource& info) {
  std::vector<std::string> alts;
  for (const std::string& alt : record.alts()) alts.push_back(to_upper(alt));
  const std::string ref = to_upper(record.ref());
  const auto structural = structural_alleles(record.pos(), alts, info);
  std::vector<std::optional<size_t>> types;
  for (size_t i = 0; i < alts.size(); ++i)
    types.push_back(structural[i] ? named_rank_type(alts[i], structural[i]->length)
                                  : rank_type(ref, alts[i]));
  return types;
}

void VepHistogram::add(const std::vector<std::optional<size_t>>& types, const SiteScores& scores) {
  std::string printed;
  for (size_t t = 0; t < tags_.size(); ++t) {
    const std::vector<float>& values = scores.values[tags_[t].index];
    for (size_t i = 0; i < types.size(); ++i) {
      if (!types[i] || std::isnan(values[i])) continue;
      printed.clear();
      append_vcf_float(values[i], printed);
      ++counts_[t][*types[i]][histogram_bin(printed)];
    }
  }
}

std::string VepHistogram::text() const {
  std::string text = "#TAG\tTYPE\tBIN\tCOUNT\n";
  for (size_t t = 0; t < tags_.size(); ++t)
    for (size_t type = 0; type < kRankTypeCount; ++type)
      for (const auto& [bin, count] : counts_[t][type]) {
        text += tags_[t].id + "\t" + kRankTypes[type] + "\t";
        append_integer(bin, text);
        text += '\t';
        append_integer(count, text);
        text += '\n';
      }
  return text;
}

HistogramFile::HistogramFile(const std::string& path, TemporaryName name,
                             const std::vector<std::string>& lines, std::vector<VepHistogram::Tag> tags)
    : output_(path, name) {
  if (tags.empty())
    throw Error("vep",
                "only log-likelihood ratios are ranked, of which this run writes none (the effects "
                "that a head predicts have two directions, and l2 and jsd are distances), so " +
                    path + " would have nothing to count");
  for (const std::string& line : lines) header_ += line + "\n";
  counts_.emplace(std::move(tags));
}

void HistogramFile::finish() {
  output_.write(header_ + counts_->text());
  output_.finish();
}

void check_embeddings_file(const std::string& path) {
  check_matrix_output("vep", place_of(path));
}

std::vector<float> joined_rows(const std::vector<std::optional<AlleleMeans>>& alleles, size_t hidden) {
  std::vector<float> rows;
  for (const std::optional<AlleleMeans>& means : alleles) {
    if (means) {
      rows.insert(rows.end(), means->ref.begin(), means->ref.end());
      rows.insert(rows.end(), means->alt.begin(), means->alt.end());
    } else {
      rows.resize(rows.size() + 2 * hidden, std::numeric_limits<float>::quiet_NaN());
    }
  }
  return rows;
}

VariantEmbeddings::VariantEmbeddings(const std::string& path, size_t hidden,
                                     const std::vector<std::string>& lines)
    : hidden_(hidden),
      format_(place_of(path).format),
      matrix_(place_of(path), layout_of(format_, hidden), lines) {}

void VariantEmbeddings::write(const VcfRecord& record, size_t alt, std::span<const float> rows) {
  if (std::isnan(rows.front())) return;
  check_row_name("vep", record.contig());
  matrix_.describe(record.contig() + "\t" + std::to_string(record.pos() + 1) + "\t" + record.id() + "\t" +
                   record.ref() + "\t" + record.alts()[alt] + "\t" + std::to_string(matrix_.rows()));
  if (format_ == ArrayFormat::npy) return matrix_.append(rows);
  matrix_.append(rows.first(hidden_), 0);
  matrix_.append(rows.subspan(hidden_), 1);
}

void print_summary(const VepCounts& counts, Log& log) {
  std::vector<std::pair<std::string, uint64_t>> named = {{"total", counts.total}, {"scored", counts.scored}};
  std::string missing;
  for (size_t i = 1; i < counts.alleles.size(); ++i) {
    const auto flag = static_cast<AlleleFlag>(i);
    if (flag == AlleleFlag::changes_length && !counts.measures) continue;
    const uint64_t count = counts.alleles[i];
    named.emplace_back(flag_name(flag), count);
    if (count > 0)
      missing += (missing.empty() ? "; alleles without a score: " : ", ") + std::to_string(count) + " " +
                 flag_name(flag) + " (" + flag_meaning(flag) + ")";
  }
  if (counts.neighbours > 0)
    log.warning("vep",
                count_of(counts.neighbours, "record") + (counts.neighbours == 1 ? " follows" : " follow") +
                    " another one on the same haplotype within 6 bases, and a score is that of one change "
                    "alone; carbon +haplotypes joins such changes, so that they can be scored as one");
  log.summary(
      "vep",
      "Records " + std::to_string(counts.total) + ", scored " + std::to_string(counts.scored) + missing,
      named);
  if (counts.scored == 0 && counts.total > 0) log.warning("vep", "no record was scored");
}

}  // namespace carbon
