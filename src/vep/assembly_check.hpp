// Whether REF differs from the FASTA in so many records that these must be of another assembly. `carbon vep`
// and the verb variants count records here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/vep/variant.hpp"

namespace carbon {

/// The share of mismatching records above which the assembly must be wrong, where no --max-ref-mismatch says
/// it.
inline constexpr double kMaxRefMismatch = 0.05;

class AssemblyCheck {
 public:
  explicit AssemblyCheck(double max_mismatch) : max_mismatch_(max_mismatch) {}

  /// Counts a record. One that cannot be compared, because the FASTA has no base there, counts for nothing.
  void add(RecordCheck check);
  /// Notes a contig whose length in the header of the VCF is not that in the FASTA.
  void add_other_length(const std::string& contig) { other_lengths_.push_back(contig); }
  /// How many of these there are.
  size_t other_lengths() const { return other_lengths_.size(); }
  uint64_t mismatches() const { return mismatches_; }
  /// Whether the record that was counted last completes the sample after which the share is looked at for the
  /// first time, so that a long run ends early.
  bool sample_complete() const { return sample_complete_; }
  /// Throws Error if too many records differ from the FASTA, which messages call `fasta`. At the end of the
  /// input few records are enough.
  void check(const std::string& fasta, bool at_end) const;

 private:
  const double max_mismatch_;
  uint64_t checkable_ = 0, mismatches_ = 0;
  bool sample_complete_ = false;
  std::vector<std::string> other_lengths_;
};

}  // namespace carbon
