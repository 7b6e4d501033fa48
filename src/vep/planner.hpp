// The planner of `carbon vep`: it turns records into sites with their requests.
//
// It checks each record against the FASTA, decides for each allele and recipe whether it can be scored or why
// not, and makes the windows. It looks at many records at a time if they share windows. It owns the FASTA and
// runs in a separate thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "src/formats/contig_names.hpp"
#include "src/formats/fasta.hpp"
#include "src/formats/haplotype.hpp"
#include "src/formats/vcf.hpp"
#include "src/vep/assembly_check.hpp"
#include "src/vep/options.hpp"
#include "src/vep/output.hpp"
#include "src/vep/resume.hpp"
#include "src/vep/site_planner.hpp"

namespace carbon {

/// Records, the values of an INFO tag in the last one, and what the header says of the contigs.
struct RecordInput {
  RecordSource next;
  std::function<InfoValues(const VcfRecord& record, const std::string& tag)> info;
  std::vector<std::string> contigs;                         // in the order of the header
  std::unordered_map<std::string, int64_t> contig_lengths;  // of those for which it has one
  KeptScores kept = {};                                     // of an earlier run
};

/// "contig:pos" of a record, for messages; pos is 1-based.
std::string place_of(const VcfRecord& record);

/// One record on its way through the run.
struct PlannedRecord {
  VcfRecord record;
  VepSite site;
  std::vector<RequestPtr> requests;  // of the site
  /// A hash of everything that the scores depend on. Set if there is a journal and any allele is scored.
  std::optional<Sha256Bytes> digest;
  /// Scores from the journal: one per ALT of each tag, NaN where missing; then the rows of embeddings, if the
  /// run has them (joined_rows() of output.hpp). The site has no plans and requests then.
  std::optional<std::vector<float>> saved;
  /// Of the scores of an earlier run that are kept; one per ALT if there are any.
  std::vector<std::string> earlier_flags;
  /// Of the ALTs, if there is a histogram (rank_types()).
  std::vector<std::optional<size_t>> rank_types;

  size_t bytes() const;
};

/// Says in few bytes which bases a range of a contig has. Ranges of records that follow one another overlap,
/// so whole blocks of the contig are hashed once.
class BlockDigests {
 public:
  /// Texts of two ranges are equal only if these lie at the same place and have the same bases.
  std::string text_of(const BaseRange& range, const ContigReference& reference);

 private:
  static constexpr int64_t kBlockBases = 1024;
  static constexpr size_t kMostBlocks = 1 << 16;

  std::string contig_;
  std::unordered_map<int64_t, Sha256Bytes> digests_;  // of blocks of this contig, by number
};

class VepPlanner {
 public:
  /// Both must outlive it. A journal has so many values of an embedding for each scored allele.
  VepPlanner(const VepOptions& options, const SitePlanner& sites, size_t embedding_values = 0);

  /// Reads all records of the input, and calls `emit` for each that is kept. Scores in `journal` (may be
  /// null) are taken from it. Warns of contigs whose length in the header is not that in the FASTA. Throws
  /// Error for a reference mismatch if options.check_ref is `exit`, for so many mismatches that the assembly
  /// must be wrong, if no contig name is in the FASTA, and for records that differ from those of the
  /// journal.
  void run(const RecordInput& input, Journal* journal, const std::function<void(PlannedRecord)>& emit);
  /// Notes a contig of the file, of which run() may see only a share. Whether any contig name is in the FASTA
  /// is decided for the whole file, so that all shares of it fail or none does.
  void note_contig(const std::string& vcf_name) { find_contig(vcf_name); }

  /// Without those of alleles, whose flags are known when they have values.
  const VepCounts& counts() const { return counts_; }
  const IndexedFasta& fasta() const { return fasta_; }
  const ContigNames& names() const { return names_; }

 private:
  struct Contig {
    std::string name;       // in the FASTA
    int64_t length;         // -1: not in the FASTA
    bool compared = false;  // with the header
  };

  /// A record and the contig of its FASTA.
  struct Checked {
    PlannedRecord planned;
    const Contig* contig = nullptr;
  };

  bool check(Checked& record, const RecordInput& input, Journal* journal);
  void plan(std::deque<Checked>& waiting, const std::function<void(PlannedRecord)>& emit);
  ContigReference reference_of(const Contig& contig) { return {reference_, contig.name, contig.length}; }
  Contig& find_contig(const std::string& vcf_name);
  Error no_contig() const;
  void compare_length(const std::string& vcf_name, Contig& contig, const RecordInput& input);
  void note_mismatch(const VcfRecord& record, const std::string& fasta_bases);
  void warn_of_unknown_contigs() const;

  const VepOptions& options_;
  const SitePlanner& sites_;
  size_t embedding_values_;
  IndexedFasta fasta_;
  ReferenceReader reference_;
  BlockDigests blocks_;
  ContigNames names_;
  VepCounts counts_;
  AssemblyCheck assembly_;
  uint64_t unknown_records_ = 0;
  VcfContigs vcf_contigs_;
  std::unordered_map<std::string, Contig> contigs_;  // by their names in the VCF
};

/// Counts records whose alleles lie on one haplotype with those of a record a few bases before. They are one
/// change of the sequence, but `carbon vep` scores each alone.
class NeighbourCount {
 public:
  /// Counts nothing in a file without samples or with many, because reading their genotypes would take long,
  /// and in one where carbon +haplotypes has joined neighbours.
  explicit NeighbourCount(const VcfReader& vcf);

  /// Takes the next record of the file. Genotypes that cannot be read count for nothing.
  void add(const VcfRecord& record);
  uint64_t count() const { return count_; }

 private:
  /// The last allele of a haplotype that changes bases.
  struct Last {
    int64_t end = 0;
    GenotypePhase phase;
    bool any = false;
  };

  bool add_sample(const VcfRecord& record, size_t sample);
  bool add_allele(const ChangedBases& changed, const GenotypePhase& phase, Last& last) const;

  const VcfReader& vcf_;
  std::vector<std::vector<Last>> samples_;  // by sample and haplotype; empty if nothing is counted
  Genotypes genotypes_;
  std::string contig_;
  uint64_t count_ = 0;
};

}  // namespace carbon
