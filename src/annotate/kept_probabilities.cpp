#include "src/annotate/kept_probabilities.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "src/base/error.hpp"
#include "src/base/files.hpp"

namespace carbon {
namespace {

constexpr size_t kStrands = 2;
constexpr uint64_t kBaseBytes = kStrands * sizeof(float);
constexpr size_t kPendingFloats = size_t{1} << 16;

[[noreturn]] void fail(const std::string& what, const std::string& path) {
  throw Error("annotate", what + " " + path + ": " + std::strerror(errno) +
                              "; it needs 8 bytes for each base of the input");
}

class FilePart final : public Probabilities {
 public:
  FilePart(std::string path, int fd, uint64_t first, int64_t bases)
      : path_(std::move(path)), fd_(fd), first_(first), bases_(bases) {}

  int64_t bases() const override { return bases_; }

  void read(bool reverse, int64_t begin, std::span<float> values) const override {
    constexpr size_t kPiece = size_t{1} << 14;
    both_.resize(kStrands * std::min(kPiece, values.size()));
    for (size_t done = 0; done < values.size();) {
      const size_t count = std::min(kPiece, values.size() - done);
      const auto bytes = static_cast<ssize_t>(count * kBaseBytes);
      const uint64_t place = (first_ + static_cast<uint64_t>(begin) + done) * kBaseBytes;
      if (read_at(fd_, reinterpret_cast<char*>(both_.data()), static_cast<size_t>(bytes), place) != bytes)
        fail("cannot read", path_);
      for (size_t i = 0; i < count; ++i) values[done + i] = both_[kStrands * i + (reverse ? 1 : 0)];
      done += count;
    }
  }

 private:
  std::string path_;
  int fd_;
  uint64_t first_;
  int64_t bases_;
  mutable std::vector<float> both_;
};

}  // namespace

KeptProbabilities::KeptProbabilities(const std::string& target, const RunIdentity& run, EarlierRun earlier,
                                     Log& log)
    : output_(target, PartialKind{.command = "annotate", .unit = "base", .ending = ".partial.p"}, run,
              earlier, log),
      continued_(sequences_of(&output_)),
      fd_(::open(output_.path().c_str(), O_RDWR | O_APPEND | O_CLOEXEC)) {
  if (fd_ < 0) fail("cannot open", output_.path());
  const off_t bytes = ::lseek(fd_, 0, SEEK_END);
  if (bytes < 0) fail("cannot read", output_.path());
  bases_ = static_cast<uint64_t>(bytes) / kBaseBytes;
  if (static_cast<uint64_t>(bytes) % kBaseBytes != 0) fail_mark();
}

KeptProbabilities::~KeptProbabilities() {
  if (fd_ >= 0) ::close(fd_);
}

void KeptProbabilities::append(std::span<const float> plus, std::span<const float> minus) {
  for (size_t i = 0; i < plus.size(); ++i) {
    pending_.push_back(plus[i]);
    pending_.push_back(minus[i]);
    if (pending_.size() >= kPendingFloats) flush();
  }
  bases_ += plus.size();
  unmarked_.reset();
}

void KeptProbabilities::flush() {
  const char* bytes = reinterpret_cast<const char*>(pending_.data());
  for (size_t left = pending_.size() * sizeof(float); left > 0;) {
    const ssize_t count = ::write(fd_, bytes, left);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail("cannot write", output_.path());
    bytes += count;
    left -= static_cast<size_t>(count);
  }
  pending_.clear();
}

void KeptProbabilities::mark(const SequencesDone& done) {
  unmarked_ = done;
  if (output_.wants_mark()) mark_now();
}

void KeptProbabilities::mark_now() {
  if (!unmarked_) return;
  flush();
  output_.save(bases_, mark_of(*unmarked_));
  unmarked_.reset();
}

std::unique_ptr<Probabilities> KeptProbabilities::view(uint64_t first, int64_t bases) {
  flush();
  return std::make_unique<FilePart>(output_.path(), fd_, first, bases);
}

void KeptProbabilities::finish() {
  ::unlink(output_.path().c_str());
  output_.finish();
}

}  // namespace carbon
