// The probability of every base of a contig to be coding, on both strands.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/base/log.hpp"
#include "src/base/long_run.hpp"
#include "src/files/resumable_output.hpp"
#include "src/files/sequence_output.hpp"
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

/// FILE.partial.p: the probabilities of a run that writes to a file, from which --resume continues it also
/// inside a contig. It has 8 bytes for each base of the input so far: P on the forward strand, then on the
/// reverse one. For one thread. All functions throw Error.
class KeptProbabilities {
 public:
  /// `target` is the output of the run. Throws Error as ResumableOutput does.
  KeptProbabilities(const std::string& target, const RunIdentity& run, EarlierRun earlier, Log& log);
  ~KeptProbabilities();
  KeptProbabilities(const KeptProbabilities&) = delete;
  KeptProbabilities& operator=(const KeptProbabilities&) = delete;

  /// What an earlier run has left: the sequences that it has, and of the last one so many bases (`parts`) if
  /// it has not all of them. None without one.
  const std::optional<SequencesDone>& continued() const { return continued_; }
  /// Bases that are in the file.
  uint64_t bases() const { return bases_; }
  [[noreturn]] void fail_mark() const { output_.fail_mark(); }

  /// Adds the values of the next bases.
  void append(std::span<const float> plus, std::span<const float> minus);
  /// Called when everything of the sequences `done`, and nothing else, was added. At most once a second it
  /// becomes what a later run continues from.
  void mark(const SequencesDone& done);
  /// Marks the last of them at once.
  void mark_now();
  /// The file from which --resume continues; "" if there is nothing to continue.
  std::string saved_in() const { return output_.saved() ? output_.path() : ""; }
  /// The `bases` bases from number `first` on, all of which have been added.
  std::unique_ptr<Probabilities> view(uint64_t first, int64_t bases);
  /// Called when the outputs of the run have their names. Removes the file.
  void finish();

 private:
  void flush();

  ResumableOutput output_;
  std::optional<SequencesDone> continued_, unmarked_;
  int fd_ = -1;
  uint64_t bases_ = 0;
  std::vector<float> pending_;
};

}  // namespace carbon
