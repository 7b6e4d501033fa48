// How far a run has come, told to a log: often where the log redraws one line, as on a terminal, otherwise
// rarely enough for the log of a batch job.
//
// Not thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "src/base/log.hpp"
#include "src/base/words.hpp"

namespace carbon {

enum class ProgressMode { automatic, always, never };
inline constexpr Word<ProgressMode> kProgressWords[] = {
    {"auto", ProgressMode::automatic}, {"always", ProgressMode::always}, {"never", ProgressMode::never}};

class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  /// `unit` is what is counted, e.g. "records" or "bp". `now` is replaced by tests.
  Progress(Log& log, ProgressMode mode, std::string command, std::string unit,
           std::function<Clock::time_point()> now = Clock::now);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Whether anything is reported, so that a total that takes work to find is worth it.
  bool enabled() const { return enabled_; }
  /// Reports `done` units so far; `where` is shown next to the count, e.g. "chr20:10,001,234".
  void update(uint64_t done, const std::string& where);
  /// Excludes the first `done` units from the rate, e.g. because an earlier run did them.
  void begin_at(uint64_t done);
  /// Sets how many units there will be, if that is known. The reports then say which share of them is done
  /// and how much time is left. Another thread may call this.
  void set_total(uint64_t total) { total_ = total; }
  /// Ends the counting. Clears a line that is redrawn, so that messages start on an empty line. Reports
  /// the final count to a log that wants it.
  void finish();

 private:
  void show(Clock::time_point now);

  Log& log_;
  ProgressStyle style_;
  bool enabled_ = false, drawn_ = false;
  std::chrono::milliseconds interval_;
  std::string command_, unit_, where_;
  std::function<Clock::time_point()> now_;
  uint64_t done_ = 0, shown_ = 0, skipped_ = 0;
  std::atomic<uint64_t> total_ = 0;
  Clock::time_point start_, last_;
};

}  // namespace carbon
