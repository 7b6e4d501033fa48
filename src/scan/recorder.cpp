#include "src/scan/recorder.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "src/base/error.hpp"
#include "src/base/long_run.hpp"
#include "src/base/numbers.hpp"
#include "src/base/words.hpp"
#include "src/statistics/allele_type.hpp"
#include "tokenizer/kmer.hpp"

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

// The bin of a value as outputs have it, with six digits. These are within a hundred-thousandth of the value,
// so only near the edge of a bin do they have to be looked at.
int64_t bin_of(float value) {
  const double error = 1e-5 * std::abs(static_cast<double>(value));
  const double low = std::floor(100 * (value - error)), high = std::floor(100 * (value + error));
  constexpr double kSmall = 1e6;
  if (low == high && std::abs(low) < kSmall) return static_cast<int64_t>(low);
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

namespace {

constexpr int64_t kComparedBases = 1 << 20;

bool is_before(const ScanPiece& piece, int64_t position, const ScanMark& mark) {
  return piece.number < mark.contig || (piece.number == mark.contig && position < mark.position);
}

}  // namespace

void ScannedBases::add(const ScanPiece& piece, int64_t position, int digit) {
  // The mixing step of FNV-1a, over numbers instead of bytes.
  constexpr uint64_t prime = 1099511628211u;
  ++count;
  checksum = (checksum ^ piece.number) * prime;
  checksum = (checksum ^ (static_cast<uint64_t>(position) * 4 + static_cast<uint64_t>(digit))) * prime;
}

std::vector<ScanPiece> pieces_from(const std::vector<ScanPiece>& pieces, const ScanMark& mark) {
  std::vector<ScanPiece> out;
  for (ScanPiece piece : pieces) {
    if (piece.number < mark.contig) continue;
    if (piece.number == mark.contig) piece.begin = std::max(piece.begin, mark.position);
    if (piece.begin < piece.end) out.push_back(piece);
  }
  return out;
}

void check_bases_before(const ScanMark& mark, const std::vector<ScanPiece>& pieces,
                        const IndexedFasta& fasta) {
  ScannedBases found;
  for (const ScanPiece& piece : pieces) {
    for (int64_t begin = piece.begin; begin < piece.end && is_before(piece, begin, mark);
         begin += kComparedBases) {
      const int64_t end = std::min(piece.end, begin + kComparedBases);
      const std::string bases = to_upper(fasta.fetch(piece.contig, begin, end));
      for (int64_t i = begin; i < end && is_before(piece, i, mark); ++i)
        if (const int digit = base_digit(bases[static_cast<size_t>(i - begin)]); digit >= 0)
          found.add(piece, i, digit);
    }
  }
  if (found.count != mark.before.count || found.checksum != mark.before.checksum)
    throw OtherInput(fasta.path() + " has other bases than when the run began; give the same FASTA");
}

std::optional<ScanMark> continued_mark(const ResumableOutput& partial) {
  if (!partial.continued()) return std::nullopt;
  ScanMark mark;
  try {
    const nlohmann::json json = nlohmann::json::parse(partial.mark());
    uint64_t contig = 0;
    read_whole(json.at("contig"), contig);
    mark.contig = contig;
    read_whole(json.at("position"), mark.position);
    read_whole(json.at("bases"), mark.before.count);
    read_whole(json.at("checksum"), mark.before.checksum);
    json.at("histogram").get_to(mark.histogram);
  } catch (const nlohmann::json::exception&) {
    partial.fail_mark();
  } catch (const std::range_error&) {
    partial.fail_mark();
  }
  return mark;
}

void save_mark(ResumableOutput& partial, const ScanMark& mark) {
  partial.save(mark.before.count, {{"contig", mark.contig},
                                   {"position", mark.position},
                                   {"bases", mark.before.count},
                                   {"checksum", mark.before.checksum},
                                   {"histogram", mark.histogram}});
}

namespace {

// Blocks of the output end where a contig ends and at multiples of this position (docs/conventions.md,
// "Output of scan"). They do not depend on where a run was interrupted.
constexpr int64_t kBlockBases = 65536;

}  // namespace

ScanRecorder::ScanRecorder(ScanOutput& output, ResumableOutput* partial,
                           const std::optional<ScanMark>& continued, ScanHistogram* histogram)
    : output_(output), partial_(partial), histogram_(histogram) {
  if (!continued) return;
  scored_ = continued->before;
  if (histogram_) histogram_->add_text(continued->histogram);
}

void ScanRecorder::write(const ScannedBase& base) {
  const Block block{base.piece->number, base.position / kBlockBases};
  if (block_ && *block_ != block) end_block(block.first, base.position);
  block_ = block;
  output_.write(base);
  if (histogram_) histogram_->add(base);
  scored_.add(*base.piece, base.position, base.digit);
  // At once and not with the next base, which an error may keep from coming.
  const int64_t next = base.position + 1;
  if (next % kBlockBases != 0 && next != base.piece->length) return;
  end_block(block.first, next);
  block_.reset();
}

void ScanRecorder::end_block(size_t contig, int64_t next) {
  if (!partial_ || !partial_->wants_mark()) {
    output_.file().end_block();
    return;
  }
  output_.file().flush();
  save_mark(*partial_, {contig, next, scored_, histogram_ ? histogram_->text() : ""});
}

}  // namespace carbon
