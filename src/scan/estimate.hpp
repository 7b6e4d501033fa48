// What a scan will cost, counted from its windows before the first token.
#pragma once

#include <cstdint>
#include <vector>

#include "src/model/config.hpp"
#include "src/scan/output.hpp"
#include "src/scan/planner.hpp"

namespace carbon {

struct ScanCost {
  uint64_t bases = 0;  // selected, with those that are not A, C, G or T
  uint64_t windows = 0;
  uint64_t tokens = 0;        // at most: rows without A, C, G or T at the ends of windows are left out later
  double operations = 0;      // floating-point, of matrix products and attention
  uint64_t output_bytes = 0;  // at most, before compression
};

ScanCost scan_cost(const std::vector<ScanPiece>& pieces, const ScanPlanner& planner,
                   const ModelConfig& config, const ScanOutputType& output);

/// The cost as two sentences for a log.
std::string cost_text(const ScanCost& cost);

}  // namespace carbon
