#include "src/base/progress.hpp"

#include <algorithm>
#include <utility>

#include "src/base/numbers.hpp"

namespace carbon {

using namespace std::chrono_literals;

namespace {

// "47 s", "1:20 min" with minutes and seconds, or "1:05 h" with hours and minutes.
std::string duration_text(double seconds) {
  const auto whole = static_cast<long long>(std::min(seconds + 0.5, 1e15)), minutes = (whole + 30) / 60;
  const auto both = [](long long large, long long small, const char* unit) {
    return std::to_string(large) + (small < 10 ? ":0" : ":") + std::to_string(small) + unit;
  };
  if (whole < 60) return std::to_string(whole) + " s";
  return whole < 3600 ? both(whole / 60, whole % 60, " min") : both(minutes / 60, minutes % 60, " h");
}

// "records", or of one of them "record".
std::string counted(const std::string& unit, uint64_t count) {
  return count == 1 && unit.ends_with('s') ? unit.substr(0, unit.size() - 1) : unit;
}

}  // namespace

Progress::Progress(Log& log, ProgressMode mode, std::string command, std::string unit,
                   std::function<Clock::time_point()> now)
    : log_(log),
      style_(log.progress_style()),
      command_(std::move(command)),
      unit_(std::move(unit)),
      now_(std::move(now)),
      start_(now_()),
      last_(start_) {
  // A bar on a terminal is redrawn a few times per second. Lines for a log are rare; a quiet run has them
  // only if they were asked for.
  interval_ = style_.redrawn ? 200ms : mode == ProgressMode::always ? 1min : 10min;
  enabled_ = mode == ProgressMode::always || (mode == ProgressMode::automatic && style_.shown);
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
  const uint64_t total = total_;
  std::string count = std::to_string(done_) + (total > 0 ? " of " + std::to_string(total) : "") + " " +
                      counted(unit_, total > 0 ? total : done_);
  // An index that counts fewer records than there are is no reason to show more than everything.
  if (total >= done_ && total > 0)
    count +=
        " (" +
        std::to_string(static_cast<int>(100.0 * static_cast<double>(done_) / static_cast<double>(total))) +
        " %)";
  std::string times = duration_text(seconds) + ", ";
  if (total > done_ && rate > 0)
    times += duration_text(static_cast<double>(total - done_) / rate) + " left, ";
  const std::string text = count + ", " + fixed_text(rate, 1) + "/s, " + times + where_;
  log_.progress({command_, text, done_, total, unit_, rate, seconds, where_});
  shown_ = done_;
  drawn_ = style_.redrawn;
}

void Progress::finish() {
  if (style_.last && enabled_ && done_ != shown_) show(now_());
  if (!drawn_) return;
  log_.clear_progress();
  drawn_ = false;
}

}  // namespace carbon
