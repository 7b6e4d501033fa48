#include "src/cli/signal_line.hpp"

#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "src/cli/stderr_log.hpp"

namespace carbon {

void SignalLine::prepare(const std::string& text) {
  length_ = text.copy(text_, sizeof text_);
  constexpr std::string_view before_time = "{\"time\":\"";
  time_at_ = text.starts_with(before_time) ? before_time.size() : 0;
}

void SignalLine::put_number(size_t place, int number) {
  text_[place] = static_cast<char>('0' + number / 10 % 10);
  text_[place + 1] = static_cast<char>('0' + number % 10);
}

void SignalLine::write() {
  if (time_at_ > 0) {
    const auto now = time_text();
    std::copy(now.begin(), now.end(), text_ + time_at_);
  }
  (void)!::write(STDERR_FILENO, text_, length_);
}

}  // namespace carbon
