#include "src/vep/histogram.hpp"

#include <cmath>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/numbers.hpp"
#include "src/formats/fasta.hpp"
#include "src/vep/structural.hpp"

namespace carbon {

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
                             const std::vector<std::string>& first_lines, const std::vector<InfoTag>& tags,
                             const std::vector<std::string>& model_lines, const std::string& prefix)
    : output_(path, name) {
  std::vector<VepHistogram::Tag> counted;
  for (const std::string& line : first_lines) header_ += line + "\n";
  for (size_t i = 0; i < tags.size(); ++i) {
    if (tags[i].id.starts_with(prefix + "_HEAD_")) continue;
    counted.push_back({tags[i].id, i});
    header_ += model_lines[i] + "\n";
  }
  if (counted.empty())
    throw Error("vep", "the effects that a head predicts have two directions, so they are not ranked, and " +
                           path + " would have nothing to count");
  counts_.emplace(std::move(counted));
}

void HistogramFile::finish() {
  output_.write(header_ + counts_->text());
  output_.finish();
}

}  // namespace carbon
