// Calls as lines of GFF3, and their coding sequences and proteins as FASTA.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/annotate/genes.hpp"
#include "src/annotate/genetic_code.hpp"

namespace carbon {

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
