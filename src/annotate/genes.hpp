// Calls of a contig: its genes or runs on both strands, in coordinates of the contig, with what their
// probabilities say of them; and their lines of GFF3, coding sequences and proteins.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/annotate/decoder.hpp"
#include "src/annotate/gene.hpp"
#include "src/annotate/probabilities.hpp"

namespace carbon {

/// Rules by which the makers of the GENERanno models clean up runs of coding bases (their script
/// cds_annotation.py): the ends of each run move to the steepest step nearby, short gaps are filled, and
/// short runs are dropped. In bases; these are the makers' values for eukaryotes.
struct RunRules {
  int64_t outward = 128, inward = 0;  // how far an end may move
  int64_t stop_run = 0;               // the search ends after so many low bases in a row; 0: never
  double stop_ratio = 0.3;            // low is at most this share of the probability at the run's own end
  int64_t min_run = 4, min_gap = 4;
};
inline constexpr RunRules kProkaryoteRuns = {.stop_run = 4, .min_gap = 1};

/// The runs of a strand of `bases` bases in ascending order, in coordinates of the contig; `read` gives its
/// probabilities, also of bases that it has given before. A base is coding if its probability is above 0.5.
std::vector<Interval> coding_runs(int64_t bases,
                                  const std::function<void(int64_t begin, std::span<float> values)>& read,
                                  const RunRules& rules);

struct GeneCall {
  bool reverse = false;
  std::vector<Interval> segments;  // ascending on the contig
  std::vector<double> means = {};  // of the probabilities of each
  double mean = 0, least = 0;      // of all its bases; the smallest of `means`
  bool has_start = true, has_stop = true;
  int phase = 0;  // bases before the first whole codon, in reading direction

  int64_t begin() const { return segments.front().begin; }
  int64_t end() const { return segments.back().end; }
  int64_t coding_bases() const;
  /// Its coding bases in reading direction, in capital letters.
  std::string coding_sequence(std::string_view contig) const;
};

/// Which genes are kept.
struct GeneFilter {
  int64_t min_bases = 60;  // coding
  double min_mean = 0.5;
};

/// Calls are in the order of their first base, then of their last, + before -.
std::vector<GeneCall> call_genes(std::string_view contig, const Probabilities& probabilities,
                                 const GeneRules& rules, const GeneFilter& filter);
std::vector<GeneCall> call_runs(const Probabilities& probabilities, const RunRules& rules);

// ---- as lines of GFF3, and as FASTA

/// The name of a contig as it stands in all columns: bytes that GFF3 does not allow in the first one are %XX.
std::string gff3_name(std::string_view name);

/// The line ##sequence-region.
std::string gff3_region(std::string_view name, int64_t bases);

/// The gene with the given number on its contig, from 1: a gene, an mRNA, exons and CDS, and ###.
void append_gene(const GeneCall& gene, std::string_view name, size_t number, std::string& text);
/// A run of coding bases: one line.
void append_run(const GeneCall& run, std::string_view name, size_t number, std::string& text);

/// A record of FASTA: NAME_000001.1.
void append_coding_sequence(const GeneCall& gene, std::string_view name, size_t number,
                            std::string_view contig, std::string& text);
/// The amino acids of the whole codons without the stop, with M for a start codon.
void append_protein(const GeneCall& gene, std::string_view name, size_t number, std::string_view contig,
                    const GeneticCode& code, std::string& text);

}  // namespace carbon
