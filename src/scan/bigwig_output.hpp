// The probabilities of the four letters at each base as four bigWig files, and the hub that shows them.
#pragma once

#include <memory>

#include "src/scan/output.hpp"

namespace carbon {

/// Opens PREFIX.A.bw and the three others, and the hub if the options name one. Throws Error.
std::unique_ptr<ScanOutput> open_bigwig(const ScanOptions& options, const IndexedFasta& fasta,
                                        const ScanDestination& destination);
uint64_t bigwig_bytes(const ScanPiece& piece);

}  // namespace carbon
