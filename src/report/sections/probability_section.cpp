// The sections of score -O tsv and scan: what the model expects at each base.

#include "src/report/drawing/plot.hpp"
#include "src/report/sections/bases.hpp"
#include "src/report/sections/probability_figures.hpp"
#include "src/report/sections/sections.hpp"
#include "src/report/sections/viewer_data.hpp"

#include <cmath>

namespace carbon {
namespace {

std::string summary_words(size_t pieces, const TrackSummary& all) {
  return count_text(all.values) + " bases have values, in " + count_text(pieces) +
         (pieces == 1 ? " piece" : " pieces") +
         " of consecutive bases. The mean of ln P of the actual base is " + value_text(all.mean) +
         " nats, as unsure as among " + value_text(std::exp(-all.mean)) +
         " letters; guessing would give \u22121.386, as among 4. The most likely letter is the actual base "
         "at " +
         value_text(100 * all.right) + " % of the bases.";
}

Section probability_section(BaseSection base) {
  const std::vector<TablePiece>& pieces = base.table.pieces;
  TrackSummary all;
  size_t viewed = 0;
  for (size_t p = 0; p < pieces.size(); ++p) {
    const BaseTrack track = make_track(pieces[p].letters, pieces[p].values, pieces[p].first);
    const TrackSummary one = summary_of(track);
    const auto weight = static_cast<double>(one.values);
    all.values += one.values;
    all.mean += weight * one.mean;
    all.right += weight * one.right;
    const bool viewer = viewed + track.length() <= kMostViewerBases;
    if (viewer) viewed += track.length();
    base.section.parts.emplace_back(logo_figure(base.piece_name(p), pieces[p], track, base.genes[p], viewer));
    base.section.parts.emplace_back(map_figure(base.piece_name(p), pieces[p], track));
  }
  if (all.values > 0) {
    all.mean /= static_cast<double>(all.values);
    all.right /= static_cast<double>(all.values);
    base.section.paragraphs.insert(base.section.paragraphs.begin(), summary_words(pieces.size(), all));
  }
  return std::move(base.section);
}

}  // namespace

Section base_score_section(const std::string& name, const std::string& path, const ReportOptions& options) {
  return probability_section(begin_base_section(name, path, "probabilities of bases", options));
}

Section scan_section(const std::string& name, const std::string& path, const ReportOptions& options) {
  BaseSection base = begin_base_section(name, path, "probabilities of bases", options);
  base.section.paragraphs.push_back(
      "The table has, for each base, ln P(alternative) \u2212 ln P(reference) of the three other letters; "
      "the four "
      "probabilities follow from these, because they add up to one.");
  return probability_section(std::move(base));
}

}  // namespace carbon
