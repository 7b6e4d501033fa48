// bigWig files of probabilities, as carbon annotate reads them, and what the decoder and the clean-up make of
// them. The FASTA of the harness has the contigs c1 and c2.
#include "src/annotate/genes.hpp"
#include "src/annotate/probabilities.hpp"
#include "src/formats/bigwig_reader.hpp"
#include "src/formats/fasta.hpp"
#include "test/fuzz/harness.hpp"

namespace carbon::fuzz {
namespace {

void check(const std::vector<GeneCall>& calls, int64_t bases) {
  std::string text;
  for (size_t i = 0; i < calls.size(); ++i) {
    const GeneCall& call = calls[i];
    require(call.begin() >= 0 && call.begin() < call.end() && call.end() <= bases,
            "a call outside its contig");
    require(call.least >= 0 && call.least <= call.mean && call.mean <= 1, "a mean outside 0 to 1");
    append_gene(call, "c", i + 1, text);
  }
}

}  // namespace

void run(std::string_view input, const Folder& folder) {
  const std::string path = folder.put("in.plus.bw", input);
  const BigwigReader track(path, "fuzz");
  const std::string fasta = folder.put("in.fa", kFasta);
  FastaReader reader(fasta);
  for (FastaRecord contig; reader.next(contig);) {
    const auto bases = static_cast<int64_t>(contig.sequence.size());
    if (track.length(contig.name) != bases) continue;
    ScratchProbabilities probabilities(bases);
    const int64_t missing = read_track(track, path, contig.name, false, probabilities) +
                            read_track(track, path, contig.name, true, probabilities);
    require(missing >= 0 && missing <= 2 * bases, "more bases without a value than there are");
    GeneRules rules;
    rules.min_intron = kLeastMinIntron;
    rules.gene_cost = rules.intron_cost = 0;
    check(call_genes(contig.sequence, probabilities, rules, {0, 0}), bases);
    check(call_runs(probabilities, {.inward = 5, .stop_run = 2}), bases);
  }
}

}  // namespace carbon::fuzz
