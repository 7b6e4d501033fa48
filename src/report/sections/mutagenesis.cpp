// The section of +mutagenesis --matrix, what each change of each base does to the score: the mean effect of
// the changes of each base, as bars and as letters, and the map of all changes.

#include <algorithm>
#include <array>
#include <cmath>

#include "src/base/numbers.hpp"
#include "src/base/words.hpp"
#include "src/report/drawing/plot.hpp"
#include "src/report/drawing/sequence_figures.hpp"
#include "src/report/drawing/svg.hpp"
#include "src/report/sections/bases.hpp"
#include "src/report/sections/sections.hpp"

namespace carbon {
namespace {

constexpr double kHeading = 20, kEffects = 60, kLogo = 68, kRow = 18, kMapMargins = 28, kGap = 10;  // pixels

// The mean change of each base of a piece; kNoValue where there is none.
using MeanEffects = std::vector<double>;

struct EffectOptions {
  double width = 0, height = 60;
  double least = -1, most = 1;  // the ends of the axis, with 0 between them
};

constexpr double kMargin = 7;  // pixels above and below

// Where a value lies between the ends of the axis, from the top.
struct EffectPlace {
  double top, foot, least, most;

  EffectPlace(const EffectOptions& options, bool upside_down)
      : top(kMargin),
        foot(options.height - kMargin),
        least(upside_down ? -options.most : options.least),
        most(upside_down ? -options.least : options.most) {}

  double y(double value) const { return top + (most - value) / (most - least) * (foot - top); }
};

// The ends of the axis and zero, without one that is too close to zero to be read.
void draw_axis(Svg& out, const TrackLayout& place, const EffectPlace& effect) {
  std::string grid;
  const std::array<double, 3> values = {effect.least, 0, effect.most};
  for (const double& value : values) {
    const double y = effect.y(value);
    if (&value != &values[1] && std::abs(y - effect.y(0)) < 12) continue;
    grid += "M" + px(place.left) + " " + px(y) + "H" + px(place.right);
    out.text(place.left - 6, y + 4, value_text(value), {.anchor = Anchor::end});
  }
  out.stroke(grid, theme::kGrid);
}

// Round ends of an axis for these effects.
EffectOptions effect_axis(const MeanEffects& effects, double width, double height) {
  double least = 0, most = 0;
  for (const double value : effects)
    if (std::isfinite(value)) least = std::min(least, value), most = std::max(most, value);
  if (least == 0 && most == 0) most = 1;
  const Axis axis = round_axis("", least, most);
  return {width, height, std::min(axis.least, 0.0), std::max(axis.most, 0.0)};
}

// Bars from zero: orange for effects below, blue for those above. Columns of several bases show their mean.
void draw_effects(Svg& out, const BaseTrack& track, const MeanEffects& effects, const TrackView& view,
                  const EffectOptions& options) {
  const TrackLayout place(view, options.width);
  const EffectPlace effect(options, false);
  draw_axis(out, place, effect);
  std::string below, above;
  const double zero = effect.y(0), gap = place.unit >= 4 ? 0.5 : 0;
  for_columns(track, view, place.step, [&](size_t i, size_t j) {
    double sum = 0, count = 0;
    for (size_t b = i; b < j; ++b)
      if (std::isfinite(effects[b])) sum += effects[b], ++count;
    if (count == 0) return;
    const double x = place.x(static_cast<double>(i)), y = effect.y(sum / count);
    const double wide = place.unit * static_cast<double>(j - i) - 2 * gap;
    (sum < 0 ? below : above) += box_path(x + gap, std::min(y, zero), wide, std::abs(y - zero));
  });
  out.begin_clip(place.left, 0, place.right - place.left, options.height);
  out.path(below, theme::kLess[2]);
  out.path(above, theme::kMore[2]);
  out.end_clip();
}

// Letters from zero: upwards if changing the base lowers the score, downwards and pale if it raises it. The
// axis is that of the effects, upside down. Only for bases that are wide enough for letters.
void draw_effect_logo(Svg& out, const BaseTrack& track, const MeanEffects& effects, const TrackView& view,
                      const EffectOptions& options) {
  const TrackLayout place(view, options.width);
  const EffectPlace effect(options, true);
  draw_axis(out, place, effect);
  std::array<std::string, 4> lowering, raising;
  for_columns(track, view, 1, [&](size_t i, size_t) {
    if (track.base[i] < 0 || !std::isfinite(effects[i])) return;
    const double y = effect.y(-effects[i]), zero = effect.y(0), high = std::abs(y - zero);
    if (high < 0.4) return;
    const auto k = static_cast<size_t>(track.base[i]);
    (effects[i] < 0 ? lowering : raising)[k] +=
        letter_path(track.base[i], place.x(static_cast<double>(i)) + 0.06 * place.unit, std::min(y, zero),
                    0.88 * place.unit, high);
  });
  out.begin_clip(place.left, 0, place.right - place.left, options.height);
  for (size_t k = 0; k < 4; ++k) {
    out.path(raising[k], theme::kLetters[k],
             " fill-opacity=\"" + std::string(theme::kPale) + "\" fill-rule=\"evenodd\"");
    out.path(lowering[k], theme::kLetters[k], " fill-rule=\"evenodd\"");
  }
  out.end_clip();
}

// A piece with the values of its changes, in the order of the rows of the map.
class Changes {
 public:
  Changes(const TablePiece& piece, bool indels)
      : piece_(piece), indels_(indels), track_(make_track(piece.letters, piece.values, piece.first)) {
    if (indels) names_ = {"del"};
    for (const char letter : kLetterNames) names_.emplace_back(1, letter);
    for (size_t i = 0; i < piece.length(); ++i) {
      double sum = 0, count = 0;
      for (size_t row = 0; row < names_.size(); ++row)
        if (const double v = value(i, row); std::isfinite(v)) sum += v, ++count;
      values_ += static_cast<size_t>(count);
      bases_ += count > 0;
      means_.push_back(count > 0 ? sum / count : kNoValue);
    }
  }

