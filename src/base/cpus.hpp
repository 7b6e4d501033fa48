// Which CPUs this process may use.
#pragma once

#include <string>

namespace carbon {

/// The number of CPUs in the affinity mask, or the CPU quota of the control groups (rounded up) if that is
/// smaller; at least 1.
int available_cpus();

/// The number of memory domains (NUMA nodes of Linux) that have a CPU of the affinity mask, as the files
/// node*/cpulist below a folder say; at least 1, also where the system says nothing.
int memory_domains(const std::string& folder = "/sys/devices/system/node");

}  // namespace carbon
