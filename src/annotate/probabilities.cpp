#include "src/annotate/probabilities.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "src/base/error.hpp"
#include "src/base/numbers.hpp"
#include "src/formats/bigwig_reader.hpp"

namespace carbon {
namespace {

// Of a temporary file and of one that is kept for --resume.
constexpr const char* kContigNeeds =
    "; it needs 8 bytes for each base of the contig, in the folder that TMPDIR names";
constexpr const char* kInputNeeds = "; it needs 8 bytes for each base of the input";

[[noreturn]] void fail(const std::string& what, const std::string& path, const char* needs) {
  throw Error("annotate", what + " the probabilities in " + path + ": " + std::strerror(errno) + needs);
}

// A file that ends early was made shorter by somebody else, which errno does not say.
void read_whole(int fd, std::span<float> values, uint64_t place, const std::string& path, const char* needs) {
  const ssize_t count = read_at(fd, reinterpret_cast<char*>(values.data()), values.size_bytes(), place);
  if (count < 0) fail("cannot read", path, needs);
  if (static_cast<size_t>(count) < values.size_bytes())
    throw Error("annotate",
                "the probabilities in " + path + " end early; another program has changed the file");
}

}  // namespace

ScratchProbabilities::ScratchProbabilities(int64_t bases, int64_t most_in_memory) : bases_(bases) {
  if (bases <= most_in_memory) {
    for (std::vector<float>& strand : values_) strand.resize(static_cast<size_t>(bases));
    return;
  }
  path_ = folder_.emplace().file("probabilities");
  fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd_ < 0) fail("cannot make", path_, kContigNeeds);
  if (::ftruncate(fd_, static_cast<off_t>(place(true, bases))) != 0) {
    ::close(fd_);
    fail("cannot make", path_, kContigNeeds);
  }
}

ScratchProbabilities::~ScratchProbabilities() {
  if (fd_ >= 0) ::close(fd_);
}

uint64_t ScratchProbabilities::place(bool reverse, int64_t begin) const {
  return static_cast<uint64_t>((reverse ? bases_ : 0) + begin) * sizeof(float);
}

void ScratchProbabilities::write(bool reverse, int64_t begin, std::span<const float> values) {
  if (fd_ < 0) {
    std::copy(values.begin(), values.end(), values_[reverse].begin() + begin);
    return;
  }
  if (!write_all(fd_, reinterpret_cast<const char*>(values.data()), values.size_bytes(),
                 place(reverse, begin)))
    fail("cannot write", path_, kContigNeeds);
}

void ScratchProbabilities::read(bool reverse, int64_t begin, std::span<float> values) const {
  if (fd_ < 0) {
    const auto from = values_[reverse].begin() + begin;
    std::copy(from, from + static_cast<std::ptrdiff_t>(values.size()), values.begin());
    return;
  }
  read_whole(fd_, values, place(reverse, begin), path_, kContigNeeds);
}

int64_t read_track(const BigwigReader& track, const std::string& path, const std::string& contig,
                   bool reverse, ScratchProbabilities& probabilities) {
  constexpr size_t kPiece = size_t{1} << 16;
  std::vector<float> piece;  // of the bases from `begin` on
  int64_t begin = 0, missing = probabilities.bases();
  const auto flush = [&] {
    probabilities.write(reverse, begin, piece);
    begin += static_cast<int64_t>(piece.size());
    piece.clear();
  };
  track.read(contig, [&](int64_t from, int64_t to, float value) {
    if (!(value >= 0 && value <= 1))
      throw Error("annotate", path + ": the value at " + contig + ":" + std::to_string(from + 1) + " is " +
                                  general_text(value, 6) + "; probabilities are from 0 to 1");
    missing -= to - from;
    if (from != begin + static_cast<int64_t>(piece.size())) {
      flush();
      begin = from;
    }
    for (; from < to; ++from) {
      piece.push_back(value);
      if (piece.size() == kPiece) flush();
    }
  });
  flush();
  return missing;
}

namespace {

constexpr size_t kStrands = 2;
constexpr uint64_t kBaseBytes = kStrands * sizeof(float);
constexpr size_t kPendingFloats = size_t{1} << 16;

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
      const uint64_t place = (first_ + static_cast<uint64_t>(begin) + done) * kBaseBytes;
      read_whole(fd_, std::span(both_).first(kStrands * count), place, path_, kInputNeeds);
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
  if (fd_ < 0) fail("cannot open", output_.path(), kInputNeeds);
  const off_t bytes = ::lseek(fd_, 0, SEEK_END);
  if (bytes < 0) fail("cannot read", output_.path(), kInputNeeds);
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
  if (!write_all(fd_, reinterpret_cast<const char*>(pending_.data()), pending_.size() * sizeof(float)))
    fail("cannot write", output_.path(), kInputNeeds);
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
