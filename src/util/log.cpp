#include "src/util/log.hpp"

#include <atomic>
#include <cstdio>
#include <string>

namespace carbon::log {
namespace {

std::atomic<int>& level() {
  static std::atomic<int> value{warning_level};
  return value;
}

void line(const char* letter, std::string_view function, std::string_view text) {
  std::string out = "[";
  out.append(letter).append("::").append(function).append("] ").append(text).append("\n");
  std::fflush(stdout);  // keeps the order of output and messages when both go to a terminal
  std::fwrite(out.data(), 1, out.size(), stderr);
}

}  // namespace

void set_verbosity(int value) {
  level() = value;
}
int verbosity() {
  return level();
}

void error(std::string_view function, std::string_view text) {
  if (verbosity() >= error_level) line("E", function, text);
}
void warning(std::string_view function, std::string_view text) {
  if (verbosity() >= warning_level) line("W", function, text);
}
void info(std::string_view function, std::string_view text) {
  if (verbosity() >= info_level) line("I", function, text);
}

void message(std::string_view function, std::string_view text) {
  if (verbosity() >= warning_level) line("M", function, text);
}

void summary(std::string_view text) {
  if (verbosity() <= off) return;
  const std::string out = std::string(text) + "\n";
  std::fwrite(out.data(), 1, out.size(), stderr);
}

}  // namespace carbon::log