  const TablePiece& piece() const { return piece_; }
  const BaseTrack& track() const { return track_; }
  bool indels() const { return indels_; }
  const std::vector<std::string>& names() const { return names_; }
  const MeanEffects& means() const { return means_; }
  size_t values() const { return values_; }
  size_t bases() const { return bases_; }

  bool is_reference(size_t i, size_t row) const {
    return !indels_ && track_.base[i] == static_cast<int>(row);
  }
  /// NaN for a change without a value, and for the reference, which is no change.
  double value(size_t i, size_t row) const {
    if (indels_) return row == 0 ? piece_.deletions[i] : piece_.values[i][row - 1];
    return is_reference(i, row) ? kNoValue : piece_.values[i][row];
  }

  HeatRows rows() const {
    if (!indels_) return letter_rows(track_);
    return {names_, [this](size_t i, size_t j, size_t row) { return cell(i, j, row); }};
  }

  /// The number of six digits.
  static double rounded(double value) {
    parse_number(six_digits(value), value);
    return value;
  }

  /// Where the colours of the map end: 19 of 20 values lie within, rounded up to 1, 2 or 5 in its first
  /// digit, or to a multiple of a half above 1.
  double limit() const {
    std::vector<double> sizes;
    for (size_t i = 0; i < piece_.length(); ++i)
      for (size_t row = 0; row < names_.size(); ++row)
        if (const double v = std::abs(value(i, row)); std::isfinite(v)) sizes.push_back(v);
    if (sizes.empty()) return 1;
    const auto at = sizes.begin() + static_cast<ptrdiff_t>(0.95 * static_cast<double>(sizes.size() - 1));
    std::nth_element(sizes.begin(), at, sizes.end());
    if (*at > 1) return std::ceil(2 * *at) / 2;
    if (!(*at > 1e-6)) return 1e-6;
    const double power = std::pow(10, std::floor(std::log10(*at)));
    for (const double factor : {1, 2, 5})
      if (factor * power >= *at) return rounded(factor * power);
    return rounded(10 * power);
  }

 private:
  HeatCell cell(size_t i, size_t j, size_t row) const {
    double sum = 0, count = 0;
    for (size_t b = i; b < j; ++b)
      if (const double v = value(b, row); !std::isnan(v)) sum += v, ++count;
    if (count == 0) return {};
    return {HeatCell::value, sum / count};
  }

