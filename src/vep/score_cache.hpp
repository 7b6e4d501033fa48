// Allele scores remembered between runs, in one SQLite file.
//
// An entry is the log-likelihood ratio of one allele on one strand, under a hash of all that it was computed
// from: the model, the arithmetic, the recipe and the bases themselves, not file names or coordinates. Values
// are kept to the bit, so that a run with the cache writes what a run without it would. Several processes may
// use one file on a local disk at the same time; a process opens it once.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/model/digest.hpp"
#include "src/vep/variant.hpp"

namespace carbon {

/// SHA-256 of what a score is computed from.
using ScoreKey = Sha256Bytes;

/// What the cache says of one allele on one strand; without a value it is to be computed and inserted under
/// the key.
struct CachedScore {
  ScoreKey key{};
  std::optional<double> llr;
};

class ScoreCache {
 public:
  /// Opens the file, or makes it if there is none. `identity` is what every score of this run depends on
  /// besides recipe, strand and sequences. Throws Error for a file that is no such cache, is damaged or
  /// cannot be written; its bytes are then as they were.
  ScoreCache(const std::string& path, std::string identity);
  ~ScoreCache();

  /// For one thread.
  CachedScore look_up(std::string_view recipe, Strand strand,
                      std::initializer_list<std::string_view> sequences);
  /// For one thread, which may be another. Entries are written many at a time, the last ones by flush().
  void insert(const ScoreKey& key, double llr);
  void flush();

  /// Of look_up(): calls, and those that found a value.
  uint64_t looked_up() const { return looked_up_; }
  uint64_t found() const { return found_; }

 private:
  class Connection;
  ScoreKey key(std::string_view recipe, Strand strand,
               std::initializer_list<std::string_view> sequences) const;

  std::string identity_;
  std::unique_ptr<Connection> reader_, writer_;  // a connection is used by one thread only
  std::vector<std::pair<ScoreKey, double>> pending_;
  uint64_t looked_up_ = 0, found_ = 0;
};

}  // namespace carbon
