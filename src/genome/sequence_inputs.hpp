// The sequences that a FASTA command reads: whole files one after the other, or regions of an indexed one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace carbon {

/// What the command line says of them.
struct SequenceInputs {
  std::vector<std::string> files;    // FASTA files or "-"
  std::vector<std::string> regions;  // region strings; with them or region_files exactly one indexed FASTA
  std::vector<std::string> region_files;

  bool has_regions() const { return !regions.empty() || !region_files.empty(); }
};

/// A sequence or region as the output names it.
struct SequencePlace {
  std::string name;
  int64_t begin = 0, end = 0;  // 0-based half-open, absolute
};

/// Which strands of a sequence are read. The reverse one is the reverse complement, from its own start.
enum class StrandChoice { forward, reverse, both };

/// Calls `take` for every sequence or region in order, with its bases as in the file. Throws Error; `command`
/// is what its messages name.
void read_sequences(const std::string& command, const SequenceInputs& inputs,
                    const std::function<void(SequencePlace, const std::string&)>& take);

}  // namespace carbon
