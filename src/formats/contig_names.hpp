// How contig names of a VCF map to names of a FASTA. Names must be equal unless the user gives a rule;
// nothing is guessed.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "src/base/error.hpp"
#include "src/formats/fasta.hpp"

namespace carbon {

class ContigNames {
 public:
  /// `map` names a file whose lines have two columns, a VCF name and a FASTA name; "" for none. `prefixes` is
  /// "VCF_PREFIX,FASTA_PREFIX", where "-" stands for no prefix, or "": two names that the map does not have
  /// match if they are equal after the prefix of either side is removed. Throws Error for a text or a file of
  /// another form.
  explicit ContigNames(const std::string& prefixes = "", const std::string& map = "");

  /// The FASTA name of a VCF contig; "" if the FASTA lacks it. Throws Error if two names would match.
  std::string to_fasta(const std::string& vcf_name, const IndexedFasta& fasta) const;
  /// The same for another file than a FASTA, `path`, which has the contigs for which `has` is true.
  std::string find(const std::string& vcf_name, const std::function<bool(const std::string&)>& has,
                   const std::string& path) const;
  /// For a run in which no contig matched: the advice for its Error. The topic is contig_prefixes with the
  /// two prefixes that would make a name match ("-" for no prefix), contig_names_equal if names match once
  /// nothing is removed or mapped, or contig_pairs with a name of either side; none if a name matches
  /// already.
  Advice advice(const std::vector<std::string>& vcf_names, const std::vector<std::string>& fasta_names) const;
  /// The Error of such a run, of `function`: `whose` contigs, such as those of "the VCF", are not in `fasta`.
  Error none_matches(const std::string& function, const std::string& whose,
                     const std::vector<std::string>& vcf_names, const std::string& fasta,
                     const std::vector<std::string>& fasta_names) const;

 private:
  void read_prefixes(const std::string& text);
  void read_map(const std::string& path);

  std::string vcf_prefix_, fasta_prefix_;
  std::unordered_map<std::string, std::string> map_;
};

/// The contigs of a VCF that a run meets. Each is looked up once in another file, such as a FASTA.
class VcfContigs {
 public:
  /// The name of a contig of the VCF in the other file; "" if that lacks it. May throw Error.
  using Find = std::function<std::string(const std::string&)>;

  /// The contigs that the header of the VCF declares. Those of records may be noted before and after.
  void declare(std::vector<std::string> names);
  /// Notes a contig, and gives its name in the other file, or "".
  const std::string& name(const std::string& contig, const Find& find);
  /// Those that the other file lacks, in order of appearance.
  const std::vector<std::string>& unknown() const { return unknown_; }
  /// Whether some were noted, and the other file has none of them.
  bool none_known() const { return !names_.empty() && unknown_.size() == names_.size(); }
  /// The same before all records are read: a record's contig is declared, and the other file has none of
  /// those that are, or those of all records were noted first. unknown() are these contigs then.
  bool none_to_come() const { return none_to_come_; }

 private:
  void look_ahead(const std::string& contig, const Find& find);

  std::unordered_map<std::string, std::string> names_;
  std::vector<std::string> unknown_, declared_;
  bool looked_ahead_ = false, none_to_come_ = false;
};

/// What a message about `names`, which `file` lacks, adds where the file has some of them in another
/// spelling:
/// "; FILE calls MT chrM", and the advice to map names. Both are empty if there is none.
struct Respelled {
  std::string words;
  Advice advice;
};
Respelled respelled(const std::vector<std::string>& names, const std::vector<std::string>& of_file,
                    const std::string& file);

}  // namespace carbon
