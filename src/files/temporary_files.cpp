// Temporary files, and the list of them that the signal handlers read. Nothing here writes data.
#include "src/files/temporary_files.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/numbers.hpp"

namespace carbon {
namespace {

constexpr int slot_count = 32;

// The two low bits of `state` are the state of the slot. The other bits count its uses, so that the handler
// notices if a slot changes while it reads the path.
constexpr uint32_t slot_free = 0, slot_filling = 1, slot_active = 2, slot_mask = 3;

struct Slot {
  std::atomic<uint32_t> state{slot_free};
  char path[PATH_MAX] = {};
};

// A signal handler can only use static storage.
Slot slots[slot_count];
static_assert(std::atomic<uint32_t>::is_always_lock_free, "the signal handler needs lock-free atomics");

int claim_slot(const std::string& path) {
  if (path.size() >= sizeof(Slot::path)) return -1;
  for (int i = 0; i < slot_count; ++i) {
    uint32_t state = slots[i].state.load();
    if ((state & slot_mask) != slot_free) continue;
    if (!slots[i].state.compare_exchange_strong(state, state + slot_filling)) continue;
    std::memcpy(slots[i].path, path.c_str(), path.size() + 1);
    slots[i].state.store(state + slot_active);
    return i;
  }
  return -1;
}

std::string random_text() {
  uint64_t value = 0;
  if (getrandom(&value, sizeof(value), 0) != static_cast<ssize_t>(sizeof(value))) {
    value = (static_cast<uint64_t>(getpid()) << 32) ^ reinterpret_cast<uintptr_t>(&value);
  }
  return hex_text(value, 16);
}

}  // namespace

void remove_unfinished_files() {
  char path[PATH_MAX];
  for (const bool directories : {false, true}) {
    for (const Slot& slot : slots) {
      const uint32_t state = slot.state.load();
      if ((state & slot_mask) != slot_active) continue;
      size_t length = 0;
      while (length + 1 < sizeof(path) && slot.path[length]) path[length] = slot.path[length], ++length;
      path[length] = '\0';
      if (slot.state.load() == state) directories ? rmdir(path) : unlink(path);
    }
  }
}

SignalCleanup::SignalCleanup(const std::string& path) : slot_(claim_slot(path)) {}

SignalCleanup::~SignalCleanup() {
  if (slot_ >= 0) slots[slot_].state.fetch_add(slot_mask + 1 - slot_active);
}

TemporaryFile::TemporaryFile(std::string target, std::string path)
    : target_(std::move(target)), path_(std::move(path)) {}

std::unique_ptr<TemporaryFile> TemporaryFile::create(const std::string& target, std::optional<mode_t> mode,
                                                     int& error, TemporaryName name) {
  if (name == TemporaryName::kept) {
    const std::string path = target + ".partial";
    if (mode) (void)!::chmod(path.c_str(), *mode & 0777);
    return std::unique_ptr<TemporaryFile>(new TemporaryFile(target, path));
  }
  const size_t slash = target.rfind('/');
  const std::string directory = slash == std::string::npos ? "" : target.substr(0, slash + 1);
  // File systems allow names of 255 bytes; this leaves room for what is added to the name.
  const std::string base = target.substr(directory.size()).substr(0, 200);
  for (int attempt = 0; attempt < 16; ++attempt) {
    const bool fixed =
        name == TemporaryName::fixed && attempt == 0 && base.size() == target.size() - directory.size();
    std::unique_ptr<TemporaryFile> file(
        new TemporaryFile(target, directory + "." + base + (fixed ? "" : "." + random_text()) + ".partial"));
    file->cleanup_.emplace(file->path_);
    if (fixed) ::unlink(file->path_.c_str());
    // Some file systems have no permissions to set. The file may then lack some of `mode`, and has none
    // beyond.
    const mode_t first = mode ? *mode & 0666 : 0666;
    const int fd = ::open(file->path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, first);
    if (fd < 0) {
      error = errno;
      if (error == EEXIST) continue;
      return nullptr;
    }
    file->present_ = true;
    if (mode) (void)!fchmod(fd, *mode & 0777);
    ::close(fd);
    return file;
  }
  return nullptr;
}

TemporaryFile::~TemporaryFile() {
  if (present_) ::unlink(path_.c_str());
}

bool TemporaryFile::complete() {
  if (std::rename(path_.c_str(), target_.c_str()) != 0) return false;
  present_ = false;
  cleanup_.reset();
  return true;
}

PrivateDirectory::PrivateDirectory() {
  const char* parent = std::getenv("TMPDIR");
  path_ = std::string(parent && *parent ? parent : "/tmp") + "/carbon-XXXXXX";
  if (!mkdtemp(path_.data())) {
    throw Error("make_private_directory", "cannot make a directory like " + path_ + ": " +
                                              std::strerror(errno) +
                                              "; set TMPDIR to a directory that can be written");
  }
  cleanups_.emplace_back(path_);
}

PrivateDirectory::~PrivateDirectory() {
  for (const std::string& name : files_) ::unlink(name.c_str());
  ::rmdir(path_.c_str());
}

std::string PrivateDirectory::file(const std::string& name) {
  files_.push_back(path_ + "/" + name);
  cleanups_.emplace_back(files_.back());
  return files_.back();
}

namespace {

[[noreturn]] void fail(const std::string& what) {
  throw Error("memory_file", what + ": " + std::strerror(errno));
}

}  // namespace

MemoryFile::MemoryFile(const char* name) : fd_(memfd_create(name, MFD_CLOEXEC)) {
  if (fd_ < 0) fail("cannot make a file in memory");
  path_ = "/proc/self/fd/" + std::to_string(fd_);
  if (access(path_.c_str(), F_OK) == 0) return;
  ::close(fd_);
  path_ = folder_.emplace().file(name);
  fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd_ < 0) fail("cannot make the file " + path_);
}

MemoryFile::~MemoryFile() {
  ::close(fd_);
}

std::string MemoryFile::bytes() const {
  struct stat status {};
  if (fstat(fd_, &status) != 0) fail("cannot read a file in memory");
  std::string bytes(static_cast<size_t>(status.st_size), '\0');
  if (read_at(fd_, bytes.data(), bytes.size(), 0) != status.st_size) fail("cannot read a file in memory");
  return bytes;
}

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

bool write_all(int fd, const char* from, size_t size, std::optional<uint64_t> offset) {
  for (size_t done = 0; done < size;) {
    const ssize_t count = offset ? ::pwrite(fd, from + done, size - done, static_cast<off_t>(*offset + done))
                                 : ::write(fd, from + done, size - done);
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) done += static_cast<size_t>(count);
  }
  return true;
}

}  // namespace carbon
