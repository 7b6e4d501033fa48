#include "src/report/sources/base_pieces.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "src/base/error.hpp"
#include "src/report/drawing/plot.hpp"
#include "src/report/sources/input.hpp"

namespace carbon {
namespace {

constexpr int64_t kJoined = 10;         // a gap of so many bases is drawn as unknown ones
constexpr size_t kMostPieces = 20;      // more figures than anybody looks at
constexpr size_t kMostBases = 200'000;  // that are kept in memory

// A region as the other commands take it (`chr`, `chr:beg`, `chr:beg-end`, `chr:-end`, with commas in numbers
// and braces around a name with a colon), as VcfRegions takes it: {chr}:beg-end.
std::string list_entry(const std::string& text) {
  const size_t brace = text.starts_with('{') ? text.find('}') : std::string::npos;
  size_t colon = text.rfind(':');
  if (colon != std::string::npos && brace != std::string::npos && colon < brace) colon = std::string::npos;
  std::string range = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (range.find_first_not_of("0123456789,-") != std::string::npos) {  // the colon belongs to the name
    range.clear();
    colon = std::string::npos;
  }
  std::string name = text.substr(0, colon);
  if (brace == std::string::npos) name = "{" + name + "}";
  if (colon == std::string::npos) return name;
  std::erase(range, ',');
  if (range.find('-') == std::string::npos) range += '-';
  return name + ":" + range;
}

std::optional<VcfRegions> parse_regions(const std::vector<std::string>& texts) {
  if (texts.empty()) return std::nullopt;
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "" : ",") + list_entry(text);
  return VcfRegions::from_list(list);
}

// Which bases of a table are asked for, and when no more can come.
class Selection {
 public:
  Selection(std::optional<VcfRegions> regions, bool sorted) : regions_(std::move(regions)), sorted_(sorted) {}

  bool wants(const TableBase& base) {
    if (!regions_) return true;
    if (base.sequence != current_) {
      if (sorted_) passed_.insert(current_);
      current_ = base.sequence;
      intervals_ = find(current_);
    }
    if (!intervals_) return false;
    const int64_t pos = base.position - 1;
    if (sorted_ && pos > intervals_->back().end) passed_.insert(current_);
    const auto interval =
        std::lower_bound(intervals_->begin(), intervals_->end(), pos,
                         [](const VcfInterval& one, int64_t value) { return one.end < value; });
    if (interval == intervals_->end() || interval->begin > pos) return false;
    fresh_ = &*interval != interval_;
    interval_ = &*interval;
    return true;
  }

  /// Whether the base that was wanted last is the first of its region.
  bool begins_region() const { return fresh_; }

  /// Whether a sorted table has no further base of the regions.
  bool complete() const {
    return regions_ && sorted_ &&
           std::all_of(regions_->contigs().begin(), regions_->contigs().end(),
                       [&](const VcfRegions::Contig& contig) { return passed_.contains(contig.name); });
  }

 private:
  const std::vector<VcfInterval>* find(const std::string& name) const {
    for (const VcfRegions::Contig& contig : regions_->contigs())
      if (contig.name == name) return &contig.intervals;
    return nullptr;
  }

  const std::optional<VcfRegions> regions_;
  const bool sorted_;
  std::string current_;
  const std::vector<VcfInterval>* intervals_ = nullptr;
  const VcfInterval* interval_ = nullptr;
  bool fresh_ = false;
  std::set<std::string> passed_;
};

class Collector {
 public:
  Collector(const std::string& path, TablePieces& out) : path_(path), out_(out) {}

  /// Ends the piece: the next base begins another.
  void interrupt() { broken_ = true; }

  /// Returns false if the base is not kept, because there are enough.
  bool add(const TableBase& base) {
    if (bases_ == kMostBases) return false;
    if (!continues(base)) {
      if (out_.pieces.size() == kMostPieces) return false;
      out_.pieces.push_back({std::string(base.sequence), base.position, {}, {}, {}});
    }
    broken_ = false;
    TablePiece& piece = out_.pieces.back();
    while (piece.last() + 1 < base.position)
      append(piece, 'N', {kNoValue, kNoValue, kNoValue, kNoValue}, kNoValue);
    append(piece, base.letter, base.letters, base.deletion);
    return true;
  }

 private:
  bool continues(const TableBase& base) const {
    if (broken_ || out_.pieces.empty()) return false;
    const TablePiece& piece = out_.pieces.back();
    if (piece.sequence != base.sequence) return false;
    if (piece.last() == base.position)
      throw Error("read_pieces", path_ + ": position " + std::to_string(base.position) + " of '" +
                                     piece.sequence + "' comes twice in a row");
    return base.position > piece.last() && base.position - piece.last() <= kJoined + 1;
  }

  void append(TablePiece& piece, char letter, const LetterLogs& values, double deletion) {
    piece.letters += letter;
    piece.values.push_back(values);
    if (out_.indels) piece.deletions.push_back(deletion);
    ++bases_;
  }

  const std::string& path_;
  TablePieces& out_;
  bool broken_ = false;
  size_t bases_ = 0;
};

void note_missing(const std::string& path, const ReportOptions& options, TablePieces& out) {
  if (!out.pieces.empty()) return;
  const std::string where = file_name(path);
  out.notes.push_back(options.regions.empty()
                          ? "The table " + where + " has no base with a value."
                          : "The table " + where + " has no base in the regions that were chosen.");
  options.log->warning(
      "report", path + (options.regions.empty() ? ": no base has a value" : ": no base lies in the regions"));
}

}  // namespace

std::string TablePiece::place() const {
  return sequence + ":" + count_text(static_cast<uint64_t>(first)) + "-" +
         count_text(static_cast<uint64_t>(last()));
}

TablePieces read_pieces(const std::string& path, const ReportOptions& options) {
  const std::optional<VcfRegions> regions = parse_regions(options.regions);
  BaseTable table(path, regions ? &*regions : nullptr);
  TablePieces out;
  out.kind = table.kind();
  out.indels = table.indels();
  out.header = table.header();
  Selection selection(regions, table.sorted());
  Collector collector(path, out);
  TableBase base;
  bool more = false;
  while (!more && !selection.complete() && table.next(base)) {
    if (!selection.wants(base)) continue;
    if (selection.begins_region()) collector.interrupt();
    more = !collector.add(base);
  }
  if (more)
    out.notes.push_back("The table goes on at " + std::string(base.sequence) + ":" +
                        count_text(static_cast<uint64_t>(base.position)) + "; a report draws up to " +
                        count_text(kMostPieces) + " pieces of it with " + count_text(kMostBases) +
                        " bases together. Regions choose what is drawn.");
  note_missing(path, options, out);
  return out;
}

}  // namespace carbon
