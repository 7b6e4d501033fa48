// Diagnostics on stderr in htslib's form: `[E::function] text`, `[W::function] text`, `[I::function] text`,
// and `[M::function] text`, what a run reports of itself.
//
// Levels follow hts_log.h: 0 off, 1 error, 3 warning (the default), 4 information, 5 debug, 6 trace. Lines
// from several threads do not interleave. Machine-readable output never goes through here.
#pragma once

#include <string_view>

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

void error(std::string_view function, std::string_view text);
void warning(std::string_view function, std::string_view text);
void info(std::string_view function, std::string_view text);
/// Shown as warnings are.
void message(std::string_view function, std::string_view text);

/// A line of a command's own report (the `Lines ...` summary): printed unless the verbosity is off.
void summary(std::string_view line);

}  // namespace carbon::log
