#include "src/scan/resume.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "src/base/kept_work.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

constexpr int64_t kSliceBases = 1 << 20;

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
         begin += kSliceBases) {
      const int64_t end = std::min(piece.end, begin + kSliceBases);
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

}  // namespace carbon
