// What figures of sequences draw: C++ and the page's JavaScript, which runs in node, compute the same
// numbers.

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "src/annotate/gene.hpp"
#include "src/report/drawing/track.hpp"
#include "test/unit/genome_files.hpp"

using namespace carbon;

namespace {

using Json = nlohmann::json;

struct Drawing {
  std::string sequence;
  std::vector<LetterLogs> logp;
  TrackView view;
  double width = 0;
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
    const auto bases = static_cast<double>(length);
    const double span = std::min(bases, pick<double>({8, 31.7, 88.25, 500, bases}));
    out.view.start = uniform() * (bases - span);
    out.view.end = out.view.start + span;
    out.width = pick<double>({60, 360, 519, 520, 680, 980, 1471});
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
    if (below(20) == 0) return {NAN, NAN, NAN, NAN};
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
  Json rows = Json::array();
  for (const LetterLogs& row : d.logp) {
    if (std::isnan(row[0])) {
      rows.push_back(nullptr);
      continue;
    }
    Json one = Json::array();
    for (const double v : row) one.push_back(std::isfinite(v) ? Json(v) : Json(nullptr));
    rows.push_back(one);
  }
  return {{"sequence", d.sequence},
          {"logp", rows},
          {"start", d.view.start},
          {"end", d.view.end},
          {"width", d.width}};
}

// The same numbers as kRunner computes, in the same order; NaN for a missing one.
std::vector<double> numbers_of(const Drawing& d) {
  const BaseTrack track = make_track(d.sequence, d.logp);
  std::vector<double> out = {heatmap_limit(track)};
  for (size_t i = 0; i < track.length(); ++i) {
    for (int k = 0; k < 4; ++k) {
      out.push_back(track.has_value(i) ? track.probability(i, k) : NAN);
      out.push_back(track.log_ratio(i, k));
    }
    out.push_back(track.has_value(i) ? track.entropy(i) : NAN);
  }
  for (const Point& mean : overview_means(track, overview_window(track))) {
    out.push_back(mean.x);
    out.push_back(mean.y);
  }
  const TrackLayout place(d.view, d.width);
  const HeatRows rows = letter_rows(track);
  for_columns(track, d.view, place.step, [&](size_t i, size_t j) {
    out.push_back(place.x(static_cast<double>(i)));
    for (size_t k = 0; k < 4; ++k) {
      const HeatCell cell = rows.cell(i, j, k);
      out.push_back(cell.kind == HeatCell::value       ? cell.change
                    : cell.kind == HeatCell::reference ? 1e9
                                                       : NAN);
    }
  });
  return out;
}

constexpr const char* kRunner = R"js(
import {readFileSync} from "node:fs";
const numbers = (d) => {
  const track = makeTrack(d.sequence, d.logp);
  const out = [heatmapLimit(track)];
  for (let i = 0; i < track.length; ++i) {
    const value = hasValue(track, i);
    for (let k = 0; k < 4; ++k) out.push(value ? probability(track, i, k) : NaN, logRatio(track, i, k));
    out.push(value ? entropy(track, i) : NaN);
  }
  for (const {at, mean} of overviewMeans(track, overviewWindow(track))) out.push(at, mean);
  const {x, step} = layout(d, d.width);
  forColumns(track, d, step, (i, j) => {
    out.push(x(i));
    for (let k = 0; k < 4; ++k) {
      const cell = cellValue(track, i, j, k);
      out.push(cell === "reference" ? 1e9 : cell === null ? NaN : cell);
    }
  });
  return out.map((v) => Number.isNaN(v) ? null : v === Infinity ? "inf" : v === -Infinity ? "-inf" : v);
};
process.stdout.write(JSON.stringify(JSON.parse(readFileSync(process.argv[2], "utf8")).map(numbers)));
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

double number_of(const Json& value) {
  if (value.is_null()) return NAN;
  if (value.is_string()) return value == "inf" ? INFINITY : -INFINITY;
  return value;
}

}  // namespace

