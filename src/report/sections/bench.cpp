// The section of `carbon bench --json`: speeds, the share of the machine's limits, and these limits.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/numbers.hpp"
#include "src/files/text_input.hpp"
#include "src/report/drawing/plot.hpp"
#include "src/report/drawing/svg.hpp"
#include "src/report/sections/sections.hpp"
#include "src/report/sources/input.hpp"

namespace carbon {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr size_t kMostBytes = size_t{4} << 20, kMostEntries = 200;
constexpr size_t kLongestName = 40;
constexpr double kGiga = 1e9, kWidth = 760, kBarHeight = 26;

struct Spread {
  double median = 0, least = 0, most = 0;
  Spread times(double factor) const { return {median * factor, least * factor, most * factor}; }
};

struct Test {
  std::string name;
  Spread seconds, tokens, bases, share;  // share in percent
  std::optional<Spread> variants;
  bool reading = false;  // which limit decides
};

struct Limit {
  std::string name, words;
  Spread rate;  // in 10^9 per second
  bool bytes = false;
};

struct Bench {
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<Limit> limits;
  std::vector<Test> tests;
  uint64_t rounds = 0;
  std::string model;  // a sentence
};

// A place in the document, for messages, and what stands there.
class Place {
 public:
  Place(const json& value, std::string where) : value_(value), where_(std::move(where)) {}

  [[noreturn]] void refuse(const std::string& expected) const {
    throw Error("read_bench", where_ + ": expected " + expected + ", as carbon bench writes it");
  }
  bool has(const char* key) const { return value_.contains(key); }
  Place at(const char* key) const {
    if (!value_.is_object()) refuse("an object");
    const auto found = value_.find(key);
    if (found == value_.end()) refuse(std::string("a member '") + key + "'");
    return {*found, where_ + ": " + key};
  }
  std::string text() const {
    if (!value_.is_string()) refuse("a text");
    return value_.get<std::string>();
  }
  double number() const {
    if (!value_.is_number()) refuse("a number");
    const double number = value_.get<double>();
    if (!(number >= 0) || !(number < 1e300)) refuse("a finite number that is not negative");
    return number;
  }
  uint64_t count() const {
    if (!value_.is_number_unsigned()) refuse("a whole number");
    return value_.get<uint64_t>();
  }
  Spread spread() const {
    const Spread out = {at("median").number(), at("min").number(), at("max").number()};
    if (out.least > out.median || out.median > out.most) refuse("a median between min and max");
    return out;
  }
  const json& value() const { return value_; }
  const std::string& where() const { return where_; }

