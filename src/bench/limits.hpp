// The highest rates of the machine, with which `carbon bench` compares the speed of the model.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "src/engine/loaded_model.hpp"

namespace carbon {

/// What a limit bounds: reading memory, matrix products, or nothing that a workload is compared with.
enum class LimitKind { bandwidth, matrix, other };

struct BenchLimit {
  std::string name;  // in JSON
  std::string text;  // in the table
  LimitKind kind = LimitKind::other;
  std::function<double()> measure;  // bytes or operations per second
};

/// The limits of the model's device, each to be measured once per round. `model` must outlive them.
///  On a CPU: reading memory, copying memory, multiply-adds on registers, and the matrix product that the
///  decoder uses, all for its dtype; for int8 also both rates for bf16, and for int8 and bf16 those for f32.
///  On other devices: copying memory, and the product. If there are several limits of one kind, the largest
///  counts.
std::vector<BenchLimit> bench_limits(LoadedModel& model);

}  // namespace carbon
