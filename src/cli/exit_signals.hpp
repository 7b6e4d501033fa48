// Signals that end the process: temporary files are removed first.
#pragma once

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

/// Removes temporary files and ends the process as after signal `number`: with status 128 + number, and for
/// SIGINT by the signal itself, because a shell stops its loop only if the program was killed by it.
[[noreturn]] void end_by_signal(int number);

/// Removes temporary files and lets signal `number` kill the process. A signal handler may call it, and must
/// then return: the signal takes effect after that.
void die_by_signal(int number);

}  // namespace carbon
