// The files that carbon report draws, with the files beside them: a table of scores, VCF, JSON of +concord,
// or embeddings; GFF3; the names of embeddings.
#include "src/report/run.hpp"
#include "test/fuzz/harness.hpp"

namespace carbon::fuzz {

void run(std::string_view input, const Folder& folder) {
  const auto files = split_files(input, 3);
  ReportOptions options;
  options.files = {folder.put("in.npy", files[0])};
  options.output = folder.file("out.html");
  options.bootstrap = 5;
  options.top = 5;
  if (!files[1].empty()) {
    options.genes = folder.put("genes.gff3", files[1]);
    options.regions = {"c1:1-100"};
  }
  if (!files[2].empty()) folder.put("in.names.tsv", files[2]);
  run_report(options);
}

}  // namespace carbon::fuzz
