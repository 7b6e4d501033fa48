// A line of the log that a signal handler can write.
#pragma once

#include <cstddef>
#include <string>

namespace carbon {

/// The text is prepared beforehand, because a handler may not allocate memory. Lives in static storage.
class SignalLine {
 public:
  /// `text` is a whole line as Log writes it (StderrLog::error_line()).
  void prepare(const std::string& text);
  /// Puts the two digits of `number` at `place` of the line.
  void put_number(size_t place, int number);
  /// Writes the line, with the time of now if it has a time. A signal handler may call it.
  void write();

 private:
  char text_[1024] = {};
  size_t length_ = 0, time_at_ = 0;  // time_at_ is 0 where the line has no time
};

}  // namespace carbon
