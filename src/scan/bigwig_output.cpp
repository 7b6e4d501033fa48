#include "src/scan/bigwig_output.hpp"

#include <array>
#include <cmath>
#include <optional>

#include "src/base/error.hpp"
#include "src/formats/bigwig_writer.hpp"
#include "src/scan/hub.hpp"

namespace carbon {
namespace {

using Contigs = std::vector<std::pair<std::string, int64_t>>;

class BigwigScanOutput final : public ScanOutput, private Output {
 public:
  BigwigScanOutput(const ScanOptions& options, const Contigs& contigs) {
    if (!options.hub.empty())
      hub_.emplace(options.hub,
                   options.hub_genome.empty() ? hub_genome_of(options.fasta) : options.hub_genome,
                   options.output);
    for (size_t i = 0; i < kTrackLetters.size(); ++i) {
      writers_[i] = std::make_unique<BigwigWriter>(track_path(options.output, kTrackLetters[i]), contigs);
      values_[i].reserve(BigwigWriter::kMostValues);
    }
  }

  void write(const ScannedBase& base) override {
    const bool follows = contig_ == base.piece->number && begin_ + count() == base.position;
    if (!follows || values_[0].size() == BigwigWriter::kMostValues) {
      write_block();
      contig_ = base.piece->number;
      begin_ = base.position;
    }
    std::array<double, kTrackLetters.size()> probabilities{};
    double sum = 0;
    for (size_t i = 0; i < kTrackLetters.size(); ++i) {
      probabilities[i] = std::exp(base.logp[static_cast<size_t>(base_digit(kTrackLetters[i]))]);
      sum += probabilities[i];
    }
    for (size_t i = 0; i < kTrackLetters.size(); ++i)
      values_[i].push_back(static_cast<float>(probabilities[i] / sum));
  }

  Output& file() override { return *this; }

 private:
  // Blocks have a size of their own, and an interrupted run leaves nothing of a file whose index comes last.
  void end_block() override {}
  void flush() override {}
  void flush_for_reader() override {}

  void close() override {
    write_block();
    for (const auto& writer : writers_) writer->finish();
    if (hub_) hub_->finish();
    // Everything is written now. Only names are missing, so that all files appear or none does.
    for (const auto& writer : writers_) writer->commit();
    if (hub_) hub_->commit();
  }

  int64_t count() const { return static_cast<int64_t>(values_[0].size()); }

  void write_block() {
    if (values_[0].empty()) return;
    for (size_t i = 0; i < kTrackLetters.size(); ++i) {
      writers_[i]->write(contig_, begin_, values_[i]);
      values_[i].clear();
    }
  }

  std::optional<ScanHub> hub_;  // first, because its folder can only go when the tracks have gone
  std::array<std::unique_ptr<BigwigWriter>, kTrackLetters.size()> writers_;
  // The bases that are not yet in the files.
  size_t contig_ = 0;  // its number
  int64_t begin_ = 0;
  std::array<std::vector<float>, kTrackLetters.size()> values_;
};

}  // namespace

std::unique_ptr<ScanOutput> open_bigwig(const ScanOptions& options, const IndexedFasta& fasta,
                                        const ScanDestination&) {
  Contigs contigs;
  for (const std::string& name : fasta.names()) contigs.emplace_back(name, fasta.length(name));
  return std::make_unique<BigwigScanOutput>(options, contigs);
}

uint64_t bigwig_bytes(const ScanPiece&) {
  // Four floats, and summaries of 32 bytes for each 64, 256, ... bases.
  return 4 * 4 + 4;
}

}  // namespace carbon
