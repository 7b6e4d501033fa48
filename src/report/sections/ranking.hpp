// The alleles with the lowest scores, or the highest where these are the damaging ones, as a table with a
// small sequence logo in each row.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/report/drawing/document.hpp"
#include "src/report/sections/lowest.hpp"
#include "src/report/sources/options.hpp"
#include "src/report/sources/variants.hpp"

namespace carbon {

struct BasePlace {
  std::string contig;
  int64_t pos = 0;  // from 0
};

/// The probabilities of the letters around each place, `flank` bases on each side, from a table of score -O
/// tsv or scan: an SVG of 40 pixels' height with a mark under the base at the place, or "" where the table
/// has no values. Reads the table once, or by its index, and keeps what the places need. Throws Error for
/// another file.
std::vector<std::string> small_logos(const std::string& table, const std::vector<BasePlace>& places,
                                     size_t flank);

class VariantRanking {
 public:
  /// Keeps options.top alleles with the lowest (or highest) scores of the first tag; among equal ones the
  /// earlier.
  VariantRanking(const VariantLayout& layout, const ReportOptions& options);

  void add(const VariantRecord& record);
  /// The table, the lowest (or highest) score first. With options.probabilities it has a small logo for each
  /// row, which can throw Error.
  Table table() const;
  bool empty() const { return rows_.empty(); }

 private:
  struct Row {
    BasePlace place;
    std::vector<std::string> texts;
    std::string address;
    std::vector<TableLink> links;
  };

  Row row(const VariantRecord& record, size_t alt) const;
  std::vector<TableColumn> columns() const;

  const VariantLayout& layout_;
  const ReportOptions& options_;
  Lowest<Row> rows_;  // by the score, or by minus it where high ones are damaging
};

}  // namespace carbon
