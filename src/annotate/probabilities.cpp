#include "src/annotate/probabilities.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "src/base/error.hpp"
#include "src/base/numbers.hpp"
#include "src/formats/bigwig_reader.hpp"

namespace carbon {
namespace {

[[noreturn]] void fail(const std::string& what, const std::string& path) {
  throw Error("annotate", what + " the temporary file " + path +
                              " of probabilities: " + std::strerror(errno) +
                              "; it needs 8 bytes for each base of the contig, in the "
                              "folder that TMPDIR names");
}

}  // namespace

ScratchProbabilities::ScratchProbabilities(int64_t bases, int64_t most_in_memory) : bases_(bases) {
  if (bases <= most_in_memory) {
    for (std::vector<float>& strand : values_) strand.resize(static_cast<size_t>(bases));
    return;
  }
  path_ = folder_.emplace().file("probabilities");
  fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd_ < 0) fail("cannot make", path_);
  if (::ftruncate(fd_, static_cast<off_t>(place(true, bases))) != 0) {
    ::close(fd_);
    fail("cannot make", path_);
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
  const auto* bytes = reinterpret_cast<const char*>(values.data());
  for (size_t done = 0; done < values.size_bytes();) {
    const ssize_t count = ::pwrite(fd_, bytes + done, values.size_bytes() - done,
                                   static_cast<off_t>(place(reverse, begin) + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail("cannot write", path_);
    done += static_cast<size_t>(count);
  }
}

void ScratchProbabilities::read(bool reverse, int64_t begin, std::span<float> values) const {
  if (fd_ < 0) {
    const auto from = values_[reverse].begin() + begin;
    std::copy(from, from + static_cast<std::ptrdiff_t>(values.size()), values.begin());
    return;
  }
  const ssize_t count =
      read_at(fd_, reinterpret_cast<char*>(values.data()), values.size_bytes(), place(reverse, begin));
  if (count != static_cast<ssize_t>(values.size_bytes())) fail("cannot read", path_);
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

}  // namespace carbon
