#include "src/scan/pieces.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "src/base/error.hpp"
#include "src/formats/sequence_inputs.hpp"

namespace carbon {
namespace {

using Selected = std::unordered_map<std::string, Intervals>;

// The intervals of regions; none if no regions are given.
std::optional<Selected> read_selection(const std::string& list, const std::string& file,
                                       const IndexedFasta& fasta) {
  if (list.empty() && file.empty()) return std::nullopt;
  return joined_by_contig(list.empty() ? read_regions(file, fasta, RegionStyle::bcftools)
                                       : parse_regions(list, fasta, RegionStyle::bcftools));
}

Intervals intervals_of(const Selected& selected, const std::string& contig) {
  const auto found = selected.find(contig);
  return found == selected.end() ? Intervals() : found->second;
}

Intervals complement_of(const Intervals& intervals, int64_t length) {
  Intervals others;
  int64_t at = 0;
  for (const auto& [begin, end] : intervals) {
    if (at < begin) others.emplace_back(at, begin);
    at = end;
  }
  if (at < length) others.emplace_back(at, length);
  return others;
}

Intervals common_part(const Intervals& a, const Intervals& b) {
  Intervals common;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const int64_t begin = std::max(a[i].first, b[j].first), end = std::min(a[i].second, b[j].second);
    if (begin < end) common.emplace_back(begin, end);
    ++(a[i].second < b[j].second ? i : j);
  }
  return common;
}

}  // namespace

std::vector<ScanPiece> selected_pieces(const IndexedFasta& fasta, const ScanSelection& selection) {
  const auto excludes = [](const std::string& text) { return text.starts_with('^'); };
  const auto plain = [&](const std::string& text) { return excludes(text) ? text.substr(1) : text; };
  const bool excluded = excludes(selection.targets) || excludes(selection.targets_file);
  if (excluded && plain(selection.targets).empty() && plain(selection.targets_file).empty())
    throw Error("scan", "nothing follows the ^ of the targets; give the bases to leave out");
  const std::optional<Selected> regions = read_selection(selection.regions, selection.regions_file, fasta);
  const std::optional<Selected> targets =
      read_selection(plain(selection.targets), plain(selection.targets_file), fasta);
  std::vector<ScanPiece> pieces;
  for (size_t number = 0; number < fasta.names().size(); ++number) {
    const std::string& contig = fasta.names()[number];
    const int64_t length = fasta.length(contig);
    const Intervals whole = complement_of({}, length);
    Intervals wanted = regions ? intervals_of(*regions, contig) : whole;
    if (targets) {
      const Intervals given = intervals_of(*targets, contig);
      wanted = common_part(wanted, excluded ? complement_of(given, length) : given);
    }
    for (const auto& [begin, end] : wanted) pieces.push_back({contig, number, length, begin, end});
  }
  if (pieces.empty()) throw Error("scan", "the regions and targets select no base of " + fasta.path());
  return pieces;
}

uint64_t total_bases(const std::vector<ScanPiece>& pieces) {
  uint64_t sum = 0;
  for (const ScanPiece& piece : pieces) sum += static_cast<uint64_t>(piece.end - piece.begin);
  return sum;
}

int64_t ScanPiece::next(int64_t position) const {
  if (parts.empty()) return std::min(position, end);
  // The first part that ends behind the position.
  const auto part = std::upper_bound(parts.begin(), parts.end(), position,
                                     [](int64_t at, const auto& one) { return at < one.second; });
  return part == parts.end() ? end : std::min(std::max(position, part->first), end);
}

int64_t ScanPiece::last_end(int64_t position) const {
  if (parts.empty()) return position;
  // Behind the last part that begins before the position.
  const auto part = std::lower_bound(parts.begin(), parts.end(), position,
                                     [](const auto& one, int64_t at) { return one.first < at; });
  return std::min(position, std::prev(part)->second);
}

std::vector<ScanPiece> joined_pieces(const std::vector<ScanPiece>& pieces) {
  std::vector<ScanPiece> out;
  for (const ScanPiece& piece : pieces) {
    if (out.empty() || out.back().number != piece.number) out.push_back(piece);
    out.back().end = piece.end;
    out.back().parts.emplace_back(piece.begin, piece.end);
  }
  return out;
}

std::vector<ScanPiece> pieces_of_share(const std::vector<ScanPiece>& pieces, const Shard& shard) {
  const IndexRange share = share_of(shard, total_bases(pieces));
  std::vector<ScanPiece> out;
  uint64_t before = 0;
  for (const ScanPiece& piece : pieces) {
    const auto bases = static_cast<uint64_t>(piece.end - piece.begin);
    const uint64_t begin = std::max(share.begin, before), end = std::min(share.end, before + bases);
    if (begin < end)
      out.push_back({piece.contig, piece.number, piece.length,
                     piece.begin + static_cast<int64_t>(begin - before),
                     piece.begin + static_cast<int64_t>(end - before)});
    before += bases;
  }
  return out;
}

}  // namespace carbon
