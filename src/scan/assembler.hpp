// Brings the values of a base together: the mean over the frames of each strand that have one, then the mean
// of the strands. Bases come out in the order of the contig.
//
// It knows neither files nor formats; those belong to the output.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <vector>

#include "kernels/ops.hpp"
#include "src/scan/planner.hpp"

namespace carbon {

/// A base of the contig that is A, C, G or T, and the log-probabilities of the four letters at its place.
struct ScannedBase {
  const ScanPiece* piece = nullptr;
  int64_t position = 0;                      // 0-based on the contig
  int digit = 0;                             // of the base
  std::array<double, ops::kLetters> logp{};  // natural logs in the order A, T, C, G of the forward strand
};

class ScanAssembler {
 public:
  /// `bases` are those of a token.
  ScanAssembler(std::vector<ScanTrack> tracks, ScanLevel level, size_t bases,
                std::function<void(const ScannedBase&)> take)
      : tracks_(std::move(tracks)),
        level_(level),
        bases_(static_cast<int64_t>(bases)),
        take_(std::move(take)),
        values_(tracks_.size()) {}

  /// Takes the spans of a piece in the order of the planner. Returns how many wanted bases the span has.
  /// Throws Error for a value that is not finite.
  uint64_t consume(const ScanItem& item);

 private:
  using Letters = std::array<double, ops::kLetters>;
  struct Value {
    Letters logp{};
    int digit = -1;
  };

  bool has_value(const ScanTrack& track, int64_t position) const;
  uint64_t keep_values(const ScanItem& item);
  void emit_ready();
  void emit(int64_t position);
  bool add_strand(bool reverse, int64_t position, Value& sum);

  std::vector<ScanTrack> tracks_;
  ScanLevel level_;
  int64_t bases_;
  std::function<void(const ScannedBase&)> take_;
  std::shared_ptr<const ScanPiece> piece_;
  std::vector<std::deque<Value>> values_;  // of each track, in the order of the contig
  int64_t next_ = 0;                       // the next base to emit
};

}  // namespace carbon
