// The JSON of `carbon +concord`: the agreement of two scores, of all alleles and of strata of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace carbon {

/// A field of a stratum, in the order of the file.
struct ConcordanceField {
  std::string key, name;  // as the file and as a table has it
  enum Kind { count, share, correlation, difference, distance } kind;
  bool labelled;  // only in files with a label
  std::string about;
};
const std::vector<ConcordanceField>& concordance_fields();
/// The place of a key among them.
size_t concordance_place(std::string_view key);

struct ConcordanceLine {
  std::string name;            // "all" or that of the stratum
  std::vector<double> values;  // of concordance_fields(); NaN for one that is undefined or absent; counts
                               // are whole and at most 2^53

  /// Of a key of concordance_fields().
  double value(std::string_view key) const;
};

struct ConcordanceBound {
  std::string option;
  double bound = 0;
  double value = 0;  // NaN if it is undefined
  bool met = false;
};

struct ConcordanceFile {
  std::string file_a, tag_a, file_b, tag_b;
  std::string label, by;  // "" without
  bool negated = false;
  uint64_t bootstrap = 0, seed = 0;  // of files with a label, and so is confidence
  double confidence = 0;
  std::vector<ConcordanceLine> lines;  // all alleles, then the strata
  std::vector<ConcordanceBound> bounds;
};

/// Throws Error, which names the file and the member, for JSON of another form.
ConcordanceFile read_concordance(const std::string& path);

}  // namespace carbon
