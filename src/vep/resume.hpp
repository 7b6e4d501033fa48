// FILE.partial: the scores of a run that is under way, from which `--resume` continues it.
//
// It holds no output. A run that continues reads its input from the beginning and writes its output anew, but
// takes the scores of the records that the file has instead of computing them; so the output is that of a run
// without a break, whatever its format. Reading and writing take a small part of the time that scoring takes.
//
// After a line that says what the run is (JSON), an entry for each record with a score, in the order of the
// records: a hash of all that the score was computed from, the values, a checksum. An entry is written as
// soon as its record is scored, so a killed process loses what it had not finished; an entry that was not
// written whole is dropped. The operating system is not asked to have anything on disk: after a power cut the
// file ends at the last whole entry.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/model/digest.hpp"

namespace carbon {

/// What must be equal for a run to continue another: values by what messages call them.
using RunIdentity = std::map<std::string, std::string>;

/// Reads the entries of an open file one after the other.
class JournalReader {
 public:
  struct Entry {
    Sha256Bytes site{};
    std::vector<float> values;
  };

  /// From the first entry, at byte `begin`, to byte `end`. The descriptor stays the caller's.
  JournalReader(int fd, uint64_t begin, uint64_t end) : fd_(fd), offset_(begin), read_(begin), end_(end) {}
  /// False at the end and where no whole entry with the right checksum follows.
  bool next(Entry& entry);
  /// Where the next entry begins.
  uint64_t offset() const { return offset_; }
  /// Of the entries so far.
  uint32_t checksum() const { return checksum_; }

 private:
  bool buffer(size_t bytes);

  int fd_;
  uint64_t offset_, read_, end_;  // of the next entry, of what is to be read next, of all
  uint32_t checksum_ = 0;
  std::string buffered_;  // bytes [offset_, read_), after `used_` others
  size_t used_ = 0;
};

/// Two threads may use it at once, one that replays and one that appends.
class Journal {
 public:
  /// Takes `path` and its lock. With `resume` the entries of an earlier run are to be replayed; without, or
  /// if there is no file, none. Throws Error for a file that another run holds, that is something else, or
  /// that (with `resume`) is of a run with another identity; its bytes are then as they were.
  Journal(std::string path, const RunIdentity& run, bool resume);
  /// Removes the file, unless all it holds is an earlier run's.
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// False where the file system has no locks.
  bool locked() const { return locked_; }
  const std::string& path() const { return path_; }
  /// Entries to be replayed.
  uint64_t saved() const { return saved_; }

  /// The values of the next record, of which there must be `count`, while there are any left. Throws Error if
  /// the next ones are another record's. `where`: contig:pos, for that message.
  std::optional<std::vector<float>> replay(const Sha256Bytes& site, size_t count, const std::string& where);
  /// At the end of the input: throws Error if values are left.
  void check_replayed() const;
  /// Adds the values of the record after those replayed and added.
  void append(const Sha256Bytes& site, const std::vector<float>& values);
  /// Removes the file; the run is complete.
  void remove();

 private:
  void lock();
  void write(const std::string& bytes);
  std::optional<std::string> read_first_line() const;
  void check_identity(const std::string& first_line, const RunIdentity& run) const;
  void find_entries(uint64_t begin);
  [[noreturn]] void fail(const std::string& what) const;

  std::string path_;
  int fd_ = -1;
  bool locked_ = false, appended_ = false, removed_ = false;
  uint64_t saved_ = 0, replayed_ = 0;
  uint32_t checksum_ = 0;
  std::optional<JournalReader> entries_;  // if there are any to replay
};

}  // namespace carbon
