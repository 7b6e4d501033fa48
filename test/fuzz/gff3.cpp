// Genes in GFF3 and GTF, as carbon report reads them.
#include "src/report/sections/bases.hpp"
#include "test/fuzz/harness.hpp"

namespace carbon::fuzz {

void run(std::string_view input, const Folder& folder) {
  const std::vector<GeneArea> areas = {{"c1", 1, 120}, {"c2", 10, 50}};
  const GeneFile file = read_genes(folder.put("genes.gff3", input), areas);
  require(file.genes.size() == areas.size(), "an area without its genes");
  for (const std::vector<Gene>& genes : file.genes) {
    TrackStack(rows_of(120)).add_genes(genes, 1, TrackView{0, 120});
    const Axis x = round_axis("", 1, 120), y = round_axis("", 0, 1);
    const Plot frame("", 800, 200, x, y);
    Plot plot("", 800, 200 + genes_height(frame, genes), x, y);
    draw_genes_above(plot, genes);
  }
}

}  // namespace carbon::fuzz
