// What the machine can do at most, beside which `carbon bench` puts what the model makes of it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "src/engine/loaded_model.hpp"

namespace carbon {

/// What a limit bounds, and so what it may be compared with.
enum class LimitKind { bandwidth, matrix, other };

struct BenchLimit {
  std::string name;  // a word for JSON
  std::string text;
  LimitKind kind = LimitKind::other;
  std::function<double()> measure;  // bytes or operations per second
};

/// The limits of the model's device, each to be measured once a round. `model` must outlive them.
///  On a CPU: reading and copying memory; multiply-adds on registers and the matrix product that the decoder
///  uses, for its activation type; the product without oneDNN where the decoder uses that; and the same of
///  f32. Elsewhere: a copy, and the product. Of several limits of one kind the largest counts.
std::vector<BenchLimit> bench_limits(LoadedModel& model);

}  // namespace carbon
