// Genes of a gene model, as far as they lie near the pieces of a table, and all those of carbon annotate.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace carbon {

/// Positions count from 1, both ends included.
struct GenePart {
  int64_t start = 1, end = 1;
};

/// Sorts parts, and joins those that overlap or touch.
void merge_parts(std::vector<GenePart>& parts);

struct Gene {
  std::string name;  // "" if the file gives none
  char strand = '.';
  int64_t start = 1, end = 1;
  std::vector<GenePart> exons;   // of all transcripts, merged
  std::vector<GenePart> coding;  // their coding parts, merged
  std::string score = {};        // of the gene, as the file writes it; "" for none
};

/// A part of a sequence.
struct GeneArea {
  std::string sequence;
  int64_t start = 1, end = 1;
};

struct GeneFile {
  std::vector<std::vector<Gene>> genes;  // for each area, sorted by start
  /// Whether the file has a feature on the sequence of any area; otherwise `other` is the first name that it
  /// has.
  bool known_sequence = false;
  std::string other;
  std::string other_names;  // "chrM (called MT there)": sequences of areas in another spelling; "" if none
};

/// "such as 'chr1'; its first feature is on '2'", or the other spelling and what to do: for a file without a
/// feature on any sequence, of which `mine` is one.
std::string no_sequence_words(const GeneFile& file, const std::string& mine);

/// Reads GFF3 or GTF, plain or compressed: features of the types exon and CDS (and UTRs, and in GTF the stop
/// codon, which is not part of its CDS), with the genes that they belong to. Throws Error (path:line) for a
/// malformed line.
GeneFile read_genes(const std::string& path, const std::vector<GeneArea>& areas);

/// A gene of carbon annotate, or a run of coding bases.
struct AnnotatedGene {
  std::string sequence;  // on which it lies
  int64_t length = 0;    // of the sequence; 0 if the file does not say
  Gene gene;             // its exons are its coding parts
  bool run = false, partial = false;
  double score = 0, least = 0;  // mean probability of its coding bases, and the smallest of an exon

  int64_t coding_bases() const;
};

/// Calls `use` with each gene, in the order of the file. Returns the header lines of carbon, with ##. Throws
/// Error (path:line) for a malformed line, and for scores that are no probabilities.
std::vector<std::string> read_annotation(const std::string& path,
                                         const std::function<void(const AnnotatedGene&)>& use);

}  // namespace carbon
