// Recipes against brute-force restatements of docs/conventions.md on small contigs.
#include <doctest/doctest.h>

#include <optional>
#include <random>

#include "src/base/error.hpp"
#include "src/formats/carbon_scores.hpp"
#include "src/score/planner.hpp"
#include "src/vep/recipes/recipes.hpp"
#include "test/unit/alleles.hpp"
#include "tokenizer/kmer.hpp"

using namespace carbon;
using carbon::test::alleles_of;

namespace {

std::string random_bases(std::mt19937& random, size_t n, bool with_n = true) {
  std::string out;
  for (size_t i = 0; i < n; ++i) out += with_n && random() % 15 == 0 ? 'N' : "ACGT"[random() % 4];
  return out;
}

// docs/conventions.md, "Centered windows", literally, on the whole contig. Nothing if there is no such phase.
using Windows = std::optional<std::pair<std::string, std::string>>;

Windows brute_forward(const std::string& contig, const NormalAllele& allele, int64_t w, int64_t f) {
  const auto len = static_cast<int64_t>(contig.size());
  const int64_t p = allele.pos, unclipped = p - w / 2, start = std::max<int64_t>(0, unclipped) + f,
                end = std::min(len, unclipped + f + w);
  if (f > 0 && start > p) return std::nullopt;
  std::string r = contig.substr(start, end - start);
  std::string a = contig.substr(start, p - start) + allele.alt + contig.substr(allele.end());
  const size_t n = std::min(a.size(), r.size());
  return {{r.substr(0, n), a.substr(0, n)}};
}

Windows brute_reverse(const std::string& contig, const NormalAllele& allele, int64_t w, int64_t f) {
  const auto len = static_cast<int64_t>(contig.size());
  const int64_t q0 = allele.end() - 1 + w / 2, q = std::min(len, q0) - f,
                from = std::max<int64_t>(0, q0 - w - f);
  if (f > 0 && q < allele.end()) return std::nullopt;
  std::string r = reverse_complement(contig.substr(from, q - from));
  const std::string all =
      contig.substr(0, allele.pos) + allele.alt + contig.substr(allele.end(), q - allele.end());
  std::string a = reverse_complement(all);  // reading direction: the cut is at its end
  const size_t n = std::min(a.size(), r.size());
  return {{r.substr(0, n), a.substr(0, n)}};
}

}  // namespace

namespace {

RecipeSettings parse_recipe_settings(const std::string& text) {
  return read_recipe_settings([&](const SettingList& list) { return read_settings(text, list); });
}

}  // namespace

TEST_CASE("centered windows equal the words of docs/recipes.md on random contigs") {
  std::mt19937 random(17);
  for (int round = 0; round < 4000; ++round) {
    const std::string contig = random_bases(random, 1 + random() % 60);
    const int64_t window = 12 + 2 * static_cast<int64_t>(random() % 15);
    const auto pos = static_cast<int64_t>(random() % contig.size());
    const size_t ref_length = 1 + random() % std::min<size_t>(contig.size() - pos, window / 2);
    const std::string ref = contig.substr(pos, ref_length);
    const std::vector<NormalAllele> alleles = alleles_of(
        pos, ref, {random_bases(random, 1 + random() % (window / 2), false), random_bases(random, 1, false)});
    const auto len = static_cast<int64_t>(contig.size());
    const int64_t from = std::max<int64_t>(0, centered_begin(pos, window)),
                  to = std::min(len, centered_end(pos, window));
    const ReferenceSlice slice{from, len, contig.substr(from, to - from)};
    for (const Strand strand : {Strand::forward, Strand::reverse}) {
      for (int phase = 0; phase < kMostPhases; ++phase) {
        for (size_t i = 0; i < alleles.size(); ++i) {
          const Windows wanted = strand == Strand::forward ? brute_forward(contig, alleles[i], window, phase)
                                                           : brute_reverse(contig, alleles[i], window, phase);
          REQUIRE(centered_has_phase(alleles[i], len, window, strand, phase) == wanted.has_value());
          if (!wanted) continue;
          const CenteredWindows got = centered_windows(alleles, slice, window, strand, phase);
          REQUIRE(got.alternatives[i] == wanted->second);
          REQUIRE(got.reference.substr(0, wanted->second.size()) == wanted->first);
        }
      }
    }
  }
}

TEST_CASE("an SNV away from contig ends has the published window, and strands mirror each other") {
  std::mt19937 random(3);
  const std::string contig = random_bases(random, 20000, false);
  const int64_t pos = 9000;
  const ReferenceSlice slice{0, 20000, contig};
  const std::string ref = contig.substr(pos, 1), alt = ref == "A" ? "C" : "A";
  const CenteredWindows forward =
      centered_windows(alleles_of(pos, ref, {alt}), slice, 8192, Strand::forward, 0);
  CHECK(forward.reference == contig.substr(pos - 4096, 8192));
  CHECK(forward.alternatives[0][4096] == alt[0]);
  const CenteredWindows reverse =
      centered_windows(alleles_of(pos, ref, {alt}), slice, 8192, Strand::reverse, 0);
  CHECK(reverse.reference == reverse_complement(forward.reference));
  CHECK(reverse.alternatives[0] == reverse_complement(forward.alternatives[0]));
}

