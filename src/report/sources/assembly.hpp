// Assemblies that public databases know: which one a file of variants was called against, and the addresses
// of their pages for an allele. Knows the patterns that the databases publish, and asks no database.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace carbon {

struct Assembly {
  std::string_view name;
  std::vector<std::string_view> words;  // how headers, and --assembly, call it, in lower case
  int64_t first_length = 0;             // bases of chromosome 1, which no other assembly has
  int autosomes = 22;                   // beside them X and Y
  std::string_view ucsc;                // the database of its browser
  std::string_view ensembl = {};        // host and species, "" where the current site has another assembly
  std::string_view gnomad = {};         // the data set, "" for none
  std::string_view clinvar = {};        // the search field of positions, "" for none
  std::string_view ucsc_mitochondrion = "chrM";  // "" if its browser has another sequence by this name
};

/// The assembly of this name, such as GRCh38, hg38 or mm39; null for another name.
const Assembly* find_assembly(std::string_view name);
/// "GRCh38, GRCh37, ...": the names.
std::string assembly_names();

/// The assembly that all hints of a header name; null if there is none, or if they differ. `texts` may have
/// its words, such as the path of a FASTA.
const Assembly* hinted_assembly(const std::vector<std::string>& texts,
                                const std::unordered_map<std::string, int64_t>& contig_lengths);

/// Names and addresses of the pages of an allele in the databases that have the assembly; none for a contig
/// that is not a chromosome of it. `pos` counts from 1.
std::vector<std::pair<std::string, std::string>> database_links(const Assembly& assembly,
                                                                std::string_view contig, int64_t pos,
                                                                std::string_view ref, std::string_view alt);

}  // namespace carbon
