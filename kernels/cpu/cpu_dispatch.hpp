// Which instruction set's kernels to run on this CPU.
#pragma once

#include <string>
#include <vector>

#include "kernels/cpu/kernels.hpp"

namespace carbon::cpu {

/// The kernels of class `isa`; "" takes CARBON_FORCE_ISA, else the best this CPU has. Throws when the class
/// is unknown or the CPU lacks it.
const Kernels& select_kernels(const std::string& isa);

/// Every class this CPU can run, slowest first.
std::vector<const Kernels*> supported_kernels();

}  // namespace carbon::cpu
