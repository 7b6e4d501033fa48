// Chooses the instruction set whose kernels run on this CPU.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/cpu/kernels.hpp"

namespace carbon::cpu {

/// The kernels for instruction set `isa`. For "" that is $CARBON_FORCE_ISA, or the newest that this CPU has.
/// Throws Error if the instruction set is unknown or the CPU does not have it.
const Kernels& select_kernels(std::string_view isa);

/// The names of all instruction sets that this program has kernels for, the slowest first.
std::vector<std::string> known_isas();

/// The kernels for all instruction sets that this CPU has, the slowest first.
std::vector<const Kernels*> supported_kernels();

}  // namespace carbon::cpu
