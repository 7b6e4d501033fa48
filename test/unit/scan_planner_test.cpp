// A scan of a sequence in memory gives the values of `carbon scan`, and needs no file.
#include "src/scan/planner.hpp"

#include <doctest/doctest.h>

#include <random>
#include <sstream>

#include "src/formats/fasta.hpp"
#include "src/scan/assembler.hpp"
#include "src/scan/output.hpp"
#include "src/scan/run.hpp"
#include "test/unit/genome_files.hpp"
#include "test/unit/test_engine.hpp"

using namespace carbon;
using carbon::test::GeneratedCheckpoint;
using carbon::test::TestEngine;
using carbon::test::tiny;
using carbon_test::read_bytes;
using carbon_test::TemporaryDirectory;

namespace {

struct Base {
  int64_t position;
  int digit;
  std::array<double, ops::kLetters> logp;

  bool operator==(const Base&) const = default;
};

// Calls `take` for the bases of a piece.
void scan(Engine& engine, const ScanOptions& options, const ScanPiece& piece, const ContigBases& bases,
          const std::function<void(const ScannedBase&)>& take) {
  const ModelConfig& config = engine.config();
  const ScanPlanner planner(make_scan_grid(options.context, config.max_positions, kKmerLength), options);
  std::vector<ScanItem> items;
  std::vector<RequestPtr> requests;
  planner.plan(piece, bases, config.layout, [&](ScanItem item) {
    requests.insert(requests.end(), item.requests.begin(), item.requests.end());
    items.push_back(std::move(item));
  });
  run_requests(engine, requests);
  ScanAssembler assembler(planner.tracks(), options.level, kKmerLength, take);
  for (const ScanItem& item : items) assembler.consume(item);
}

}  // namespace

TEST_CASE("a scan of a sequence in memory is that of the sequence in a file") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 300, "bf16");
  std::mt19937 random(17);
  std::string contig;
  while (contig.size() < 805) contig += random() % 40 == 0 ? 'n' : "ACGTacgt"[random() % 8];
  contig.replace(400, 130, std::string(130, 'N'));
  const TemporaryDirectory folder;
  const std::string path = folder.put("in.fa", ">c\n" + contig + "\n");
  const IndexedFasta fasta(path);
  const auto length = static_cast<int64_t>(contig.size());

  for (const ScanLevel level : {ScanLevel::marginal, ScanLevel::chain, ScanLevel::first}) {
    for (const StrandChoice strand : {StrandChoice::forward, StrandChoice::reverse, StrandChoice::both}) {
      CAPTURE(static_cast<int>(level));
      CAPTURE(word_of(kStrandWords, strand));
      ScanOptions options;
      options.level = level;
      options.strand = strand;
      options.frames = level == ScanLevel::chain ? 2 : 0;
      options.context = 60;
      complete_scan_options(options, engine.get().config().max_positions, kKmerLength);
      const auto in_memory = [&](int64_t begin, int64_t end) {
        return contig.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
      };
      const auto in_file = [&](int64_t begin, int64_t end) { return fasta.fetch("c", begin, end); };
      const auto bases = [&](const ScanPiece& piece, const ContigBases& read) {
        std::vector<Base> out;
        scan(engine.get(), options, piece, read, [&](const ScannedBase& base) {
          out.push_back({base.position, base.digit, base.logp});
        });
        return out;
      };
      const ScanPiece whole{"c", 0, length, 0, length};
      const std::vector<Base> wanted = bases(whole, in_file);
      CHECK(wanted.size() > 500);
      CHECK(bases(whole, in_memory) == wanted);
      // A part of it has the same values.
      std::vector<Base> part;
      for (const Base& base : wanted)
        if (base.position >= 333 && base.position < 601) part.push_back(base);
      CHECK(bases({"c", 0, length, 333, 601}, in_memory) == part);
      // So have several parts, which share windows.
      const std::vector<ScanPiece> parts = {{"c", 0, length, 2, 3},     {"c", 0, length, 9, 40},
                                            {"c", 0, length, 41, 42},   {"c", 0, length, 333, 601},
                                            {"c", 0, length, 700, 702}, {"c", 0, length, 800, length}};
      std::vector<Base> of_parts;
      for (const Base& base : wanted)
        for (const ScanPiece& one : parts)
          if (base.position >= one.begin && base.position < one.end) of_parts.push_back(base);
      const std::vector<ScanPiece> joined = joined_pieces(parts);
      REQUIRE(joined.size() == 1);
      CHECK(bases(joined[0], in_memory) == of_parts);

      std::string table;
      scan(engine.get(), options, whole, in_memory, [&](const ScannedBase& base) {
        const Alternatives alts(base);
        for (size_t i = 0; i < alts.letters.size(); ++i) {
          table += "c\t" + std::to_string(base.position + 1) + "\t" + kBaseLetters[base.digit] + "\t" +
                   alts.letters[i] + "\t";
          append_vcf_float(alts.values[i], table);
          table += "\n";
        }
      });
      options.fasta = path;
      options.output = folder.file("scan.tsv");
      run_scan(engine.get(), options);
      std::string written;
      std::istringstream in(read_bytes(options.output));
      for (std::string line; std::getline(in, line);)
        if (line[0] != '#') written += line + "\n";
      CHECK(written == table);
    }
  }
}

TEST_CASE("sequences shorter than a 6-mer, without bases to score, or empty can be scanned") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 300);
  ScanOptions options;
  complete_scan_options(options, engine.get().config().max_positions, kKmerLength);
  const auto count = [&](const std::string& contig) {
    const auto length = static_cast<int64_t>(contig.size());
    int bases = 0;
    scan(
        engine.get(), options, {"c", 0, length, 0, length},
        [&](int64_t begin, int64_t end) {
          return contig.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
        },
        [&](const ScannedBase&) { ++bases; });
    return bases;
  };
  CHECK(count("ACgT") == 4);
  CHECK(count("NNNNNNNNNNNN") == 0);
  CHECK(count("") == 0);
}
