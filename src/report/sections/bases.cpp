#include "src/report/sections/bases.hpp"

#include <algorithm>

#include "src/report/drawing/plot.hpp"
#include "src/report/sources/input.hpp"
#include "src/report/sources/variant_provenance.hpp"

namespace carbon {
namespace {

std::vector<GeneArea> areas_of(const std::vector<TablePiece>& pieces) {
  std::vector<GeneArea> areas;
  for (const TablePiece& piece : pieces) areas.push_back({piece.sequence, piece.first, piece.last()});
  return areas;
}

void add_genes(BaseSection& out, const std::string& path, const ReportOptions& options) {
  out.genes.resize(out.table.pieces.size());
  if (options.genes.empty() || out.table.pieces.empty()) return;
  GeneFile file = read_genes(options.genes, areas_of(out.table.pieces));
  if (!file.known_sequence) {
    const std::string& mine = out.table.pieces[0].sequence;
    const std::string theirs =
        file.other.empty() ? "it has no feature" : "its first feature is on '" + file.other + "'";
    options.log->warning("report", options.genes + ": no feature lies on a sequence of " + path +
                                       ", such as '" + mine + "'; " + theirs);
    out.section.paragraphs.push_back("No exons are drawn: " + file_name(options.genes) +
                                     " has no feature on a sequence of this table, such as '" + mine + "'; " +
                                     theirs + ". The names must be equal.");
    return;
  }
  out.genes = std::move(file.genes);
  if (std::all_of(out.genes.begin(), out.genes.end(), [](const auto& genes) { return genes.empty(); }))
    out.section.paragraphs.push_back("No gene of " + file_name(options.genes) +
                                     " lies in the bases that are drawn.");
  out.section.provenance.emplace_back("Genes", file_name(options.genes));
}

}  // namespace

std::string BaseSection::piece_name(size_t piece) const {
  return table.pieces.size() == 1 ? section.name : section.name + "_" + std::to_string(piece + 1);
}

BaseSection begin_base_section(const std::string& name, const std::string& path, const std::string& what,
                               const ReportOptions& options) {
  BaseSection out;
  out.section.name = name;
  out.section.title = file_name(path) + ": " + what;
  out.table = read_pieces(path, options);
  out.section.paragraphs = out.table.notes;
  out.section.provenance = variant_provenance(path, out.table.header);
  add_genes(out, path, options);
  return out;
}

std::vector<TrackMark> exon_marks(const std::vector<Gene>& genes, const TablePiece& piece) {
  std::vector<TrackMark> marks;
  for (const Gene& gene : genes) {
    bool named = false;
    for (const GenePart& exon : gene.exons) {
      const int64_t start = std::max(exon.start, piece.first), end = std::min(exon.end, piece.last());
      if (start > end) continue;
      marks.push_back({start - piece.first + 1, end - piece.first + 1, named ? "" : gene.name});
      named = true;
    }
  }
  return marks;
}

}  // namespace carbon
