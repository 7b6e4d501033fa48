// src/annotate/: carbon annotate: sequences of FASTA files come in, and the probability of every base to be
// coding, on each strand, goes out, or genes as GFF3, with their proteins. model_run makes windows of contigs
// and means of what a model says of them, run reads probabilities from tracks, decoder finds the best set of
// genes of a strand, runs cleans up runs of coding bases as the makers of the models do, genes makes calls of
// either, and outputs writes them.
//
// Here is what a gene is.
#pragma once

#include <cstdint>
#include <vector>

namespace carbon {

/// 0-based, half-open.
struct Interval {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
  bool operator==(const Interval&) const = default;
};

/// The coding part of a gene, in the coordinates of a strand in reading direction.
struct DecodedGene {
  std::vector<Interval> segments;  // ascending; the stop codon is part of the last one
  bool has_start = true, has_stop = true;
  int phase = 0;  // bases before the first whole codon; 0 with a start codon

  int64_t begin() const { return segments.front().begin; }
  int64_t end() const { return segments.back().end; }
  bool operator==(const DecodedGene&) const = default;
};

}  // namespace carbon
