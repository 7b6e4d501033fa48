#include "src/bench/report.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/base/numbers.hpp"
#include "src/base/words.hpp"
#include "version.h"

namespace carbon {
namespace {

using json = nlohmann::ordered_json;

constexpr double kGiga = 1e9;

// The largest rate of all limits of this kind in a round; 0 if there are none.
double largest_limit(LimitKind kind, size_t round, std::span<const BenchLimit> limits,
                     const BenchTimes& times) {
  double most = 0;
  for (size_t i = 0; i < limits.size(); ++i)
    if (limits[i].kind == kind) most = std::max(most, times.limits[i][round]);
  return most;
}

json to_json(const Spread& spread) {
  return {{"median", spread.median}, {"min", spread.least}, {"max", spread.most}};
}

// Rates of something that is done `amount` times per run.
Spread rates_of(double amount, std::span<const double> seconds) {
  std::vector<double> rates;
  for (const double s : seconds) rates.push_back(amount / s);
  return spread_of(std::move(rates));
}

// The text in a column of at least this width.
std::string left(const std::string& text, size_t width) {
  return text + std::string(width > text.size() ? width - text.size() : 0, ' ');
}
std::string right(const std::string& text, size_t width) {
  return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
}
std::string right(double value, int decimals, size_t width) {
  return right(fixed_text(value, decimals), width);
}

std::string unit_of(LimitKind kind, const std::string& name) {
  return kind == LimitKind::bandwidth || name == "copy" ? "GB/s" : "GFLOP/s";
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return {(values[(n - 1) / 2] + values[n / 2]) / 2, values.front(), values.back()};
}

LimitShare share_of_limit(const PassWork& work, std::span<const double> seconds,
                          std::span<const BenchLimit> limits, const BenchTimes& times) {
  LimitShare result;
  for (size_t round = 0; round < seconds.size(); ++round) {
    const double computing = work.flops / largest_limit(LimitKind::matrix, round, limits, times);
    const double reading = work.bytes / largest_limit(LimitKind::bandwidth, round, limits, times);
    result.by_reading = reading > computing;
    result.shares.push_back(std::max(computing, reading) / seconds[round]);
  }
  return result;
}

std::string bench_table(const BenchSetting& setting, std::span<const BenchLimit> limits,
                        std::span<const BenchTest> tests, const BenchTimes& times) {
  std::string text =
      "carbon " CARBON_VERSION ": " + setting.model + ", " + fixed_text(setting.parameters / 1e6, 1) +
      " million parameters, " + setting.dtype + ", " + setting.device + ", " +
      count_of(static_cast<uint64_t>(setting.threads), "thread") + "\nCPU " + setting.cpu + "; ready after " +
      fixed_text(setting.load_seconds, 2) + " s; medians of " +
      count_of(times.tests.front().size(), "round") + "\n\n" + left("limit of the machine", 36) + " " +
      right("median", 10) + " " + left("unit", 8) + " " + right("lowest..highest", 21) + "\n";
  for (size_t i = 0; i < limits.size(); ++i) {
    const Spread s = spread_of(times.limits[i]);
    text += left(limits[i].text, 36) + " " + right(s.median / kGiga, 1, 10) + " " +
            left(unit_of(limits[i].kind, limits[i].name), 8) + " " + right(s.least / kGiga, 1, 10) + ".." +
            fixed_text(s.most / kGiga, 1) + "\n";
  }
  text += "\n" + left("test", 20) + " " + right("tokens/s", 10) + " " + right("bp/s", 10) + " " +
          right("variants/s", 10) + " " + right("GFLOP/s", 9) + " " + right("GB/s", 8) + "  " +
          right("of limit", 8) + " " + left("(of)", 9) + " seconds lowest..highest\n";
  for (size_t i = 0; i < tests.size(); ++i) {
    const BenchTest& test = tests[i];
    const Spread seconds = spread_of(times.tests[i]);
    const LimitShare share = share_of_limit(test.work, times.tests[i], limits, times);
    std::string name = test.name, variants = "-";
    if (test.name == "decode") name += ", batch " + std::to_string(test.batch);
    if (test.name == "vep") name += ", " + std::to_string(test.batch) + " alt";
    if (test.name == "anchored")
      name += "/" + std::to_string(test.batch) + ", H " + std::to_string(test.horizon);
    if (test.variants > 0) variants = fixed_text(static_cast<double>(test.variants) / seconds.median, 3);
    text += left(name, 20) + " " + right(static_cast<double>(test.tokens) / seconds.median, 1, 10) + " " +
            right(static_cast<double>(test.bases) / seconds.median, 1, 10) + " " + right(variants, 10) + " " +
            right(test.work.flops / seconds.median / kGiga, 1, 9) + " " +
            right(test.work.bytes / seconds.median / kGiga, 2, 8) + "  " +
            right(100 * spread_of(share.shares).median, 1, 7) + "% " +
            left(share.by_reading ? "reading" : "products", 9) + " " + fixed_text(seconds.least, 3) + ".." +
            fixed_text(seconds.most, 3) + "\n";
  }
  return text;
}

std::string bench_json(const BenchSetting& setting, std::span<const BenchLimit> limits,
                       std::span<const BenchTest> tests, const BenchTimes& times) {
  json out = {{"carbon", CARBON_VERSION},
              {"model", setting.model},
              {"parameters", setting.parameters},
              {"dtype", setting.dtype},
              {"device", setting.device},
              {"cpu", setting.cpu},
              {"threads", setting.threads},
              {"load_seconds", setting.load_seconds},
              {"rounds", times.tests.front().size()},
              {"limits", json::object()},
              {"tests", json::array()}};
  for (size_t i = 0; i < limits.size(); ++i) {
    const std::string unit = unit_of(limits[i].kind, limits[i].name) == "GB/s" ? "bytes/s" : "flop/s";
    json entry = to_json(spread_of(times.limits[i]));
    entry["unit"] = unit;
    out["limits"][limits[i].name] = entry;
  }
  for (size_t i = 0; i < tests.size(); ++i) {
    const BenchTest& test = tests[i];
    const std::vector<double>& seconds = times.tests[i];
    const LimitShare share = share_of_limit(test.work, seconds, limits, times);
    json entry = {{"test", test.name}};
    const char* const batch = test.name == "vep" ? "alts" : test.name == "anchored" ? "distance" : "batch";
    entry[batch] = test.batch;
    if (test.name == "anchored") entry["horizon"] = test.horizon;
    entry["tokens"] = test.tokens;
    entry["bases"] = test.bases;
    if (test.variants > 0) entry["variants"] = test.variants;
    entry["flop"] = test.work.flops;
    entry["bytes"] = test.work.bytes;
    entry["seconds"] = to_json(spread_of(seconds));
    entry["tokens_per_s"] = to_json(rates_of(static_cast<double>(test.tokens), seconds));
    entry["bases_per_s"] = to_json(rates_of(static_cast<double>(test.bases), seconds));
    if (test.variants > 0)
      entry["variants_per_s"] = to_json(rates_of(static_cast<double>(test.variants), seconds));
    entry["flop_per_s"] = to_json(rates_of(test.work.flops, seconds));
    entry["bytes_per_s"] = to_json(rates_of(test.work.bytes, seconds));
    entry["limit"] = share.by_reading ? "reading" : "products";
    entry["of_limit"] = to_json(spread_of(share.shares));
    out["tests"].push_back(entry);
  }
  return out.dump(2) + "\n";
}

}  // namespace carbon
