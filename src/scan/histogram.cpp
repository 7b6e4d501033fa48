#include "src/scan/histogram.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "src/base/error.hpp"
#include "src/base/lists.hpp"
#include "src/base/numbers.hpp"
#include "src/statistics/rank_type.hpp"

namespace carbon {
namespace {

constexpr std::string_view kLetters = "ACGT";
constexpr int64_t kSliceBases = 1 << 16;

// Of three letters; 0 for anything but A, C, G and T.
size_t trinucleotide_number(std::string_view letters) {
  size_t number = 0;
  for (const char letter : letters) {
    const size_t digit = kLetters.find(letter);
    if (digit == std::string_view::npos) return 0;
    number = 4 * number + digit;
  }
  return 1 + number;
}

std::string trinucleotide_text(size_t number) {
  if (number == 0) return ".";
  const size_t digits = number - 1;
  return {kLetters[digits / 16], kLetters[digits / 4 % 4], kLetters[digits % 4]};
}

int64_t bin_of(float value) {
  std::string printed;
  append_vcf_float(value, printed);
  return histogram_bin(printed);
}

}  // namespace

size_t ScanHistogram::trinucleotide(const ScannedBase& base) {
  const ScanPiece& piece = *base.piece;
  if (base.position == 0 || base.position + 1 >= piece.length) return 0;
  const int64_t begin = base.position - 1, end = base.position + 2;
  const bool loaded = contig_ == piece.number && slice_begin_ <= begin &&
                      end <= slice_begin_ + static_cast<int64_t>(slice_.size());
  if (!loaded) {
    slice_ = to_upper(fasta_.fetch(piece.contig, begin, std::min(begin + kSliceBases, piece.length)));
    contig_ = piece.number;
    slice_begin_ = begin;
  }
  return trinucleotide_number(std::string_view(slice_).substr(static_cast<size_t>(begin - slice_begin_), 3));
}

void ScanHistogram::add(const ScannedBase& base) {
  const size_t trinucleotide_class = 4 * trinucleotide(base);
  const Alternatives alts(base);
  for (size_t i = 0; i < alts.letters.size(); ++i)
    ++counts_[trinucleotide_class + kLetters.find(alts.letters[i])][bin_of(alts.values[i])];
}

std::string ScanHistogram::text() const {
  std::string text;
  for (size_t c = 0; c < kClasses; ++c) {
    std::vector<std::pair<int64_t, uint64_t>> bins(counts_[c].begin(), counts_[c].end());
    std::sort(bins.begin(), bins.end());
    for (const auto& [bin, count] : bins) {
      text += trinucleotide_text(c / 4);
      text += '\t';
      text += kLetters[c % 4];
      text += '\t';
      append_integer(bin, text);
      text += '\t';
      append_integer(count, text);
      text += '\n';
    }
  }
  return text;
}

void ScanHistogram::add_text(const std::string& text) {
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    const std::vector<std::string_view> fields = split(line, '\t');
    int64_t bin = 0;
    uint64_t count = 0;
    const size_t letter =
        fields.size() == 4 && fields[1].size() == 1 ? kLetters.find(fields[1]) : kLetters.npos;
    if (letter == kLetters.npos || fields[0].empty() || fields[0].size() > 3 ||
        !parse_number(fields[2], bin) || !parse_number(fields[3], count))
      throw Error("scan", "the histogram of the interrupted run is damaged",
                  {"or discard it with {--restart}"});
    counts_[4 * trinucleotide_number(fields[0]) + letter][bin] += count;
  }
}

}  // namespace carbon
