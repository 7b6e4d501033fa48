// Signals that end the process: temporary files are removed first.
#pragma once

#include <string>

namespace carbon {

/// Installs handlers for SIGINT, SIGTERM and SIGHUP that remove temporary files before the signal ends the
/// process. A signal that is ignored stays ignored.
void remove_unfinished_files_on_signals();

/// Installs a handler for SIGBUS, which the system sends when a mapped file became shorter or its disk
/// failed: an error line says so, temporary files are removed, and the process ends with status 1. To be
/// called after the log is set up.
void report_lost_files();

/// Ignores SIGXFSZ, so that a limit on the size of files is an error of writing, as a full disk is.
void report_limits_of_files();

/// While a plugin runs in this process, a crash is reported by its name before it ends the program: from now
/// until the process ends SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT write `[E::plugin] +NAME crashed`,
/// remove unfinished outputs and end the process by that signal. Call it once.
void report_plugin_crashes(const std::string& name);

/// Removes temporary files and ends the process as after signal `number`: with status 128 + number, and for
/// SIGINT by the signal itself, because a shell stops its loop only if the program was killed by it.
[[noreturn]] void end_by_signal(int number);

}  // namespace carbon
