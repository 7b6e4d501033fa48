// The alleles with the lowest scores, as a table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/report/drawing/document.hpp"
#include "src/report/sources/options.hpp"
#include "src/report/sources/variants.hpp"

namespace carbon {

class VariantRanking {
 public:
  /// Keeps options.top alleles with the lowest scores of the first tag; among equal ones the earlier.
  VariantRanking(const VariantLayout& layout, const ReportOptions& options);

  void add(const VariantRecord& record);
  /// The table, the lowest score first. With options.probabilities it has a small logo for each row, which
  /// can throw Error.
  Table table() const;
  bool empty() const { return rows_.empty(); }

 private:
  struct Row {
    float score;
    uint64_t number;  // of the allele in the file
    std::string contig;
    int64_t pos;
    std::vector<std::string> texts;
    bool operator<(const Row& other) const;
  };

  Row row(const VariantRecord& record, size_t alt) const;
  std::vector<TableColumn> columns() const;

  const VariantLayout& layout_;
  const ReportOptions& options_;
  std::vector<Row> rows_;  // a heap with the highest score on top
  uint64_t alleles_ = 0;
};

}  // namespace carbon
