// How many CPUs this process may use.
#pragma once

namespace carbon {

/// The size of the affinity mask, capped by the cgroup CPU quota (rounded up), at least 1.
int available_cpus();

}  // namespace carbon
