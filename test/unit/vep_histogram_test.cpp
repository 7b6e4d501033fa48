// The histogram of carbon vep: which tags are counted, and that no file is left of a run that fails.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "src/base/error.hpp"
#include "src/vep/output.hpp"
#include "test/unit/genome_files.hpp"

using namespace carbon;

TEST_CASE("a histogram counts what has a score and a type") {
  VepHistogram histogram({{"A_LLR", 0}, {"A_NT", 2}});
  SiteScores scores;
  scores.values = {{-1.5f, NAN, 0.25f}, {9, 9, 9}, {-1.5f, 2, NAN}};
  for (int i = 0; i < 2; ++i) histogram.add({kTypeSnv, kTypeMnv, std::nullopt}, scores);
  CHECK(histogram.text() ==
        "#TAG\tTYPE\tBIN\tCOUNT\nA_LLR\tsnv\t-150\t2\nA_NT\tsnv\t-150\t2\nA_NT\tmnv\t200\t2\n");
}

TEST_CASE("only the tags that are named are counted, and the file appears at the end") {
  const carbon_test::TemporaryDirectory folder;
  const std::string path = folder.file("h");
  HistogramFile file(path, TemporaryName::unique, {"##first", "##llr"}, {{"X_LLR", 1}});
  SiteScores scores;
  scores.values = {{1}, {-2}};
  file.counts().add({kTypeOther}, scores);
  file.finish();
  CHECK(!std::filesystem::exists(path));
  file.commit();
  CHECK(carbon_test::read_bytes(path) == "##first\n##llr\n#TAG\tTYPE\tBIN\tCOUNT\nX_LLR\tother\t-200\t1\n");
}

TEST_CASE("a histogram without a tag to count is refused and leaves nothing") {
  const carbon_test::TemporaryDirectory folder;
  CHECK_THROWS_AS(HistogramFile(folder.file("h"), TemporaryName::unique, {"##first"}, {}), Error);
  CHECK(folder.entries() == 0);
}
