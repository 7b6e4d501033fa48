#include "src/cli/version.hpp"

#include "kernels/ops.hpp"
#include "src/files/htslib_messages.hpp"
#ifdef CARBON_SERVER
#include "src/serve/http_server.hpp"
#endif
#include "version.h"

namespace carbon {
namespace {

std::string boost_version() {
#ifdef CARBON_SERVER
  return http_library_version();
#else
  return "not built in: no carbon serve";
#endif
}

}  // namespace

std::string version_summary() {
  return CARBON_VERSION " (using htslib " + htslib_version() + ")";
}

std::string version_text() {
  const std::string onednn = ops::onednn_version();
  const ops::CudaStatus cuda = ops::cuda_status();
  std::string text = "carbon " CARBON_VERSION "\nhtslib " + htslib_version() + "\noneDNN " +
                     (onednn.empty() ? "not built in" : onednn) + "\nBoost " + boost_version() + "\nCUDA " +
                     (cuda.library.empty() ? "" : cuda.library) +
                     (!cuda.library.empty() && !cuda.problem.empty() ? "; " : "") + cuda.problem + "\n";
  for (const std::string& device : cuda.devices) text += "GPU " + device + "\n";
  return text + "CPU " + ops::cpu_isa("") + "\n";
}

}  // namespace carbon
