// What alleles do to genes, from the annotations of bcftools csq (BCSQ), of VEP (CSQ) and of SnpEff (ANN).
//
// Of the entries of an allele the most severe one counts, by the order of severity of Ensembl.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace carbon {

struct Consequence {
  std::string term;  // as the file has it, e.g. missense_variant, or missense of bcftools csq; "" for none
  std::string gene;  // its symbol, or else its identifier; "" for none
};

/// The place of a term in the order of Ensembl, from 0 for the most severe. The terms of bcftools csq and
/// SnpEff have those of the terms of Ensembl that they correspond to. All unknown terms share the last place.
size_t severity(std::string_view term);

class ConsequenceLayout {
 public:
  /// `tag` is BCSQ, CSQ or ANN, or another one whose `description` in the header is that of such a tag. The
  /// fields of CSQ are named by the description after "Format:". ANN of VEP has such a description, too; that
  /// of SnpEff does not need one.
  ConsequenceLayout(const std::string& tag, const std::string& description);

  /// False if the description names no fields, so that the values cannot be read.
  bool known() const { return consequence_ != kNone; }
  /// The most severe consequence of each alternative allele of a record. `entries` are the values of the
  /// tag, `pos` is POS as the file has it.
  std::vector<Consequence> read(const std::vector<std::string>& entries, int64_t pos, const std::string& ref,
                                const std::vector<std::string>& alts) const;

 private:
  static constexpr size_t kNone = ~size_t{0};

  std::vector<bool> alleles_of(std::string_view entry, int64_t pos, const std::string& ref,
                               const std::vector<std::string>& alts) const;
  bool names_no_allele(std::string_view entry) const;
  std::string gene_of(std::string_view entry) const;

  bool bcftools_;
  size_t allele_ = kNone, number_ = kNone, consequence_ = kNone, symbol_ = kNone, gene_ = kNone;
};

}  // namespace carbon
