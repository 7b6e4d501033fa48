#include "src/formats/fasta_layout.hpp"

#include <limits>
#include <string_view>
#include <unordered_set>

#include "src/base/json.hpp"
#include "src/files/text_input.hpp"
#include "src/formats/fasta_alphabet.hpp"

namespace carbon {

namespace {

constexpr size_t kNameBytes = size_t{1} << 16;  // more of a header than any name has

/// Takes the lines of a file, of which only beginnings and lengths are kept.
class LayoutReader {
 public:
  explicit LayoutReader(const std::string& path) : path_(path), input_(path, "open_fasta") {}

  FastaLayout read() {
    for (std::string_view block = input_.peek(); !block.empty(); block = input_.peek()) {
      const size_t newline = block.find('\n');
      const bool ends = newline != std::string_view::npos;
      take_part(block.substr(0, newline));
      input_.consume(ends ? newline + 1 : block.size());
      if (!ends) continue;
      end_line();
      if (!layout_.fault.empty()) return layout_;
      input_.count_line();
    }
    if (bytes_ > 0) end_line();
    return layout_;
  }

 private:
  void take_part(std::string_view part) {
    if (beginning_.size() < kNameBytes) beginning_ += part.substr(0, kNameBytes - beginning_.size());
    bytes_ += static_cast<int64_t>(part.size());
    if (!part.empty()) carriage_return_ = part.back() == '\r';
  }

  void end_line() {
    const int64_t length = bytes_ - (carriage_return_ ? 1 : 0);
    if (beginning_.starts_with('>'))
      take_header();
    else if (names_.empty() && length > 0)
      layout_.fault =
          where() + (beginning_.starts_with("##fileformat=VCF")
                         ? ": this is VCF, and not FASTA; are the reference and the variants swapped?"
                         : ": '" + printable(beginning_.substr(0, 20)) +
                               "' before the first '>'; this is not a FASTA file");
    else
      take_bases(length);
    beginning_.clear();
    bytes_ = 0;
    carriage_return_ = false;
  }

  void take_header() {
    size_t end = 1;
    while (end < beginning_.size() && !is_fasta_space(beginning_[end])) ++end;
    name_ = beginning_.substr(1, end - 1);
    full_ = 0;
    shorter_ = false;
    if (name_.empty())
      layout_.fault = where() +
                      ": a record without a name after '>'; write the name of the sequence directly "
                      "after '>', without a blank between them";
    else if (names_.insert(name_).second)
      layout_.names.push_back(name_);
    else if (++layout_.repeated == 1)
      layout_.repeated_name = name_;
  }

  void take_bases(int64_t length) {
    // An index has 32 bits for the length of a line with its end.
    if (length > int64_t{std::numeric_limits<uint32_t>::max()} - 2)
      layout_.fault = where() + ": a line of " + name_ + " has " + std::to_string(length) +
                      " bases, which is too long for an index (4,294,967,293 at most); wrap the lines, e.g. "
                      "with seqtk seq -l 80 or fold -w 80";
    if (layout_.uneven.empty() && length > 0 && (shorter_ || (full_ > 0 && length > full_)))
      layout_.uneven = where() + ": a line of " + name_ + " with " + std::to_string(length) +
                       " bases follows lines with " + std::to_string(shorter_ ? last_ : full_) +
                       "; all lines of a sequence except the last must have the same length: wrap them "
                       "anew, e.g. with seqtk seq -l 80";
    if (full_ == 0) full_ = length;
    shorter_ = shorter_ || length < full_;
    last_ = length;
  }

  /// A line is counted when it ends, so the current line has the next number.
  std::string where() const { return path_ + ":" + std::to_string(input_.line_number() + 1); }

  std::string path_;
  TextInput input_;
  FastaLayout layout_;
  std::unordered_set<std::string> names_;
  // The line at hand.
  std::string beginning_;
  int64_t bytes_ = 0;
  bool carriage_return_ = false;
  // The sequence at hand: its name, the length of its lines, that of the last one, and whether it was
  // shorter.
  std::string name_;
  int64_t full_ = 0, last_ = 0;
  bool shorter_ = false;
};

}  // namespace

FastaLayout read_fasta_layout(const std::string& path) {
  return LayoutReader(path).read();
}

}  // namespace carbon
