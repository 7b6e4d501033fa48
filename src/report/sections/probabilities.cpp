// The sections of score -O tsv and scan, what the model expects at each base: a logo under the mean
// log-likelihood, and the map of every SNV.

#include <algorithm>
#include <cmath>

#include "src/base/words.hpp"
#include "src/report/drawing/track.hpp"
#include "src/report/sections/bases.hpp"
#include "src/report/sections/sections.hpp"

namespace carbon {
namespace {

constexpr double kLogo = 150, kMap = 104, kGap = 8;  // heights in pixels

// Letters are equally likely if their ln P differ by less: tables have six digits.
constexpr double kEqual = 1e-5;

// What the bases of some tracks say in sum.
struct TrackSummary {
  size_t values = 0;  // bases with a value
  double sum = 0;     // of ln P of the actual base, in nats
  size_t right = 0;   // bases whose letter is more likely than each other one

  double mean() const { return each(sum); }
  double percent() const { return 100 * each(static_cast<double>(right)); }

 private:
  double each(double all) const { return all / std::max(1.0, static_cast<double>(values)); }
};

// Adds ln P of each base to the sample, if there is one.
TrackSummary summary_of(const BaseTrack& track, Sample* sample) {
  TrackSummary out;
  for (size_t i = 0; i < track.length(); ++i) {
    const double value = track.log_likelihood(i);
    if (std::isnan(value)) continue;
    ++out.values;
    if (sample) sample->values.push_back(static_cast<float>(value));
    out.sum += value;
    out.right += std::count_if(&track.lnp[4 * i], &track.lnp[4 * i] + 4,
                               [&](double v) { return v >= value - kEqual; }) == 1;
  }
  if (sample) sample->missing += track.length() - out.values;
  return out;
}

std::string logo_svg(const std::string& title, const TablePiece& piece, const BaseTrack& track,
                     const std::vector<Gene>& genes) {
  const PieceRows rows = rows_of(track.length());
  TrackStack stack(rows);
  stack.heading(12, "Mean log-likelihood of the bases, in nats; dashed: what guessing would reach");
  stack.add(kOverviewHeight + kGap, [&](Svg& out) { draw_overview(out, track, rows.width); });
  stack.heading(12, rows.letters ? "Probabilities of the letters" : "Probability of the actual base");
  for (const TrackView& view : rows.views) {
    stack.add_genes(genes, piece.first, view);
    stack.add(kLogo + kGap, [&](Svg& out) { draw_logo(out, track, view, rows.width, kLogo); });
  }
  return stack.picture(title);
}

std::string logo_caption(const BaseTrack& track, bool genes) {
  const PieceRows rows = rows_of(track.length());
  std::string text = "The strip shows these means. ";
  if (rows.letters)
    text +=
        "In each stack, the height of a letter is its probability. The actual base is in full colour and is "
        "also written below; the other three letters are pale.";
  else if (rows.step() == 1)
    text +=
        "The height of each colour is the probability of that letter. The actual base is in full colour, at "
        "the foot.";
  else
    text +=
        "Each bar is the mean probability of the actual base over " + std::to_string(rows.step()) + " bases.";
  if (genes) text += std::string(" ") + kGenesCaption;
  return text;
}

std::string map_svg(const std::string& title, const BaseTrack& track, double limit) {
  const PieceRows rows = rows_of(track.length());
  TrackStack stack(rows);
  for (const TrackView& view : rows.views)
    stack.add(kMap + kGap,
              [&](Svg& out) { draw_heatmap(out, track, letter_rows(track), view, rows.width, kMap, limit); });
  stack.add_legend(limit);
  return stack.picture(title);
}

// The lowest and the highest change of a track, for the sentence of a map.
std::string extremes_words(const TablePiece& piece, const BaseTrack& track) {
  size_t low = 0, high = 0, less = 0, count = 0;
  int low_letter = -1, high_letter = -1;
  double lowest = 0, highest = 0;
  for (size_t i = 0; i < track.length(); ++i)
    for (int k = 0; k < 4; ++k) {
      const double value = track.log_ratio(i, k);
      if (k == track.base[i] || !std::isfinite(value)) continue;
      ++count;
      less += value < 0;
      if (low_letter < 0 || value < lowest) lowest = value, low = i, low_letter = k;
      if (high_letter < 0 || value > highest) highest = value, high = i, high_letter = k;
    }
  if (count == 0) return "No change has a value.";
  const auto change = [&](size_t i, int k, double value) {
    return std::string(1, track.sequence[i]) + " to " + kLetterNames[static_cast<size_t>(k)] + " at " +
           count_text(static_cast<uint64_t>(piece.first) + i) + " (" + value_text(value) + " nats)";
  };
  return count_text(less) + " of " + count_text(count) +
         " changes are less likely than the reference. Least likely: " + change(low, low_letter, lowest) +
         "; most likely: " + change(high, high_letter, highest) + ".";
}

// `viewer` is whether the figure gets the data of the page's viewer.
Figure logo_figure(const std::string& name, const TablePiece& piece, const BaseTrack& track,
                   const TrackSummary& sum, const std::vector<Gene>& genes, bool viewer) {
  BaseFields fields = {{"ln P", "natural logarithm of the probability of the base, in nats",
                        [&](size_t i) { return track.log_likelihood(i); }},
                       {"Entropy", "of the four probabilities, in nats",
                        [&](size_t i) { return track.has_value(i) ? track.entropy(i) : NAN; }}};
  for (int k = 0; k < 4; ++k)
    fields.push_back({std::string("P(") + kLetterNames[static_cast<size_t>(k)] + ")",
                      "probability of the letter, scaled to a sum of one",
                      [&track, k](size_t i) { return track.has_value(i) ? track.probability(i, k) : NAN; }});
  Chart chart = base_chart(piece, "Values of ", "", std::move(fields));
  chart.name = name + "_logo";
  chart.title = "Probabilities of the bases of " + piece.place();
  chart.svg = logo_svg(chart.title, piece, track, genes);
  chart.y = {"Mean ln P of the base (nats)", -2, 0};
  Series means{.name = piece.place(), .drawn = false};
  for (const Point& mean : overview_means(track, overview_window(track)))
    means.points.push_back({std::floor(static_cast<double>(piece.first) + mean.x - 0.5), mean.y});
  if (!means.points.empty()) chart.series = {std::move(means)};
  chart.what = plural(sum.values, "base") + " with values in " + piece.place() +
               ": the mean of ln P of the actual bases, in nats, over windows of " +
               count_text(overview_window(track)) + " bases.";
  chart.how = logo_caption(track, !genes.empty());
  chart.words = "The mean of ln P is " + value_text(sum.mean()) +
                " nats, where guessing gives \u22121.386; the most likely letter is the actual base at " +
                value_text(sum.percent()) + " % of " + plural(sum.values, "base") + ".";
  Figure out = figure_of(chart);
  if (viewer) out.viewer = viewer_data(piece.sequence, track, exon_marks(genes, piece), name + "_map");
  return out;
}

// `values` is the number of bases with a value.
Figure map_figure(const std::string& name, const TablePiece& piece, const BaseTrack& track, size_t values) {
  const int64_t step = rows_of(track.length()).step();
  const double limit = heatmap_limit(track);
  BaseFields fields;
  for (int k = 0; k < 4; ++k)
    fields.push_back({std::string("to ") + kLetterNames[static_cast<size_t>(k)],
                      "ln P(alternative) \u2212 ln P(reference), in nats", [&track, k](size_t i) {
                        return track.base[i] == k ? Cell() : Cell(track.log_ratio(i, k));
                      }});
  Chart chart = base_chart(piece, "Changes of ", ", in nats", std::move(fields));
  add_map(chart, {"A", "C", "G", "T"}, piece);
  chart.name = name + "_map";
  chart.title = "Every single-base change of " + piece.place();
  chart.svg = map_svg(chart.title, track, limit);
  chart.y.label = "Alternative";
  chart.what = "ln P(alternative) \u2212 ln P(reference), in nats, for the three changes of each of " +
               plural(values, "base") + ".";
  chart.how = "It is shown as colour; 19 of 20 values lie between the ends of the colours. " +
              (step > 1 ? "Columns are means of " + std::to_string(step) + " bases."
                        : std::string("Grey marks the reference."));
  chart.words = extremes_words(piece, track);
  return figure_of(chart);
}

std::string summary_words(size_t pieces, const TrackSummary& all) {
  return plural(all.values, "base", "has a value", "have values") + ", in " + plural(pieces, "piece") +
         " of consecutive bases. The mean of ln P of the actual base is " + value_text(all.mean()) +
         " nats, as unsure as among " + value_text(std::exp(-all.mean())) +
         " letters; guessing would give \u22121.386, as among 4. "
         "The most likely letter is the actual base at " +
         value_text(all.percent()) + " % of the bases.";
}

// Says of `bases` in pieces that are too long for the page's viewer how their letters can be seen.
void note_without_letters(size_t bases, const std::string& path, const ReportOptions& options,
                          std::vector<std::string>& paragraphs) {
  if (bases == 0) return;
  const std::string text = count_text(bases) + (bases == 1 ? " base is" : " bases are") +
                           " drawn as means, without letters, because a page shows the letters of up to " +
                           count_text(kMostViewerBases) + " bases";
  options.log->warning("report", path + ": " + text, {"draw a part of them with letters with {-r} REGION"});
  paragraphs.push_back(text + "; -r REGION draws a part of them with letters.");
}

Section probability_section(BaseSection base, const std::string& path, const ReportOptions& options) {
  const std::vector<TablePiece>& pieces = base.table.pieces;
  TrackSummary all;
  const bool compared = options.files.size() > 1;  // else nothing reads the sample
  Sample sample{"ln P of the actual base", "nats", "base", {}};
  size_t viewed = 0, without_letters = 0;
  for (size_t p = 0; p < pieces.size(); ++p) {
    const BaseTrack track = make_track(pieces[p].letters, pieces[p].values, pieces[p].first);
    const TrackSummary one = summary_of(track, compared ? &sample : nullptr);
    all.values += one.values, all.sum += one.sum, all.right += one.right;
    const bool viewer = viewed + track.length() <= kMostViewerBases;
    if (viewer) viewed += track.length();
    if (!viewer && track.length() > kMostLetters) without_letters += track.length();
    base.section.parts.emplace_back(
        logo_figure(base.piece_name(p), pieces[p], track, one, base.genes[p], viewer));
    base.section.parts.emplace_back(map_figure(base.piece_name(p), pieces[p], track, one.values));
  }
  if (all.values > 0) {
    base.section.paragraphs.insert(base.section.paragraphs.begin(), summary_words(pieces.size(), all));
    base.section.statistics = {{"bases", "Bases", "Scored bases", static_cast<double>(all.values)},
                               {"mean_logp", "Mean ln P", "Mean log-likelihood of a base (nats)", all.mean()},
                               {"most_likely", "Most likely (%)",
                                "Bases whose most likely letter is the actual one (%)", all.percent()}};
  }
  base.section.sample = std::move(sample);
  note_without_letters(without_letters, path, options, base.section.paragraphs);
  return std::move(base.section);
}

}  // namespace

Section base_score_section(const std::string& name, const std::string& path, const ReportOptions& options) {
  BaseSection base = begin_base_section(name, path, "probabilities of bases", options);
  if (base.table.both_strands)
    base.section.paragraphs.push_back(
        "The table is of both strands: the four probabilities are means of the logarithms of both, scaled to "
        "a sum of one, so they lie a little above what the column logp says, the mean before it is scaled.");
  return probability_section(std::move(base), path, options);
}

Section scan_section(const std::string& name, const std::string& path, const ReportOptions& options) {
  BaseSection base = begin_base_section(name, path, "probabilities of bases", options);
  base.section.paragraphs.push_back(
      "The table has, for each base, ln P(alternative) \u2212 ln P(reference) of the three other letters; "
      "the four probabilities follow from these, because they add up to one.");
  return probability_section(std::move(base), path, options);
}

}  // namespace carbon
