#include "src/vep/resume.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/json.hpp"

namespace carbon {
namespace {

constexpr std::string_view kBeginning = "##carbon_vepPartial1=";  // 1 is the number of the layout
constexpr size_t kLongestFirstLine = size_t{1} << 24;
constexpr size_t kReadSize = size_t{1} << 16;
constexpr uint32_t kMostValues = uint32_t{1} << 20;  // a larger count is damage

// An entry is a Sha256Bytes, the number of values, the values, and a CRC of this entry and all before it. The
// numbers have the byte order of the machine, because a run is continued on the same kind of device.
constexpr size_t kEntryHead = sizeof(Sha256Bytes) + sizeof(uint32_t);
constexpr size_t entry_size(uint32_t count) {
  return kEntryHead + count * sizeof(float) + sizeof(uint32_t);
}

uint32_t crc(uint32_t before, std::string_view bytes) {
  return static_cast<uint32_t>(
      ::crc32(before, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

template <class T>
void put(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// pread() until `size` bytes or the end; -1 on failure.
ssize_t read_at(int fd, char* into, size_t size, uint64_t offset) {
  size_t done = 0;
  while (done < size) {
    const ssize_t got = ::pread(fd, into + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return static_cast<ssize_t>(done);
}

// The identity as in the first line of the file. Bytes that are not UTF-8 are replaced, in both identities
// that are compared.
std::string to_json(const RunIdentity& run) {
  return nlohmann::json(run).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
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
  if (crc(checksum_, guarded) != stored) return false;
  std::memcpy(entry.site.data(), bytes.data(), sizeof entry.site);
  entry.values.resize(count);
  std::memcpy(entry.values.data(), bytes.data() + kEntryHead, count * sizeof(float));
  checksum_ = stored;
  used_ += bytes.size();
  offset_ += bytes.size();
  return true;
}

Journal::Journal(std::string path, const RunIdentity& run, bool resume, Log& log)
    : path_(std::move(path)), log_(log) {
  bool fresh = false;
  try {
    lock();
    const std::optional<std::string> first_line = read_first_line();
    if (resume && first_line) {
      check_identity(*first_line, run);
      find_entries(first_line->size() + 1);
      return;
    }
    if (first_line) {
      log_.warning("resume", path_ + " of an interrupted run is overwritten", {"resume_instead"});
    }
    fresh = true;
    if (::ftruncate(fd_, 0) != 0) fail(std::string("cannot be overwritten: ") + std::strerror(errno));
    write(std::string(kBeginning) + to_json(run) + "\n");
  } catch (...) {
    if (fresh) ::unlink(path_.c_str());
    if (fd_ >= 0) ::close(fd_);
    throw;
  }
}

Journal::~Journal() {
  if (!removed_ && (saved_ == 0 || appended_)) ::unlink(path_.c_str());
  ::close(fd_);  // after unlink(), so that no other process can lock the file before it is removed
}

void Journal::fail(const std::string& what, const Advice& advice) const {
  throw Error("resume", path_ + ": " + what, advice);
}

void Journal::lock() {
  for (;;) {
    fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (fd_ < 0) fail(std::string("cannot be written: ") + std::strerror(errno));
    struct stat opened {
    }, named{};
    if (::fstat(fd_, &opened) != 0 || !S_ISREG(opened.st_mode))
      fail("not a regular file; move it away", {"other_output"});
    locked_ = ::flock(fd_, LOCK_EX | LOCK_NB) == 0;
    if (!locked_ && errno == EWOULDBLOCK)
      fail("another run is writing this output; wait for it", {"other_output"});
    if (!locked_) {
      log_.warning("resume", path_ + ": this file system has no locks (" + std::strerror(errno) +
                                 "); make sure that no other run writes the same output");
    }
    // Another run that held the lock may have removed the file after it was opened here.
    if (::stat(path_.c_str(), &named) == 0 && named.st_ino == opened.st_ino && named.st_dev == opened.st_dev)
      return;
    ::close(std::exchange(fd_, -1));
  }
}

// Returns the first line without its newline; none if the file is empty or ends within this line, which
// happens if a run is killed at its beginning.
std::optional<std::string> Journal::read_first_line() const {
  std::string line;
  for (size_t newline = std::string::npos; newline == std::string::npos;) {
    const size_t present = line.size();
    line.resize(present + kReadSize);
    const ssize_t got = read_at(fd_, line.data() + present, kReadSize, present);
    if (got < 0) fail(std::string("cannot be read: ") + std::strerror(errno));
    line.resize(present + static_cast<size_t>(got));
    const size_t compared = std::min(line.size(), kBeginning.size());
    if (line.compare(0, compared, kBeginning.substr(0, compared)) != 0 || line.size() > kLongestFirstLine)
      fail("not made by carbon vep, or by another version of it; move it away", {"other_output"});
    newline = line.find('\n');
    if (newline != std::string::npos)
      line.resize(newline);
    else if (got == 0)
      return std::nullopt;
  }
  return line;
}

void Journal::check_identity(const std::string& first_line, const RunIdentity& run) const {
  const nlohmann::json theirs = parse_json(std::string_view(first_line).substr(kBeginning.size()), path_);
  const nlohmann::json ours = nlohmann::json::parse(to_json(run));
  if (theirs == ours) return;
  const auto value = [](const nlohmann::json& object, const std::string& name) {
    const auto found = object.is_object() ? object.find(name) : object.end();
    return found == object.end() || !found->is_string() ? "none" : printable(found->get<std::string>());
  };
  std::string differences;
  for (const auto& [name, ignored] : run) {
    const std::string was = value(theirs, name), is = value(ours, name);
    if (was != is) differences += (differences.empty() ? "" : "; ") + name + " " + was + ", now " + is;
  }
  fail("begun with another model or other options (" + (differences.empty() ? "unknown ones" : differences) +
           "); repeat them to continue it",
       {"no_resume"});
}

// Counts the complete entries and cuts off what follows them.
void Journal::find_entries(uint64_t begin) {
  struct stat status {};
  if (::fstat(fd_, &status) != 0) fail(std::string("cannot be read: ") + std::strerror(errno));
  const auto size = static_cast<uint64_t>(status.st_size);
  JournalReader reader(fd_, begin, size);
  for (JournalReader::Entry entry; reader.next(entry);) ++saved_;
  if (reader.offset() < size) {
    log_.warning("resume", path_ + ": the last " + std::to_string(size - reader.offset()) +
                               " bytes are incomplete or damaged and are dropped");
    if (::ftruncate(fd_, static_cast<off_t>(reader.offset())) != 0)
      fail(std::string("cannot be cut: ") + std::strerror(errno));
  }
  checksum_ = reader.checksum();
  entries_.emplace(fd_, begin, reader.offset());
}

std::optional<std::vector<float>> Journal::replay(const Sha256Bytes& site, size_t count,
                                                  const std::string& where) {
  if (replayed_ == saved_) return std::nullopt;
  JournalReader::Entry entry;
  if (!entries_->next(entry)) fail("changed while it was read");
  if (entry.site != site || entry.values.size() != count)
    fail("the record at " + where +
             " or the reference around it has changed since; give the same input and FASTA",
         {"no_resume"});
  ++replayed_;
  return std::move(entry.values);
}

void Journal::check_replayed() const {
  if (replayed_ < saved_)
    fail("has scores of " + std::to_string(saved_) + " records, but this input only " +
             std::to_string(replayed_) + "; give the same input",
         {"no_resume"});
}

void Journal::append(const Sha256Bytes& site, const std::vector<float>& values) {
  std::string bytes;
  put(bytes, site);
  put(bytes, static_cast<uint32_t>(values.size()));
  for (const float value : values) put(bytes, value);
  checksum_ = crc(checksum_, bytes);
  put(bytes, checksum_);
  appended_ = true;
  write(bytes);
}

void Journal::write(const std::string& bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::write(fd_, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(std::string("cannot be written: ") + std::strerror(errno));
    done += static_cast<size_t>(count);
  }
}

void Journal::remove() {
  ::unlink(path_.c_str());
  removed_ = true;
}

}  // namespace carbon
