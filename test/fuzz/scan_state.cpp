// OUTPUT.partial of carbon scan and the state beside it, from which a scan is resumed.
#include "src/scan/pieces.hpp"
#include "src/scan/recorder.hpp"
#include "test/fuzz/harness.hpp"

namespace carbon::fuzz {
namespace {

/// The FASTA of all inputs, with its index.
struct Genome {
  Folder folder;
  IndexedFasta fasta{folder.put("in.fa", kFasta)};
};

}  // namespace

void run(std::string_view input, const Folder& folder) {
  static const Genome genome;
  const auto files = split_files(input, 2);
  folder.put("out.tsv.partial", files[0]);
  folder.put("out.tsv.partial.state", files[1]);
  const ResumableOutput scan(folder.file("out.tsv"), {"scan", "bases"}, {{"model", "m"}}, EarlierRun::resume,
                             silent_log());
  const std::optional<ScanMark> continued = continued_mark(scan);
  if (!continued) return;
  const ScanMark& mark = *continued;
  const std::vector<ScanPiece> pieces = selected_pieces(genome.fasta, {});
  for (const ScanPiece& piece : pieces_from(pieces, mark))
    require(piece.begin >= 0 && piece.begin < piece.end && piece.end <= piece.length,
            "a piece without bases");
  attempt([&] { check_bases_before(mark, pieces, genome.fasta); });
  ScanHistogram histogram(genome.fasta.path(), silent_log());
  histogram.add_text(mark.histogram);
  ScanHistogram again(genome.fasta.path(), silent_log());
  again.add_text(histogram.text());
  require(again.text() == histogram.text(), "a histogram that does not read back");
}

}  // namespace carbon::fuzz
