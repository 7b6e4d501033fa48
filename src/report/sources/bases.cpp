#include "src/report/sources/bases.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/letters.hpp"
#include "src/base/words.hpp"
#include "src/files/file_name.hpp"
#include "src/formats/carbon_scores.hpp"

namespace carbon {
namespace {

constexpr const char* kFunction = "read_base_table";
constexpr std::string_view kLetters = "ACGT";
constexpr int64_t kJoined = 10;         // a gap of so many bases is drawn as unknown ones
constexpr size_t kMostPieces = 20;      // more figures than anybody looks at
constexpr size_t kMostBases = 200'000;  // that are kept in memory

// The place of a letter among A, C, G and T, in either case; 4 for another.
size_t letter_place(char letter) {
  return std::min(kLetters.find(capital_letter(letter)), kLetters.size());
}

// As a user writes it.
std::string region_text(const std::string& contig, const VcfInterval& of) {
  const bool open = of.end >= kLastPosition;
  if (of.begin == 0 && open) return contig;
  return contig + ":" + count_text(static_cast<uint64_t>(of.begin) + 1) + "-" +
         (open ? "" : count_text(static_cast<uint64_t>(of.end) + 1));
}

std::optional<VcfRegions> parse_regions(const std::vector<std::string>& texts) {
  if (texts.empty()) return std::nullopt;
  std::vector<WrittenRegion> regions;
  for (const std::string& text : texts)
    regions.push_back(parse_written_region(text, RegionStyle::samtools, {}));
  return VcfRegions(regions);
}

// A region that is asked for, with positions from 0, and whether a base of it has come.
struct Part {
  std::string sequence;
  VcfInterval of;
  bool found = false;

  bool has(const TableBase& base) const {
    return base.position > of.begin && base.position <= of.end + 1 && base.sequence == sequence;
  }
};

class Collector {
 public:
  Collector(const std::string& path, TablePieces& out) : path_(path), out_(out) {}

  /// Ends the piece: the next base begins another.
  void interrupt() { broken_ = true; }

  /// Returns false if the base is not kept, because there are enough.
  bool add(const TableBase& base) {
    if (bases_ >= kMostBases) return false;
    if (!continues(base)) {
      if (out_.pieces.size() == kMostPieces) return false;
      out_.pieces.push_back({std::string(base.sequence), base.position, {}, {}, {}});
    }
    broken_ = false;
    TablePiece& piece = out_.pieces.back();
    while (piece.last() + 1 < base.position) append(piece, 'N', {NAN, NAN, NAN, NAN}, NAN);
    append(piece, base.letter, base.letters, base.deletion);
    return true;
  }

