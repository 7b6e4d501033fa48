// What the INFO column says of one structural allele, whatever types the header gives the tags.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/formats/vcf.hpp"

namespace carbon {

/// The values of an INFO tag in the record in question.
using InfoSource = std::function<InfoValues(const std::string& tag)>;

/// The tags of one ALT. A tag that is there but cannot be read is never taken for an absent one: the function
/// that was asked for it answers as if it were absent, and readable() is false from then on.
class AlleleInfo {
 public:
  AlleleInfo(const InfoSource& info, size_t alt, size_t alts) : info_(info), alt_(alt), alts_(alts) {}

  bool readable() const { return readable_; }
  /// Whether the tag is there, with a value or alone.
  bool given(const std::string& tag) const;
  /// A flag, also one that has a value: PRECISE=0 says no, PRECISE=. nothing. `absent` is the answer then.
  bool flag(const std::string& tag, bool absent = false);
  /// A word in upper case, of the ALT or of the whole record; "" if there is none.
  std::string word(const std::string& tag);
  /// All words of the record, in upper case.
  std::vector<std::string> words(const std::string& tag) const;
  /// The letters of a sequence in upper case; "" if there is none.
  std::string letters(const std::string& tag);
  /// A whole number of the ALT.
  std::optional<double> number(const std::string& tag);
  /// END, which in a record of several ALTs belongs to an ALT only if each has its own.
  std::optional<double> end();
  /// Whether one of the numbers is not 0, however many there are.
  bool any_nonzero(const std::string& tag);
  /// Of CIPOS=-5,5: 10. Two numbers for the record, or for each ALT.
  double width(const std::string& tag);

 private:
  std::vector<double> numbers(const std::string& tag);
  std::string pick(const std::vector<std::string>& words);
  std::optional<double> pick(const std::vector<double>& numbers);

  const InfoSource& info_;
  size_t alt_, alts_;
  bool readable_ = true;
};

}  // namespace carbon
