// The section of +mutagenesis --matrix, what each change of each base does to the score: the mean effect of
// the changes of each base, as bars and as letters, and the map of all changes.

#include <algorithm>
#include <array>
#include <cmath>

#include "src/base/words.hpp"
#include "src/report/drawing/track.hpp"
#include "src/report/sections/bases.hpp"
#include "src/report/sections/sections.hpp"

namespace carbon {
namespace {

constexpr double kEffects = 60, kLogo = 68, kRow = 18, kMapMargins = 28, kGap = 10;  // pixels
constexpr double kMargin = 7;  // above and below a track of effects

// A track of the mean effects of bases, NaN where there is none, from a line at zero. The ends of its axis
// are round. Upside down it shows minus the effects.
class EffectTrack {
 public:
  EffectTrack(Svg& out, const BaseTrack& track, const std::vector<double>& effects, const TrackView& view,
              double width, double height, bool upside_down)
      : out_(out),
        track_(track),
        effects_(effects),
        view_(view),
        place_(view, width),
        height_(height),
        sign_(upside_down ? -1 : 1) {
    double least = 0, most = 0;
    for (const double value : effects)
      if (std::isfinite(value)) least = std::min(least, value), most = std::max(most, value);
    if (least == 0 && most == 0) most = 1;
    const Axis axis = round_axis("", least, most);
    const double low = std::min(axis.least, 0.0), high = std::max(axis.most, 0.0);
    least_ = upside_down ? -high : low, most_ = upside_down ? -low : high;
    draw_axis();
    out_.begin_clip(place_.left, 0, place_.right - place_.left, height_);
  }

  // Bars: orange for effects below zero, blue for those above. Columns of several bases show their mean.
  void bars() {
    std::string below, above;
    const double gap = place_.unit >= 4 ? 0.5 : 0;
    for_columns(track_, view_, place_.step, [&](size_t i, size_t j) {
      const double mean = mean_of(i, j, [&](size_t b) { return finite_or_none(effects_[b]); });
      if (std::isnan(mean)) return;
      const double wide = place_.unit * static_cast<double>(j - i) - 2 * gap;
      (mean < 0 ? below : above) +=
          box_path(place_.x(static_cast<double>(i)) + gap, top(mean), wide, tall(mean));
    });
    out_.path(below, theme::kLess[2]);
    out_.path(above, theme::kMore[2]);
    out_.end_clip();
  }

  // Letters: upwards if changing the base lowers the score, downwards and pale if it raises it. Only for
  // bases that are wide enough for letters.
  void letters() {
    LetterPaths lowering, raising;
    for_columns(track_, view_, 1, [&](size_t i, size_t) {
      if (track_.base[i] < 0 || !std::isfinite(effects_[i]) || tall(effects_[i]) < 0.4) return;
      (effects_[i] < 0 ? lowering : raising)[static_cast<size_t>(track_.base[i])] +=
          letter_path(track_.base[i], place_.x(static_cast<double>(i)) + 0.06 * place_.unit, top(effects_[i]),
                      0.88 * place_.unit, tall(effects_[i]));
    });
    draw_letters(out_, raising, lowering);
    out_.end_clip();
  }

 private:
  // Where a value lies between the ends of the axis, from the top.
  double y(double value) const {
    return kMargin + (most_ - value) / (most_ - least_) * (height_ - 2 * kMargin);
  }
  double top(double effect) const { return std::min(y(sign_ * effect), y(0)); }
  double tall(double effect) const { return std::abs(y(sign_ * effect) - y(0)); }

  // The ends of the axis and zero, without one that is too close to zero to be read.
  void draw_axis() {
    std::string grid;
    const std::array<double, 3> values = {least_, 0, most_};
    for (const double& value : values) {
      if (&value != &values[1] && std::abs(y(value) - y(0)) < 12) continue;
      grid += "M" + px(place_.left) + " " + px(y(value)) + "H" + px(place_.right);
      out_.text(place_.left - 6, y(value) + 4, value_text(value), {.anchor = Anchor::end});
    }
    out_.stroke(grid, theme::kGrid);
  }

  Svg& out_;
  const BaseTrack& track_;
  const std::vector<double>& effects_;
  const TrackView& view_;
  const TrackLayout place_;
  const double height_, sign_;
  double least_ = 0, most_ = 0;
};

// A piece with the values of its changes, in the order of the rows of the map.
struct Changes {
  Changes(const TablePiece& of, bool has_indels)
      : piece(of), indels(has_indels), track(make_track(of.letters, of.values, of.first)) {
    if (indels) names = {"del"};
    for (const char letter : kLetterNames) names.emplace_back(1, letter);
    for (size_t i = 0; i < piece.length(); ++i) {
      for (size_t row = 0; row < names.size(); ++row) values += std::isfinite(value(i, row));
      means.push_back(mean_of(0, names.size(), [&](size_t row) { return finite_or_none(value(i, row)); }));
      if (!std::isnan(means.back())) sum += means.back(), ++bases;
    }
  }

  bool is_reference(size_t i, size_t row) const { return !indels && track.base[i] == static_cast<int>(row); }
  /// NaN for a change without a value, and for the reference, which is no change.
  double value(size_t i, size_t row) const {
    if (indels) return row == 0 ? piece.deletions[i] : piece.values[i][row - 1];
    return is_reference(i, row) ? NAN : piece.values[i][row];
  }

  HeatRows rows() const {
    if (!indels) return letter_rows(track);
    return {names, [this](size_t i, size_t j, size_t row) {
              const double mean = mean_of(i, j, [&](size_t b) { return value(b, row); });
              return std::isnan(mean) ? HeatCell{} : HeatCell{HeatCell::value, mean};
            }};
  }