 private:
  const json& value_;
  std::string where_;
};

// The name with what tells it from the other tests of its kind, in words.
std::string test_name(const Place& test) {
  std::string name = test.at("test").text();
  const std::string kind = name;
  const auto add = [&](const char* key, const char* before, const char* after) {
    if (test.has(key)) name += std::string(", ") + before + count_text(test.at(key).count()) + after;
  };
  if (kind == "decode") add("batch", "", " at a time");
  if (kind == "vep") add("alts", "alternative alleles: ", "");
  if (kind == "anchored") {
    add("distance", "", " bp apart");
    add("horizon", "horizon ", " bp");
  }
  return name;
}

std::string limit_words(const std::string& name) {
  static const std::map<std::string, std::string> known = {{"read", "reading memory"},
                                                           {"copy", "copying memory"}};
  if (const auto found = known.find(name); found != known.end()) return found->second;
  const size_t end = name.find('_');
  if (end == std::string::npos) return name;
  const std::string type = name.substr(0, end), rest = name.substr(end + 1);
  if (rest == "multiply_add") return "multiply-adds on registers, " + type;
  if (rest == "product") return "matrix product, " + type;
  return name;
}

Test read_test(const Place& place) {
  Test test;
  test.name = test_name(place);
  test.seconds = place.at("seconds").spread();
  test.tokens = place.at("tokens_per_s").spread();
  test.bases = place.at("bases_per_s").spread();
  if (place.has("variants_per_s")) test.variants = place.at("variants_per_s").spread();
  test.share = place.at("of_limit").spread().times(100);
  const std::string limit = place.at("limit").text();
  if (limit != "reading" && limit != "products") place.at("limit").refuse("'reading' or 'products'");
  test.reading = limit == "reading";
  return test;
}

// Numbers tests of one name, so that all bars have names of their own.
void make_unique(std::vector<Test>& tests) {
  std::set<std::string> taken;
  for (Test& test : tests) {
    const std::string name = shortened(test.name, kLongestName);
    test.name = name;
    for (int copy = 2; !taken.insert(test.name).second; ++copy)
      test.name = name + " (" + std::to_string(copy) + ")";
  }
}

void read_facts(const Place& root, Bench& bench) {
  std::string millions;
  append_general(root.at("parameters").number() / 1e6, 6, millions);
  bench.rounds = root.at("rounds").count();
  bench.model = model_sentence({{"Model", root.at("model").text()},
                                {"Dtype", root.at("dtype").text()},
                                {"Device", root.at("device").text()}});
  bench.facts = {{"Program", "carbon " + root.at("carbon").text()},
                 {"Model", root.at("model").text()},
                 {"Parameters", millions + " million"},
                 {"Data type", root.at("dtype").text()},
                 {"Device", root.at("device").text()},
                 {"CPU", root.at("cpu").text()},
                 {"Threads", std::to_string(root.at("threads").count())},
                 {"Ready after", value_text(root.at("load_seconds").number()) + " s"},
                 {"Rounds", std::to_string(bench.rounds)}};
}

Bench read_bench(const std::string& path) {
  const json document = parse_json(read_text(path, "read_json", kMostBytes), path);
  const Place root(document, path);
  Bench bench;
  read_facts(root, bench);
  const Place limits = root.at("limits"), tests = root.at("tests");
  if (!limits.value().is_object() || limits.value().size() > kMostEntries)
    limits.refuse("an object of at most 200 limits");
  for (const auto& [name, value] : limits.value().items()) {
    const Place place(value, limits.where() + ": " + printable(name));
    const std::string unit = place.at("unit").text();
    if (unit != "bytes/s" && unit != "flop/s") place.at("unit").refuse("'bytes/s' or 'flop/s'");
    bench.limits.push_back({name, shortened(limit_words(name), kLongestName), place.spread().times(1 / kGiga),
                            unit == "bytes/s"});
  }
  if (!tests.value().is_array() || tests.value().empty() || tests.value().size() > kMostEntries)
    tests.refuse("an array of 1 to 200 tests");
  for (size_t i = 0; i < tests.value().size(); ++i)
    bench.tests.push_back(read_test({tests.value()[i], tests.where() + "[" + std::to_string(i) + "]"}));
  make_unique(bench.tests);
  return bench;
}

void add_spread(std::vector<std::string>& row, const Spread& spread) {
  for (const double value : {spread.median, spread.least, spread.most}) row.push_back(six_digits(value));
}

struct Bar {
  std::string name;
  Spread value;
  std::string_view colour;
};

// Horizontal bars from 0 to the medians, with a line from lowest to highest value, and the median in digits.
class BarChart {
 public:
  BarChart(const std::string& title, const std::string& label, std::span<const Bar> bars, double at_least,
           std::span<const LegendEntry> legend)
      : plot_(title, kWidth, 100 + kBarHeight * static_cast<double>(bars.size()) + (legend.empty() ? 0 : 20),
              axis_of(label, bars, at_least), names_of(bars)) {
    plot_.legend(legend);
    for (size_t i = 0; i < bars.size(); ++i) draw(bars[i], static_cast<double>(i));
  }
  /// A line across all bars.
  void mark(double value) {
    plot_.marks().stroke("M" + px(plot_.x(value)) + " " + px(plot_.top()) + "V" + px(plot_.bottom()),
                         theme::kInk, 1.5, " stroke-dasharray=\"4 3\"");
  }
  std::string picture() const { return plot_.picture(); }

