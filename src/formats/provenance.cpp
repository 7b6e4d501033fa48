#include "src/formats/provenance.hpp"

#include <ctime>

#include "src/files/htslib_messages.hpp"
#include "version.h"

namespace carbon {

std::vector<std::string> version_lines(const std::string& command, const std::string& command_line) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char date[64];
  std::strftime(date, sizeof date, "%a %b %e %H:%M:%S %Y", &local);
  return {"##carbon_" + command + "Version=" CARBON_VERSION "+htslib-" + htslib_version(),
          "##carbon_" + command + "Command=" + command_line + "; Date=" + date};
}

}  // namespace carbon
