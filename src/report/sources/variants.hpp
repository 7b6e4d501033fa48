// Files with scores of alleles, VCF, BCF or the table of vep -O t, as a stream of records of one form.
// The classes of alleles by a label, and what they do to genes, are read with them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/log.hpp"
#include "src/formats/vcf.hpp"
#include "src/report/sources/options.hpp"
#include "src/statistics/label.hpp"

namespace carbon {

// Assemblies that public databases know: which one a file of variants was called against, and the addresses
// of their pages for an allele. Knows the patterns that the databases publish, and asks no database.

struct Assembly {
  std::string_view name;
  std::string_view words;         // how headers, and --assembly, call it, in lower case, with spaces between
  int64_t first_length = 0;       // bases of chromosome 1, which no other assembly has
  int autosomes = 0;              // beside them X and Y
  std::string_view ucsc;          // the database of its browser
  std::string_view ensembl = {};  // host and species, "" where the current site has another assembly
  std::string_view gnomad = {};   // the data set, "" for none
  std::string_view clinvar = {};  // the search field of positions, "" for none
  std::string_view ucsc_mitochondrion = "chrM";  // "" if its browser has another sequence by this name
};

/// The assembly of this name, such as GRCh38, hg38 or mm39; null for another name.
const Assembly* find_assembly(std::string_view name);
/// "GRCh38, GRCh37, ...": the names.
std::string assembly_names();

/// What a header says of its assembly: the name of the FASTA, fields of contigs, and their lengths. Null if
/// it says nothing, or several.
const Assembly* assembly_of(const VcfReader& reader);

/// Names and addresses of the pages of an allele in the databases that have the assembly; none for a contig
/// that is not a chromosome of it. `pos` counts from 1.
std::vector<std::pair<std::string, std::string>> database_links(const Assembly& assembly,
                                                                std::string_view contig, int64_t pos,
                                                                std::string_view ref, std::string_view alt);

// ---- Records

// Which class the label of an allele names, by the rules of +auroc.

/// What a page calls the alleles of the two classes: a word or two before "alleles".
struct ClassNames {
  std::string positive = "positive", negative = "negative";
};

class LabelJudge {
 public:
  /// `expression` is clinvar, TAG, TAG=A,B, TAG=A,B/C,D or TAG>NUMBER and the like. Throws Error for another
  /// text, for a tag that the header lacks, and for a tag whose type the expression cannot ask.
  /// `path` is the name of the file, for messages.
  LabelJudge(const std::string& path, const std::string& expression, const VcfReader& reader);

  enum class Verdict : uint8_t { positive, negative, other, missing };
  /// Of an ALT, counted from 0. Throws Error (contig:pos) if it is unclear which value belongs to the allele,
  /// and for a number other than 0 and 1 where the expression is a tag alone.
  Verdict judge(const VcfReader& reader, const VcfRecord& record, size_t alt);
  /// The words of the label itself: "pathogenic" and "benign" for clinvar, "A or B" and "C" for TAG=A,B/C,
  /// "TAG>2" and "other" for TAG>2.
  ClassNames names() const;
  /// After the last record: warns of words of the label that no allele has, and throws
  /// Error if they are all those of a class.
  void check_words(Log& log) const;
  /// How often each word of a preset label stood where; "" for another label.
  std::string words() const {
    return label_.is_preset() ? words_.sentence(names().positive, names().negative) : "";
  }

 private:
  carbon::Verdict verdict(const VcfRecord& record, const InfoValues& values, size_t alt);

  std::string path_, expression_;
  Label label_;
  LabelWords words_;
};

// What alleles do to genes, from the annotations of bcftools csq (BCSQ), of VEP (CSQ) and of SnpEff (ANN).
//
// Of the entries of an allele the most severe one counts, by the order of severity of Ensembl.

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
  std::string gene_of(std::string_view entry) const;

  bool bcftools_;
  size_t allele_ = kNone, number_ = kNone, consequence_ = kNone, symbol_ = kNone, gene_ = kNone;
};

inline constexpr size_t kNoFlagTag = ~size_t{0};

struct ScoreTag {
  std::string name;
  std::string unit;              // "nats" for the log ratios of carbon, "" if it is not known
  size_t flag_tag = kNoFlagTag;  // in VariantLayout::flag_tags: which says why a score is missing
  bool low = false;              // by the header, low scores are those of damaging alleles
  bool high = false;             // by the header, high ones are

  /// Which scores a table of the most damaging alleles has.
  const char* extreme() const { return high ? "highest" : "lowest"; }
  /// A score of one of those before that of another.
  bool before(float a, float b) const { return high ? a > b : a < b; }
};

/// What a file has, by its header.
struct VariantLayout {
  std::vector<ScoreTag> tags;          // at least one
  std::vector<std::string> flag_tags;  // CARBON_FLAG and the like
  bool table = false;                  // a table of vep: lines of one allele each, without FILTER
  ClassNames classes;                  // of a label, if there is one
  std::string consequence_tag;         // BCSQ, CSQ or ANN; "" for none
  std::string unread_consequences;     // a tag of that kind whose fields the header does not name
  /// The one that the options name, or else the header; null if neither does, or for "none".
  const Assembly* assembly = nullptr;
  std::vector<std::string> header;  // the lines of carbon
};

/// One record, or one line of a table.
struct VariantRecord {
  std::string contig, id, ref, filter;
  int64_t pos = 0;  // as in the file, 1-based
  std::vector<std::string> alts;
  std::vector<std::string_view> types;          // of each alternative, as allele_type() names them
  std::vector<std::vector<float>> scores;       // for each tag, for each alternative; NaN for a missing one
  std::vector<std::vector<std::string>> flags;  // for each flag tag, for each alternative; "" for none
  std::vector<Consequence> consequences;        // for each alternative; empty without a consequence tag
  std::vector<LabelJudge::Verdict> labels;      // for each alternative; empty without a label
};

/// "A>G", with long alleles shortened.
std::string change_name(const VariantRecord& record, size_t alt);
/// "chr1:1,234 A>G", with long alleles shortened.
std::string allele_name(const VariantRecord& record, size_t alt);

class VariantSource {
 public:
  virtual ~VariantSource() = default;
  const VariantLayout& layout() const { return layout_; }
  /// Reads the next record. Returns false at the end, after checking that the file is complete. Throws
  /// Error, which names the place, for damaged records and for values that are no scores of alleles.
  bool next(VariantRecord& record);
  /// After the last record: how often each word of a preset label stood where; "" for another label.
  virtual std::string label_words() const { return ""; }

 protected:
  /// Fills all but the types.
  virtual bool read(VariantRecord& record) = 0;

  VariantLayout layout_;
};

/// Opens a file of the two kinds; "-" is VCF or BCF from standard input. Throws Error if it has no scores, or
/// lacks a tag that the options name.
std::unique_ptr<VariantSource> open_variants(const std::string& path, const ReportOptions& options);

}  // namespace carbon
