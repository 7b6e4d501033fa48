// Diagnostics on stderr in htslib's form: `[E::function] text` for errors, W for warnings, I for information,
// and M for what a run reports about itself. For programs that read them: one JSON object per line.
//
// Levels follow hts_log.h: 0 off, 1 error, 3 warning (the default), 4 information, 5 debug, 6 trace. Lines
// of several threads do not interleave. The output of a command never goes through here.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace carbon::log {

enum Level : int {
  off = 0,
  error_level = 1,
  warning_level = 3,
  info_level = 4,
  debug_level = 5,
  trace_level = 6
};

void set_verbosity(int level);
int verbosity();

/// Switches to JSON. A line then looks like
/// `{"time":"2026-11-21T19:03:25.123Z","level":"warning","where":"vep","message":"..."}`; the levels are
/// error, warning, info, message, summary and progress.
void set_json(bool on);
bool json();

void error(std::string_view function, std::string_view text);
void warning(std::string_view function, std::string_view text);
void info(std::string_view function, std::string_view text);
/// Shown at the same verbosity as warnings.
void message(std::string_view function, std::string_view text);

/// The counts of a run, as `Lines NAME/NAME/...:\tCOUNT/COUNT/...`; in JSON also as a member `counts`.
/// Printed unless the verbosity is off.
void summary(std::string_view function, std::span<const std::pair<std::string, uint64_t>> counts);

/// Writes a JSON line of any level, whatever the verbosity. `members` follow the members that all lines have.
void json_record(std::string_view level, std::string_view function, std::string_view text,
                 const nlohmann::ordered_json& members);

/// The line that error() would print, with its newline.
std::string error_line(std::string_view function, std::string_view text);

/// The `time` of a JSON line: now in UTC, to the millisecond. May be called in a signal handler.
std::array<char, 24> time_text();

}  // namespace carbon::log
