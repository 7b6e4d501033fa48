#include <htslib/hts.h>

#include "src/genome/vcf.hpp"

namespace carbon {

std::string htslib_version() {
  return hts_version();
}

}  // namespace carbon