 private:
  static Axis axis_of(const std::string& label, std::span<const Bar> bars, double at_least) {
    double most = at_least;
    for (const Bar& bar : bars) most = std::max(most, bar.value.most);
    // Room for the digits behind the longest bar.
    return round_axis(label, 0, most > 0 ? 1.14 * most : 1);
  }
  static Axis names_of(std::span<const Bar> bars) {
    std::vector<std::string> names;
    for (const Bar& bar : bars) names.push_back(bar.name);
    return category_axis("", std::move(names));
  }

  void draw(const Bar& bar, double place) {
    const double middle = plot_.y(place), left = plot_.x(0), end = plot_.x(bar.value.median);
    plot_.marks().path(box_path(left, middle - 0.32 * kBarHeight, end - left, 0.64 * kBarHeight), bar.colour);
    const double least = plot_.x(bar.value.least), most = plot_.x(bar.value.most);
    const std::string cap = "v" + px(6);
    plot_.marks().stroke("M" + px(least) + " " + px(middle) + "H" + px(most) + "M" + px(least) + " " +
                             px(middle - 3) + cap + "M" + px(most) + " " + px(middle - 3) + cap,
                         theme::kInk, 1.5);
    plot_.note(bar.value.most, place, 6, 4, value_text(bar.value.median),
               {.colour = theme::kInk, .anchor = Anchor::start});
  }

