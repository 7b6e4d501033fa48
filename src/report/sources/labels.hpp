// Which class the label of an allele names, by the rules of +auroc.
#pragma once

#include <string>

#include "src/base/log.hpp"
#include "src/formats/vcf.hpp"
#include "src/statistics/label.hpp"

namespace carbon {

/// What a page calls the alleles of the two classes: a word or two before "alleles".
struct ClassNames {
  std::string positive = "positive", negative = "negative";
};

class LabelJudge {
 public:
  /// `expression` is clinvar, TAG, TAG=A,B, TAG=A,B/C,D or TAG>NUMBER and the like. Throws Error for another
  /// text, for a tag that the header lacks, and for a tag whose type the expression cannot ask.
  LabelJudge(const std::string& expression, const VcfReader& reader);

  enum class Verdict { positive, negative, other, missing };
  /// Of an ALT, counted from 0. Throws Error (contig:pos) if it is unclear which value belongs to the allele,
  /// and for a number other than 0 and 1 where the expression is a tag alone.
  Verdict judge(const VcfReader& reader, const VcfRecord& record, size_t alt);
  /// The words of the label itself: "pathogenic" and "benign" for clinvar, "A or B" and "C" for TAG=A,B/C,
  /// "TAG>2" and "other" for TAG>2.
  ClassNames names() const;
  /// After the last record of the file `path`: warns of words of the label that no allele has, and throws
  /// Error if they are all those of a class.
  void check_words(const std::string& path, Log& log) const;
  /// How often each word of a preset label stood where; "" for another label.
  std::string words() const {
    return label_.is_preset() ? words_.sentence(names().positive, names().negative) : "";
  }

 private:
  carbon::Verdict verdict(const VcfRecord& record, const InfoValues& values, size_t alt);

  std::string expression_;
  Label label_;
  LabelWords words_;
};

}  // namespace carbon
