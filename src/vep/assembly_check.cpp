#include "src/vep/assembly_check.hpp"

#include "src/base/error.hpp"
#include "src/base/words.hpp"

namespace carbon {
namespace {

// The share of mismatches is checked after this many records that could be compared, and at the end of the
// input, if there are at least so many mismatches by then.
constexpr uint64_t kSample = 1000, kMinMismatches = 20;
// With fewer mismatches, as in a small file, the share must be larger: three of four bases differ by chance
// where the assembly is wrong.
constexpr uint64_t kFewMismatches = 3;
constexpr double kLargeShare = 0.25;

}  // namespace

bool AssemblyCheck::add(RecordCheck check) {
  if (check != RecordCheck::matches && check != RecordCheck::mismatch) return false;
  if (check == RecordCheck::mismatch) ++mismatches_;
  return ++checkable_ == kSample;
}

void AssemblyCheck::check(const std::string& fasta, bool at_end) const {
  if (mismatches_ == 0) return;
  const double share = static_cast<double>(mismatches_) / static_cast<double>(checkable_);
  if (share <= max_mismatch_) return;
  const bool many = !at_end || mismatches_ >= kMinMismatches;
  const bool large = mismatches_ >= kFewMismatches && share > kLargeShare;
  if (!many && !large && other_lengths_ == 0) return;
  const std::string lengths = other_lengths_ == 0 ? "" : ", and the length of " + first_other_ + " differs";
  throw Error("vep",
              "wrong assembly? REF differs from " + fasta + " in " + std::to_string(mismatches_) + " of " +
                  count_of(checkable_, unit_) + " checked" + lengths,
              {std::string(remedy_) + ", or raise {--max-ref-mismatch}"});
}

}  // namespace carbon