  /// Where the colours of the map end.
  double limit() const {
    std::vector<double> sizes;
    for (size_t i = 0; i < piece.length(); ++i)
      for (size_t row = 0; row < names.size(); ++row)
        if (const double v = std::abs(value(i, row)); std::isfinite(v)) sizes.push_back(v);
    return colour_limit(std::move(sizes));
  }

  const TablePiece& piece;
  const bool indels;
  const BaseTrack track;
  std::vector<std::string> names;  // of the rows
  std::vector<double> means;       // of each base; NaN where there is none
  double sum = 0;                  // of these
  size_t values = 0, bases = 0;    // changes with a value, and bases with such changes
};

std::string picture(const std::string& title, const Changes& changes, const std::vector<Gene>& genes,
                    double limit) {
  const PieceRows rows = rows_of(changes.piece.length());
  const double map_height = kMapMargins + kRow * static_cast<double>(changes.names.size());
  TrackStack stack(rows);
  stack.heading(10, rows.letters
                        ? "Mean effect of the changes of a base, in nats; minus that as letters; every change"
                        : "Mean effect of the changes of a base, in nats; every change");
  for (const TrackView& view : rows.views) {
    const auto effects = [&](Svg& out, double height, bool upside_down) {
      return EffectTrack(out, changes.track, changes.means, view, rows.width, height, upside_down);
    };
    stack.add_genes(genes, changes.piece.first, view);
    stack.add(kEffects, [&](Svg& out) { effects(out, kEffects, false).bars(); });
    if (rows.letters) stack.add(kLogo, [&](Svg& out) { effects(out, kLogo, true).letters(); });
    stack.add(map_height + kGap, [&](Svg& out) {
      draw_heatmap(out, changes.track, changes.rows(), view, rows.width, map_height, limit);
    });
  }
  stack.add_legend(limit, !changes.indels);
  return stack.picture(title);
}

std::string caption(const Changes& changes, bool genes, double limit) {
  const PieceRows rows = rows_of(changes.piece.length());
  std::string text = "Bars: the mean of the changes of a base; orange is below zero, blue above. ";
  if (rows.letters)
    text +=
        "Letters: minus that mean, so that a base stands tall where changing it lowers the score; a pale "
        "letter below the line marks one where the changes raise it. ";
  text += "Map: the score of each change; the colours end at \u00b1" + six_digits(limit) +
          ", within which 19 of 20 values lie.";
  if (changes.indels)
    text += " The row del is the deletion of the base, the others the insertion of a letter after it.";
  if (rows.step() > 1) text += " Columns are means of " + std::to_string(rows.step()) + " bases.";
  if (genes) text += std::string(" ") + kGenesCaption;
  return text;
}

std::string words(const Changes& changes) {
  const std::vector<double>& means = changes.means;
  size_t low = means.size();
  for (size_t i = 0; i < means.size(); ++i)
    if (std::isfinite(means[i]) && (low == means.size() || means[i] < means[low])) low = i;
  if (low == means.size()) return "No change has a value.";
  const auto below = std::count_if(means.begin(), means.end(), [](double mean) { return mean < 0; });
  return "The mean effect is " + value_text(changes.sum / static_cast<double>(changes.bases)) +
         " nats; it is below zero at " + count_text(static_cast<uint64_t>(below)) + " of " +
         count_text(changes.bases) + " bases, and lowest at " +
         count_text(static_cast<uint64_t>(changes.piece.first) + low) + " (" + changes.piece.letters[low] +
         ", " + value_text(means[low]) + " nats).";
}

std::string about_row(const Changes& changes, const std::string& name) {
  if (name == "del") return "deletion of the base, in nats";
  return changes.indels ? "insertion after the base, in nats" : "change to this letter, in nats";
}

Figure effects_figure(const std::string& name, const Changes& changes, const std::vector<Gene>& genes) {
  const TablePiece& piece = changes.piece;
  const double limit = changes.limit();
  BaseFields fields = {
      {"Mean", "of all changes of the base, in nats", [&](size_t i) { return changes.means[i]; }}};
  for (size_t row = 0; row < changes.names.size(); ++row)
    fields.push_back({changes.names[row], about_row(changes, changes.names[row]), [&, row](size_t i) {
                        return changes.is_reference(i, row) ? Cell() : Cell(changes.value(i, row));
                      }});
  Chart chart = base_chart(piece, "Changes of ", ", in nats", std::move(fields));
  add_map(chart, changes.names, piece);
  chart.name = name + "_effects";
  chart.title =
      (changes.indels ? "Every single-base deletion and insertion of " : "Every single-base change of ") +
      piece.place();
  chart.svg = picture(chart.title, changes, genes, limit);
  chart.y.label = "Change";
  chart.what = count_text(changes.values) + (changes.indels ? " deletions and insertions" : " changes") +
               " of " + plural(changes.bases, "base") + " in " + piece.place() +
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
    values += static_cast<double>(changes.values);
    for (size_t i = 0; compared && i < changes.piece.length(); ++i)
      for (size_t row = 0; row < changes.names.size(); ++row)
        if (const double v = changes.value(i, row); !std::isnan(v))
          sample.values.push_back(static_cast<float>(v));
        else if (!changes.is_reference(i, row))
          ++sample.missing;
    bases += static_cast<double>(changes.bases);
    sum += changes.sum;
  }
  base.section.statistics = {{"changes", "Changes", "Changes with values", values}};
  if (bases > 0)
    base.section.statistics.push_back({"mean", "Mean", "Mean effect of a base (nats)", sum / bases});
  base.section.sample = std::move(sample);
  return std::move(base.section);
}

}  // namespace carbon
