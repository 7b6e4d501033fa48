// The places of alleles: the bases around each with the probabilities of the letters, as a small logo for a
// row of a table and as data for the page's viewer, and the genes there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/report/drawing/track.hpp"
#include "src/report/sources/genes.hpp"

namespace carbon {

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

/// Data for the viewer as viewer_data() makes it, of all bases, with the exons of `genes` marked; "" without
/// values. `name` is that of the allele.
std::string locus_data(const Surroundings& around, const BasePlace& place, const std::string& name,
                       const std::vector<Gene>& genes);

/// The genes at a place and which part of them it is: "BRCA1 (coding), NBR2 (intron)"; "" for none.
std::string gene_words(const std::vector<Gene>& genes, int64_t pos);

}  // namespace carbon
