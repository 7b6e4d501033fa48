// The alleles with the lowest scores, or the highest where these are the damaging ones, as a table with a
// small sequence logo in each row: the bases around each allele with the probabilities of their letters,
// which are also data for the page's viewer, and the genes there.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "src/report/drawing/document.hpp"
#include "src/report/drawing/track.hpp"
#include "src/report/sections/summaries.hpp"
#include "src/report/sources/genes.hpp"
#include "src/report/sources/options.hpp"
#include "src/report/sources/variants.hpp"

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

class VariantRanking {
 public:
  /// Keeps options.top alleles with the lowest (or highest) scores of the first tag; among equal ones the
  /// earlier.
  VariantRanking(const VariantLayout& layout, const ReportOptions& options);

  void add(const VariantRecord& record);
  /// The table, the lowest (or highest) score first. With options.genes it has the genes of each row, and
  /// with options.probabilities a small logo and the data of the locus, which can throw Error.
  Table table() const;
  bool empty() const { return rows_.empty(); }

 private:
  struct Row {
    BasePlace place;
    std::string name;  // of the allele
    std::vector<std::string> texts;
    std::string address;
    std::vector<TableLink> links;
  };

  struct Column {
    TableColumn head;
    std::function<std::string(const VariantRecord& record, size_t alt)> text;
  };

  void choose_columns();
  Row row(const VariantRecord& record, size_t alt) const;
  std::vector<std::vector<Gene>> genes_at(const std::vector<BasePlace>& places) const;
  void add_genes(const std::vector<BasePlace>& places, const std::vector<std::vector<Gene>>& genes,
                 Table& out) const;
  void add_loci(const std::vector<Row>& rows, const std::vector<BasePlace>& places,
                const std::vector<std::vector<Gene>>& genes, Table& out) const;

  const VariantLayout& layout_;
  const ReportOptions& options_;
  std::vector<Column> columns_;
  Lowest<Row> rows_;  // by the score, or by minus it where high ones are damaging
};

}  // namespace carbon
