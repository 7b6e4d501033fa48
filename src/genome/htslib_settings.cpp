#include <htslib/hts.h>
#include <htslib/hts_log.h>

#include "src/genome/vcf.hpp"

namespace carbon {

std::string htslib_version() {
  return hts_version();
}

void set_htslib_verbosity(int level) {
  constexpr int information = 4;
  hts_set_log_level(level >= information ? static_cast<htsLogLevel>(level) : HTS_LOG_OFF);
}

}  // namespace carbon
