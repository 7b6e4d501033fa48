// How contig names of a VCF map to names of a FASTA. Names match exactly unless the user says otherwise:
// nothing guesses.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "src/genome/fasta.hpp"

namespace carbon {

class ContigNames {
 public:
  /// Names must be equal.
  static ContigNames exact();
  /// `--unify-chr-names VCF_PREFIX,FASTA_PREFIX`, "-" for no prefix: names that are equal once each side's
  /// prefix is removed match. Throws Error for a text of another form.
  static ContigNames with_prefixes(const std::string& text);
  /// `--chr-map FILE`: lines of two columns, VCF name and FASTA name; names not listed must be equal. Throws
  /// Error.
  static ContigNames with_map(const std::string& path);

  /// The FASTA's name for a VCF contig, "" if the FASTA lacks it. Throws Error if two names would match.
  std::string to_fasta(const std::string& vcf_name, const IndexedFasta& fasta) const;
  /// For a run in which no contig matched: a sentence naming the option that helps; "" if a name matches
  /// already.
  std::string suggestion(const std::vector<std::string>& vcf_names,
                         const std::vector<std::string>& fasta_names) const;

 private:
  std::string vcf_prefix_, fasta_prefix_;
  std::unordered_map<std::string, std::string> map_;
};

}  // namespace carbon
