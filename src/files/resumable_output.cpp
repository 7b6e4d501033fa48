#include "src/files/resumable_output.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/files.hpp"
#include "src/base/json.hpp"
#include "src/base/words.hpp"
#include "src/files/output.hpp"

namespace carbon {

LockedFile::LockedFile(std::string path, Log& log, std::optional<SignalCleanup>* created)
    : path_(std::move(path)), claim_(path_) {
  if (created && !path_exists(path_)) created->emplace(path_);
  for (;;) {
    fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (fd_ < 0) fail(std::string("cannot be written: ") + std::strerror(errno));
    try {
      struct stat opened {
      }, named{};
      if (::fstat(fd_, &opened) != 0 || !S_ISREG(opened.st_mode))
        fail("not a regular file; move it away", {"or name another output with {-o}"});
      locked_ = ::flock(fd_, LOCK_EX | LOCK_NB) == 0;
      if (!locked_ && errno == EWOULDBLOCK)
        fail("another run is writing this output; wait for it", {"or name another output with {-o}"});
      if (!locked_) {
        log.warning("resume", path_ + ": this file system has no locks (" + std::strerror(errno) +
                                  "); make sure that no other run writes the same output");
      }
      // Another run that held the lock may have removed the file after it was opened here.
      if (::stat(path_.c_str(), &named) == 0 && named.st_ino == opened.st_ino &&
          named.st_dev == opened.st_dev)
        return;
    } catch (...) {
      ::close(fd_);
      throw;
    }
    ::close(std::exchange(fd_, -1));
  }
}

LockedFile::~LockedFile() {
  ::close(fd_);
}

uint64_t LockedFile::size() const {
  struct stat status {};
  if (::fstat(fd_, &status) != 0) fail(std::string("cannot be read: ") + std::strerror(errno));
  return static_cast<uint64_t>(status.st_size);
}

void LockedFile::cut(uint64_t size) {
  if (::ftruncate(fd_, static_cast<off_t>(size)) != 0)
    fail(std::string("cannot be cut: ") + std::strerror(errno));
}

void LockedFile::fail(const std::string& what, const Advice& advice) const {
  throw Error("resume", path_ + ": " + what, advice);
}

namespace {

constexpr const char* kLayout = "carbon_partial";
constexpr int kLayoutNumber = 1;
constexpr size_t kLargestState = size_t{1} << 30;
constexpr uint64_t kCheckedEnd = 1 << 16;

}  // namespace

void read_whole(const nlohmann::json& value, uint64_t& out) {
  if (!value.is_number_unsigned()) throw std::range_error("not a whole number");
  out = value.get<uint64_t>();
}

void read_whole(const nlohmann::json& value, int64_t& out) {
  uint64_t number = 0;
  read_whole(value, number);
  if (!std::in_range<int64_t>(number)) throw std::range_error("too large a number");
  out = static_cast<int64_t>(number);
}

ResumableOutput::ResumableOutput(const std::string& target, PartialKind kind, const RunIdentity& run,
                                 EarlierRun earlier, Log& log)
    : kind_(std::move(kind)),
      state_path_(target + kind_.ending + ".state"),
      state_claim_(state_path_),
      file_(target + kind_.ending, log, &file_cleanup_),
      identity_(identity_json(run)) {
  if (std::optional<State> state = read_state(run, earlier)) {
    file_.cut(state->bytes);
    mark_ = std::move(state->mark);
    continued_ = saved_ = true;
    file_cleanup_.reset();
    log.warning(kind_.command,
                "continuing: " + path() + " has the values of " + count_of(state->done, kind_.unit));
    return;
  }
  if (!file_cleanup_) file_cleanup_.emplace(path());
  state_cleanup_.emplace(state_path_);
  try {
    file_.cut(0);
    write_state({"null", 0, 0, 0});
  } catch (...) {
    ::unlink(path().c_str());
    throw;
  }
}

ResumableOutput::~ResumableOutput() {
  if (finished_ || saved()) return;
  // The lock is still held, so that no other run can have begun to use them.
  ::unlink(path().c_str());
  ::unlink(state_path_.c_str());
}

void ResumableOutput::fail_mark() const {
  throw Error("resume", state_path_ + " is damaged", {"or discard it with {--restart}"});
}

// The state that this run continues; none to begin anew.
std::optional<ResumableOutput::State> ResumableOutput::read_state(const RunIdentity& run,
                                                                  EarlierRun earlier) const {
  if (file_.size() == 0 || earlier == EarlierRun::discard) return std::nullopt;
  if (!path_exists(state_path_))
    file_.fail("not the output of an interrupted carbon " + kind_.command + ", which has " + state_path_ +
                   " beside it; move it away",
               {"or name another output with {-o}"});
  const nlohmann::json json = read_json_file(state_path_, kLargestState);
  State state;
  std::string theirs;
  uint64_t check = 0;
  try {
    if (json.at(kLayout) != kLayoutNumber)
      file_.fail("begun by another version of carbon", {"or discard it with {--restart}"});
    if (json.at("command") != kind_.command)
      file_.fail("begun by carbon " + printable(json.at("command").get<std::string>()) + ", not by carbon " +
                     kind_.command + "; move it away",
                 {"or name another output with {-o}"});
    theirs = json.at("run").dump();
    read_whole(json.at("bytes"), state.bytes);
    read_whole(json.at("end_check"), check);
    read_whole(json.at("done"), state.done);
    state.mark = json.at("mark").dump();
  } catch (const nlohmann::json::exception&) {
    fail_mark();
  } catch (const std::range_error&) {
    fail_mark();
  }
  if (check > std::numeric_limits<uint32_t>::max()) fail_mark();
  state.end_check = static_cast<uint32_t>(check);
  if (state.bytes == 0) return std::nullopt;
  if (earlier == EarlierRun::refuse)
    file_.fail("holds " + count_of(state.done, kind_.unit) + " of an interrupted run",
               {"continue it with {--resume}, or discard it with {--restart}"});
  if (const std::string differences = identity_differences(theirs, run, state_path_); !differences.empty())
    file_.fail(
        "was started with a different model or options (" + differences + "); use the same ones to resume",
        {"or discard it with {--restart}"});
  if (file_.size() < state.bytes || end_check(state.bytes) != state.end_check)
    file_.fail("has lost bytes that were written, as after a power cut", {"or discard it with {--restart}"});
  return state;
}

void ResumableOutput::write_state(const State& state) {
  TextOutput output(state_path_, TemporaryName::fixed, {}, PathClaim::of_owner);
  // The identity and the mark are JSON already.
  output.write("{\"" + std::string(kLayout) + "\":" + std::to_string(kLayoutNumber) +
               ",\"command\":" + nlohmann::json(kind_.command).dump() + ",\"run\":" + identity_ +
               ",\"bytes\":" + std::to_string(state.bytes) +
               ",\"end_check\":" + std::to_string(state.end_check) +
               ",\"done\":" + std::to_string(state.done) + ",\"mark\":" + state.mark + "}\n");
  output.close();
}

// A checksum of the last of the first `bytes` bytes of the file.
uint32_t ResumableOutput::end_check(uint64_t bytes) const {
  std::string end(static_cast<size_t>(std::min(bytes, kCheckedEnd)), '\0');
  const ssize_t got = read_at(file_.fd(), end.data(), end.size(), bytes - end.size());
  if (got < 0) file_.fail(std::string("cannot be read: ") + std::strerror(errno));
  end.resize(static_cast<size_t>(got));
  return crc32_of(end);
}

void ResumableOutput::save(uint64_t done, const nlohmann::json& mark) {
  const uint64_t bytes = file_.size();
  write_state({mark.dump(), done, bytes, end_check(bytes)});
  saved_ = true;
  since_.emplace();
  file_cleanup_.reset();
  state_cleanup_.reset();
}

bool ResumableOutput::saved() const {
  // An error that comes after the output got its name, that of its index for one, leaves nothing to continue.
  return saved_ && path_exists(path());
}

void ResumableOutput::finish() {
  finished_ = true;
  ::unlink(state_path_.c_str());
}

}  // namespace carbon
