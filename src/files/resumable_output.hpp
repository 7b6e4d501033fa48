// FILE.partial, an output that is in progress, and how far it is complete. An interrupted run can be
// continued from there.
//
// FILE.partial.state says how many bytes of FILE.partial are complete, and what the run had done by then: a
// mark, whose meaning is the caller's. It is replaced at once and not in parts, once a second at most, so
// that a killed process loses what it did since then. A run that continues another cuts the output there and
// adds to it. So the output has the bytes of a run without interruption. Neither file is synced to disk:
// after a power cut the output may lack its end, which is noticed.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "src/base/error.hpp"
#include "src/base/log.hpp"
#include "src/base/long_run.hpp"
#include "src/base/system.hpp"
#include "src/files/run_files.hpp"
#include "src/files/temporary_files.hpp"

namespace carbon {

/// A file beside an output that one run at a time may use: FILE.partial, from which an interrupted run is
/// continued.
class LockedFile {
 public:
  /// Opens or creates the file for reading and appending, and locks it. Throws Error if another run has
  /// locked it, if it is not a regular file, or if it is an input or another output of this run. Warns if the
  /// file system has no locks. If there is no such file yet, `created` gets its cleanup before the file is
  /// created, so that no signal leaves it empty.
  LockedFile(std::string path, Log& log, std::optional<SignalCleanup>* created = nullptr);
  ~LockedFile();
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;

  const std::string& path() const { return path_; }
  int fd() const { return fd_; }
  /// False if the file system has no locks.
  bool locked() const { return locked_; }

  /// All functions throw Error, which names the file.
  uint64_t size() const;
  void cut(uint64_t size);
  [[noreturn]] void fail(const std::string& what, const Advice& advice = {}) const;

 private:
  std::string path_;
  OutputClaim claim_;
  int fd_ = -1;
  bool locked_ = false;
};

/// Which command writes the output, and what it counts, for messages: "scan" and "base".
struct PartialKind {
  std::string command, unit;
  std::string ending = ".partial";  // of the file's name
};

class ResumableOutput {
 public:
  /// Opens or creates `target` with the ending and locks it. Throws Error if another run has locked it, if it
  /// is not that of this command, if it has something which is neither to be continued nor discarded, or if
  /// the run that is to be continued is another one. The files are then not changed.
  ResumableOutput(const std::string& target, PartialKind kind, const RunIdentity& run, EarlierRun earlier,
                  Log& log);
  /// Removes both files, unless they can be continued.
  ~ResumableOutput();
  ResumableOutput(const ResumableOutput&) = delete;
  ResumableOutput& operator=(const ResumableOutput&) = delete;

  const std::string& path() const { return file_.path(); }
  /// True if this run continues an earlier one.
  bool continued() const { return continued_; }
  /// The mark of that run, as JSON; "" if there is none.
  const std::string& mark() const { return mark_; }
  /// Throws the Error of a mark that its command cannot read.
  [[noreturn]] void fail_mark() const;
  /// False soon after a mark: a run that is killed may lose a second.
  bool wants_mark() const { return !since_ || since_->seconds() >= kLeastSeconds; }
  /// Everything that the mark, which is JSON, stands for, and nothing else, must have been passed to the
  /// file. `done`: so many units of the kind.
  void save(uint64_t done, const nlohmann::json& mark);
  /// Whether there is anything to continue.
  bool saved() const;
  /// Called when the output has its name.
  void finish();

 private:
  static constexpr double kLeastSeconds = 1;

  struct State {
    std::string mark;        // JSON
    uint64_t done = 0;       // units
    uint64_t bytes = 0;      // of FILE.partial
    uint32_t end_check = 0;  // of the last of these bytes
  };
  std::optional<State> read_state(const RunIdentity& run, EarlierRun earlier) const;
  void write_state(const State& state);
  uint32_t end_check(uint64_t bytes) const;

  PartialKind kind_;
  std::optional<SignalCleanup> file_cleanup_, state_cleanup_;  // while there is nothing to continue
  std::string state_path_;
  OutputClaim state_claim_;
  LockedFile file_;
  std::string identity_, mark_;
  bool continued_ = false, saved_ = false, finished_ = false;
  std::optional<Stopwatch> since_;  // the last mark of this run
};

/// Reads a whole number from JSON. Throws std::range_error for what is not one that `out` can hold; the
/// library would convert it.
void read_whole(const nlohmann::json& value, uint64_t& out);
void read_whole(const nlohmann::json& value, int64_t& out);

}  // namespace carbon
