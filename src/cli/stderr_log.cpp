#include "src/cli/stderr_log.hpp"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace carbon {
namespace {

using nlohmann::ordered_json;

// To the beginning of the line of a terminal, and clear it.
constexpr const char* kClearLine = "\r\033[K";

struct Kind {
  const char *letter, *name;
  int least;  // verbosity
};

Kind kind_of(LogLevel level) {
  switch (level) {
    case LogLevel::error:
      return {"E", "error", StderrLog::error_level};
    case LogLevel::warning:
      return {"W", "warning", StderrLog::warning_level};
    case LogLevel::info:
      return {"I", "info", StderrLog::info_level};
    case LogLevel::message:
      break;
  }
  return {"M", "message", StderrLog::warning_level};
}

std::string with_advice(std::string_view text, const Advice& advice) {
  const std::string words = advice.for_commands();
  return std::string(text) + (words.empty() ? "" : "; " + words);
}

std::string json_line(std::string_view level, std::string_view where, std::string_view text,
                      const ordered_json& members) {
  const std::array<char, 24> now = time_text();
  ordered_json line = {
      {"time", std::string(now.data(), now.size())}, {"level", level}, {"where", where}, {"message", text}};
  line.update(members);
  // File names and text from damaged files may not be UTF-8.
  return line.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

// Whoever reads the log through a pipe may end before the run, as in `carbon serve 2>&1 | head`. That ends
// neither the run nor the server: the signal of such a write is blocked and taken.
void write_to_stderr(std::string_view text) {
  sigset_t broken_pipe, before, pending;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
  std::fwrite(text.data(), 1, text.size(), stderr);
  constexpr timespec kNow{};
  if (sigismember(&pending, SIGPIPE) == 0) sigtimedwait(&broken_pipe, nullptr, &kNow);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// A value as one word.
std::string word_of(const ordered_json& value) {
  const std::string quoted = value.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
  const bool plain = value.is_string() && quoted.size() > 2 &&
                     quoted.size() == value.get_ref<const std::string&>().size() + 2 &&
                     quoted.find_first_of(" =") == std::string::npos;
  return plain ? quoted.substr(1, quoted.size() - 2) : quoted;
}

// Names of files and contigs may hold anything. A message is one line, and does not control a terminal.
void to_one_line(std::string& text) {
  for (char& c : text)
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f) c = '?';
}

// What of `line` fits on one line of the terminal of stderr, without its last column. A longer line would go
// on in the next one, where nothing that is drawn later clears it.
std::string fit_to_terminal(const std::string& line) {
  winsize size = {};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return line;
  size_t end = 0;
  for (size_t columns = 0; end < line.size(); ++end)
    if (const bool begins_letter = (static_cast<unsigned char>(line[end]) & 0xc0) != 0x80;
        begins_letter && ++columns >= size.ws_col)
      break;
  return line.substr(0, end);
}

}  // namespace

void StderrLog::write_line(const std::string& line) {
  std::fflush(stdout);  // so that output and messages keep their order when both go to a terminal
  const std::string whole = (drawn_.exchange(false) ? kClearLine : "") + line;
  write_to_stderr(whole);
}

std::string StderrLog::line_of(LogLevel level, std::string_view where, std::string_view text) const {
  const Kind kind = kind_of(level);
  if (json()) return json_line(kind.name, where, text, ordered_json::object());
  std::string line = "[";
  line.append(kind.letter).append("::").append(where).append("] ");
  if (times_) {
    const std::array<char, 24> now = time_text();
    line.append(now.data(), now.size()).append(" ");
  }
  line.append(text);
  to_one_line(line);
  return line + "\n";
}

void StderrLog::write(LogLevel level, std::string_view where, std::string_view text, const Advice& advice) {
  if (verbosity() >= kind_of(level).least) write_line(line_of(level, where, with_advice(text, advice)));
}

void StderrLog::summary(std::string_view where, std::string_view text,
                        std::span<const std::pair<std::string, uint64_t>> counts) {
  if (verbosity() <= off) return;
  ordered_json members;
  for (const auto& [name, count] : counts) members["counts"][name] = count;
  write_line(json() ? json_line("summary", where, text, members) : std::string(text) + "\n");
}

void StderrLog::event(std::string_view where, std::span<const LogMember> members) {
  if (verbosity() < warning_level) return;
  std::string text;
  ordered_json values;
  for (const LogMember& member : members) {
    const ordered_json value = std::visit([](const auto& each) { return ordered_json(each); }, member.value);
    values[member.name] = value;
    text += (text.empty() ? "" : " ") + member.name + "=" + word_of(value);
  }
  write_line(json() ? json_line("event", where, text, values) : line_of(LogLevel::message, where, text));
}

bool StderrLog::terminal() const {
  return !json() && isatty(STDERR_FILENO) != 0;
}

bool StderrLog::shares_terminal() const {
  struct stat out = {}, err = {};
  return results_on_stdout_ && terminal() && isatty(STDOUT_FILENO) != 0 && fstat(STDOUT_FILENO, &out) == 0 &&
         fstat(STDERR_FILENO, &err) == 0 && out.st_rdev == err.st_rdev;
}

ProgressStyle StderrLog::progress_style() const {
  if (shares_terminal()) return {false, false, false};
  const bool bar = terminal();
  return {verbosity() >= warning_level, bar, json()};
}

void StderrLog::progress(const ProgressReport& report) {
  if (json()) {
    ordered_json members = {{"done", report.done}};
    if (report.total > 0) members["total"] = report.total;
    members.update(
        {{"unit", report.unit}, {"rate", report.rate}, {"seconds", report.seconds}, {"at", report.at}});
    return write_line(json_line("progress", report.where, report.text, members));
  }
  const bool redrawn = terminal() && !shares_terminal();
  std::string line = "[";
  line.append(report.where).append("] ").append(report.text);
  to_one_line(line);
  drawn_ = redrawn;
  write_to_stderr(redrawn ? kClearLine + fit_to_terminal(line) : line + "\n");
}

void StderrLog::clear_progress() {
  drawn_ = false;
  write_to_stderr(kClearLine);
}

std::string StderrLog::error_line(std::string_view where, std::string_view text) const {
  return line_of(LogLevel::error, where, text);
}

size_t StderrLog::time_place(std::string_view where) const {
  if (json()) return std::string_view("{\"time\":\"").size();
  return times_ ? std::string_view("[E::] ").size() + where.size() : 0;
}

StderrLog& program_log() {
  static StderrLog log;
  return log;
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

}  // namespace carbon
