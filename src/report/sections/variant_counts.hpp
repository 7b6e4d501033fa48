// How many records and alleles a file has, how many of them have scores, and why others have none.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/report/drawing/document.hpp"
#include "src/report/sources/variants.hpp"

namespace carbon {

class VariantCounts {
 public:
  explicit VariantCounts(const VariantLayout& layout);

  void add(const VariantRecord& record);

  uint64_t records() const { return records_; }
  uint64_t alleles() const { return alleles_; }
  /// Sentences about records and alleles, their types, and for each tag how many have a score.
  std::string sentences() const;
  /// For each flag tag that occurs: bars of its reasons, and a table that says what they mean. `sample` is
  /// the name of the file.
  void add_flag_figures(const std::string& name, const std::string& sample, Section& section) const;

 private:
  using ByFlag = std::map<std::string, uint64_t>;
  static void count(const std::string& flag, ByFlag& flags);

  const VariantLayout& layout_;
  uint64_t records_ = 0, without_alts_ = 0, alleles_ = 0;
  std::vector<uint64_t> types_;   // alleles, in the order of kTypes
  std::vector<uint64_t> scored_;  // alleles, for each tag
  std::vector<ByFlag> missing_;   // for each tag, alleles without a score; "" for no flag
  std::vector<ByFlag> flags_;     // for each flag tag
};

}  // namespace carbon
