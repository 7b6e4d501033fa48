// While a plugin runs in this process, a crash is reported by its name before it ends the program.
#pragma once

#include <string>

namespace carbon {

/// From now until the process ends SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT write `[E::plugin] +NAME
/// crashed`, remove unfinished outputs and end the process by that signal. Call it once.
void report_plugin_crashes(const std::string& name);

}  // namespace carbon
