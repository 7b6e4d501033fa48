// The decoder against an enumeration of all genes, and against itself with other checkpoints.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "src/annotate/decoder.hpp"
#include "src/base/error.hpp"
#include "test/reference/gene_sets.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

class Draw {
 public:
  explicit Draw(uint32_t seed) : bits_(seed) {}
  int64_t number(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(bits_() % static_cast<uint64_t>(most - least + 1));
  }
  template <class T>
  T of(const std::vector<T>& items) {
    return items[static_cast<size_t>(number(0, static_cast<int64_t>(items.size()) - 1))];
  }

 private:
  std::mt19937_64 bits_;
};

constexpr int kCodes[] = {1,  2,  3,  4,  5,  6,  9,  10, 11, 12, 13, 14,
                          15, 16, 21, 22, 23, 24, 25, 26, 29, 30, 32, 33};

/// A strand in reading direction, which may be the reverse one of its contig.
struct Example {
  std::string letters;
  std::vector<float> probabilities;

  DecodedStrand decoded(const GeneRules& rules, bool reverse, int64_t spacing) const {
    const std::string contig = reverse ? reverse_complement(letters) : letters;
    std::vector<float> values = probabilities;
    if (reverse) std::reverse(values.begin(), values.end());
    const std::vector<Interval> gaps = gaps_of(contig);
    const auto read = [&](int64_t begin, std::span<float> into) {
      std::copy_n(values.begin() + begin, into.size(), into.begin());
    };
    return decode_strand({contig, gaps, reverse, read}, rules, spacing);
  }
};

GeneRules random_rules(Draw& draw, bool introns) {
  GeneRules rules;
  rules.code = draw.of(std::vector<int>(std::begin(kCodes), std::end(kCodes)));
  const std::vector<std::string> stops = reference::stop_codons(rules.code);
  std::string starts = "ATG";
  for (const std::string more : {"GTG", "TTG", "CTG", "ATA"})
    if (draw.number(0, 3) == 0) starts += "," + more;
  rules.starts = starts;
  rules.introns = introns;
  rules.min_intron = draw.number(4, 9);
  rules.max_intron = draw.number(0, 1) == 0 ? 0 : rules.min_intron + draw.number(0, 25);
  rules.gene_cost = draw.of<double>({0, 0, 0.3, 2, 10});
  rules.intron_cost = draw.of<double>({0, 0, 0.7, 3, 10});
  return rules;
}

// Letters with the words of genes more often than by chance, and gaps.
Example random_example(Draw& draw, const GeneRules& rules, int64_t length) {
  std::vector<std::string> words = {"ATG", "ATGA", "GTA", "GT",         "GC",           "AG",
                                    "CAG", "N",    "R",   "NNNNNNNNNN", "NNNNNNNNNNNN", "NNNNNNNNN"};
  for (const std::string& stop : reference::stop_codons(rules.code)) {
    words.push_back(stop);
    words.push_back(stop + "TG");
  }
  Example example;
  const int64_t words_of_ten = draw.number(0, 6);
  while (static_cast<int64_t>(example.letters.size()) < length)
    example.letters +=
        draw.number(0, 9) < words_of_ten ? draw.of(words) : std::string(1, "ACGT"[draw.number(0, 3)]);
  example.letters.resize(static_cast<size_t>(length));
  const std::vector<float> levels = draw.number(0, 1) == 0
                                        ? std::vector<float>{0, 0.5f, 1, 0.9f, 0.1f, 0.7f, 0.62f}
                                        : std::vector<float>{0.99f, 0.9f, 0.8f, 0.7f, 0.5f, 0.3f};
  const bool few = draw.number(0, 2) > 0;
  for (int64_t i = 0; i < length; ++i)
    example.probabilities.push_back(few ? draw.of(levels) : static_cast<float>(draw.number(1, 999)) / 1000);
  return example;
}

// That no gene of the set could be left out at the same score.
void check_needed(const reference::GeneSets& sets, const std::vector<DecodedGene>& genes, int64_t score) {
  for (size_t i = 0; i < genes.size(); ++i) {
    std::vector<DecodedGene> fewer = genes;
    fewer.erase(fewer.begin() + static_cast<long>(i));
    if (sets.allowed(fewer)) CHECK(sets.total(fewer) < score);
  }
}

struct Seen {
  int sequences = 0, genes = 0, introns = 0, partial = 0, shared = 0;
};

