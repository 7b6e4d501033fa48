// Progress on stderr: a bar line when stderr is a terminal, otherwise nothing unless asked for.
//
// Never touches stdout. One writer at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace carbon {

enum class ProgressMode { automatic, always, never };

class Progress {
 public:
  /// `unit` is what is counted, e.g. "records" or "bp".
  Progress(ProgressMode mode, std::string command, std::string unit);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` units so far; `where` is shown beside it, e.g. "chr20:10,001,234".
  void update(uint64_t done, const std::string& where);
  /// The units so far took no time worth counting: the rate is that of the others.
  void begin_at(uint64_t done);
  /// Clears the bar (terminal) so that messages start on a clean line.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  bool enabled_ = false, terminal_ = false, drawn_ = false;
  std::string command_, unit_;
  uint64_t skipped_ = 0;
  Clock::time_point start_, last_;
};

}  // namespace carbon
