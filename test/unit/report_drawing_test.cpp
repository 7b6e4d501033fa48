// One drawing code: a report's figures in C++ have the same text as those of the page's JavaScript, which
// runs in node.

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "src/report/drawing/plot.hpp"
#include "src/report/drawing/sequence_figures.hpp"
#include "src/report/drawing/svg.hpp"
#include "src/report/drawing/track.hpp"
#include "test/unit/genome_files.hpp"

using namespace carbon;

namespace {

using Json = nlohmann::json;

// What one case draws: a track, a part of it, a size, marks and a title.
struct Drawing {
  std::string sequence, title;
  std::vector<LetterLogs> logp;
  int64_t first = 1;
  TrackView view;
  double width = 0, height = 0;
  bool bits = false;
  std::vector<TrackMark> marks;
};

class Cases {
 public:
  explicit Cases(uint64_t seed) : random_(seed) {}

  Drawing next() {
    Drawing out;
    const size_t length = pick<size_t>({1, 7, 12, 60, 333, 1000, 4321, 12345});
    for (size_t i = 0; i < length; ++i) {
      out.sequence += "ACGTACGTACGTACGTacgtNR-"[below(23)];
      out.logp.push_back(row());
    }
    out.first = pick<int64_t>({1, 1, 2, 998, 41'196'313});
    const auto bases = static_cast<double>(length);
    const double span = std::min(bases, pick<double>({8, 31.7, 88.25, 500, bases}));
    out.view.start = uniform() * (bases - span);
    out.view.end = out.view.start + span;
    out.width = pick<double>({60, 360, 519, 520, 680, 980, 1471});
    out.height = pick<double>({96, 128, 150, 210});
    out.bits = below(2) == 1;
    for (size_t m = below(4); m > 0; --m) {
      const auto start = static_cast<int64_t>(1 + below(length));
      out.marks.push_back({start, start + static_cast<int64_t>(below(40)),
                           pick<std::string>({"", "Alu", "<b>&\"'", "é\x01x"})});
    }
    out.title = pick<std::string>(
        {"Logo", "a <script>alert('1')</script> & \"b\"", "tab\tbell\x07 del\x7f", "μ 染色体"});
    return out;
  }

 private:
  size_t below(size_t count) { return static_cast<size_t>(random_() % count); }
  double uniform() { return static_cast<double>(random_() >> 11) / 9007199254740992.0; }
  template <class T>
  T pick(std::vector<T> from) {
    return from[below(from.size())];
  }

  LetterLogs row() {
    if (below(20) == 0) return {kNoValue, kNoValue, kNoValue, kNoValue};
    LetterLogs out;
    double sum = 0;
    const double sharp = 1 + 6 * uniform();
    for (double& v : out) v = sharp * uniform(), sum += std::exp(v);
    for (double& v : out) v -= std::log(sum) + 0.02 * uniform();  // means over strands do not add up to one
    if (below(40) == 0) out[below(4)] = -INFINITY;
    return out;
  }

  std::mt19937_64 random_;
};

Json json_of(const Drawing& d) {
  Json rows = Json::array(), marks = Json::array();
  for (const LetterLogs& row : d.logp) {
    if (std::isnan(row[0])) {
      rows.push_back(nullptr);
      continue;
    }
    Json one = Json::array();
    for (const double v : row) one.push_back(std::isfinite(v) ? Json(v) : Json(nullptr));
    rows.push_back(one);
  }
  for (const TrackMark& m : d.marks) marks.push_back({{"start", m.start}, {"end", m.end}, {"name", m.name}});
  return {{"sequence", d.sequence}, {"logp", rows},
          {"first", d.first},       {"start", d.view.start},
          {"end", d.view.end},      {"width", d.width},
          {"height", d.height},     {"scale", d.bits ? "bits" : "probability"},
          {"marks", marks},         {"title", d.title}};
}

// A picture without a title, as JavaScript writes it.
std::string bare(double width, double height, const Svg& body) {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + px(width) + "\" height=\"" + px(height) +
         "\" viewBox=\"0 0 " + px(width) + " " + px(height) +
         "\" font-family=\"system-ui, sans-serif\" font-size=\"11\" aria-hidden=\"true\">" + body.body() +
         "</svg>";
}

// The same drawings as kRunner makes, in the same order.
std::vector<std::string> pictures(const Drawing& d) {
  const BaseTrack track = make_track(d.sequence, d.logp, d.first);
  const double limit = heatmap_limit(track);
  const LogoOptions logo = {d.width, d.height, d.bits, d.marks};
  const HeatmapOptions map = {d.width, d.height, limit};
  Svg bare_logo, bare_map, strip, legend;
  draw_logo(bare_logo, track, d.view, logo);
  draw_heatmap(bare_map, track, letter_rows(track), d.view, map);
  draw_overview(strip, track, d.width, d.marks);
  draw_heatmap_legend(legend, limit);
  return {bare(d.width, d.height, bare_logo), logo_picture(track, d.view, logo, d.title),
          bare(d.width, d.height, bare_map),  heatmap_picture(track, d.view, map, d.title),
          bare(d.width, 74, strip),           bare(kHeatLegendWidth, kHeatLegendHeight, legend)};
}

constexpr const char* kRunner = R"js(
import {readFileSync} from "node:fs";
const theme = THEMES.light;
const draw = (d) => {
  const track = makeTrack(d.sequence, d.logp, d.first);
  const {width, height, scale, marks, title} = d;
  return [logoSvg(track, d, {width, height, scale, theme, marks}), logoSvg(track, d, {width, height, scale, theme, marks, title}),
    heatmapSvg(track, d, {width, height, theme}), heatmapSvg(track, d, {width, height, theme, title}),
    overviewSvg(track, {width, theme, marks}), heatmapLegendSvg(heatmapLimit(track), theme)];
};
process.stdout.write(JSON.stringify(JSON.parse(readFileSync(process.argv[2], "utf8")).map(draw)));
)js";

