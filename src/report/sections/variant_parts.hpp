// What a section of variants is made of: parts that see each record, and then add what they have to say of
// all.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/report/drawing/document.hpp"
#include "src/report/drawing/track.hpp"
#include "src/report/sources/options.hpp"
#include "src/report/sources/variants.hpp"

namespace carbon {

/// A file whose section is made; outlives the parts.
struct VariantFile {
  std::string name, path;  // the beginning of the names of figures
  const VariantLayout& layout;
  const ReportOptions& options;
};

class VariantPart {
 public:
  virtual ~VariantPart() = default;
  virtual void add(const VariantRecord& record) = 0;
  /// After the last record. Throws Error for a malformed file beside the variants.
  virtual void finish(Section& section) = 0;
};

/// A table of the alleles with the lowest scores, or the highest where these are the damaging ones, with the
/// genes and the probabilities of bases around them.
std::unique_ptr<VariantPart> variant_ranking(const VariantFile& file);
/// Figures of scores along the genes that have these alleles.
std::unique_ptr<VariantPart> gene_tracks(const VariantFile& file);

struct BasePlace {
  std::string contig;
  int64_t pos = 0;  // from 0
};

/// The bases around one place, as many on each side; none where a table has no values.
struct Surroundings {
  std::string letters;
  std::vector<LetterLogs> logp;  // for each letter
};

/// Those around each place, `flank` bases on each side, from a table of score -O tsv or scan. Reads the table
/// once, or by its index, and keeps what the places need. Throws Error for another file.
std::vector<Surroundings> read_surroundings(const std::string& table, const std::vector<BasePlace>& places,
                                            size_t flank);

/// An SVG of 40 pixels' height of the `flank` bases on each side of a place, or of all if there are not so
/// many, with a mark under the base at the place; "" without values.
std::string small_logo(const Surroundings& around, const BasePlace& place, size_t flank);

}  // namespace carbon
