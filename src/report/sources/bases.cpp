#include "src/report/sources/bases.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/report/drawing/track.hpp"

namespace carbon {
namespace {

constexpr const char* kFunction = "read_base_table";
constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kLastPosition = int64_t{1} << 44;
constexpr size_t kHeaderLines = 10000;  // more than any header has

std::string quoted(std::string_view text) {
  return "'" + printable(text) + "'";
}

}  // namespace

BaseTable::BaseTable(const std::string& path, const VcfRegions* regions)
    : path_(path), input_(path, kFunction), kind_(input_kind(path)) {
  if (kind_ != InputKind::base_scores && kind_ != InputKind::scan && kind_ != InputKind::mutagenesis)
    throw Error(kFunction,
                path +
                    ": this is not a table of bases; such tables are those of score -O tsv, scan and "
                    "+mutagenesis --matrix");
  read_header();
  if (regions && !regions->contigs().empty() && IndexedTable::has_index(path))
    jump_.emplace(path, kFunction, *regions);
}

void BaseTable::fail(const std::string& what) const {
  throw Error(kFunction, (jump_ ? path_ : input_.where()) + ": " + what);
}

void BaseTable::read_header() {
  while (input_.line(line_)) {
    if (!line_.starts_with("##")) {
      indels_ = line_.starts_with("#CHROM\tPOS\tREF\tdel\t");
      return;
    }
    if (header_.size() == kHeaderLines) fail("the header has more than 10,000 lines");
    header_.push_back(line_);
  }
}

bool BaseTable::read_line() {
  return jump_ ? jump_->line(line_) : input_.line(line_);
}

BaseTable::Columns BaseTable::split(size_t columns) const {
  Columns out;
  std::string_view rest = line_;
  for (size_t i = 0; i < columns; ++i) {
    const size_t tab = rest.find('\t');
    if ((tab == std::string_view::npos) != (i + 1 == columns))
      fail("this line does not have the " + std::to_string(columns) +
           " columns of the header: " + quoted(line_));
    out[i] = rest.substr(0, tab);
    if (tab != std::string_view::npos) rest.remove_prefix(tab + 1);
  }
  return out;
}

void BaseTable::place(const Columns& columns, TableBase& base) {
  if (columns[0].empty()) fail("the name of the sequence is missing");
  if (columns[0] != sequence_) sequence_ = columns[0];
  base.sequence = sequence_;
  const std::string_view text = columns[1];
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), base.position);
  if (problem != std::errc() || end != text.data() + text.size() || base.position < 1 ||
      base.position > kLastPosition)
    fail(quoted(text) + " is not a position; positions are whole numbers from 1");
  base.letter = letter(columns[2]);
}

char BaseTable::letter(std::string_view text) const {
  if (text.size() != 1 || letter_number(text[0]) < 0)
    fail(quoted(text) + " is not one of the bases A, C, G and T");
  return text[0];
}

double BaseTable::number(std::string_view text) const {
  if (text == ".") return kNothing;
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool lowest =
      value == -std::numeric_limits<double>::infinity();  // the logarithm of a probability of zero
  if (problem != std::errc() || end != text.data() + text.size() || (!std::isfinite(value) && !lowest))
    fail(quoted(text) + " is not a number");
  return value;
}

void BaseTable::score_line(TableBase& base) {
  const Columns columns = split(9);
  place(columns, base);
  const double logp = number(columns[3]);
  double sum = 0;
  for (size_t k = 0; k < 4; ++k) {
    const double p = number(columns[5 + k]);
    if (!(p >= 0 && p <= 1.0001)) fail(quoted(columns[5 + k]) + " is not a probability");
    sum += p;
    base.letters[k] = std::log(p);
  }
  if (sum > 1.001) fail("the four probabilities add up to more than one");
  // The table has this one as a logarithm, with more digits where it is close to zero.
  double& actual = base.letters[static_cast<size_t>(letter_number(base.letter))];
  if (!(std::abs(std::exp(logp) - std::exp(actual)) < 1e-4))
    fail("logp " + quoted(columns[3]) + " is not the logarithm of the probability of " + base.letter);
  actual = logp;
}

void BaseTable::scan_lines(TableBase& base) {
  base.letters.fill(kNothing);
  std::array<bool, 4> seen = {};
  bool complete = true;
  for (int n = 0; n < 3; ++n) {
    if (n > 0 && !read_line()) fail("the table ends before the third line of its last base");
    const Columns columns = split(5);
    if (n == 0) {
      place(columns, base);
    } else {
      TableBase again;
      const std::string before = sequence_;
      place(columns, again);
      if (sequence_ != before || again.position != base.position || again.letter != base.letter)
        fail("position " + std::to_string(base.position) + " of " + quoted(before) +
             " does not have three lines, one for each change, as scan writes them");
    }
    const auto k = static_cast<size_t>(letter_number(letter(columns[3])));
    if (seen[k] || letter_number(base.letter) == static_cast<int>(k))
      fail("the change to " + quoted(columns[3]) + " comes twice, or is none");
    seen[k] = true;
    base.letters[k] = number(columns[4]);
    complete = complete && !std::isnan(base.letters[k]);
  }
  base.sequence = sequence_;
  base.letters[static_cast<size_t>(letter_number(base.letter))] = 0;
  if (!complete) {
    base.letters.fill(kNothing);
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
  const Columns columns = split(before + 4);
  place(columns, base);
  if (indels_) base.deletion = number(columns[3]);
  for (size_t k = 0; k < 4; ++k) {
    base.letters[k] = number(columns[before + k]);
    if (!indels_ && letter_number(base.letter) == static_cast<int>(k) && base.letters[k] != 0)
      fail("the value of " + quoted(columns[2]) + ", which is the reference, is not 0");
  }
}

bool BaseTable::next(TableBase& base) {
  if (!read_line()) return false;
  switch (kind_) {
    case InputKind::base_scores:
      score_line(base);
      break;
    case InputKind::scan:
      scan_lines(base);
      break;
    default:
      matrix_line(base);
  }
  return true;
}

}  // namespace carbon
