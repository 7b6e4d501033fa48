// What htslib does not keep of a VCF, for it reads and writes the records: values that its types cannot hold
// become a point, and header lines that it cannot parse, or has already, are left out. It says so in messages
// that nobody sees, or not at all. Here what it has made of a text is compared with the text. Internal to the
// readers of VCF.
#pragma once

#include <htslib/vcf.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "src/base/log.hpp"
#include "src/formats/vcf_lines.hpp"

namespace carbon {

/// Warns of the lines of `text` (each with a newline) that `header`, which was made from it, has not or not
/// as they are. Another spelling of the same, as more blanks, is no difference. `shown` is what the file is
/// called.
void warn_of_header_changes(bcf_hdr_t* header, std::string_view text, const std::string& shown, Log& log);

class VcfChanges {
 public:
  /// Compares a line (no newline) with the record that was made from it. `where` is its number, for messages.
  /// The same value in another form, as 1e-05 for 0.00001, is no change, nor is 0.123457 for 0.123456789.
  void compare(SharedHeader& shared, bcf1_t* record, const std::string& line, const std::string& where);
  /// Warns once for each tag or column with a change. What was reported is not reported again.
  void report(const std::string& shown, Log& log);

 private:
  struct Change {
    uint64_t values = 0;
    std::string before, after, place;  // of the first
  };
  class Columns;

  void add(const std::string& tag, std::string_view before, std::string_view after, const std::string& place);

  HtsText formatted_;
  std::map<std::string, Change> changes_;  // by tag, such as INFO/RS
};

}  // namespace carbon
