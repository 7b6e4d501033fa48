// The SQLite file of a score cache. Scores that are added to it must be found the next time.
#include "src/vep/score_cache.hpp"

#include "test/fuzz/harness.hpp"

namespace carbon::fuzz {

void run(std::string_view input, const Folder& folder) {
  const std::string path = folder.put("cache", input);
  {
    ScoreCache cache(path, "fuzz");
    cache.look_up("centered", Strand::forward, {"ACGT", "ACGA"});
    const CachedScore missing = cache.look_up("centered", Strand::reverse, {"ACGT", "ACGA"});
    if (missing.llr) return;
    cache.insert(missing.key, -0.5);
    cache.flush();
  }
  ScoreCache cache(path, "fuzz");
  require(cache.look_up("centered", Strand::reverse, {"ACGT", "ACGA"}).llr == -0.5, "a score that is lost");
}

}  // namespace carbon::fuzz
