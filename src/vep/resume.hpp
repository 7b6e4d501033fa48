// FILE.partial, the journal of a run that is in progress: the scores so far, from which an interrupted run
// can be continued.
//
// It has no output in it. A run that continues another reads its input from the beginning and writes its
// whole output, but takes scores from the journal instead of computing them. So the output has the bytes of a
// run without interruption, whatever its format. Reading and writing take little time compared with scoring.
//
// The first line says which run it is (JSON). It is followed by one entry for each record with a score, in
// the order of the records: a hash of everything that the score was computed from, the values, a checksum. An
// entry is written as soon as its record is scored, so that a killed process loses only the records in
// progress. An incomplete entry is dropped. The file is not synced to disk, so that after a power cut it may
// lack its last entries.
//
// The journal stays beside the score cache (score_cache.hpp) because it is faster. A resumed run reads it
// once from beginning to end, but would look up each allele on each strand in a cache. Resuming 200,000 saved
// SNVs took 0.8 s of CPU time with the journal. With an SQLite cache that only this run used, it took 1.4 s
// with recipe next-token and 2.7 s with recipe centered. Writing the journal is also cheaper, and a killed
// process loses less.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/log.hpp"
#include "src/base/long_run.hpp"
#include "src/files/resumable_output.hpp"
#include "src/model/digest.hpp"

namespace carbon {

/// Reads the entries of an open file in order.
class JournalReader {
 public:
  struct Entry {
    Sha256Bytes site{};
    std::vector<float> values;
  };

  /// Reads from the first entry, at byte `begin`, to byte `end`. The caller closes the descriptor.
  JournalReader(int fd, uint64_t begin, uint64_t end) : fd_(fd), offset_(begin), read_(begin), end_(end) {}
  /// Returns false at the end, and if no complete entry with the right checksum follows.
  bool next(Entry& entry);
  /// Where the next entry begins.
  uint64_t offset() const { return offset_; }
  /// The checksum of all entries so far.
  uint32_t checksum() const { return checksum_; }

 private:
  bool buffer(size_t bytes);

  int fd_;
  uint64_t offset_;  // where the next entry begins
  uint64_t read_;    // up to where the file has been read
  uint64_t end_;     // where the last entry ends at most
  uint32_t checksum_ = 0;
  std::string buffered_;  // `used_` bytes of earlier entries, then the bytes [offset_, read_) of the file
  size_t used_ = 0;
};

/// Two threads may use it at the same time, one that replays and one that appends.
class Journal {
 public:
  /// Opens or creates the file and locks it. To resume, the entries of an earlier run are replayed. Throws
  /// Error for a file that another run has locked, that is not a journal, that has entries which are neither
  /// to be continued nor discarded, or that belongs to a run with another identity than the one that is to
  /// continue it. The file is then not changed.
  Journal(const std::string& path, const RunIdentity& run, EarlierRun earlier, Log& log = silent_log());
  /// Removes the file, unless it has entries.
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// False if the file system has no locks.
  bool locked() const { return file_.locked(); }
  const std::string& path() const { return file_.path(); }
  /// Entries to be replayed.
  uint64_t saved() const { return saved_; }

  /// Returns the `count` values of the next record; none if all entries are replayed. Throws Error if the
  /// next entry belongs to another record; `where` (contig:pos) is for its message.
  std::optional<std::vector<float>> replay(const Sha256Bytes& site, size_t count, const std::string& where);
  /// Called at the end of the input. Throws Error if there are entries that were not replayed.
  void check_replayed() const;
  /// Whether there is anything to continue. Asked by the thread that appends, or after it.
  bool has_entries() const { return saved_ > 0 || appended_; }
  /// Adds the values of the next record.
  void append(const Sha256Bytes& site, const std::vector<float>& values);
  /// Removes the file; the run is complete.
  void remove();

 private:
  void write(const std::string& bytes);
  std::optional<std::string> read_first_line() const;
  void check_identity(const std::string& first_line, const RunIdentity& run) const;
  void find_entries(uint64_t begin);

  LockedFile file_;
  Log& log_;
  bool appended_ = false, removed_ = false;
  uint64_t saved_ = 0, replayed_ = 0;
  uint32_t checksum_ = 0;
  std::optional<JournalReader> entries_;  // if there are any to replay
};

}  // namespace carbon
