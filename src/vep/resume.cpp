#include "src/vep/resume.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/files.hpp"
#include "src/base/long_run.hpp"
#include "src/base/words.hpp"

namespace carbon {
namespace {

constexpr std::string_view kBeginning = "##carbon_vepPartial2=";  // 2 is the number of the layout
constexpr size_t kLongestFirstLine = size_t{1} << 24;
constexpr size_t kReadSize = size_t{1} << 16;
constexpr uint32_t kMostValues = uint32_t{1} << 24;  // a larger count is damage

// An entry is a Sha256Bytes, the number of values, the values, and a CRC of this entry and all before it. The
// numbers have the byte order of the machine, because a run is continued on the same kind of device.
constexpr size_t kEntryHead = sizeof(Sha256Bytes) + sizeof(uint32_t);
constexpr size_t entry_size(uint32_t count) {
  return kEntryHead + count * sizeof(float) + sizeof(uint32_t);
}

template <class T>
void put(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

bool JournalReader::buffer(size_t bytes) {
  if (buffered_.size() - used_ >= bytes) return true;
  buffered_.erase(0, std::exchange(used_, 0));
  const size_t present = buffered_.size();
  const size_t wanted =
      static_cast<size_t>(std::min<uint64_t>(std::max(bytes - present, kReadSize), end_ - read_));
  buffered_.resize(present + wanted);
  const ssize_t got = read_at(fd_, buffered_.data() + present, wanted, read_);
  if (got < 0)
    throw Error("resume", std::string("cannot read the scores to resume from: ") + std::strerror(errno));
  buffered_.resize(present + static_cast<size_t>(got));
  read_ += static_cast<uint64_t>(got);
  return buffered_.size() >= bytes;
}

bool JournalReader::next(Entry& entry) {
  if (!buffer(kEntryHead)) return false;
  uint32_t count = 0, stored = 0;
  std::memcpy(&count, buffered_.data() + used_ + sizeof entry.site, sizeof count);
  if (count > kMostValues || !buffer(entry_size(count))) return false;
  const std::string_view bytes = std::string_view(buffered_).substr(used_, entry_size(count));
  const std::string_view guarded = bytes.substr(0, bytes.size() - sizeof stored);
  std::memcpy(&stored, bytes.data() + guarded.size(), sizeof stored);
  if (crc32_of(guarded, checksum_) != stored) return false;
  std::memcpy(entry.site.data(), bytes.data(), sizeof entry.site);
  entry.values.resize(count);
  if (count > 0) std::memcpy(entry.values.data(), bytes.data() + kEntryHead, count * sizeof(float));
  checksum_ = stored;
  used_ += bytes.size();
  offset_ += bytes.size();
  return true;
}

Journal::Journal(const std::string& path, const RunIdentity& run, EarlierRun earlier, Log& log)
    : file_(path, log), log_(log) {
  const std::optional<std::string> first_line = read_first_line();
  if (earlier == EarlierRun::resume && first_line) {
    check_identity(*first_line, run);
    find_entries(first_line->size() + 1);
    return;
  }
  if (first_line && earlier == EarlierRun::refuse && file_.size() > first_line->size() + 1)
    file_.fail("holds the scores of an interrupted run",
               {"continue it with {--resume}, or discard it with {--restart}"});
  try {
    file_.cut(0);
    write(std::string(kBeginning) + identity_json(run) + "\n");
  } catch (...) {
    ::unlink(path.c_str());
    throw;
  }
}

Journal::~Journal() {
  // This comes before the file is closed, so that no other process can lock it before it is removed.
  if (!removed_ && !has_entries()) ::unlink(path().c_str());
}

// Returns the first line without its newline; none if the file is empty or ends within this line, which
// happens if a run is killed at its beginning.
std::optional<std::string> Journal::read_first_line() const {
  std::string line;
  for (size_t newline = std::string::npos; newline == std::string::npos;) {
    const size_t present = line.size();
    line.resize(present + kReadSize);
    const ssize_t got = read_at(file_.fd(), line.data() + present, kReadSize, present);
    if (got < 0) file_.fail(std::string("cannot be read: ") + std::strerror(errno));
    line.resize(present + static_cast<size_t>(got));
    const size_t compared = std::min(line.size(), kBeginning.size());
    if (line.compare(0, compared, kBeginning.substr(0, compared)) != 0 || line.size() > kLongestFirstLine)
      file_.fail("not a journal of this version of carbon vep; move or delete it",
                 {"or name another output with {-o}"});
    newline = line.find('\n');
    if (newline != std::string::npos)
      line.resize(newline);
    else if (got == 0)
      return std::nullopt;
  }
  return line;
}

void Journal::check_identity(const std::string& first_line, const RunIdentity& run) const {
  const std::string differences =
      identity_differences(std::string_view(first_line).substr(kBeginning.size()), run, path());
  if (differences.empty()) return;
  file_.fail(
      "was started with a different model or options (" + differences + "); use the same ones to resume",
      {"or discard it with {--restart}"});
}

// Counts the complete entries and cuts off what follows them.
void Journal::find_entries(uint64_t begin) {
  const uint64_t size = file_.size();
  JournalReader reader(file_.fd(), begin, size);
  for (JournalReader::Entry entry; reader.next(entry);) ++saved_;
  if (reader.offset() < size) {
    log_.warning("resume", path() + ": the last " + std::to_string(size - reader.offset()) +
                               " bytes are incomplete or damaged and are dropped");
    file_.cut(reader.offset());
  }
  checksum_ = reader.checksum();
  entries_.emplace(file_.fd(), begin, reader.offset());
}

std::optional<std::vector<float>> Journal::replay(const Sha256Bytes& site, size_t count,
                                                  const std::string& where) {
  if (replayed_ == saved_) return std::nullopt;
  JournalReader::Entry entry;
  if (!entries_->next(entry)) file_.fail("changed while it was read");
  if (entry.site != site || entry.values.size() != count)
    throw OtherInput(path() + ": the record at " + where +
                     " or the reference around it has changed since; give the same input and FASTA");
  ++replayed_;
  return std::move(entry.values);
}

void Journal::check_replayed() const {
  if (replayed_ < saved_)
    throw OtherInput(path() + ": has scores of " + count_of(saved_, "record") + ", but this input only " +
                     std::to_string(replayed_) + "; give the same input");
}

void Journal::append(const Sha256Bytes& site, const std::vector<float>& values) {
  std::string bytes;
  put(bytes, site);
  put(bytes, static_cast<uint32_t>(values.size()));
  for (const float value : values) put(bytes, value);
  checksum_ = crc32_of(bytes, checksum_);
  put(bytes, checksum_);
  write(bytes);
  appended_ = true;
}

void Journal::write(const std::string& bytes) {
  if (!write_all(file_.fd(), bytes.data(), bytes.size()))
    file_.fail(std::string("cannot be written: ") + std::strerror(errno));
}

void Journal::remove() {
  ::unlink(path().c_str());
  removed_ = true;
}

}  // namespace carbon
