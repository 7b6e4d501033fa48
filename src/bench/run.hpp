// `carbon bench`: how fast a model runs on this machine, compared with the limits of the machine
// (docs/conventions.md, "Benchmarks"). A model, or a shape of one with random weights, comes in, and a table
// or JSON of rates goes out: run.cpp times in rounds what tests.hpp names, and writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/base/progress.hpp"
#include "src/bench/tests.hpp"
#include "src/engine/engine.hpp"

namespace carbon {

// The table and the JSON of `carbon bench`, from its measured times.

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

struct BenchOptions {
  ModelOptions model;  // with the log of the run
  std::string
      synthetic;  // random weights of this shape (synthetic_shapes()) instead of model.model; "" : none
  BenchSizes sizes;
  std::vector<std::string> tests;  // those to run, of bench_test_names(); none: all
  size_t rounds = 3;
  bool json = false;
  std::string output = "-";
  ProgressMode progress = ProgressMode::automatic;
};

/// Returns the memory in bytes that a run with random weights takes at most.
uint64_t synthetic_memory(const BenchOptions& options);
/// Throws Error if that is more than `available` bytes.
void check_synthetic_memory(const BenchOptions& options, uint64_t available);

/// Loads the model, runs one warm-up round and then `rounds` measured rounds, and writes a table or JSON.
/// Each round times the limits of the machine and the workloads in turn. Throws Error.
void run_bench(const BenchOptions& options);

}  // namespace carbon
