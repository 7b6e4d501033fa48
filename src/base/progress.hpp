// Progress on stderr: a bar if stderr is a terminal, else lines, seldom enough for the log of a batch job.
//
// Never touches stdout. One writer at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace carbon {

enum class ProgressMode { automatic, always, never };

class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  /// `unit` is what is counted, e.g. "records" or "bp". Tests have a clock of their own.
  Progress(ProgressMode mode, std::string command, std::string unit,
           std::function<Clock::time_point()> now = Clock::now);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` units so far; `where` is shown beside it, e.g. "chr20:10,001,234".
  void update(uint64_t done, const std::string& where);
  /// The units so far took no time worth counting: the rate is that of the others.
  void begin_at(uint64_t done);
  /// How many units there will be, where that is known.
  void set_total(uint64_t total) { total_ = total; }
  /// The end of the counting. Clears the bar (terminal) so that messages start on a clean line; in JSON,
  /// where a run is to end with a count, writes what it came to.
  void finish();

 private:
  void show(Clock::time_point now);

  bool enabled_ = false, terminal_ = false, drawn_ = false;
  std::chrono::milliseconds interval_;
  std::string command_, unit_, where_;
  std::function<Clock::time_point()> now_;
  uint64_t done_ = 0, shown_ = 0, skipped_ = 0, total_ = 0;
  Clock::time_point start_, last_;
};

}  // namespace carbon
