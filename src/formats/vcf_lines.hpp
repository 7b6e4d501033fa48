// A record, the header that it belongs to, how one line of VCF becomes a record, and what of the line is
// lost: htslib parses it after a check of what htslib would believe. Internal to the readers and writers of
// VCF.
#pragma once

#include <htslib/kstring.h>
#include <htslib/vcf.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/log.hpp"
#include "src/formats/vcf.hpp"

namespace carbon {

/// The header with which records are parsed and printed. It has the definitions of the input, and those that
/// htslib adds for undefined tags. The header of the output is a separate one that numbers the names equally.
///
/// Parsing a text record may extend the header while another thread prints a record, so both hold `mutex`.
/// Reading BCF does not change the header and takes no lock.
struct SharedHeader {
  ~SharedHeader() {
    if (header) bcf_hdr_destroy(header);
  }
  bcf_hdr_t* header = nullptr;
  std::string text;  // the header's lines as they are in the input
  std::mutex mutex;
};

struct VcfRecord::Impl {
  Impl();
  ~Impl() { bcf_destroy(record); }
  /// `contig:pos`, for messages.
  std::string where() const { return contig + ":" + std::to_string(record->pos + 1); }
  /// Sets the contig and the alleles from what htslib has read. Throws Error, in which the file is called
  /// `shown` and the record `place`, if they are damaged.
  void unpack(SharedHeader& shared, const std::string& shown, const std::string& place);

  bcf1_t* record = nullptr;
  std::string contig, ref;
  std::vector<std::string> alts;
  std::vector<int> set_ids;  // INFO ids that the writer has set on this record
};

/// A string of htslib that is freed.
struct HtsText {
  HtsText() = default;
  ~HtsText() { ks_free(&text); }
  HtsText(const HtsText&) = delete;
  HtsText& operator=(const HtsText&) = delete;
  kstring_t text = {0, 0, nullptr};
};

/// `where`, followed by what the line has as contig:pos, for messages.
std::string place_of_line(const std::string& where, std::string_view line);

class VcfLineParser {
 public:
  /// Parses a line without its newline into `record`. Throws Error for a malformed one; `where` is its
  /// number, e.g. "line 12".
  void parse(SharedHeader& shared, const std::string& shown, const std::string& where,
             const std::string& line, bcf1_t* record);

 private:
  HtsText scratch_;  // a copy of the line, because htslib changes it while it parses
};

/// The contigs and names that a header has at one time. Records of BCF refer to them by number. The header
/// with which records are read grows: the writer adds contigs and its own tags, and htslib each undefined
/// name that it finds in VCF. With a later header, a number of nothing would become one of those.
class BcfDictionaries {
 public:
  /// Of the header as it is now. It must outlive this object.
  explicit BcfDictionaries(const bcf_hdr_t* header);
  bool has_contig(int32_t number) const;
  /// How many contigs there are. If their numbers have gaps, the largest number is larger.
  int count_contigs() const;
  /// The first FILTER, INFO or FORMAT of the record that is not among the names, such as "INFO number 7".
  /// Nothing if there is none. Throws Error, in which the file is called `shown` and the record `place`, if
  /// the record cannot be unpacked.
  std::optional<std::string> undefined_name(bcf1_t* record, const std::string& shown,
                                            const std::string& place) const;
  /// Throws Error if the contig of the record or one of its names is not in the header. htslib looks only at
  /// the header as it is when the record is read, and not at all when it reads by an index.
  void check(bcf1_t* record, const std::string& shown, const std::string& place) const;

 private:
  bool has_name(int32_t number) const;

  const bcf_hdr_t* header_;
  int contigs_, names_;
};

/// Throws Error if htslib has reported by `status` or in the record that it cannot be read. `reason` is why,
/// in the words of htslib, if they are known.
void check_record(const bcf1_t* record, int status, const std::string& shown, const std::string& where,
                  const std::string& reason = "");

// What htslib does not keep of a VCF, for it reads and writes the records: values that its types cannot hold
// become a point, and header lines that it cannot parse, or has already, are left out. It says so in messages
// that nobody sees, or not at all. Here what it has made of a text is compared with the text.

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
