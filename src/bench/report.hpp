// From the times of `carbon bench` to its table and its JSON.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/bench/limits.hpp"
#include "src/bench/tests.hpp"

namespace carbon {

struct BenchSetting {
  std::string model, dtype, device, cpu;
  int threads = 1;
  double parameters = 0, load_seconds = 0;
};

/// One value a round for each limit (rates) and each test (seconds).
struct BenchTimes {
  std::vector<std::vector<double>> limits, tests;
};

struct Spread {
  double median = 0, least = 0, most = 0;
};
/// Of one value at least; the median of an even number is the mean of the middle two.
Spread spread_of(std::vector<double> values);

/// Of each round, the time that the limits of that round allow at best over the time taken: the slower of
/// computing and reading decides.
struct LimitShare {
  std::vector<double> shares;
  bool by_reading = false;  // which of the two it was, in the last round
};
LimitShare share_of_limit(const Work& work, std::span<const double> seconds,
                          std::span<const BenchLimit> limits, const BenchTimes& times);

/// Ends with a line feed, as bench_json() does.
std::string bench_table(const BenchSetting& setting, std::span<const BenchLimit> limits,
                        std::span<const BenchTest> tests, const BenchTimes& times);
std::string bench_json(const BenchSetting& setting, std::span<const BenchLimit> limits,
                       std::span<const BenchTest> tests, const BenchTimes& times);

}  // namespace carbon
