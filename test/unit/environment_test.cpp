// What the process of a host may have changed, and carbon must not notice: locale and rounding. Numbers and
// letters as text are the same everywhere.
#include <doctest/doctest.h>

#include <cfenv>
#include <clocale>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <thread>

#include "src/base/letters.hpp"
#include "src/base/numbers.hpp"
#include "src/base/threads.hpp"

using namespace carbon;

namespace {

std::string printed(const char* format, int digits, double value) {
  char text[400];
  std::snprintf(text, sizeof text, format, digits, value);
  return text;
}

/// Computed here and now, as a compiler may not know.
bool rounds_to_nearest() {
  volatile double one = 1, small = 0x1p-54;
  return one + small == 1 && one - small * 1.5 < 1 && std::fegetround() == FE_TONEAREST;
}
bool has_subnormal_numbers() {
  volatile float least = std::numeric_limits<float>::min();
  return least / 2 > 0;
}

}  // namespace

TEST_CASE("numbers are written as printf writes them in the locale C") {
  std::mt19937_64 random(7);
  std::vector<double> values = {0.0,       -0.0,  0.5,   1.5,      2.5,   1e-5,     123456.5,
                                1e15,      1e16,  1e17,  0.1,      1e300, 5e-324,   INFINITY,
                                -INFINITY, 99.95, 9.995, -1.0 / 3, 1e-4,  9.9999995};
  for (int i = 0; i < 2000; ++i) {
    const double size =
        std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 200) - 150);
    values.push_back(random() % 2 == 0 ? size : -size);
    values.push_back(static_cast<double>(static_cast<float>(size)));
  }
  for (const double value : values) {
    for (const int digits : {1, 4, 6, 9, 10, 15, 17})
      CHECK(general_text(value, digits) == printed("%.*g", digits, value));
    for (const int decimals : {0, 1, 2, 3})
      CHECK(fixed_text(value, decimals) == printed("%.*f", decimals, value));
    double read = 0;
    CHECK(parse_number(exact_text(value), read));
    CHECK(read == value);
    CHECK(parse_number(shortest_text(value), read));
    CHECK(read == value);
  }
  CHECK(hex_text(0x2a, 4) == "002a");
  CHECK(hex_text(~0ULL, 2) == "ffffffffffffffff");
  double number = 0;
  for (const char* wrong : {"", "1,5", " 1", "1 ", "0x1", "1e", "+1"})
    CHECK_FALSE(parse_number(wrong, number));
}

TEST_CASE("letters are those of ASCII") {
  std::string alphabet;
  for (int c = 0; c < 256; ++c)
    if (is_ascii_letter(static_cast<char>(c))) alphabet += static_cast<char>(c);
  CHECK(alphabet == "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
  CHECK(small_letters("CHRI_\xc4\x30") == "chri_\xc4\x30");
  CHECK(capital_letter('i') == 'I');
  CHECK(ends_with_letters("a.VCF.GZ", ".vcf.gz"));
  CHECK_FALSE(ends_with_letters("gz", ".gz"));
  CHECK(equal_letters("Pi", "pI"));
  CHECK_FALSE(equal_letters("pi", "pit"));
}

TEST_CASE("a thread computes as a program does at its start, and then as before") {
  for (const int mode : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    REQUIRE(std::fesetround(mode) == 0);
    bool nearest = false, of_thread = false;
    {
      const OwnEnvironment own;
      nearest = rounds_to_nearest();
    }
    start_thread([&] { of_thread = rounds_to_nearest(); }).join();
    const int after = std::fegetround();
    std::fesetround(FE_TONEAREST);
    CHECK(nearest);
    CHECK(of_thread);
    CHECK(after == mode);
  }
}

#if defined(__x86_64__)
TEST_CASE("subnormal numbers count, whatever the host does") {
  const unsigned before = __builtin_ia32_stmxcsr(), flushes = before | 0x8040;  // FTZ and DAZ
  __builtin_ia32_ldmxcsr(flushes);
  const bool outside = has_subnormal_numbers();
  bool inside = false, of_thread = false;
  {
    const OwnEnvironment own;
    inside = has_subnormal_numbers();
  }
  start_thread([&] { of_thread = has_subnormal_numbers(); }).join();
  const unsigned after = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before);
  CHECK_FALSE(outside);
  CHECK(inside);
  CHECK(of_thread);
  CHECK((after & 0x8040) == 0x8040);
}
#endif

TEST_CASE("a thread has the locale C, and then its own again") {
  const locale_t own = newlocale(LC_ALL_MASK, "C", nullptr), before = uselocale(own);
  locale_t inside = nullptr;
  {
    const OwnEnvironment environment;
    inside = uselocale(nullptr);
  }
  const locale_t after = uselocale(nullptr);
  uselocale(before);
  freelocale(own);
  CHECK(inside != nullptr);
  CHECK(after == own);
  CHECK(std::string(std::localeconv()->decimal_point) == ".");
}
