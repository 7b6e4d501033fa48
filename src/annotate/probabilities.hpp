// The probability of every base of a contig to be coding, on both strands.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/files/temporary_files.hpp"

namespace carbon {

class BigwigReader;

/// In coordinates of the contig, for both strands. For one thread. All functions throw Error.
class Probabilities {
 public:
  virtual ~Probabilities() = default;
  virtual int64_t bases() const = 0;
  virtual void read(bool reverse, int64_t begin, std::span<float> values) const = 0;
};

/// Those of one contig at a time: in memory, or, if it is long, in a temporary file.
class ScratchProbabilities final : public Probabilities {
 public:
  /// Contigs of more bases than this have theirs in a file below $TMPDIR, of 8 bytes for each base.
  static constexpr int64_t kMostInMemory = int64_t{1} << 25;

  /// All are 0.
  explicit ScratchProbabilities(int64_t bases, int64_t most_in_memory = kMostInMemory);
  ~ScratchProbabilities() override;
  ScratchProbabilities(const ScratchProbabilities&) = delete;
  ScratchProbabilities& operator=(const ScratchProbabilities&) = delete;

  int64_t bases() const override { return bases_; }
  void write(bool reverse, int64_t begin, std::span<const float> values);
  void read(bool reverse, int64_t begin, std::span<float> values) const override;

 private:
  uint64_t place(bool reverse, int64_t begin) const;

  int64_t bases_;
  std::array<std::vector<float>, 2> values_;
  std::optional<PrivateDirectory> folder_;  // with the file
  std::string path_;
  int fd_ = -1;
};

/// Fills the probabilities of one strand of a contig from a bigWig, in which it has the same length. Returns
/// how many bases have no value there; theirs is 0. Throws Error for a value outside 0 to 1.
int64_t read_track(const BigwigReader& track, const std::string& path, const std::string& contig,
                   bool reverse, ScratchProbabilities& probabilities);

}  // namespace carbon