  Plot plot_;
};

std::string of_rounds(const Bench& bench) {
  return "Bars are medians of " + count_text(bench.rounds) + (bench.rounds == 1 ? " round" : " rounds") +
         ", and lines reach from the lowest to the highest round.";
}

Figure speed_figure(const std::string& name, const Bench& bench) {
  Figure figure;
  figure.name = name + "_speed";
  figure.title = "Speed of each test";
  std::vector<Bar> bars;
  ordered_json plot = multiqc_bars(figure.name, figure.title, "Tokens per second");
  figure.numbers.columns = {{"Test"},
                            {"Tokens/s", "median of the rounds", true},
                            {"lowest", "tokens/s", true},
                            {"highest", "tokens/s", true},
                            {"Bases/s", "median of the rounds", true},
                            {"lowest", "bases/s", true},
                            {"highest", "bases/s", true},
                            {"Variants/s", "median of the rounds", true},
                            {"lowest", "variants/s", true},
                            {"highest", "variants/s", true},
                            {"Seconds", "median of the rounds, for the whole test", true},
                            {"lowest", "s", true},
                            {"highest", "s", true}};
  for (const Test& test : bench.tests) {
    bars.push_back({test.name, test.tokens, theme::kSeries[0]});
    plot["data"][test.name] = {{"tokens per second", test.tokens.median}};
    std::vector<std::string> row = {test.name};
    add_spread(row, test.tokens);
    add_spread(row, test.bases);
    if (test.variants)
      add_spread(row, *test.variants);
    else
      row.insert(row.end(), 3, ".");
    add_spread(row, test.seconds);
    figure.numbers.rows.push_back(std::move(row));
  }
  figure.svg = BarChart(figure.title, "Tokens per second", bars, 0, {}).picture();
  figure.caption = "Tokens per second of " + count_text(bench.tests.size()) + " tests; a token is a 6-mer. " +
                   of_rounds(bench) + " The numbers below also have bases and variants per second.";
  const auto fastest =
      std::max_element(bench.tests.begin(), bench.tests.end(),
                       [](const Test& a, const Test& b) { return a.tokens.median < b.tokens.median; });
  figure.words = "The fastest test is " + fastest->name + ", with " + value_text(fastest->tokens.median) +
                 " tokens per second.";
  figure.multiqc = json_text(plot);
  return figure;
}

Figure share_figure(const std::string& name, const Bench& bench) {
  Figure figure;
  figure.name = name + "_share";
  figure.title = "Share of the machine's limit";
  const std::string_view colours[] = {theme::kSeries[1], theme::kSeries[0]};
  const char* const limits[] = {"products", "reading"};
  std::vector<Bar> bars;
  ordered_json plot = multiqc_bars(figure.name, figure.title, "Percent of the limit");
  figure.numbers.columns = {{"Test"},
                            {"Percent of the limit", "median of the rounds", true},
                            {"lowest", "%", true},
                            {"highest", "%", true},
                            {"Limit", "reading memory, or computing products"}};
  size_t by_reading = 0, above = 0;
  for (const Test& test : bench.tests) {
    bars.push_back({test.name, test.share, colours[test.reading]});
    plot["data"][test.name] = {{limits[test.reading], test.share.median}};
    std::vector<std::string> row = {test.name};
    add_spread(row, test.share);
    row.push_back(limits[test.reading]);
    figure.numbers.rows.push_back(std::move(row));
    by_reading += test.reading;
    above += test.share.median > 100;
  }
  const LegendEntry legend[] = {{"limited by reading memory", colours[1]},
                                {"limited by products", colours[0]}};
  BarChart chart(figure.title, "Percent of the limit", bars, 100, legend);
  chart.mark(100);
  figure.svg = chart.picture();
  figure.caption = "The shortest possible time of each test divided by its measured time, in percent, for " +
                   count_text(bench.tests.size()) +
                   " tests. The shortest possible time is that of reading memory or that of computing "
                   "products at the limits of this machine, whichever is longer; the colour says which. " +
                   of_rounds(bench);
  if (above > 0)
    figure.caption +=
        " Above 100 % (dashed line) a test was faster than the limit allows, because its weights stay in the "
        "processor's cache.";
  figure.words = count_text(by_reading) + " of " + count_text(bench.tests.size()) +
                 " tests are limited by reading memory, the others by products.";
  figure.multiqc = json_text(plot);
  return figure;
}

// The limits of one unit; a chart has one axis.
Figure limit_figure(const std::string& name, const Bench& bench, bool bytes) {
  Figure figure;
  figure.name = name + (bytes ? "_memory" : "_arithmetic");
  figure.title = bytes ? "Limits of the machine: memory" : "Limits of the machine: arithmetic";
  const std::string unit = bytes ? "GB/s" : "GFLOP/s";
  std::vector<Bar> bars;
  ordered_json plot = multiqc_bars(figure.name, figure.title, unit);
  figure.numbers.columns = {{"Limit"},
                            {unit, "median of the rounds", true},
                            {"lowest", unit, true},
                            {"highest", unit, true},
                            {"Name", "in the file"}};
  for (const Limit& limit : bench.limits) {
    if (limit.bytes != bytes) continue;
    bars.push_back({limit.words, limit.rate, theme::kSeries[2]});
    plot["data"][limit.words] = {{unit, limit.rate.median}};
    std::vector<std::string> row = {limit.words};
    add_spread(row, limit.rate);
    row.push_back(limit.name);
    figure.numbers.rows.push_back(std::move(row));
  }
  if (bars.empty()) return figure;
  figure.svg = BarChart(figure.title, unit, bars, 0, {}).picture();
  figure.caption =
      (bytes ? "How fast this machine reads and copies memory, in billions of bytes per second. "
             : "How fast this machine computes, in billions of operations per second; a multiply-add "
               "counts as two. ") +
      of_rounds(bench);
  figure.words =
      "The highest rate is " +
      value_text(std::max_element(bars.begin(), bars.end(),
                                  [](const Bar& a, const Bar& b) { return a.value.median < b.value.median; })
                     ->value.median) +
      " " + unit + ".";
  figure.multiqc = json_text(plot);
  return figure;
}

}  // namespace

Section bench_section(const std::string& name, const std::string& path, const ReportOptions&) {
  const Bench bench = read_bench(path);
  Section section;
  section.name = name;
  section.title = "Speed beside the limits of the machine: " + file_name(path);
  section.paragraphs = {
      "Measured by carbon bench. Numbers from a machine that did other work at the same time mean little; a "
      "large "
      "distance between lowest and highest value shows this."};
  section.parts.emplace_back(speed_figure(name, bench));
  section.parts.emplace_back(share_figure(name, bench));
  for (const bool bytes : {true, false})
    if (Figure figure = limit_figure(name, bench, bytes); !figure.svg.empty())
      section.parts.emplace_back(std::move(figure));
  section.provenance = {{"File", path}};
  if (!bench.model.empty()) section.models = {bench.model};
  section.provenance.insert(section.provenance.end(), bench.facts.begin(), bench.facts.end());
  return section;
}

}  // namespace carbon
