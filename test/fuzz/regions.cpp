// Regions as options and in files, and the files that map names of contigs. An input is a text, as of -r, and
// a file.
#include "src/formats/regions.hpp"
#include "src/formats/contig_names.hpp"
#include "src/formats/sequence_inputs.hpp"
#include "src/scan/pieces.hpp"
#include "test/fuzz/harness.hpp"

namespace carbon::fuzz {
namespace {

struct Genome {
  Folder folder;
  IndexedFasta fasta{folder.put("in.fa", kFasta)};
};

void check(const Region& region, const IndexedFasta& fasta) {
  require(region.begin >= 0 && region.begin < region.end && region.end <= fasta.length(region.contig),
          "a region outside of its contig");
}

void check(VcfRegions regions) {
  regions.merge();
  for (const VcfRegions::Contig& contig : regions.contigs())
    for (const VcfInterval& interval : contig.intervals) regions.overlap(contig.name, interval);
}

void check_names(const ContigNames& names, const IndexedFasta& fasta) {
  const std::vector<std::string> vcf = {"c1", "chrc1", "1", "HLA:1"};
  for (const std::string& name : vcf) attempt([&] { names.to_fasta(name, fasta); });
  names.advice(vcf, fasta.names());
}

}  // namespace

void run(std::string_view input, const Folder& folder) {
  static const Genome genome;
  const IndexedFasta& fasta = genome.fasta;
  const auto files = split_files(input, 2);
  // The program's log makes one line of a message about an option (stderr_log.cpp).
  const std::string text(files[0].substr(0, files[0].find('\n')));
  attempt([&] { check(parse_region(text, fasta), fasta); });
  attempt([&] { check(VcfRegions::from_list(text)); });
  attempt([&] { check_names(ContigNames(text), fasta); });
  attempt([&] { check_names(ContigNames("", folder.put("map", files[1])), fasta); });
  for (const char* name : {"regions.bed", "regions.txt", "regions.gff3", "regions.vcf"}) {
    const std::string path = folder.put(name, files[1]);
    attempt([&] {
      for (const Region& region : read_regions(path, fasta)) check(region, fasta);
    });
    attempt([&] { check(VcfRegions::from_file(path)); });
    attempt([&] {
      for (const ScanPiece& piece : selected_pieces(fasta, {text, "", "", path}))
        require(piece.begin >= 0 && piece.begin < piece.end && piece.end <= piece.length, "an empty piece");
    });
  }
}

}  // namespace carbon::fuzz