  const TablePiece& piece_;
  const bool indels_;
  const BaseTrack track_;
  std::vector<std::string> names_;
  MeanEffects means_;
  size_t values_ = 0, bases_ = 0;
};

// The tracks of one row of the figure, from `y` downwards. Gives the place below them.
double draw_row(Svg& out, const Changes& changes, const std::vector<Gene>& genes, const TrackView& view,
                const PieceRows& rows, double limit, double y) {
  const auto add = [&](const Svg& track, double height) {
    out.add(track, 0, y);
    y += height;
  };
  y += draw_genes(out, genes, changes.piece().first, view, rows.width, y);
  Svg effects;
  draw_effects(effects, changes.track(), changes.means(), view,
               effect_axis(changes.means(), rows.width, kEffects));
  add(effects, kEffects);
  if (rows.letters) {
    Svg logo;
    draw_effect_logo(logo, changes.track(), changes.means(), view,
                     effect_axis(changes.means(), rows.width, kLogo));
    add(logo, kLogo);
  }
  const double height = kMapMargins + kRow * static_cast<double>(changes.names().size());
  Svg map;
  draw_heatmap(map, changes.track(), changes.rows(), view, {rows.width, height, limit});
  add(map, height);
  return y + kGap;
}

std::string picture(const std::string& title, const Changes& changes, const std::vector<Gene>& genes,
                    double limit) {
  const PieceRows rows = rows_of(changes.piece().length());
  const double left = TrackLayout(rows.views[0], rows.width).left;
  Svg out;
  double y = kFigureTitle;
  draw_heading(out, left, y + 10,
               rows.letters
                   ? "Mean effect of the changes of a base, in nats; minus that as letters; every change"
                   : "Mean effect of the changes of a base, in nats; every change");
  y += kHeading;
  for (const TrackView& view : rows.views) y = draw_row(out, changes, genes, view, rows, limit, y);
  Svg legend;
  draw_heatmap_legend(legend, limit, !changes.indels());
  out.add(legend, left, y);
  return out.picture(rows.width, y + kHeatLegendHeight + 4, title);
}

std::string caption(const Changes& changes, bool genes, double limit) {
  const PieceRows rows = rows_of(changes.piece().length());
  const int64_t step = TrackLayout(rows.views[0], rows.width).step;
  std::string text = "Bars: the mean of the changes of a base; orange is below zero, blue above. ";
  if (rows.letters)
    text +=
        "Letters: minus that mean, so that a base stands tall where changing it lowers the score; a pale "
        "letter below "
        "the line marks one where the changes raise it. ";
  text += "Map: the score of each change; the colours end at \u00b1" + six_digits(limit) +
          ", within which 19 of 20 values lie.";
  if (changes.indels())
    text += " The row del is the deletion of the base, the others the insertion of a letter after it.";
  if (step > 1) text += " Columns are means of " + std::to_string(step) + " bases.";
  if (genes) text += " Above, a line is a gene, a box an exon, and a high box its coding part.";
  return text;
}

std::string words(const Changes& changes) {
  const MeanEffects& means = changes.means();
  size_t low = means.size();
  for (size_t i = 0; i < means.size(); ++i)
    if (std::isfinite(means[i]) && (low == means.size() || means[i] < means[low])) low = i;
  if (low == means.size()) return "No change has a value.";
  double sum = 0;
  size_t below = 0, count = 0;
  for (const double mean : means)
    if (std::isfinite(mean)) sum += mean, below += mean < 0, ++count;
  return "The mean effect is " + value_text(sum / static_cast<double>(count)) +
         " nats; it is below zero at " + count_text(below) + " of " + count_text(count) +
         " bases, and lowest at " + count_text(static_cast<uint64_t>(changes.piece().first) + low) + " (" +
         changes.piece().letters[low] + ", " + value_text(means[low]) + " nats).";
}

std::string about_row(const Changes& changes, const std::string& name) {
  if (name == "del") return "deletion of the base, in nats";
  return changes.indels() ? "insertion after the base, in nats" : "change to this letter, in nats";
}

Figure effects_figure(const std::string& name, const Changes& changes, const std::vector<Gene>& genes) {
  const TablePiece& piece = changes.piece();
  const double limit = changes.limit();
  BaseFields fields = {
      {"Mean", "of all changes of the base, in nats", [&](size_t i) { return changes.means()[i]; }}};
  for (size_t row = 0; row < changes.names().size(); ++row)
    fields.push_back({changes.names()[row], about_row(changes, changes.names()[row]), [&, row](size_t i) {
                        return changes.is_reference(i, row) ? Cell() : Cell(changes.value(i, row));
                      }});
  Chart chart = base_chart(piece, "Changes of ", ", in nats", std::move(fields));
  add_map(chart, changes.names(), piece);
  chart.name = name + "_effects";
  chart.title =
      (changes.indels() ? "Every single-base deletion and insertion of " : "Every single-base change of ") +
      piece.place();
  chart.svg = picture(chart.title, changes, genes, limit);
  chart.y.label = "Change";
  chart.what = count_text(changes.values()) + (changes.indels() ? " deletions and insertions" : " changes") +
               " of " + plural(changes.bases(), "base") + " in " + piece.place() +
               ": the score of each, in nats.";
  chart.how = caption(changes, !genes.empty(), limit);
  chart.words = words(changes);
  return figure_of(chart);
}

}  // namespace

Section mutagenesis_section(const std::string& name, const std::string& path, const ReportOptions& options) {
  BaseSection base = begin_base_section(name, path, "saturation mutagenesis", options);
  base.section.paragraphs.insert(
      base.section.paragraphs.begin(),
      "Values are those of the score of carbon vep, ln of a ratio of probabilities: below zero, "
      "the model finds the changed sequence less likely than the reference.");
  const bool compared = options.files.size() > 1;  // else nothing reads the sample
  double values = 0, bases = 0, sum = 0;
  Sample sample{"effect", "nats", "change", {}};
  for (size_t p = 0; p < base.table.pieces.size(); ++p) {
    const Changes changes(base.table.pieces[p], base.table.indels);
    base.section.parts.emplace_back(effects_figure(base.piece_name(p), changes, base.genes[p]));
    values += static_cast<double>(changes.values());
    for (size_t i = 0; compared && i < changes.piece().length(); ++i)
      for (size_t row = 0; row < changes.names().size(); ++row)
        if (const double v = changes.value(i, row); std::isfinite(v))
          sample.values.push_back(static_cast<float>(v));
    for (const double mean : changes.means())
      if (std::isfinite(mean)) sum += mean, ++bases;
  }
  base.section.statistics = {{"changes", "Changes", "Changes with values", values}};
  if (bases > 0)
    base.section.statistics.push_back({"mean", "Mean", "Mean effect of a base (nats)", sum / bases});
  base.section.sample = std::move(sample);
  return std::move(base.section);
}

}  // namespace carbon
