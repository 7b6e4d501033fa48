// Parts of the backend that the environment can turn off, to find out which of them is at fault.
#pragma once

#include <string>

namespace carbon::cuda {

struct Switches {
  bool overlap = true;  // CARBON_CUDA_OVERLAP: a kernel may start before the previous one has ended
  bool graphs = true;   // CARBON_CUDA_GRAPHS: kernels that come again are replayed as a graph
  bool library = true;  // CARBON_CUDA_LIBRARY: cuBLASLt computes products
  bool library_required =
      false;  // CARBON_CUDA_LIBRARY=1: without it nothing is done, not even a driver asked
};

/// What the environment says now. Throws Error for a value other than 0 and 1; an empty one counts as unset.
Switches read_switches();

/// The variables that are set, such as "CARBON_CUDA_GRAPHS=0", separated by ", ". Throws the same.
std::string describe_switches();

}  // namespace carbon::cuda
