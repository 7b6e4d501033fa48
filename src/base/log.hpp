// Where the library's diagnostics go: a log that the caller hands in.
//
// The library does not know whether diagnostics become lines on stderr (src/cli/stderr_log.hpp), entries of a
// service or nothing. Options and constructors take a Log, which outlives what it is handed to. Without one
// they use silent_log(). The output of a command never goes through here.
//
// Errors and warnings may carry an Advice, whose options the implementation of the log writes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "src/base/error.hpp"

namespace carbon {

/// `message` is what a run reports about itself. It is as important as a warning.
enum class LogLevel { error, warning, info, message };

/// How a log shows progress.
struct ProgressStyle {
  bool shown = false;    // also if nobody asked for it
  bool redrawn = false;  // as one line that is drawn again and again, so that it may change often
  bool last = false;     // a report at the end is wanted, too
};

/// How far a run has come.
struct ProgressReport {
  std::string_view where;        // the command
  std::string_view text;         // all that follows in words, without `where`
  uint64_t done = 0, total = 0;  // total is 0 if it is not known
  std::string_view unit;         // what is counted
  double rate = 0, seconds = 0;  // units per second; time since the beginning
  std::string_view at;           // the place in the input
};

/// All functions may be called from any thread.
class Log {
 public:
  virtual ~Log() = default;

  /// `where` is the function or command that speaks, e.g. "load_checkpoint".
  virtual void write(LogLevel level, std::string_view where, std::string_view text, const Advice& advice) = 0;
  /// The counts at the end of a run, in words and one by one.
  virtual void summary(std::string_view where, std::string_view text,
                       std::span<const std::pair<std::string, uint64_t>> counts) = 0;

  /// The three functions that Progress needs. clear_progress() removes a line that is drawn again and again.
  virtual ProgressStyle progress_style() const = 0;
  virtual void progress(const ProgressReport& report) = 0;
  virtual void clear_progress() = 0;

  void error(std::string_view where, std::string_view text, const Advice& advice = {}) {
    write(LogLevel::error, where, text, advice);
  }
  void warning(std::string_view where, std::string_view text, const Advice& advice = {}) {
    write(LogLevel::warning, where, text, advice);
  }
  void info(std::string_view where, std::string_view text, const Advice& advice = {}) {
    write(LogLevel::info, where, text, advice);
  }
  void message(std::string_view where, std::string_view text) { write(LogLevel::message, where, text, {}); }
};

/// A log that drops everything. It has no state.
inline Log& silent_log() {
  class SilentLog final : public Log {
   public:
    void write(LogLevel, std::string_view, std::string_view, const Advice&) override {}
    void summary(std::string_view, std::string_view,
                 std::span<const std::pair<std::string, uint64_t>>) override {}
    ProgressStyle progress_style() const override { return {}; }
    void progress(const ProgressReport&) override {}
    void clear_progress() override {}
  };
  static SilentLog log;
  return log;
}

}  // namespace carbon