// The figures' modules as one, as the Makefile puts them into a report.
std::string bundle() {
  std::string out;
  for (const char* name : {"figure", "heatmap", "logo", "overview"}) {
    std::ifstream in("src/report/figures/" + std::string(name) + ".js");
    REQUIRE_MESSAGE(in, name);
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("import ")) continue;
      out += (line.starts_with("export ") ? line.substr(7) : line) + "\n";
    }
  }
  return out;
}

// Where two texts begin to differ, with what is around.
std::string difference(const std::string& a, const std::string& b) {
  size_t at = 0;
  while (at < a.size() && at < b.size() && a[at] == b[at]) ++at;
  const size_t from = at < 60 ? 0 : at - 60;
  return "C++: ..." + a.substr(from, 120) + "\nJS:  ..." + b.substr(from, 120);
}

}  // namespace

TEST_CASE("a legend looks like its marks") {
  Plot plot("t", 300, 200, {"x", 0, 1, false, {}}, {"y", 0, 1, false, {}});
  plot.legend(std::vector<LegendEntry>{
      {.name = "band", .colour = "#123456", .opacity = 0.25, .edge = "#654321"},
      {.name = "dot", .colour = "#abcdef", .mark = LegendEntry::circle, .opacity = 0.6},
      {.name = "full", .colour = "#fedcba"}});
  const std::string picture = plot.picture();
  CHECK(picture.find("<path fill=\"#123456\" fill-opacity=\"0.25\" stroke=\"#654321\"") != std::string::npos);
  CHECK(picture.find("<path fill=\"#abcdef\" fill-opacity=\"0.6\"") != std::string::npos);
  CHECK(picture.find("<path fill=\"#fedcba\" d=") != std::string::npos);
}

TEST_CASE("report: C++ and JavaScript draw the same text") {
  if (std::system("node --version > /dev/null 2>&1") != 0) {
    MESSAGE("SKIPPED: there is no node");
    return;
  }
  const carbon_test::TemporaryDirectory folder;
  std::vector<Drawing> drawings;
  Cases cases(25);
  Json texts = Json::array();
  for (int i = 0; i < 60; ++i) {
    drawings.push_back(cases.next());
    texts.push_back(json_of(drawings.back()));
  }
  const std::string script = folder.put("draw.mjs", bundle() + kRunner);
  const std::string data = folder.put("cases.json", texts.dump()), result = folder.file("out.json");
  REQUIRE(std::system(("node '" + script + "' '" + data + "' > '" + result + "'").c_str()) == 0);
  const Json out = Json::parse(carbon_test::read_bytes(result));
  REQUIRE(out.size() == drawings.size());
  for (size_t d = 0; d < drawings.size(); ++d) {
    const std::vector<std::string> mine = pictures(drawings[d]);
    REQUIRE(out[d].size() == mine.size());
    for (size_t p = 0; p < mine.size(); ++p) {
      const std::string theirs = out[d][p];
      INFO("case ", d, ", picture ", p, ", width ", drawings[d].width, "\n", difference(mine[p], theirs));
      CHECK((mine[p] == theirs));
    }
  }
}
