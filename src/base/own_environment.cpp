#include "src/base/own_environment.hpp"

namespace carbon {
namespace {

locale_t plain_locale() {
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  return plain;
}

}  // namespace

// FE_DFL_ENV also clears what C has no names for: on x86-64 the bits of MXCSR that take subnormal numbers for
// zero, on AArch64 that of FPCR.
OwnEnvironment::OwnEnvironment() : locale_(uselocale(plain_locale())) {
  std::fegetenv(&numbers_);
  std::fesetenv(FE_DFL_ENV);
}

OwnEnvironment::~OwnEnvironment() {
  std::fesetenv(&numbers_);
  uselocale(locale_);
}

}  // namespace carbon