 private:
  bool continues(const TableBase& base) const {
    if (broken_ || out_.pieces.empty()) return false;
    const TablePiece& piece = out_.pieces.back();
    if (piece.sequence != base.sequence) return false;
    if (piece.last() == base.position)
      throw Error("read_pieces", shown_path(path_) + ": position " + std::to_string(base.position) + " of '" +
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

// Which strands a table of score was made from: "+", "-" or "both", "" if its header does not say.
std::string strand_of(const std::vector<std::string>& header) {
  for (const std::string& line : header)
    if (line.starts_with("##carbon_scoreModel=")) return header_field(header_fields(line), "Strand");
  return {};
}

void note_missing(const std::string& path, const std::vector<std::string>& missed,
                  const ReportOptions& options, TablePieces& out) {
  const std::string table = "The table " + file_name(path) + " has no base";
  if (!out.pieces.empty()) {
    // Another table may have them.
    if (!missed.empty()) out.notes.push_back(table + " in " + and_list(missed) + ".");
    return;
  }
  const bool chosen = !options.regions.empty();
  out.notes.push_back(table + (chosen ? " in the regions that were chosen." : "."));
  options.log->warning("report", shown_path(path) + ": no base" + (chosen ? " lies in the regions" : ""));
}

}  // namespace

BaseTable::BaseTable(const std::string& path, const VcfRegions* regions) : table_(path, kFunction) {
  table_.read_header();
  kind_ = table_kind(path, table_.line());
  if (kind_ != InputKind::base_scores && kind_ != InputKind::scan && kind_ != InputKind::mutagenesis &&
      kind_ != InputKind::coding)
    throw Error(
        kFunction,
        path +
            ": this is not a table of bases; such tables are those of score -O tsv, scan, annotate -O tsv "
            "and +mutagenesis --matrix");
  indels_ = table_.line().starts_with("#CHROM\tPOS\tREF\tdel\t");
  strand_ = strand_of(table_.header());
  if (regions) table_.jump_to(*regions);
}

void BaseTable::place(TableBase& base) {
  if (table_[0].empty()) table_.fail("the name of the sequence is missing");
  if (table_[0] != sequence_) sequence_ = table_[0];
  base.sequence = sequence_;
  base.position = table_.position(1);
  base.letter = letter(2);
}

char BaseTable::letter(size_t column) const {
  const std::string_view text = table_[column];
  // These have a line for an unknown base, too.
  if (text.size() == 1 && (kind_ == InputKind::coding || kind_ == InputKind::mutagenesis)) return text[0];
  if (text.size() != 1 || letter_place(text[0]) == kLetters.size())
    table_.refuse(column, "is not one of the bases A, C, G and T");
  return text[0];
}

double BaseTable::probability(size_t column, double most) const {
  const double value = table_.number(column);
  if (!(value >= 0 && value <= most)) table_.refuse(column, "is not a probability");
  return value;
}

void BaseTable::score_line(TableBase& base) {
  table_.expect_columns(9);
  place(base);
  const double logp = table_.number(3, true);
  double sum = 0;
  for (size_t k = 0; k < 4; ++k) {
    const double p = probability(5 + k, 1.0001);
    sum += p;
    base.letters[k] = std::log(p);
  }
  if (sum > 1.001) table_.fail("the four probabilities add up to more than one");
  double& actual = base.letters[letter_place(base.letter)];
  const double excess = std::exp(logp) - std::exp(actual);
  // The mean of the logarithms of two strands is at most the logarithm of what the probabilities, means of
  // both strands, were scaled to.
  if (strand_ != "+" && strand_ != "-" && excess < -1e-4) return;
  if (!(std::abs(excess) < 1e-4))
    table_.fail("logp '" + printable(table_[3]) + "' is not the logarithm of the probability of " +
                base.letter);
  // The table has this one as a logarithm, with more digits where it is close to zero.
  if (strand_ != "both") actual = logp;
}

void BaseTable::scan_lines(TableBase& base) {
  base.letters.fill(NAN);
  std::array<bool, 4> seen = {};
  bool complete = true;
  for (int n = 0; n < 3; ++n) {
    if (n > 0 && !table_.next()) table_.fail("the table ends before the third line of its last base");
    table_.expect_columns(5);
    if (n == 0) {
      place(base);
    } else {
      TableBase again;
      const std::string before = sequence_;
      place(again);
      if (sequence_ != before || again.position != base.position || again.letter != base.letter)
        table_.fail("position " + std::to_string(base.position) + " of '" + printable(before) +
                    "' does not have three lines, one for each change, as scan writes them");
    }
    const size_t k = letter_place(letter(3));
    if (seen[k] || letter_place(base.letter) == k)
      table_.fail("the change to '" + printable(table_[3]) + "' comes twice, or is none");
    seen[k] = true;
    base.letters[k] = table_.number(4, true);
    complete = complete && !std::isnan(base.letters[k]);
  }
  base.sequence = sequence_;
  base.letters[letter_place(base.letter)] = 0;
  if (!complete) {
    base.letters.fill(NAN);
    return;
  }
  // The four ratios to the actual base give the probabilities, which add up to one. The largest is taken out
  // first, so that no sum is too large for a number.
  const double most = *std::max_element(base.letters.begin(), base.letters.end());
  double sum = 0;
  for (const double value : base.letters) sum += std::exp(value - most);
  for (double& value : base.letters) value -= most + std::log(sum);
}

void BaseTable::matrix_line(TableBase& base) {
  const size_t before = indels_ ? 4 : 3;
  table_.expect_columns(before + 4);
  place(base);
  if (indels_) base.deletion = table_.number(3, true);
  for (size_t k = 0; k < 4; ++k) {
    base.letters[k] = table_.number(before + k, true);
    if (!indels_ && letter_place(base.letter) == k && base.letters[k] != 0)
      table_.fail("the value of '" + printable(table_[2]) + "', which is the reference, is not 0");
  }
}

void BaseTable::coding_line(TableBase& base) {
  table_.expect_columns(5);
  place(base);
  base.letters = {probability(3), probability(4), NAN, NAN};
}

bool BaseTable::next(TableBase& base) {
  if (!table_.next()) return false;
  if (kind_ == InputKind::base_scores)
    score_line(base);
  else if (kind_ == InputKind::scan)
    scan_lines(base);
  else if (kind_ == InputKind::coding)
    coding_line(base);
  else
    matrix_line(base);
  return true;
}

std::string TablePiece::place() const {
  return sequence + ":" + count_text(static_cast<uint64_t>(first)) + "-" +
         count_text(static_cast<uint64_t>(last()));
}

TablePieces read_pieces(const std::string& path, const ReportOptions& options) {
  const std::optional<VcfRegions> regions = parse_regions(options.regions);
  BaseTable table(path, regions ? &*regions : nullptr);
  TablePieces out = {table.kind(), table.indels(), table.both_strands(), table.header(), {}, {}};
  std::vector<Part> parts;
  if (regions)
    for (const auto& [contig, intervals] : regions->contigs())
      for (const VcfInterval& one : intervals) parts.push_back({contig, one});
  auto part = parts.end();  // the last that had a base
  Collector collector(path, out);
  TableBase base;
  bool more = false;
  while (!more && table.next(base)) {
    if (regions && (part == parts.end() || !part->has(base))) {
      // There may be thousands of parts, so they are not searched for a base that lies in none.
      if (!regions->overlap(std::string(base.sequence), {base.position - 1, base.position - 1})) continue;
      part = std::find_if(parts.begin(), parts.end(), [&](const Part& one) { return one.has(base); });
      part->found = true;
      collector.interrupt();
    }
    more = !collector.add(base);
  }
  std::vector<std::string> missed;
  for (const Part& one : parts)
    if (!more && !one.found) missed.push_back(region_text(one.sequence, one.of));
  if (more)
    out.notes.push_back("The table goes on at " + std::string(base.sequence) + ":" +
                        count_text(static_cast<uint64_t>(base.position)) + "; a report draws up to " +
                        count_text(kMostPieces) + " pieces of it with " + count_text(kMostBases) +
                        " bases together. Regions choose what is drawn.");
  note_missing(path, missed, options, out);
  return out;
}

}  // namespace carbon
