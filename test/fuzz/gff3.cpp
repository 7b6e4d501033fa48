// Genes in GFF3 and GTF, as carbon report reads them.
#include "src/report/sections/bases.hpp"
#include "test/fuzz/harness.hpp"

namespace carbon::fuzz {

void run(std::string_view input, const Folder& folder) {
  const std::vector<GeneArea> areas = {{"c1", 1, 120}, {"c2", 10, 50}};
  const GeneFile file = read_genes(folder.put("genes.gff3", input), areas);
  require(file.genes.size() == areas.size(), "an area without its genes");
  for (const std::vector<Gene>& genes : file.genes) {
    const TrackView view{0, 120};
    gene_height(genes, 1, view, 800);
    Svg svg;
    draw_genes(svg, genes, 1, view, 800, 0);
  }
}

}  // namespace carbon::fuzz
