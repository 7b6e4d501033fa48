// Progress in a log, as text and as JSON: how often there is a line, the speed in it, and when there is no
// line. The test replaces the clock, and redirects stderr to a file.
#include "src/base/progress.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "src/cli/stderr_log.hpp"

using namespace carbon;
using namespace std::chrono_literals;

namespace {

/// The text that an action writes to stderr.
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

struct Run {
  ProgressMode mode = ProgressMode::automatic;
  uint64_t skipped = 0;  // units that an earlier run has done
  uint64_t total = 0;
  uint64_t seconds = 3600;
  bool json = false;
  int verbosity = StderrLog::warning_level;
};

/// A run that does one unit per second.
std::string output_of(const Run& run) {
  return said([&] {
    StderrLog log;
    log.set_json(run.json);
    log.set_verbosity(run.verbosity);
    Progress::Clock::time_point now;
    Progress progress(log, run.mode, "vep", "records", [&] { return now; });
    progress.set_total(run.total);
    progress.begin_at(run.skipped);
    for (uint64_t second = 1; second <= run.seconds; ++second) {
      now += 1s;
      progress.update(run.skipped + second, "chr1:" + std::to_string(second));
    }
    progress.finish();
  });
}

/// The same as JSON, with one element per line. Throws an exception for a line that is not JSON.
std::vector<nlohmann::json> json_of(Run run) {
  run.json = true;
  std::istringstream text(output_of(run));
  std::vector<nlohmann::json> records;
  for (std::string line; std::getline(text, line);) records.push_back(nlohmann::json::parse(line));
  return records;
}

size_t lines(const std::string& text) {
  size_t count = 0;
  for (const char c : text) count += c == '\n';
  return count;
}

}  // namespace

TEST_CASE("progress: a line every ten minutes in a log") {
  const std::string text = output_of({});
  CHECK(lines(text) == 6);
  CHECK(text.starts_with("[vep] 600 records, 1.0/s, 10:00 min, chr1:600\n[vep] 1200 records, "));
}

TEST_CASE("progress: a line a minute if asked for, none if not wanted") {
  CHECK(lines(output_of({.mode = ProgressMode::always})) == 60);
  CHECK(output_of({.mode = ProgressMode::never}) == "");
  constexpr int quiet = StderrLog::error_level;
  CHECK(output_of({.verbosity = quiet}) == "");
  CHECK(lines(output_of({.mode = ProgressMode::always, .verbosity = quiet})) == 60);
}

TEST_CASE("progress: what a run before has done does not count for the speed") {
  CHECK(output_of({.skipped = 5000}).starts_with("[vep] 5600 records, 1.0/s, 10:00 min, "));
}

TEST_CASE("progress: of how many, where that is known") {
  CHECK(output_of({.total = 3600})
            .starts_with("[vep] 600 of 3600 records (16 %), 1.0/s, 10:00 min, 50:00 min left, chr1:600\n"));
  CHECK(output_of({.total = 3600})
            .ends_with("\n[vep] 3600 of 3600 records (100 %), 1.0/s, 1:00 h, chr1:3600\n"));
}

TEST_CASE("progress: one record, and times of less than a minute and an hour") {
  const auto message = [](const Run& run) { return json_of(run).back()["message"].get<std::string>(); };
  CHECK(message({.seconds = 1}) == "1 record, 1.0/s, 1 s, chr1:1");
  CHECK(message({.total = 1, .seconds = 1}) == "1 of 1 record (100 %), 1.0/s, 1 s, chr1:1");
  CHECK(message({.total = 3, .seconds = 1}) == "1 of 3 records (33 %), 1.0/s, 1 s, 2 s left, chr1:1");
  CHECK(message({.seconds = 59}) == "59 records, 1.0/s, 59 s, chr1:59");
  CHECK(message({.seconds = 80}) == "80 records, 1.0/s, 1:20 min, chr1:80");
  CHECK(message({.seconds = 3599}) == "3599 records, 1.0/s, 59:59 min, chr1:3599");
  CHECK(message({.seconds = 3900}) == "3900 records, 1.0/s, 1:05 h, chr1:3900");
}

TEST_CASE("progress: a name neither ends the line nor controls a terminal") {
  const std::string text = said([] {
    StderrLog log;
    log.progress({"vep", "1 record, 1.0/s, 1 s, a\n\x1b[2J\x7f:7", 1, 0, "records", 1, 1, ""});
  });
  CHECK(text == "[vep] 1 record, 1.0/s, 1 s, a??[2J?:7\n");
}

TEST_CASE("progress as JSON: the numbers of the lines") {
  const auto records = json_of({.skipped = 5, .total = 4000});
  REQUIRE(records.size() == 6);
  const auto& first = records[0];
  CHECK(first["level"] == "progress");
  CHECK(first["where"] == "vep");
  CHECK(first["message"] == "605 of 4000 records (15 %), 1.0/s, 10:00 min, 56:35 min left, chr1:600");
  CHECK(first["done"] == 605);
  CHECK(first["total"] == 4000);
  CHECK(first["unit"] == "records");
  CHECK(first["rate"] == 1.0);
  CHECK(first["seconds"] == 600.0);
  CHECK(first["at"] == "chr1:600");
  CHECK(first["time"].get<std::string>().size() == 24);
  CHECK_FALSE(json_of({})[0].contains("total"));
}

TEST_CASE("progress as JSON: a last word on where the run ended, unless it has been said") {
  const auto records = json_of({.seconds = 605});
  REQUIRE(records.size() == 2);
  CHECK(records[1]["done"] == 605);
  CHECK(records[1]["seconds"] == 605.0);
  CHECK(json_of({.seconds = 600}).size() == 1);
  CHECK(json_of({.seconds = 5}).size() == 1);
  CHECK(json_of({.mode = ProgressMode::never}).empty());
}
