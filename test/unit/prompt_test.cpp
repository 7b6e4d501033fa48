// Prompts of token ids, and the prompts of the same bases.
#include "src/generate/prompt.hpp"

#include <doctest/doctest.h>

#include "src/base/error.hpp"

using namespace carbon;
using Ids = std::vector<uint32_t>;

namespace {

ModelConfig config(TokenLayout layout = {}) {
  ModelConfig model;
  model.layout = layout;
  model.max_positions = 20;
  return model;
}

GenerateOptions new_bases(size_t length) {
  GenerateOptions options;
  options.length = length;
  return options;
}

// Metadata, <dna>, 6-mers.
Ids ids_of(const Ids& metadata, const std::string& bases, const TokenLayout& layout) {
  Ids ids = metadata;
  ids.push_back(layout.begin());
  const Ids kmers = encode_kmers(bases, layout);
  ids.insert(ids.end(), kmers.begin(), kmers.end());
  return ids;
}

constexpr TokenLayout kReleased = {}, kDnaOnly = {0, 4224};

}  // namespace

TEST_CASE("a prompt of ids is that of its bases") {
  const std::string bases = "ACGTACNNACGTTTGACA";
  const ModelConfig model = config(), draft = config(kDnaOnly);
  const PromptPlanner planner(model, &draft, new_bases(10));
  const Prompt wanted = planner.plan(7, {"p", bases});
  Ids ids = ids_of({}, bases, kReleased);
  for (const bool closed : {false, true}) {
    if (closed) ids.push_back(kReleased.separator());  // ends no sequence that goes on
    const Prompt prompt = planner.plan_ids(7, "p", ids);
    CHECK(prompt.record == 7);
    CHECK(prompt.name == "p");
    CHECK(prompt.sequence == "ACGTACNNNNNNTTGACA");
    CHECK(prompt.context == wanted.context);
    REQUIRE(prompt.draft_context);
    CHECK(*prompt.draft_context == *wanted.draft_context);
    CHECK(prompt.draft_context->front() == 0);
    CHECK(prompt.bases->given == 0);
    CHECK(prompt.bases->length == 10);
    CHECK(prompt.bases->sets.empty());
  }
  const Prompt alone = PromptPlanner(model, nullptr, new_bases(10)).plan_ids(7, "p", ids);
  CHECK(alone.context == wanted.context);
  CHECK(!alone.draft_context);
}

TEST_CASE("a prompt of ids brings its own metadata, which the draft reads, too") {
  const ModelConfig model = config(), draft = config();
  const Ids metadata = {13748, 309, 29};
  const PromptPlanner planner(with_metadata(model, metadata), &draft, new_bases(6));
  const Prompt wanted = planner.plan(0, {"p", "ACGTAC"});
  const Prompt prompt = planner.plan_ids(0, "p", ids_of(metadata, "ACGTAC", kReleased));
  CHECK(prompt.context == wanted.context);
  CHECK(*prompt.draft_context == *wanted.draft_context);
  CHECK(planner.plan_ids(0, "p", ids_of({}, "ACGTAC", kReleased)).context.size() == 2);

  const ModelConfig other = config({kReleased.first, kReleased.vocab_size + 128});
  const PromptPlanner mixed(model, &other, new_bases(6));
  CHECK(mixed.plan_ids(0, "p", ids_of({}, "ACGTAC", kReleased)).draft_context->size() == 2);
  CHECK_THROWS_WITH_AS(mixed.plan_ids(0, "p", ids_of(metadata, "ACGTAC", kReleased)),
                       doctest::Contains("cannot read the 3 tokens before <dna> of prompt p"), Error);
}

TEST_CASE("<dna> alone is a prompt of ids") {
  const PromptPlanner planner(config(), nullptr, new_bases(8));
  const Prompt wanted = planner.plan_unconditional();
  for (const Ids& ids : {Ids{kReleased.begin()}, Ids{kReleased.begin(), kReleased.separator()}}) {
    const Prompt prompt = planner.plan_ids(0, "p", ids);
    CHECK(prompt.context == wanted.context);
    CHECK(prompt.sequence.empty());
    CHECK(prompt.bases->kmers() == 2);
  }
}

TEST_CASE("a prompt of ids may be constrained") {
  GenerateOptions options = new_bases(8);
  options.constraint = "ACN";
  const Prompt prompt =
      PromptPlanner(config(), nullptr, options).plan_ids(0, "p", ids_of({}, "ACGTAC", kReleased));
  CHECK(prompt.bases->sets == std::vector<BaseSet>{1, 4, kAnyBase});
}

TEST_CASE("ids of another form are refused with their place") {
  const PromptPlanner planner(config(), nullptr, new_bases(6));
  const uint32_t dna = kReleased.begin(), end = kReleased.separator(), kmer = kReleased.kmer0();
  const auto refused = [&](const Ids& ids, const char* message) {
    CHECK_THROWS_WITH_AS(planner.plan_ids(0, "p", ids), doctest::Contains(message), Error);
  };
  refused({}, "prompt p has no <dna>; give its id, 151669");
  refused({27, 29}, "prompt p has no <dna>");
  refused({end}, "prompt p has no <dna>");
  refused({27, kmer, dna}, "token 2 of prompt p, id 151672, stands before <dna> and is not one of text");
  refused({end, dna}, "token 1 of prompt p, id 151670, stands before <dna>");
  refused({dna, kmer, 27, kmer}, "token 3 of prompt p, id 27, stands after <dna> and is not one of a 6-mer");
  refused({dna, kmer, kReleased.kmer_end()}, "expected 151672 to 155767, or 151671 for <oov>");
  refused({dna, end, kmer}, "token 2 of prompt p, id 151670, stands after <dna>");
  refused({dna, end, end}, "token 2 of prompt p, id 151670, stands after <dna>");
  refused({27, dna, kmer, dna, kmer},
          "token 4 of prompt p, id 151669, is a second <dna>; a prompt has one, at token 2");
  const PromptPlanner dna_only(config(kDnaOnly), nullptr, new_bases(6));
  CHECK_THROWS_WITH_AS(dna_only.plan_ids(0, "p", Ids{5, 0, 7}),
                       doctest::Contains("the model has a vocabulary of DNA alone"), Error);
}

TEST_CASE("a prompt of ids that does not fit names what would") {
  const PromptPlanner planner(config(), nullptr, new_bases(13));
  CHECK(planner.plan_ids(0, "p", ids_of({27, 29}, std::string(90, 'A'), kReleased)).context.size() == 18);
  CHECK_THROWS_WITH_AS(
      planner.plan_ids(0, "p", ids_of({27, 29}, std::string(96, 'A'), kReleased)),
      doctest::Contains("prompt p of 96 bp and 13 new bases do not fit the model's context of "
                        "20 tokens; the largest number of new bases that fits is 12"),
      Error);
  CHECK_THROWS_WITH_AS(planner.plan_ids(0, "p", ids_of({27, 29}, std::string(120, 'A'), kReleased)),
                       doctest::Contains("prompt p has 23 tokens, more than the model's context of 20"),
                       Error);
}