void compare(Draw& draw, bool introns, Seen& seen) {
  const GeneRules rules = random_rules(draw, introns);
  const Example example =
      random_example(draw, rules, draw.number(0, 2) == 0 ? draw.number(1, 60) : draw.number(40, 60));
  std::vector<int64_t> odds;
  for (const float value : example.probabilities) odds.push_back(log_odds_units(value));
  const reference::GeneSets sets(example.letters, odds, rules);
  if (!sets.complete()) return;
  ++seen.sequences;
  CAPTURE(example.letters);
  CAPTURE(rules.code);
  CAPTURE(rules.starts);
  const int64_t spacing = draw.of<int64_t>({1, 2, 3, 7, 16, 1000});
  const DecodedStrand decoded = example.decoded(rules, draw.number(0, 1) == 1, spacing);
  REQUIRE(decoded.score == sets.best());
  REQUIRE(sets.allowed(decoded.genes));
  REQUIRE(sets.total(decoded.genes) == decoded.score);
  check_needed(sets, decoded.genes, decoded.score);
  for (size_t i = 0; i < decoded.genes.size(); ++i) {
    const DecodedGene& gene = decoded.genes[i];
    ++seen.genes;
    seen.introns += static_cast<int>(gene.segments.size()) - 1;
    if (!gene.has_start || !gene.has_stop) ++seen.partial;
    if (i > 0 && gene.begin() < decoded.genes[i - 1].end()) ++seen.shared;
  }
}

}  // namespace

TEST_CASE("the decoder calls the best set of all that an enumeration finds") {
  Draw draw(83);
  Seen seen;
  while (seen.sequences < 2000) compare(draw, true, seen);
  MESSAGE(seen.genes, " genes, ", seen.introns, " introns, ", seen.partial, " partial");
  CHECK(seen.genes > 1000);
  CHECK(seen.introns > 100);
  CHECK(seen.partial > 300);
}

TEST_CASE("and where genes have no introns and share stops") {
  Draw draw(84);
  Seen seen;
  while (seen.sequences < 2000) compare(draw, false, seen);
  MESSAGE(seen.genes, " genes, ", seen.shared, " shared");
  CHECK(seen.genes > 1000);
  CHECK(seen.shared > 30);
}

TEST_CASE("checkpoints change nothing") {
  Draw draw(85);
  for (const int64_t max_intron : {0, 300, 5000}) {
    GeneRules rules;
    rules.max_intron = max_intron;
    rules.gene_cost = 4;
    rules.intron_cost = 1;
    const Example example = random_example(draw, rules, 300'000);
    const DecodedStrand once = example.decoded(rules, false, 1 << 20);
    CHECK(once.genes.size() > 100);
    for (const int64_t spacing : {int64_t{1000}, kCheckpointBases}) {
      const DecodedStrand again = example.decoded(rules, spacing == 1000, spacing);
      CHECK(again.score == once.score);
      CHECK((again.genes == once.genes));
    }
  }
}

TEST_CASE("scores of bases and gaps") {
  CHECK(log_odds_units(0) == -655360);
  CHECK(log_odds_units(1) == 655360);
  CHECK(log_odds_units(0.5f) == 0);
  CHECK(log_odds_units(1e-6f) == -655360);
  CHECK(log_odds_units(0.75f) == 71999);  // ln 3 = 1.0986123, times 65536 = 71998.7
  CHECK(score_units(1.5 / 65536) == 2);
  CHECK(score_units(2.5 / 65536) == 2);
  CHECK(
      (gaps_of("NNNNNNNNNNACGTNNNNNNNNNRYKMSWBDHVACGNNNNNNNNN") == std::vector<Interval>{{0, 10}, {14, 33}}));
  CHECK(gaps_of("").empty());
  CHECK((gaps_of("acgt----------nn") == std::vector<Interval>{{4, 16}}));
}

TEST_CASE("genetic codes") {
  for (const int number : kCodes) {
    const GeneticCode code(number);
    std::vector<std::string> stops;
    const std::string letters = "TCAG";
    for (const char a : letters)
      for (const char b : letters)
        for (const char c : letters)
          if (code.is_stop({letter_number(a), letter_number(b), letter_number(c)}))
            stops.push_back({a, b, c});
    std::vector<std::string> wanted = reference::stop_codons(number);
    std::sort(stops.begin(), stops.end());
    std::sort(wanted.begin(), wanted.end());
    CHECK(stops == wanted);
  }
  for (const int number : {0, 7, 8, 17, 27, 28, 31, 34}) CHECK_THROWS_AS(GeneticCode{number}, SettingError);
  const GeneticCode standard(1);
  CHECK(standard.amino_acid({3, 2, 2}) == 'W');
  CHECK(standard.amino_acid({0, 3, 2}) == 'M');
  CHECK(standard.amino_acid({0, kOtherLetter, 2}) == 'X');
  CHECK(parse_starts("ATG,gtg", standard).size() == 2);
  for (const char* list : {"", "AT", "ATG,", "ATN", "TAA", "ATG,TGA"})
    CHECK_THROWS_AS(parse_starts(list, standard), SettingError);
  CHECK(parse_starts("TGA", GeneticCode(4)).size() == 1);
}

}  // namespace carbon
