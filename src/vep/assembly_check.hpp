// Whether REF differs from the FASTA in so many records that these must be of another assembly. `carbon vep`
// and the verb variants count records here; carbon-vep(1), --max-ref-mismatch, has the rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "src/vep/variant.hpp"

namespace carbon {

/// The share of mismatching records above which the assembly must be wrong, where no --max-ref-mismatch says
/// it.
inline constexpr double kMaxRefMismatch = 0.05;

class AssemblyCheck {
 public:
  /// Messages call what is counted `unit`, and advise to do `remedy`.
  AssemblyCheck(double max_mismatch, const char* unit, const char* remedy)
      : max_mismatch_(max_mismatch), unit_(unit), remedy_(remedy) {}

  /// Counts a record. One that cannot be compared, because the FASTA has no base there, counts for nothing.
  /// Returns whether it completes the sample after which the share is looked at for the first time, so that a
  /// long run ends early.
  bool add(RecordCheck check);
  /// Notes a contig whose length in the header of the VCF is not that in the FASTA.
  void add_other_length(const std::string& contig) {
    if (other_lengths_++ == 0) first_other_ = contig;
  }
  /// How many of these there are.
  size_t other_lengths() const { return other_lengths_; }
  uint64_t mismatches() const { return mismatches_; }
  /// Throws Error if too many records differ from the FASTA, which messages call `fasta`. At the end of the
  /// input few records are enough.
  void check(const std::string& fasta, bool at_end) const;

 private:
  const double max_mismatch_;
  const char* const unit_;
  const char* const remedy_;
  uint64_t checkable_ = 0, mismatches_ = 0;
  size_t other_lengths_ = 0;
  std::string first_other_;
};

}  // namespace carbon
