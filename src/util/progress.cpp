#include "src/util/progress.hpp"

#include <unistd.h>

#include <cstdio>
#include <utility>

namespace carbon {

Progress::Progress(ProgressMode mode, std::string command, std::string unit)
    : terminal_(isatty(STDERR_FILENO) != 0),
      command_(std::move(command)),
      unit_(std::move(unit)),
      start_(Clock::now()),
      last_(start_) {
  enabled_ = mode == ProgressMode::always || (mode == ProgressMode::automatic && terminal_);
}

Progress::~Progress() {
  finish();
}

void Progress::begin_at(uint64_t done) {
  skipped_ = done;
  start_ = Clock::now();
}

void Progress::update(uint64_t done, const std::string& where) {
  if (!enabled_) return;
  const auto now = Clock::now();
  // A terminal is redrawn a few times a second; a log file gets a line a minute.
  const auto interval = terminal_ ? std::chrono::milliseconds(200) : std::chrono::milliseconds(60000);
  if (now - last_ < interval) return;
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
