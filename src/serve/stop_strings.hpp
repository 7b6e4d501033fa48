// Looks for strings at which a generated sequence ends, base by base.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace carbon {

/// The new bases of a sample, and where they end. A stop string may begin and end inside 6-mers; it is cut
/// off. If several end at the same base, the longest counts.
class StoppedText {
 public:
  /// Strings of any case, in which U is T; those with other letters than A, C, G and T are never found.
  explicit StoppedText(std::vector<std::string> stops);

  /// Adds bases. Returns false if the text has ended, and ignores what follows the end.
  bool add(std::string_view bases);
  /// The bases so far, without the stop string.
  const std::string& text() const { return text_; }
  bool stopped() const { return !found_.empty(); }
  /// The stop string that was found, "" for none.
  const std::string& found() const { return found_; }
  /// So many bases of text() are certainly not the beginning of a stop string.
  size_t certain() const;

 private:
  std::vector<std::string> stops_;
  std::string text_, found_;
};

}  // namespace carbon
