// The log of the library: messages wait in memory until carbon_log_next() takes them.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "src/base/log.hpp"

namespace carbon::api {

class LogQueue final : public Log {
 public:
  void write(LogLevel level, std::string_view where, std::string_view text, const Advice& advice) override;
  void summary(std::string_view where, std::string_view text,
               std::span<const std::pair<std::string, uint64_t>> counts) override;
  /// Nobody sees progress here; results are what shows it.
  ProgressStyle progress_style() const override { return {}; }
  void progress(const ProgressReport& /*report*/) override {}
  void clear_progress() override {}

  /// The oldest message, as a JSON object.
  std::optional<std::string> take();

 private:
  // The oldest are dropped.
  static constexpr size_t kMost = 1000;

  void add(const char* level, std::string_view where, std::string_view text);

  std::mutex mutex_;
  std::deque<std::string> messages_;
};

}  // namespace carbon::api