TEST_CASE("a legend looks like its marks") {
  Plot plot("t", 300, 200, {"x", 0, 1}, {"y", 0, 1});
  plot.legend(std::vector<LegendEntry>{
      {.name = "band", .colour = "#123456", .opacity = 0.25, .edge = "#654321"},
      {.name = "dot", .colour = "#abcdef", .mark = LegendEntry::shape, .opacity = 0.6},
      {.name = "full", .colour = "#fedcba"}});
  const std::string picture = plot.picture();
  CHECK(picture.find("<path fill=\"#123456\" fill-opacity=\"0.25\" stroke=\"#654321\"") != std::string::npos);
  CHECK(picture.find("<path fill=\"#abcdef\" fill-opacity=\"0.6\"") != std::string::npos);
  CHECK(picture.find("<path fill=\"#fedcba\" d=") != std::string::npos);
}

TEST_CASE("report: C++ and JavaScript draw the same numbers") {
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
    const std::vector<double> mine = numbers_of(drawings[d]);
    REQUIRE(out[d].size() == mine.size());
    for (size_t i = 0; i < mine.size(); ++i) {
      const double theirs = number_of(out[d][i]);
      INFO("case ", d, ", number ", i, ", width ", drawings[d].width, ": ", mine[i], " and ", theirs);
      // exp and log of both may differ in the last digit, and means add up a few hundred of them.
      const bool same = mine[i] == theirs || (std::isnan(mine[i]) && std::isnan(theirs)) ||
                        std::abs(mine[i] - theirs) <= 1e-12 * std::max(1.0, std::abs(mine[i]));
      CHECK(same);
    }
  }
}

TEST_CASE("an axis holds the values that it is made for, also where steps are rounded") {
  for (int i = 0; i <= 5000; ++i) {
    const double least = i / 10000.0;
    const Axis axis = round_axis("", least, 1);
    CHECK(axis.holds(least));
    CHECK(axis.holds(1));
  }
  // Doubles between these two are too few for steps.
  const double next = std::nextafter(0.3, 1);
  CHECK(round_ticks(0.3, next, 4).size() == 1);
  const Axis axis = round_axis("", 0.3, next);
  CHECK(axis.holds(0.3));
  CHECK(axis.holds(next));
  CHECK(axis.least < axis.most);
}

TEST_CASE("labels of an axis differ, however large its numbers are") {
  const std::string picture = Plot("t", 300, 300, {"x", 0, 1}, {"y", 0, 2e7}).picture();
  for (const char* label : {">1.5e+07<", ">2e+07<"}) {
    const size_t at = picture.find(label);
    REQUIRE(at != std::string::npos);
    CHECK(picture.find(label, at + 1) == std::string::npos);
  }
}

TEST_CASE("steps are 1, 2 or 5 times a power of ten") {
  for (const auto& [least, step] : std::vector<std::pair<double, double>>{
           {1, 1}, {1.01, 2}, {2, 2}, {2.1, 5}, {5.1, 10}, {0.3, 0.5}, {0.6, 1}, {6e-6, 1e-5}, {1e-6, 1e-6}})
    CHECK(round_step(least) == step);
}

TEST_CASE("a value has four digits, without an exponent where people read it, and zero has no sign") {
  CHECK(value_text(9999.4) == "9999");
  CHECK(value_text(9999.7) == "10,000");
  CHECK(value_text(-9999.7) == "\u221210,000");
  CHECK(value_text(123456) == "123,500");
  CHECK(value_text(-0.0) == "0");
  CHECK(value_text(-0.25) == "\u22120.25");
  CHECK(value_text(NAN) == ".");
}

// Had both parts of the program a function letter_number(char), a linker would take one for the other.
TEST_CASE("another letter has a number of its own in a track and in a gene") {
  CHECK(make_track("aN", std::vector<LetterLogs>(2)).base == std::vector<int8_t>{0, -1});
  uint8_t (*volatile number)(char) = letter_number;
  CHECK(number('N') == kOtherLetter);
}

TEST_CASE("an axis ends before the values that lie far away, at either end by itself") {
  std::vector<double> values;
  for (int i = 1; i < 50; ++i) values.push_back(i);
  values.push_back(1000);
  CHECK(middle_of(values) == std::pair(1.0, 49.0));
  values.push_back(-1000);
  CHECK(middle_of(values) == std::pair(1.0, 49.0));
}
