// The table and the JSON of `carbon bench`, from its measured times.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/bench/tests.hpp"

namespace carbon {

/// What was measured, and where.
struct BenchSetting {
  std::string model, dtype, device, cpu;
  int threads = 1;
  double parameters = 0, load_seconds = 0;
};

/// For each limit its rates and for each test its seconds, one value per round.
struct BenchTimes {
  std::vector<std::vector<double>> limits, tests;
};

struct Spread {
  double median = 0, least = 0, most = 0;
};
/// Takes at least one value. The median of an even number of values is the mean of the middle two.
Spread spread_of(std::vector<double> values);

/// How close a test comes to the limits of the machine.
struct LimitShare {
  /// For each round, the shortest possible time divided by the measured time. The shortest possible time is
  /// that of computing or of reading at the round's limits, whichever is longer.
  std::vector<double> shares;
  bool by_reading = false;  // true if reading was longer, in the last round
};
LimitShare share_of_limit(const PassWork& work, std::span<const double> seconds,
                          std::span<const BenchLimit> limits, const BenchTimes& times);

/// Both texts end with a line feed.
std::string bench_table(const BenchSetting& setting, std::span<const BenchLimit> limits,
                        std::span<const BenchTest> tests, const BenchTimes& times);
std::string bench_json(const BenchSetting& setting, std::span<const BenchLimit> limits,
                       std::span<const BenchTest> tests, const BenchTimes& times);

}  // namespace carbon
