#include "src/report/sections/loci.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <unordered_map>

#include "src/base/error.hpp"
#include "src/report/drawing/plot.hpp"
#include "src/report/drawing/sequence_figures.hpp"
#include "src/report/drawing/svg.hpp"
#include "src/report/sections/bases.hpp"
#include "src/report/sources/bases.hpp"

namespace carbon {
namespace {

constexpr double kHeight = 40, kUnit = 10, kTop = 1, kFoot = 35;  // pixels
constexpr double kLeast = 1.2;                                    // a lower letter cannot be seen

// Finds which places a position of a table belongs to.
class PlaceFinder {
 public:
  PlaceFinder(const std::vector<BasePlace>& places, size_t flank)
      : places_(places), flank_(static_cast<int64_t>(flank)) {
    for (size_t i = 0; i < places.size(); ++i) contigs_[places[i].contig].push_back(i);
    for (auto& [name, members] : contigs_)
      std::sort(members.begin(), members.end(),
                [&](size_t a, size_t b) { return places[a].pos < places[b].pos; });
  }

  /// The part of an indexed table that has all places.
  VcfRegions regions() const {
    std::vector<WrittenRegion> regions;
    for (const BasePlace& place : places_)
      regions.push_back({place.contig, std::max<int64_t>(0, place.pos - flank_), place.pos + 1 + flank_});
    return VcfRegions(regions);
  }

  /// Calls use(place, where) for each place whose surroundings have this base, with its number among them
  /// from 0.
  template <class Use>
  void find(const TableBase& base, Use use) {
    if (base.sequence != current_) {
      current_ = base.sequence;
      const auto found = contigs_.find(current_);
      members_ = found == contigs_.end() ? nullptr : &found->second;
    }
    if (!members_) return;
    const int64_t pos = base.position - 1;
    auto at = std::lower_bound(members_->begin(), members_->end(), pos - flank_,
                               [&](size_t i, int64_t value) { return places_[i].pos < value; });
    for (; at != members_->end() && places_[*at].pos <= pos + flank_; ++at)
      use(*at, static_cast<size_t>(pos - (places_[*at].pos - flank_)));
  }

 private:
  const std::vector<BasePlace>& places_;
  const int64_t flank_;
  std::unordered_map<std::string, std::vector<size_t>> contigs_;
  std::string current_;
  const std::vector<size_t>* members_ = nullptr;
};

// The stack of one base, from the foot upwards.
void draw_stack(const BaseTrack& track, size_t i, std::array<std::string, 4>& actual,
                std::array<std::string, 4>& others) {
  std::array<int, 4> order = {0, 1, 2, 3};
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return probability(track, i, a) < probability(track, i, b); });
  double y = kFoot;
  for (const int k : order) {
    const double high = (kFoot - kTop) * probability(track, i, k);
    y -= high;
    if (high < kLeast) continue;
    (k == track.base[i] ? actual : others)[static_cast<size_t>(k)] +=
        letter_path(k, static_cast<double>(i) * kUnit + 0.5, y, kUnit - 1, high);
  }
}

std::string picture(const BaseTrack& track, size_t flank, const BasePlace& place) {
  std::array<std::string, 4> actual, others;
  for (size_t i = 0; i < track.length(); ++i)
    if (has_value(track, i)) draw_stack(track, i, actual, others);
  Svg out;
  for (size_t k = 0; k < 4; ++k) {
    out.path(others[k], theme::kLetters[k],
             " fill-opacity=\"" + std::string(theme::kPale) + "\" fill-rule=\"evenodd\"");
    out.path(actual[k], theme::kLetters[k], " fill-rule=\"evenodd\"");
  }
  out.box(static_cast<double>(flank) * kUnit, kFoot + 2, kUnit, 2.5, theme::kInk);
  const std::string width = px(static_cast<double>(track.length()) * kUnit), height = px(kHeight);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width + "\" height=\"" + height +
         "\" viewBox=\"0 0 " + width + " " + height + "\" role=\"img\"><title>Probabilities around " +
         escape_xml(place.contig + ":" + count_text(static_cast<uint64_t>(place.pos + 1)) + ", reference " +
                    track.sequence) +
         "</title>" + out.body() + "</svg>";
}

bool has_part(const std::vector<GenePart>& parts, int64_t pos) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const GenePart& part) { return part.start <= pos && pos <= part.end; });
}

}  // namespace

std::vector<Surroundings> read_surroundings(const std::string& table, const std::vector<BasePlace>& places,
                                            size_t flank) {
  std::vector<Surroundings> found(places.size());
  if (places.empty()) return found;
  PlaceFinder finder(places, flank);
  const VcfRegions regions = finder.regions();
  BaseTable input(table, &regions);
  if (input.kind() != InputKind::base_scores && input.kind() != InputKind::scan)
    throw Error("read_surroundings",
                table +
                    ": this table has no probabilities of letters; those are in tables of score -O tsv and "
                    "scan");
  size_t open = places.size() * (2 * flank + 1);  // bases that have not come
  TableBase base;
  while (open > 0 && input.next(base)) {
    finder.find(base, [&](size_t p, size_t where) {
      Surroundings& around = found[p];
      if (around.letters.empty()) {
        around.letters.assign(2 * flank + 1, 'N');
        around.logp.assign(2 * flank + 1, {kNoValue, kNoValue, kNoValue, kNoValue});
      }
      if (around.letters[where] == 'N') --open;
      around.letters[where] = base.letter;
      around.logp[where] = base.letters;
    });
  }
  for (Surroundings& around : found)
    if (std::all_of(around.logp.begin(), around.logp.end(),
                    [](const LetterLogs& row) { return std::isnan(row[0]); }))
      around = {};
  return found;
}

std::string small_logo(const Surroundings& around, const BasePlace& place, size_t flank) {
  const size_t all = around.letters.size() / 2;
  const size_t shown = std::min(flank, all), from = all - shown;
  const std::span<const LetterLogs> rows = around.logp;
  if (rows.empty()) return {};
  const std::span<const LetterLogs> middle = rows.subspan(from, 2 * shown + 1);
  if (std::all_of(middle.begin(), middle.end(), [](const LetterLogs& row) { return std::isnan(row[0]); }))
    return {};
  return picture(make_track(around.letters.substr(from, 2 * shown + 1), middle), shown, place);
}

std::string locus_data(const Surroundings& around, const BasePlace& place, const std::string& name,
                       const std::vector<Gene>& genes) {
  if (around.letters.empty()) return {};
  // Before the first base of a contig there is none.
  const auto flank = static_cast<int64_t>(around.letters.size() / 2);
  const int64_t first = std::max<int64_t>(1, place.pos + 1 - flank);
  const auto left_out = static_cast<size_t>(first - (place.pos + 1 - flank));
  TablePiece piece;
  piece.sequence = place.contig, piece.first = first, piece.letters = around.letters.substr(left_out);
  const std::vector<TrackMark> marks = exon_marks(genes, piece);
  const std::span<const LetterLogs> rows = around.logp;
  return viewer_data(name, make_track(piece.letters, rows.subspan(left_out), first), marks, "");
}

std::string gene_words(const std::vector<Gene>& genes, int64_t pos) {
  std::string out;
  for (const Gene& gene : genes) {
    if (pos < gene.start || gene.end < pos) continue;
    const char* part = has_part(gene.coding, pos) ? "coding" : has_part(gene.exons, pos) ? "exon" : "intron";
    out += (out.empty() ? "" : ", ") + (gene.name.empty() ? "a gene without a name" : gene.name) + " (" +
           part + ")";
  }
  return out;
}

}  // namespace carbon
