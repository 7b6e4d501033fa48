#include "src/cmd/version.hpp"

#include "kernels/ops.hpp"
#include "src/genome/vcf.hpp"
#include "version.h"

namespace carbon {

std::string version_summary() {
  return CARBON_VERSION " (using htslib " + htslib_version() + ")";
}

std::string version_text() {
  const std::string onednn = ops::onednn_version();
  return "carbon " CARBON_VERSION "\nhtslib " + htslib_version() + "\noneDNN " +
         (onednn.empty() ? "not built in" : onednn) + "\nCUDA not built in\nCPU " + ops::cpu_isa("") + "\n";
}

}  // namespace carbon
