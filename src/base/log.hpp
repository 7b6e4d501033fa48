// Diagnostics on stderr in htslib's form: `[E::function] text`, `[W::function] text`, `[I::function] text`,
// and `[M::function] text`, what a run reports of itself. Or, for programs that read them, a JSON object a
// line.
//
// Levels follow hts_log.h: 0 off, 1 error, 3 warning (the default), 4 information, 5 debug, 6 trace. Lines
// from several threads do not interleave. A command's output never goes through here.
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

/// From now on a line is
/// `{"time":"2026-11-21T19:03:25.123Z","level":"warning","where":"vep","message":"..."}`; the levels are
/// error, warning, info, message, summary and progress.
void set_json(bool on);
bool json();

void error(std::string_view function, std::string_view text);
void warning(std::string_view function, std::string_view text);
void info(std::string_view function, std::string_view text);
/// Shown as warnings are.
void message(std::string_view function, std::string_view text);

/// A command's own report, `Lines NAME/NAME/...:\tCOUNT/COUNT/...`: printed unless the verbosity is off. In
/// JSON with a member `counts` as well.
void summary(std::string_view function, std::span<const std::pair<std::string, uint64_t>> counts);

/// A JSON line of any level, whatever the verbosity, with `members` after those that all lines have.
void json_record(std::string_view level, std::string_view function, std::string_view text,
                 const nlohmann::ordered_json& members);

/// The line that error() would print, with its end.
std::string error_line(std::string_view function, std::string_view text);

/// The `time` of a JSON line: UTC, to the millisecond. May be called in a signal handler.
std::array<char, 24> time_text();

}  // namespace carbon::log
