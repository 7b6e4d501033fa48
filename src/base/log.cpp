#include "src/base/log.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace carbon::log {
namespace {

using nlohmann::ordered_json;

struct Kind {
  const char *letter, *name;
};
constexpr Kind kError{"E", "error"}, kWarning{"W", "warning"}, kInfo{"I", "info"}, kMessage{"M", "message"};

std::atomic<int>& level() {
  static std::atomic<int> value{warning_level};
  return value;
}

std::atomic<bool>& as_json() {
  static std::atomic<bool> value{false};
  return value;
}

std::string json_line(std::string_view kind, std::string_view function, std::string_view text,
                      const ordered_json& members) {
  const std::array<char, 24> now = time_text();
  ordered_json line = {
      {"time", std::string(now.data(), now.size())}, {"level", kind}, {"where", function}, {"message", text}};
  line.update(members);
  // File names and text from damaged files may not be UTF-8.
  return line.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string line_of(const Kind& kind, std::string_view function, std::string_view text) {
  if (json()) return json_line(kind.name, function, text, ordered_json::object());
  std::string line = "[";
  return line.append(kind.letter).append("::").append(function).append("] ").append(text).append("\n");
}

void write_line(const std::string& line) {
  std::fflush(stdout);  // so that output and messages keep their order when both go to a terminal
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace

void set_verbosity(int value) {
  level() = value;
}
int verbosity() {
  return level();
}

void set_json(bool on) {
  as_json() = on;
}
bool json() {
  return as_json();
}

void error(std::string_view function, std::string_view text) {
  if (verbosity() >= error_level) write_line(error_line(function, text));
}
void warning(std::string_view function, std::string_view text) {
  if (verbosity() >= warning_level) write_line(line_of(kWarning, function, text));
}
void info(std::string_view function, std::string_view text) {
  if (verbosity() >= info_level) write_line(line_of(kInfo, function, text));
}

void message(std::string_view function, std::string_view text) {
  if (verbosity() >= warning_level) write_line(line_of(kMessage, function, text));
}

void summary(std::string_view function, std::span<const std::pair<std::string, uint64_t>> counts) {
  if (verbosity() <= off) return;
  std::string names = "Lines ", values;
  ordered_json members;
  for (const auto& [name, count] : counts) {
    const char* const separator = values.empty() ? "" : "/";
    names += separator + name;
    values += separator + std::to_string(count);
    members["counts"][name] = count;
  }
  const std::string text = names + ":\t" + values;
  write_line(json() ? json_line("summary", function, text, members) : text + "\n");
}

void json_record(std::string_view level, std::string_view function, std::string_view text,
                 const ordered_json& members) {
  write_line(json_line(level, function, text, members));
}

std::string error_line(std::string_view function, std::string_view text) {
  return line_of(kError, function, text);
}

std::array<char, 24> time_text() {
  using namespace std::chrono;
  const auto now = floor<milliseconds>(system_clock::now());
  const auto midnight = floor<days>(now);
  const year_month_day date(midnight);
  const hh_mm_ss clock(now - midnight);
  std::array<char, 24> text;
  size_t at = 0;
  // The calendar functions and printf of the C library must not be called in a signal handler.
  const auto put = [&](int64_t value, size_t digits, char after) {
    for (size_t i = digits; i-- > 0; value /= 10) text[at + i] = static_cast<char>('0' + value % 10);
    at += digits;
    text[at++] = after;
  };
  put(int{date.year()}, 4, '-');
  put(unsigned{date.month()}, 2, '-');
  put(unsigned{date.day()}, 2, 'T');
  put(clock.hours().count(), 2, ':');
  put(clock.minutes().count(), 2, ':');
  put(clock.seconds().count(), 2, '.');
  put(clock.subseconds().count(), 3, 'Z');
  return text;
}

}  // namespace carbon::log
