// `carbon bench`: how fast a model runs here, and how much of what the machine can do that is (docs/conventions.md, "Benchmarks").
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "src/base/progress.hpp"
#include "src/bench/tests.hpp"
#include "src/engine/engine.hpp"

namespace carbon {

struct BenchOptions {
  ModelOptions model;
  std::string synthetic;  // a shape of synthetic_shapes() instead of model.model; "" : none
  BenchSizes sizes;
  size_t rounds = 3;
  bool json = false;
  std::string output = "-";
  ProgressMode progress = ProgressMode::automatic;
};

/// Bytes that a run on a synthetic checkpoint takes at most, and the error if they are not `available`.
uint64_t synthetic_memory(const BenchOptions& options);
void check_synthetic_memory(const BenchOptions& options, uint64_t available);

/// Loads the model, then times limits and workloads in turn, `rounds` times behind a round that does not
/// count, and writes a table or JSON. Throws Error.
void run_bench(const BenchOptions& options);

}  // namespace carbon
