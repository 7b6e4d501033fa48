// A log that keeps what it is given, for tests of what is said.
#pragma once

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "src/base/log.hpp"

namespace carbon::test {

class TestLog final : public Log {
 public:
  void write(LogLevel level, std::string_view where, std::string_view text, const Advice&) override {
    constexpr const char* letters[] = {"E", "W", "I", "M"};
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::string(letters[static_cast<int>(level)]) + " " + std::string(where) + ": " +
                     std::string(text));
  }
  void summary(std::string_view, std::string_view,
               std::span<const std::pair<std::string, uint64_t>>) override {}
  ProgressStyle progress_style() const override { return {}; }
  void progress(const ProgressReport&) override {}
  void clear_progress() override {}

  /// Each as "LETTER WHERE: TEXT".
  const std::vector<std::string>& lines() const { return lines_; }
  bool has(const std::string& text) const {
    return std::any_of(lines_.begin(), lines_.end(),
                       [&](const std::string& line) { return line.find(text) != std::string::npos; });
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

}  // namespace carbon::test
