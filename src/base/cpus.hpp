// How many CPUs this process may use.
#pragma once

namespace carbon {

/// The number of CPUs in the affinity mask, or the CPU quota of the control groups (rounded up) if that is
/// smaller; at least 1.
int available_cpus();

}  // namespace carbon
