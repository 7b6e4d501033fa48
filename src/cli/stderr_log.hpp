// The log of the program: diagnostics on stderr in htslib's form, `[E::where] text` for errors, W for
// warnings, I for information, and M for what a run reports about itself. For programs that read them: one
// JSON object per line.
//
// Levels follow hts_log.h: 0 off, 1 error, 3 warning (the default), 4 information, 5 debug, 6 trace. Lines of
// several threads do not interleave. The sentences of an Advice follow the text and "; ".
#pragma once

#include <array>
#include <atomic>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <variant>

#include "src/base/log.hpp"

namespace carbon {

/// A named value of an event.
struct LogMember {
  std::string name;
  std::variant<std::string, uint64_t, double> value;
};

class StderrLog final : public Log {
 public:
  enum Verbosity : int { off = 0, error_level = 1, warning_level = 3, info_level = 4 };

  void set_verbosity(int level) { verbosity_ = level; }
  int verbosity() const { return verbosity_; }
  /// Switches to JSON. A line then looks like
  /// `{"time":"2026-11-21T19:03:25.123Z","level":"warning","where":"vep","message":"..."}`; the levels are
  /// error, warning, info, message, summary, event and progress.
  void set_json(bool on) { json_ = on; }
  bool json() const { return json_; }
  /// Results go to standard output while the run computes. If that is the terminal of stderr, no bar breaks
  /// their lines.
  void set_results_on_stdout(bool on) { results_on_stdout_ = on; }
  /// Puts the time before the text of each line, for a program that runs for days: `[M::serve]
  /// 2026-11-21T19:03:25.123Z text`. JSON has it in any case.
  void set_times(bool on) { times_ = on; }

  void write(LogLevel level, std::string_view where, std::string_view text, const Advice& advice) override;
  /// `Lines NAME/NAME/...:\tCOUNT/COUNT/...`; in JSON also a member `counts`. Printed unless the verbosity is
  /// off.
  void summary(std::string_view where, std::string_view text,
               std::span<const std::pair<std::string, uint64_t>> counts) override;
  /// What a service has done for somebody, as important as a message: `[M::where] NAME=VALUE ...`; in JSON a
  /// line of level event with the members. A text with other characters than printable ASCII, or with a
  /// space, is quoted as in JSON.
  void event(std::string_view where, std::span<const LogMember> members);
  /// A bar of one line, however narrow, if stderr is a terminal that shows no results; otherwise lines.
  /// `shown` is false for a log of errors alone; reports that are asked for are printed all the same.
  ProgressStyle progress_style() const override;
  void progress(const ProgressReport& report) override;
  void clear_progress() override;

  /// The line that error() would print, with its newline. Its time, if it has one, is that of now and begins
  /// at time_place().
  std::string error_line(std::string_view where, std::string_view text) const;
  /// Where the time begins in a line that `where` writes; 0 if there is none.
  size_t time_place(std::string_view where) const;

 private:
  bool terminal() const;
  bool shares_terminal() const;
  void write_line(const std::string& line);
  std::string line_of(LogLevel level, std::string_view where, std::string_view text) const;

  std::atomic<int> verbosity_{warning_level};
  std::atomic<bool> json_{false}, times_{false};
  std::atomic<bool> results_on_stdout_{false};
  std::atomic<bool> drawn_{false};  // a report is on the terminal's last line, which a message replaces
};

/// The log of this process. It is handed to the library by the commands.
StderrLog& program_log();

/// The `time` of a JSON line: now in UTC, to the millisecond. May be called in a signal handler.
std::array<char, 24> time_text();

}  // namespace carbon
