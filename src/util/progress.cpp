#include "src/util/progress.hpp"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "src/util/log.hpp"

namespace carbon {

using namespace std::chrono_literals;

Progress::Progress(ProgressMode mode, std::string command, std::string unit,
                   std::function<Clock::time_point()> now)
    : terminal_(isatty(STDERR_FILENO) != 0),
      command_(std::move(command)),
      unit_(std::move(unit)),
      now_(std::move(now)),
      start_(now_()),
      last_(start_) {
  // A terminal is redrawn a few times a second. A log gets lines, which -q takes away unless they were asked
  // for.
  interval_ = terminal_ ? 200ms : mode == ProgressMode::always ? 1min : 10min;
  enabled_ = mode == ProgressMode::always ||
             (mode == ProgressMode::automatic && (terminal_ || log::verbosity() >= log::warning_level));
}

Progress::~Progress() {
  finish();
}

void Progress::begin_at(uint64_t done) {
  skipped_ = done;
  start_ = now_();
}

void Progress::update(uint64_t done, const std::string& where) {
  if (!enabled_) return;
  const auto now = now_();
  if (now - last_ < interval_) return;
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  std::fprintf(stderr,
               terminal_ ? "\r\033[K[%s] %llu %s, %.1f/s, %.0f s, %s" : "[%s] %llu %s, %.1f/s, %.0f s, %s\n",
               command_.c_str(), static_cast<unsigned long long>(done), unit_.c_str(),
               static_cast<double>(done - skipped_) / seconds, seconds, where.c_str());
  drawn_ = terminal_;
}

void Progress::finish() {
  if (!drawn_) return;
  std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

}  // namespace carbon
