// `carbon bench`: how fast a model runs on this machine, compared with the limits of the machine
// (docs/conventions.md, "Benchmarks"). A model, or a shape of one with random weights, comes in, and a table
// or JSON of rates goes out: run.cpp times in rounds what tests.hpp names, and report.cpp writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/base/progress.hpp"
#include "src/bench/tests.hpp"
#include "src/engine/engine.hpp"

namespace carbon {

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
