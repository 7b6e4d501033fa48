#include "src/api/log_queue.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace carbon::api {

void LogQueue::write(LogLevel level, std::string_view where, std::string_view text,
                     const Advice& /*advice*/) {
  constexpr const char* kNames[] = {"error", "warning", "info", "message"};
  add(kNames[static_cast<int>(level)], where, text);
}

void LogQueue::summary(std::string_view where, std::string_view text,
                       std::span<const std::pair<std::string, uint64_t>> /*counts*/) {
  add("message", where, text);
}

void LogQueue::add(const char* level, std::string_view where, std::string_view text) {
  using nlohmann::ordered_json;
  const ordered_json message = {{"level", level}, {"where", where}, {"text", text}};
  std::string line = message.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  const std::lock_guard lock(mutex_);
  messages_.push_back(std::move(line));
  if (messages_.size() > kMost) messages_.pop_front();
}

std::optional<std::string> LogQueue::take() {
  const std::lock_guard lock(mutex_);
  if (messages_.empty()) return std::nullopt;
  std::string oldest = std::move(messages_.front());
  messages_.pop_front();
  return oldest;
}

}  // namespace carbon::api
