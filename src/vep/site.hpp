// One variant on its way to its scores: the reference around it, which alleles can be scored and why others
// cannot, the requests of their windows, and what one score per allele is read from.
//
// It has no VCF record, so that variants from other sources are scored by the same code, and knows no recipe.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/engine/request.hpp"
#include "src/formats/fasta.hpp"
#include "src/vep/score_cache.hpp"
#include "src/vep/variant.hpp"

namespace carbon {

/// The reference around variants. Records mostly come in order, so that the next ones lie in what was read
/// for the last one.
class ReferenceReader {
 public:
  explicit ReferenceReader(const IndexedFasta& fasta) : fasta_(&fasta) {}
  /// Has a whole contig, in upper case, in memory, and no other.
  ReferenceReader(std::string contig, std::string bases)
      : contig_(std::move(contig)), bases_(std::move(bases)) {}

  /// Length in bases, or -1 if there is no such contig.
  int64_t length(const std::string& contig) const;
  /// Bases [begin, end) of a contig of `length` bases, clipped to it, in upper case. Throws Error.
  ReferenceSlice slice(const std::string& contig, int64_t length, int64_t begin, int64_t end);
  /// One base, in upper case; cheap for positions that follow one another in either direction. The position
  /// must exist.
  char base(const std::string& contig, int64_t length, int64_t position);

 private:
  bool holds(const std::string& contig, int64_t begin, int64_t end) const;
  void read(const std::string& contig, int64_t begin, int64_t end);

  const IndexedFasta* fasta_ = nullptr;
  std::string contig_, bases_;
  int64_t begin_ = 0;
};

/// A contig of the FASTA and what is known of its bases.
struct ContigReference {
  ReferenceReader& reader;
  const std::string& contig;  // its name in the FASTA
  int64_t length;             // -1: not in the FASTA

  ReferenceSlice slice(const BaseRange& range) const {
    return reader.slice(contig, length, range.begin, range.end);
  }
  char base(int64_t position) const { return reader.base(contig, length, position); }
};

/// Mean hidden states of a window with the reference and with an alternative, [hidden] each.
struct AlleleMeans {
  std::vector<float> ref, alt;
};

/// The values of one allele on one strand in one phase, for each tag of its recipe: log-likelihood ratios, or
/// other measures of how the windows with the alternative and with the reference differ.
class AlleleRatios {
 public:
  virtual ~AlleleRatios() = default;
  /// False if the phase says nothing for a tag and is left out of the mean over phases.
  virtual bool has(size_t /*tag*/) const { return true; }
  /// Of a ratio in nats, alternative minus reference; exactly 0 for an allele equal to the reference. The
  /// requests of the site, and of those that it shares windows with, must be finished.
  virtual double value(size_t tag) const = 0;
  /// The key for adding the value to the score cache; null if it need not be added.
  virtual const ScoreKey* missing(size_t tag) const = 0;
  /// The mean states of the windows, of a run that wants them; none where a window has no whole 6-mer.
  virtual std::optional<AlleleMeans> means() const { return std::nullopt; }
};

/// An ALT that is scored, in its normal form.
struct ScoredAllele {
  size_t alt = 0;
  NormalAllele form;
  std::vector<std::vector<std::unique_ptr<const AlleleRatios>>> strands = {};  // by strand, then by phase
};

/// What one recipe makes of a site.
struct RecipeSite {
  std::vector<AlleleFlag> flags;  // one per ALT
  std::vector<ScoredAllele> alleles;
};

struct VepSite {
  std::vector<RecipeSite> recipes;  // of the run, in its order
  std::vector<RequestPtr> requests;
  /// The first of the run's tags that alleles of another length than the reference do not have.
  size_t first_measure = std::numeric_limits<size_t>::max();

  /// Whether a scored ALT changes the length, in its normal form.
  bool changes_length(size_t alt) const;
  /// The flag of an ALT: why its first missing score is missing. Of one that is `scored`, values may still be
  /// missing, because no phase says anything: value_flag().
  AlleleFlag flag(size_t alt) const;
  bool any_scored() const;
};

/// A site and where it lies.
struct PlacedSite {
  VepSite* site;
  ContigReference reference;
};

/// For each tag of the run's recipes one score per ALT in nats, alternative minus reference: the mean over
/// strands of the means over phases, NaN for ALTs that are not scored.
using SiteValues = std::vector<std::vector<double>>;

/// The flag of an ALT whose values are known, which are doubles or floats as in SiteValues: that of its first
/// missing value.
template <class Values>
AlleleFlag value_flag(const VepSite& site, size_t alt, const Values& values) {
  const AlleleFlag flag = site.flag(alt);
  const auto missing =
      std::find_if(values.begin(), values.end(), [&](const auto& of_tag) { return std::isnan(of_tag[alt]); });
  if (flag != AlleleFlag::scored || missing == values.end()) return flag;
  const bool measure = static_cast<size_t>(missing - values.begin()) >= site.first_measure;
  return measure && site.changes_length(alt) ? AlleleFlag::changes_length : AlleleFlag::edge;
}

}  // namespace carbon