TEST_CASE("next-token context: N's dropped, then a multiple of 6 from the right") {
  const std::string contig = "NNNACGTACGTACGTTTGCANN";
  const ReferenceSlice slice{0, static_cast<int64_t>(contig.size()), contig};
  CHECK(next_token_context(17, slice, 24000, Strand::forward, 6) == contig.substr(5, 12));
  CHECK(next_token_context(17, slice, 7, Strand::forward, 6) == contig.substr(11, 6));
  CHECK(next_token_context(5, slice, 24000, Strand::forward, 6).empty());
  CHECK(next_token_context(0, slice, 24000, Strand::forward, 6).empty());
  // Right of position 5 lies GTACGTACGTTTGCANN; read on the other strand its NN comes first.
  const std::string right = reverse_complement(contig.substr(6, 14));
  CHECK(next_token_context(5, slice, 24000, Strand::reverse, 6) == right.substr(right.size() % 6));
  CHECK(
      next_token_context(static_cast<int64_t>(contig.size()) - 1, slice, 24000, Strand::reverse, 6).empty());
}

TEST_CASE("flags come in the documented order") {
  const ReferenceSlice slice{0, 10, "ACGTNACGTA"};
  const auto flag = [&](int64_t pos, const char* ref, const char* alt, int64_t length = 10) {
    const Variant variant{pos, ref, {alt}};
    return std::string(flag_name(classify_allele(alt, check_record(variant, length, slice))));
  };
  CHECK(flag(0, "A", "C") == "");
  CHECK(flag(0, "A", "C", -1) == "no_contig");
  CHECK(flag(-1, "A", "<DEL>") == "edge");
  CHECK(flag(10, "A", "C") == "edge");
  CHECK(flag(9, "AC", "A") == "edge");
  CHECK(flag(0, "C", "<DEL>") == "symbolic");
  CHECK(flag(0, "A", "<*>") == "symbolic");
  CHECK(flag(0, "A", "A[CHR2:5[") == "symbolic");
  CHECK(flag(0, "A", ".A") == "symbolic");
  CHECK(flag(0, "C", "*") == "star");
  CHECK(flag(4, "N", "A") == "non_acgt");
  CHECK(flag(4, "A", "C") == "non_acgt");
  CHECK(flag(0, "C", "R") == "non_acgt");
  CHECK(flag(0, "C", "G") == "ref_mismatch");
  CHECK(NormalAllele{0, "A", "ACGTACG"}.length() == 7);
  CHECK(NormalAllele{0, "ACG", "AC"}.length() == 3);
}

TEST_CASE("sliding windows: every base once, from the earliest window that reaches it") {
  for (const size_t window : {6u, 12u, 60u, 66u}) {
    for (size_t stride = 6; stride <= window; stride += 6) {
      for (size_t length = 0; length < 200; ++length) {
        size_t covered = 0;
        const auto windows = sliding_windows(length, window, stride);
        for (size_t i = 0; i < windows.size(); ++i) {
          REQUIRE(windows[i].begin == i * stride);
          REQUIRE(windows[i].take == covered);
          REQUIRE(windows[i].end == std::min(length, windows[i].begin + window));
          REQUIRE((windows[i].take - windows[i].begin) % 6 == 0);
          REQUIRE(windows[i].end > covered);
          covered = windows[i].end;
        }
        REQUIRE(covered == length);
      }
    }
  }
  CHECK(default_window(8192, 6) == 49140);
  CHECK(default_window(32768, 6) == 49140);
  CHECK(default_window(1024, 6) == 6132);
  CHECK(default_stride(49140, 6) == 24570);
  CHECK(default_stride(6, 6) == 6);
}

