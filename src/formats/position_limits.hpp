// How far along a contig the records of an output may lie. BCF and indexes have limits, which are checked
// before anything is computed.
#pragma once

#include <cstdint>
#include <string>

#include "src/formats/vcf.hpp"

namespace carbon {

/// The last position, counted from 1, that fits in a record of BCF, whose positions are 32-bit integers.
constexpr int64_t kLastBcfPosition = (int64_t{1} << 31) - 1;
/// The last position that a .tbi index holds.
constexpr int64_t kLastTbiPosition = int64_t{1} << 29;
/// The last position that the .csi index of a table holds, with the largest bins that leave it useful.
constexpr int64_t kLastTablePosition = int64_t{1} << 33;

/// Throws Error if the output that the options describe, or its index, cannot hold a record that ends at
/// position `last`, counted from 1. `what` says what lies there, such as "contig chr1 has 3000000000 bases".
void check_last_position(const VcfWriterOptions& options, int64_t last, const std::string& what);

/// The smallest bins, as a power of 2, with which the .csi index of a table holds the contigs of the options.
int table_index_shift(const VcfWriterOptions& options);

}  // namespace carbon
