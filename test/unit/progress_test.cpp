// Progress in a log: how often, how fast, and when not at all. By a clock of the test's; stderr is a file for
// that time.
#include "src/util/progress.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>

#include "src/util/log.hpp"

using namespace carbon;
using namespace std::chrono_literals;

namespace {

/// What an action writes to stderr.
std::string said(const std::function<void()>& action) {
  std::FILE* file = std::tmpfile();
  std::fflush(stderr);
  const int before = dup(2);
  dup2(fileno(file), 2);
  action();
  std::fflush(stderr);
  dup2(before, 2);
  close(before);
  std::fseek(file, 0, SEEK_END);
  std::string text(static_cast<size_t>(std::ftell(file)), '\0');
  std::rewind(file);
  REQUIRE(std::fread(text.data(), 1, text.size(), file) == text.size());
  std::fclose(file);
  return text;
}

/// An hour in which a unit is done every second; the first `skipped` of them were there before.
std::string an_hour(ProgressMode mode, uint64_t skipped = 0) {
  return said([&] {
    Progress::Clock::time_point now;
    Progress progress(mode, "vep", "records", [&] { return now; });
    progress.begin_at(skipped);
    for (uint64_t second = 1; second <= 3600; ++second) {
      now += 1s;
      progress.update(skipped + second, "chr1:" + std::to_string(second));
    }
    progress.finish();
  });
}

size_t lines(const std::string& text) {
  size_t count = 0;
  for (const char c : text) count += c == '\n';
  return count;
}

}  // namespace

TEST_CASE("progress: a line every ten minutes in a log") {
  const std::string text = an_hour(ProgressMode::automatic);
  CHECK(lines(text) == 6);
  CHECK(text.starts_with("[vep] 600 records, 1.0/s, 600 s, chr1:600\n[vep] 1200 records, "));
}

TEST_CASE("progress: a line a minute if asked for, none if not wanted") {
  CHECK(lines(an_hour(ProgressMode::always)) == 60);
  CHECK(an_hour(ProgressMode::never) == "");
  const int before = log::verbosity();
  log::set_verbosity(log::error_level);
  const std::string quiet = an_hour(ProgressMode::automatic), asked = an_hour(ProgressMode::always);
  log::set_verbosity(before);
  CHECK(quiet == "");
  CHECK(lines(asked) == 60);
}

TEST_CASE("progress: what a run before has done does not count for the speed") {
  CHECK(an_hour(ProgressMode::automatic, 5000).starts_with("[vep] 5600 records, 1.0/s, 600 s, "));
}
