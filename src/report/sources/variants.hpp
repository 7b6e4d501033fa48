// Files with scores of alleles, VCF, BCF or the table of vep -O t, as a stream of records of one form.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/report/sources/consequences.hpp"
#include "src/report/sources/labels.hpp"
#include "src/report/sources/options.hpp"

namespace carbon {

inline constexpr size_t kNoFlagTag = ~size_t{0};

struct ScoreTag {
  std::string name;
  std::string unit;              // "nats" for the log ratios of carbon, "" if it is not known
  size_t flag_tag = kNoFlagTag;  // in VariantLayout::flag_tags: which says why a score is missing
  bool low = false;              // by the header, low scores are those of damaging alleles
};

/// What a file has, by its header.
struct VariantLayout {
  std::vector<ScoreTag> tags;          // at least one
  std::vector<std::string> flag_tags;  // CARBON_FLAG and the like
  bool table = false;                  // a table of vep: lines of one allele each, without FILTER
  ClassNames classes;                  // of a label, if there is one
  std::string consequence_tag;         // BCSQ, CSQ or ANN; "" for none
  std::string unread_consequences;     // a tag of that kind whose fields the header does not name
  /// How the file was made: pairs of what it is and its value.
  std::vector<std::pair<std::string, std::string>> provenance;
  std::vector<std::string> models;  // a sentence for each model that has scored it
};

/// One record, or one line of a table.
struct VariantRecord {
  std::string contig, id, ref, filter;
  int64_t pos = 0;  // as in the file, 1-based
  std::vector<std::string> alts;
  std::vector<std::string_view> types;          // of each alternative, as allele_type() names them
  std::vector<std::vector<float>> scores;       // for each tag, for each alternative; NaN for a missing one
  std::vector<std::vector<std::string>> flags;  // for each flag tag, for each alternative; "" for none
  std::vector<Consequence> consequences;        // for each alternative; empty without a consequence tag
  std::vector<LabelJudge::Verdict> labels;      // for each alternative; empty without a label
};

/// "chr1:1,234 A>G", with long alleles shortened.
std::string allele_name(const VariantRecord& record, size_t alt);

class VariantSource {
 public:
  virtual ~VariantSource() = default;
  const VariantLayout& layout() const { return layout_; }
  /// Reads the next record. Returns false at the end, after checking that the file is complete. Throws
  /// Error, which names the place, for damaged records and for values that are no scores of alleles.
  bool next(VariantRecord& record);
  /// After the last record: how often each word of a preset label stood where; "" for another label.
  virtual std::string label_words() const { return ""; }

 protected:
  /// Fills all but the types.
  virtual bool read(VariantRecord& record) = 0;

  VariantLayout layout_;
};

/// Opens a file of the two kinds; "-" is VCF or BCF from standard input. Throws Error if it has no scores, or
/// lacks a tag that the options name.
std::unique_ptr<VariantSource> open_variants(const std::string& path, const ReportOptions& options);

}  // namespace carbon