TEST_CASE("settings of recipes: read from text, and as header lines have them") {
  ModelConfig config;
  config.max_positions = 8192;
  config.layout = {0, 4099, &kCarbonFamily};
  const auto text = [&](const std::string& settings) {
    std::string all;
    for (const std::string& tag : tag_settings(make_recipes(parse_recipe_settings(settings), config)))
      all += (all.empty() ? "" : "; ") + tag;
    return all;
  };
  CHECK(text("") == "Recipe=centered,Window=8192,Phases=auto,Strand=both");
  CHECK(text("recipe=next-token") == "Recipe=next-token,Context=24000,Strand=+");
  CHECK(text("  recipe=anchored,centered,next-token window=48\thorizon=6,0 phases=6 strand=- ") ==
        "Recipe=centered,Window=48,Phases=6,Strand=-; Recipe=next-token,Context=24000,Strand=-; "
        "Recipe=anchored,Phases=6,Context=4098,Horizon=0+6,Strand=-; "
        "Recipe=anchored,Phases=6,Context=4098,Horizon=0+6,Strand=-");
  const auto tags = [&](const std::string& settings) {
    std::string names;
    for (const InfoTag& tag : score_tags(make_recipes(parse_recipe_settings(settings), config), "X"))
      names += (names.empty() ? "" : " ") + tag.id;
    return names;
  };
  CHECK(tags("recipe=next-token,centered") == "X_LLR X_NT");
  CHECK(tags("recipe=anchored") == "X_ALLR");
  CHECK(tags("recipe=anchored horizon=768,96") == "X_ALLR_96 X_ALLR_768");
  CHECK(text("measure=jsd,llr,l2 window=48") ==
        "Recipe=centered,Window=48,Phases=auto,Strand=both; "
        "Recipe=centered,Window=48,Phases=auto,Measure=l2,Horizon=768,Strand=both; "
        "Recipe=centered,Window=48,Phases=auto,Measure=jsd,Horizon=768,Strand=both");
  CHECK(text("measure=l2 horizon=6 strand=+") ==
        "Recipe=centered,Window=8192,Phases=auto,Measure=l2,Horizon=6,Strand=+");
  CHECK(tags("measure=jsd,llr,l2 level=bp,token") == "X_LLR X_LLR_TOKEN X_L2 X_JSD");
  CHECK(tags("measure=jsd") == "X_JSD");
  CHECK(tags("measure=llr") == "X_LLR");
  {
    const RecipeList recipes = make_recipes(parse_recipe_settings("measure=llr,l2 horizon=96"), config);
    CHECK(header_text(settings_of(*recipes[0])) ==
          "Recipe=centered,Window=8192,Phases=auto,Measure=llr+l2,Horizon=96,Strand=both");
    CHECK(recipes[0]->first_measure() == 1);
    CHECK(recipes[0]->has_log_ratios(0));
    CHECK(!recipes[0]->has_log_ratios(1));
  }
  // +auroc and the report find the direction of a score by the ending of its tag.
  for (const char* const recipe : {"recipe=centered level=bp,token measure=llr,l2,jsd", "recipe=next-token",
                                   "recipe=anchored", "recipe=anchored horizon=768,96"})
    for (const InfoTag& tag : score_tags(make_recipes(parse_recipe_settings(recipe), config), "X"))
      CHECK(score_prefix(tag.id) == "X");
  for (const char* const tag :
       {"X_LLR", "X_LLR_TOKEN", "X_L2", "X_JSD", "X_NT", "X_ALLR", "X_ALLR_96", "X_HEAD_K562", "X_HEAD_a.b"})
    CHECK(is_score_tag(tag, "X"));
  for (const char* const tag : {"X_FLAG", "X_LLR_96", "X_ALLR_", "X_ALLR_9x", "Y_LLR", "X_PARTS",
                                "X_CARRIERS", "X_JOINT_EXCESS", "X_PHRED", "X_LLR_PHRED", "X_L2_PHRED", "X_L",
                                "X_ALLR_96_PHRED", "X_HEAD", "X_HEAD_", "X_HEAD_a_PHRED"})
    CHECK(!is_score_tag(tag, "X"));
  for (const char* const wrong : {"recipe=",
                                  "recipe=best",
                                  "recipe=centered,centered",
                                  "strand=x",
                                  "phases=2",
                                  "window=1.5",
                                  "window",
                                  "context=-1",
                                  "horizon=1,,2",
                                  "recipe=anchored horizon=6,6",
                                  "horizon=6",
                                  "other=1",
                                  "recipe=anchored,next-token context=60",
                                  "recipe=head,centered",
                                  "measure=l3",
                                  "measure=l2,l2",
                                  "measure=",
                                  "measure=llr horizon=96",
                                  "measure=l2 horizon=6,12",
                                  "recipe=next-token measure=l2",
                                  "recipe=centered,anchored measure=jsd",
                                  "measure=l2,jsd level=bp"})
    CHECK_THROWS_AS(parse_recipe_settings(wrong), SettingError);
  for (const char* const size : {"measure=l2 horizon=0", "measure=jsd horizon=100"})
    CHECK_THROWS_AS(make_recipes(parse_recipe_settings(size), config), SettingError);
  CHECK_NOTHROW(parse_recipe_settings("recipe=next-token measure=llr"));
  // It reads the head of a model.
  CHECK_THROWS_AS(make_recipes(parse_recipe_settings("recipe=head window=60"), config), SettingError);
}
