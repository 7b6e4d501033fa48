#include "src/base/progress.hpp"

#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "src/base/log.hpp"

namespace carbon {

using namespace std::chrono_literals;

Progress::Progress(ProgressMode mode, std::string command, std::string unit,
                   std::function<Clock::time_point()> now)
    : terminal_(!log::json() && isatty(STDERR_FILENO) != 0),
      command_(std::move(command)),
      unit_(std::move(unit)),
      now_(std::move(now)),
      start_(now_()),
      last_(start_) {
  // A bar on a terminal is redrawn a few times per second. Lines for a log are rare; a quiet run has them
  // only if they were asked for.
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
  done_ = done;
  where_ = where;
  const auto now = now_();
  if (now - last_ < interval_) return;
  last_ = now;
  show(now);
}

void Progress::show(Clock::time_point now) {
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = seconds > 0 ? static_cast<double>(done_ - skipped_) / seconds : 0;
  const std::string count =
      std::to_string(done_) + (total_ > 0 ? " of " + std::to_string(total_) : "") + " " + unit_;
  char times[64];
  std::snprintf(times, sizeof times, ", %.1f/s, %.0f s, ", rate, seconds);
  const std::string text = count + times + where_;
  if (log::json()) {
    nlohmann::ordered_json members = {{"done", done_}};
    if (total_ > 0) members["total"] = total_;
    members.update({{"unit", unit_}, {"rate", rate}, {"seconds", seconds}, {"at", where_}});
    log::json_record("progress", command_, text, members);
  } else {
    std::fprintf(stderr, terminal_ ? "\r\033[K[%s] %s" : "[%s] %s\n", command_.c_str(), text.c_str());
  }
  shown_ = done_;
  drawn_ = terminal_;
}

void Progress::finish() {
  if (log::json() && enabled_ && done_ != shown_) show(now_());
  if (!drawn_) return;
  std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

}  // namespace carbon
