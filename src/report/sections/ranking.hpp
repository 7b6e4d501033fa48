// The alleles with the lowest scores, or the highest where these are the damaging ones, as a table with a
// small sequence logo in each row.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "src/report/drawing/document.hpp"
#include "src/report/sections/loci.hpp"
#include "src/report/sections/lowest.hpp"
#include "src/report/sources/options.hpp"
#include "src/report/sources/variants.hpp"

namespace carbon {

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
