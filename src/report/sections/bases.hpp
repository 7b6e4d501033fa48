// What all sections of tables of bases begin with: the pieces of the table, the genes beside them, where it
// comes from.
#pragma once

#include <string>
#include <vector>

#include "src/report/drawing/document.hpp"
#include "src/report/drawing/logo.hpp"
#include "src/report/sources/base_pieces.hpp"
#include "src/report/sources/genes.hpp"
#include "src/report/sources/options.hpp"

namespace carbon {

struct BaseSection {
  Section section;
  TablePieces table;
  std::vector<std::vector<Gene>> genes;  // for each piece

  /// The beginning of the names of a piece's figures.
  std::string piece_name(size_t piece) const;
};

/// `what` ends the title, after the name of the file. Throws Error for a malformed table or file of genes.
BaseSection begin_base_section(const std::string& name, const std::string& path, const std::string& what,
                               const ReportOptions& options);

/// The exons of genes as marks of a piece, with the gene's name at the first.
std::vector<TrackMark> exon_marks(const std::vector<Gene>& genes, const TablePiece& piece);

}  // namespace carbon
