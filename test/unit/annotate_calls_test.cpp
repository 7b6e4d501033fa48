// Probabilities in memory and in a file, calls made of them, and names in GFF3.
// test/cli/annotate_test.py looks at whole outputs.
#include <doctest/doctest.h>

#include <numeric>
#include <string>
#include <vector>

#include "src/annotate/genes.hpp"
#include "src/annotate/probabilities.hpp"

namespace carbon {
namespace {

std::vector<float> read_back(const Probabilities& probabilities, bool reverse) {
  std::vector<float> values(static_cast<size_t>(probabilities.bases()));
  probabilities.read(reverse, 0, values);
  return values;
}

}  // namespace

TEST_CASE("probabilities are the same in memory and in a file") {
  for (const int64_t most : {int64_t{1000}, int64_t{0}}) {
    ScratchProbabilities probabilities(100, most);
    CHECK(read_back(probabilities, false) == std::vector<float>(100, 0));
    CHECK(read_back(probabilities, true) == std::vector<float>(100, 0));
    std::vector<float> values(40);
    std::iota(values.begin(), values.end(), 1.0f);
    probabilities.write(true, 60, values);
    probabilities.write(false, 3, values);
    std::vector<float> wanted(100, 0);
    std::copy(values.begin(), values.end(), wanted.begin() + 60);
    CHECK(read_back(probabilities, true) == wanted);
    std::vector<float> part(2);
    probabilities.read(false, 4, part);
    CHECK(part == std::vector<float>{2, 3});
    probabilities.read(false, 42, part);
    CHECK(part == std::vector<float>{40, 0});
  }
}

TEST_CASE("calls are those of either storage") {
  std::string contig = "CCCC";
  for (int i = 0; i < 30; ++i) contig += i == 0 ? "ATG" : "GCC";
  contig += "TGACCCC";
  const auto bases = static_cast<int64_t>(contig.size());
  for (const int64_t most : {int64_t{1000}, int64_t{0}}) {
    ScratchProbabilities probabilities(bases, most);
    probabilities.write(false, 4, std::vector<float>(93, 0.75f));
    const std::vector<GeneCall> calls = call_genes(contig, probabilities, {}, {});
    REQUIRE(calls.size() == 1);
    CHECK((calls[0].segments == std::vector<Interval>{{4, 97}}));
    CHECK(calls[0].mean == 0.75);
    CHECK(calls[0].coding_sequence(contig) == contig.substr(4, 93));
    const std::vector<GeneCall> runs = call_runs(probabilities, {});
    REQUIRE(runs.size() == 1);
    CHECK((runs[0].segments == std::vector<Interval>{{4, 97}}));
  }
}

TEST_CASE("names in GFF3") {
  CHECK(gff3_name("chr1.2:x^*$@!+_?|-") == "chr1.2:x^*$@!+_?|-");
  CHECK(gff3_name("a,b;c=d&e%f>g\xc3\xa4") == "a%2Cb%3Bc%3Dd%26e%25f%3Eg%C3%A4");
  CHECK(gff3_region("a b", 12) == "##sequence-region a%20b 1 12\n");
}

}  // namespace carbon
