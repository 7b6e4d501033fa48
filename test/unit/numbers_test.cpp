// Values of single bases have the bytes of printf's %.6g, at every exponent of a double.
#include "src/base/numbers.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <string_view>

using namespace carbon;

namespace {

void check_same(double value) {
  std::string text;
  for (const double number : {value, -value}) {
    char expected[40];
    const int size = std::snprintf(expected, sizeof expected, "%.6g", number);
    text.clear();
    append_base_value(number, text);
    CAPTURE(exact_text(number));
    REQUIRE(text == std::string_view(expected, static_cast<size_t>(size)));
  }
}

}  // namespace

TEST_CASE("at each exponent a value of a base has the bytes of printf") {
  std::mt19937_64 random(1);
  constexpr uint64_t kMantissa = (uint64_t{1} << 52) - 1;
  for (uint64_t exponent = 0; exponent < 2047; ++exponent)
    for (const uint64_t mantissa : {uint64_t{0}, uint64_t{1}, kMantissa, random() & kMantissa})
      check_same(std::bit_cast<double>(exponent << 52 | mantissa));
  check_same(std::numeric_limits<double>::infinity());
}

TEST_CASE("where six digits are rounded, or take another form, a value of a base has the bytes of printf") {
  for (int power = -40; power <= 20; ++power)
    for (const char* digits : {"1", "9.999995", "9.999985", "5", "1.234565", "1.00000499999", "2.5"}) {
      double value = 0;
      REQUIRE(parse_number(digits + ("e" + std::to_string(power)), value));
      check_same(value);
      for (const double to : {-1e300, 1e300}) check_same(std::nextafter(value, to));
    }
  // Halfway between two of six digits, exactly.
  for (int number = 1'000'005; number < 1'100'000; number += 10) {
    check_same(number / 16.0);
    check_same(number / 8.0);
  }
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> exponents(-60, 5);
  for (int i = 0; i < 20'000; ++i) check_same(std::exp(exponents(random)));
}
