#include "src/bench/report.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "src/base/counts.hpp"
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

// Appends a formatted line.
__attribute__((format(printf, 2, 3))) void add_line(std::string& text, const char* format, ...) {
  char line[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  text += line;
  text += '\n';
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

LimitShare share_of_limit(const Work& work, std::span<const double> seconds,
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
  std::string text;
  add_line(text, "carbon %s: %s, %.1f million parameters, %s, %s, %s", CARBON_VERSION, setting.model.c_str(),
           setting.parameters / 1e6, setting.dtype.c_str(), setting.device.c_str(),
           count_of(static_cast<uint64_t>(setting.threads), "thread").c_str());
  add_line(text, "CPU %s; ready after %.2f s; medians of %s", setting.cpu.c_str(), setting.load_seconds,
           count_of(times.tests.front().size(), "round").c_str());
  add_line(text, "\n%-36s %10s %-8s %21s", "limit of the machine", "median", "unit", "lowest..highest");
  for (size_t i = 0; i < limits.size(); ++i) {
    const Spread s = spread_of(times.limits[i]);
    add_line(text, "%-36s %10.1f %-8s %10.1f..%.1f", limits[i].text.c_str(), s.median / kGiga,
             unit_of(limits[i].kind, limits[i].name).c_str(), s.least / kGiga, s.most / kGiga);
  }
  add_line(text, "\n%-20s %10s %10s %10s %9s %8s  %8s %-9s %s", "test", "tokens/s", "bp/s", "variants/s",
           "GFLOP/s", "GB/s", "of limit", "(of)", "seconds lowest..highest");
  for (size_t i = 0; i < tests.size(); ++i) {
    const BenchTest& test = tests[i];
    const Spread seconds = spread_of(times.tests[i]);
    const LimitShare share = share_of_limit(test.work, times.tests[i], limits, times);
    std::string name = test.name, variants = "-";
    if (test.name == "decode") name += ", batch " + std::to_string(test.batch);
    if (test.name == "vep") name += ", " + std::to_string(test.batch) + " alt";
    if (test.name == "anchored")
      name += "/" + std::to_string(test.batch) + ", H " + std::to_string(test.horizon);
    if (test.variants > 0) {
      char number[32];
      std::snprintf(number, sizeof number, "%.3f", static_cast<double>(test.variants) / seconds.median);
      variants = number;
    }
    add_line(text, "%-20s %10.1f %10.1f %10s %9.1f %8.2f  %7.1f%% %-9s %.3f..%.3f", name.c_str(),
             static_cast<double>(test.tokens) / seconds.median,
             static_cast<double>(test.bases) / seconds.median, variants.c_str(),
             test.work.flops / seconds.median / kGiga, test.work.bytes / seconds.median / kGiga,
             100 * spread_of(share.shares).median, share.by_reading ? "reading" : "products", seconds.least,
             seconds.most);
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
