// A cache of allele scores between runs, in one SQLite file.
//
// An entry is the log-likelihood ratio of one allele on one strand. Its key is a hash of everything that the
// ratio was computed from: the model, the arithmetic, the recipe and the bases themselves, not file names or
// coordinates. Values are stored exactly, so that a run with the cache writes the same bytes as one without
// it. Several processes may use one file on a local disk at the same time; each process opens it once.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/files/run_files.hpp"
#include "src/model/digest.hpp"
#include "src/vep/variant.hpp"

namespace carbon {

/// SHA-256 of everything that a score is computed from.
using ScoreKey = Sha256Bytes;

/// The result of looking up one allele on one strand. If there is no value, the score is to be computed and
/// inserted under the key.
struct CachedScore {
  ScoreKey key{};
  std::optional<double> llr;
};

class ScoreCache {
 public:
  /// Opens the file, or makes it if there is none. `identity` names everything that the scores of this run
  /// depend on besides recipe, strand and sequences. Throws Error for a file that is not a score cache, is
  /// damaged or cannot be written; the file is then not changed.
  ScoreCache(const std::string& path, std::string identity);
  ~ScoreCache();

  /// Only one thread may call it. Throws Error.
  CachedScore look_up(std::string_view recipe, Strand strand,
                      std::initializer_list<std::string_view> sequences);
  /// Only one thread may call these two; it may be another thread than that of look_up(). Entries are written
  /// many at a time, the last ones by flush(). Throws Error.
  void insert(const ScoreKey& key, double llr);
  void flush();

  /// How often look_up() was called, and how often it found a value.
  uint64_t looked_up() const { return looked_up_; }
  uint64_t found() const { return found_; }

 private:
  class Connection;
  static void make_file(const std::string& path);
  ScoreKey key(std::string_view recipe, Strand strand,
               std::initializer_list<std::string_view> sequences) const;

  std::string identity_;
  OutputClaim claim_;
  std::unique_ptr<Connection> reader_, writer_;  // a connection is used by one thread only
  std::vector<std::pair<ScoreKey, double>> pending_;
  uint64_t looked_up_ = 0, found_ = 0;
};

}  // namespace carbon
