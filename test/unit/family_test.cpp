// Families as values: where their ids lie, their text, their files, their metadata, and the prompts of both.
#include "tokenizer/family.hpp"

#include <doctest/doctest.h>

#include "src/embed/run.hpp"
#include "src/generate/prompt.hpp"
#include "src/model/config.hpp"
#include "src/model/digest.hpp"
#include "src/model/vocabulary_files.hpp"
#include "src/score/planner.hpp"
#include "src/vep/recipe.hpp"
#include "test/unit/model_fixture.hpp"
#include "tokenizer/hybrid.hpp"
#include "tokenizer/metadata_tags.hpp"
#include "tokenizer/token_text.hpp"

using namespace carbon;
using namespace model_test;
using Ids = std::vector<uint32_t>;

namespace {

const TokenLayout kCarbon, kDnaOnly{0, 4224}, kGenerator = generator_layout();

/// A GENERator without weights.
TestModel generator_model() {
  TestModel model;
  model.config["architectures"] = {"GENERatorForCausalLM"};
  model.config["vocab_size"] = 4128;
  model.dna_config = nullptr;
  return model;
}

struct GeneratorFiles {
  TestModel model = generator_model();
  json tokenizer = {{"tokenizer_class", "DNAKmerTokenizer"}, {"k", 6}};
  bool with_ids = true;
  std::string vocabulary = "made";

  std::string lines() const {
    std::string text;
    for (uint32_t id = 0; id < 4128; ++id) {
      text += id < 32 ? std::string(kGeneratorTokens[id]) : kmer_text(id - 32, 6);
      text += with_ids ? " " + std::to_string(id) + "\n" : "\n";
    }
    return text;
  }
  std::string load(ModelConfig* config = nullptr) const {
    const TempDir dir;
    model.write_configs(dir.path());
    if (!tokenizer.is_null()) write_text(dir.path() / "tokenizer_config.json", tokenizer.dump());
    if (!vocabulary.empty())
      write_text(dir.path() / "vocab.txt", vocabulary == "made" ? lines() : vocabulary);
    return message_of([&] {
      const ModelConfig read = load_config(dir.str());
      if (config) *config = read;
    });
  }
};

/// The lines with one of them replaced.
std::string with_line(std::string text, size_t number, const std::string& line) {
  size_t begin = 0;
  for (size_t i = 1; i < number; ++i) begin = text.find('\n', begin) + 1;
  return text.replace(begin, text.find('\n', begin) - begin, line);
}

ModelConfig config_of(const TokenLayout& layout) {
  ModelConfig config;
  config.layout = layout;
  config.layers = 2;
  config.max_positions = 20;
  return config;
}

}  // namespace

TEST_CASE("family: where the ids of both lie") {
  CHECK(kCarbon.begin() == 151669);
  CHECK(kCarbon.separator() == 151670);
  CHECK(kCarbon.oov() == 151671);
  CHECK(kCarbon.kmer0() == 151672);
  CHECK(kCarbon.start() == Ids{151669});
  CHECK(kCarbon.start({27, 29}) == Ids{27, 29, 151669});
  CHECK(kCarbon.metadata() == MetadataKind::text);
  CHECK(kDnaOnly.metadata() == MetadataKind::none);
  CHECK_FALSE(kDnaOnly.is_metadata(0));
  CHECK(kGenerator.vocab_size == 4128);
  CHECK(kGenerator.begin() == 1);
  CHECK(kGenerator.separator() == 1);
  CHECK(kGenerator.oov() == 0);
  CHECK(kGenerator.kmer0() == 32);
  CHECK(kGenerator.kmer_end() == 4128);
  CHECK(kGenerator.start() == Ids{1});
  CHECK(kGenerator.start({17, 11}) == Ids{1, 17, 11});
  CHECK(kGenerator.metadata() == MetadataKind::tokens);
  CHECK(kGeneratorTokens[17] == "<mam>");
  CHECK(kGeneratorTokens[31] == "<sp2>");
  for (const uint32_t id : {0U, 1U, 2U, 4U, 32U, 4127U}) CHECK_FALSE(kGenerator.is_metadata(id));
  for (const uint32_t id : {5U, 17U, 31U}) CHECK(kGenerator.is_metadata(id));
  CHECK(kGenerator.same_metadata(generator_layout()));
  CHECK_FALSE(kGenerator.same_metadata(kDnaOnly));
}

TEST_CASE("family: a rest of one to five bases is padded, or is <oov>") {
  for (size_t rest = 1; rest < 6; ++rest) {
    const std::string bases = "GGGGGG" + std::string(rest, 'T');
    const auto padded =
        static_cast<uint32_t>(kmer_index(std::string(rest, 'T') + std::string(6 - rest, 'A'), 6));
    CHECK(encode_kmers(bases, kCarbon) == Ids{155767, 151672 + padded});
    CHECK(encode_kmers(bases, kGenerator) == Ids{4127, 0});
  }
  CHECK(encode_kmers("acgtacNACGTA", kGenerator) ==
        Ids{32 + static_cast<uint32_t>(kmer_index("ACGTAC", 6)), 0});
}

TEST_CASE("family: a score has the same inputs, whatever becomes of a rest") {
  for (size_t length = 1; length < 14; ++length) {
    const std::string bases = std::string("ACGTTGCAACGTTA").substr(0, length);
    const SlidingWindow window{0, 0, length};
    const RequestPtr carbon = window_request(bases, window, ScoreLevel::base, kDnaOnly);
    const RequestPtr generator = window_request(bases, window, ScoreLevel::base, kGenerator);
    REQUIRE(generator->tokens.size() == (length + 5) / 6);
    CHECK(generator->tokens[0] == 1);
    for (size_t i = 1; i < generator->tokens.size(); ++i)
      CHECK(generator->tokens[i] - 32 == carbon->tokens[i] - 3);
  }
}

TEST_CASE("family: the text of single tokens and capital letters") {
  const auto ids = [](const std::string& text) { return encode_token_text(text, kGenerator).ids; };
  const auto kmer = [](const char* six) { return 32 + static_cast<uint32_t>(kmer_index(six, 6)); };
  CHECK(ids("") == Ids{});
  CHECK(ids("<s>AAAAAATTTTTT") == Ids{1, 32, 1397});
  CHECK(ids("<s>ACGTNACGTNAC") == Ids{1, 0, 0});
  CHECK(ids("<mam><cds>GGGGGG</s>") == Ids{17, 11, 4127, 2});
  CHECK(ids("ACGTACACG<s>ACG") == Ids{kmer("ACGTAC"), 0, 1, 0});  // a token ends a run of letters
  CHECK(ids("acgtac") == Ids{0, 0, 0, 0, 0, 0});                  // no capital letters: one by one
  CHECK(ids("ACGtACGTAC") == Ids{0, 0, kmer("ACGTAC")});
  CHECK(ids("<dna>") == Ids{0, 0, 0, 0, 0});
  CHECK(ids("\xC3\x84 \n") == Ids{0, 0, 0});  // a character of two bytes is one
  CHECK(encode_token_text("<s>ACGTACAC", kGenerator).mask == std::vector<int8_t>{0, 6, 0});

  CHECK(decode_token_text({1, 17, 0, 32, 1397, 2, 9999}, false, kGenerator) ==
        "<s><mam><oov>AAAAAATTTTTT</s><oov>");
  CHECK(decode_token_text({1, 17, 0, 32, 2}, true, kGenerator) == "<mam>AAAAAA");

  const HybridTokenizer tokenizer(kGenerator, nullptr);
  CHECK(tokenizer.encode("<s>GGGGGG").ids == Ids{1, 4127});
  CHECK(tokenizer.decode({1, 4127}) == "<s>GGGGGG");
  CHECK(contains(message_of([&] { tokenizer.encode("GGGGGG", true); }), "has no <dna> tags to add"));
  CHECK(contains(message_of([&] { tokenizer.encode("\xff"); }), "UTF-8"));
}

TEST_CASE("family: metadata is text here and tokens there") {
  CHECK(metadata_token_ids("<mam><cds><+>", kGenerator) == Ids{17, 11, 9});
  CHECK(metadata_token_ids("", kGenerator) == Ids{});
  for (const char* text :
       {"<s>", "<oov>", "</s>", "<mask>", "<mam>ACGTAC", "mam", "<MAM>", "<mam> <cds>", "<"})
    CHECK(contains(message_of([&] { metadata_token_ids(text, kGenerator); }), "consists of single tokens"));

  CHECK(metadata_text(kGenerator, {"vertebrate_mammalian", "protein_coding_region", {}}) == "<mam><cds>");
  CHECK(metadata_text(kGenerator, {"protozoa", "", {}}) == "<prt>");
  CHECK(metadata_text(kGenerator, {"", "ribosomal_rna", {}}) == "<rRNA>");
  CHECK(metadata_text(kCarbon, {"protozoa", "", {}}) == "<species>protozoa");
  CHECK(contains(message_of([] {
                   metadata_text(kGenerator, {"", "transfer_messenger_rna", {}});
                 }),
                 "GENERator has no token for the gene type transfer_messenger_rna"));
  CHECK(contains(message_of([] {
                   metadata_text(kGenerator, {"fungi", "", TagGrammar::card});
                 }),
                 "there is no grammar to choose"));
  CHECK(contains(message_of([] { check_metadata_names({"mouse", "", {}}); }), "unknown species 'mouse'"));
}

TEST_CASE("family: a GENERator's files are read and checked") {
  GeneratorFiles files;
  ModelConfig config;
  REQUIRE(files.load(&config) == "no error");
  CHECK(config.layout.family == &kGeneratorFamily);
  CHECK(config.layout.kmer0() == 32);
  CHECK(contains(config_fingerprint(config), "family=GENERator\n"));
  CHECK_FALSE(contains(config_fingerprint(config_of(kDnaOnly)), "family"));
  files.with_ids = false;
  CHECK(files.load() == "no error");
  files.model.config["architectures"] = {"LlamaForCausalLM"};
  REQUIRE(files.load(&config) == "no error");
  CHECK(config.layout.family == &kGeneratorFamily);
  files.tokenizer = nullptr;
  CHECK(contains(files.load(), "without dna_config.json only the released vocabulary"));
  files.model.config["architectures"] = {"GENERatorForCausalLM"};
  files.vocabulary = "";
  CHECK(files.load() == "no error");  // the name of the architecture says all
}

TEST_CASE("family: files of another tokenizer are refused with their place") {
  const GeneratorFiles good;
  const auto refused = [](const GeneratorFiles& files, const char* message) {
    CAPTURE(message);
    const std::string said = files.load();
    CAPTURE(said);
    CHECK(contains(said, message));
  };
  GeneratorFiles files = good;
  files.model.config["vocab_size"] = 4224;
  refused(files, "vocab_size 4224: must be 4128");
  files = good;
  files.model.config["bos_token_id"] = 2;
  refused(files, "bos_token_id 2: must be an integer from 1 to 1");
  files = good;
  files.model.dna_config = TestModel().dna_config;
  refused(files, "dna_config.json belongs to that of Carbon");
  files = good;
  files.tokenizer["tokenizer_class"] = "OtherTokenizer";
  refused(files, "tokenizer_config.json: tokenizer_class is \"OtherTokenizer\"");
  files.tokenizer = {{"tokenizer_class", "DNAKmerTokenizer"}, {"k", 1}};
  refused(files, "tokenizer_config.json: k is 1; only tokenizers of 6 bases");
  files.tokenizer.erase("k");
  refused(files, "k is missing");
  files.tokenizer = json::array();
  refused(files, "is not a JSON object");

  const std::string lines = good.lines();
  files = good;
  files.vocabulary = with_line(lines, 18, "<mouse> 17");
  refused(files, "vocab.txt: line 18 is '<mouse> 17' and must be '<mam> 17'");
  files.vocabulary = with_line(lines, 34, "AAAAAC 33");
  refused(files, "line 34 is 'AAAAAC 33' and must be 'AAAAAT 33'");
  files.vocabulary = with_line(lines, 34, "AAAAAT 34");
  refused(files, "line 34 is");
  files.vocabulary = with_line(lines, 40, "AAAAAT");
  refused(files, "line 40 is 'AAAAAT' and must be");
  files.vocabulary = with_line(lines, 33, std::string(100000, 'A'));
  refused(files, "line 33 is");
  files.vocabulary = with_line(lines, 33, std::string("AAAAAA 32\0x", 11));
  refused(files, "line 33 is");
  files.vocabulary = lines.substr(0, lines.size() / 2);
  refused(files, "line ");
  files.vocabulary = lines + "AAAAAA 4128\n";
  refused(files, "has more lines than the 4128 tokens");
  files.vocabulary = "\n";
  refused(files, "line 1 is '' and must be '<oov>'");
  files.vocabulary = lines.substr(0, lines.size() - 1);
  CHECK(files.load() == "no error");  // the last line may lack its end

  const TempDir dir;
  good.model.write_configs(dir.path());
  fs::create_directory(dir.path() / "vocab.txt");
  CHECK(contains(message_of([&] { load_config(dir.str()); }), "vocab.txt: is not a regular file"));
}

TEST_CASE("family: prompts begin with one <s> and tokens after it") {
  const ModelConfig model = config_of(kGenerator), carbon = config_of(kDnaOnly);
  GenerateOptions options;
  options.length = 6;
  const auto kmer = [](const char* six) { return 32 + static_cast<uint32_t>(kmer_index(six, 6)); };
  const PromptPlanner planner(with_metadata(model, {17, 11}), &model, options);
  const Prompt prompt = planner.plan(0, {"p", "acgtacGGGGGGTTT"});
  CHECK(prompt.context == Ids{1, 17, 11, kmer("ACGTAC"), 4127});
  CHECK(prompt.first_kmer == 3);
  CHECK(prompt.bases->given == 3);  // the rest begins the first new 6-mer and is no input
  CHECK(*prompt.draft_context == prompt.context);
  CHECK(planner.plan_unconditional().context == Ids{1, 17, 11});

  const PromptPlanner plain(model, nullptr, options);
  const Prompt ids = plain.plan_ids(0, "p", Ids{1, 17, 40, 0, 41, 1});
  CHECK(ids.context == Ids{1, 17, 40, 0, 41});  // the last <s> separates
  CHECK(ids.first_kmer == 2);
  CHECK(ids.sequence == kmer_text(8, 6) + "NNNNNN" + kmer_text(9, 6));
  CHECK(plain.plan_ids(0, "p", Ids{1}).context == Ids{1});
  CHECK(plain.plan_ids(0, "p", Ids{1, 1}).context == Ids{1});
  const auto refused = [&](const Ids& given, const char* message) {
    CHECK_THROWS_WITH_AS(plain.plan_ids(0, "p", given), doctest::Contains(message), Error);
  };
  refused({40, 41}, "prompt p has no <s>; give its id, 1, before the 6-mers");
  refused({17, 1, 40}, "token 1 of prompt p, id 17, stands before <s>, which comes first");
  refused({1, 1, 40}, "token 2 of prompt p, id 1, is a second <s>; a prompt has one, at token 1");
  refused({1, 40, 17}, "token 3 of prompt p, id 17, stands after <s> and is not one of a 6-mer");
  refused({1, 2}, "token 2 of prompt p, id 2, stands after <s>");
  refused({1, 4128}, "expected 32 to 4127, or 0 for <oov>");

  const PromptPlanner mixed(model, &carbon, options), swapped(carbon, &model, options);
  CHECK(*mixed.plan_ids(0, "p", Ids{1, 40, 0}).draft_context == Ids{0, 11, 2});
  CHECK(*swapped.plan_ids(0, "p", Ids{0, 11, 2}).draft_context == Ids{1, 40, 0});
  CHECK(*mixed.plan(0, {"p", "AAAAAANNNNNN"}).draft_context == Ids{0, 3, 2});
  CHECK_THROWS_WITH_AS(mixed.plan_ids(0, "p", Ids{1, 17, 40}),
                       doctest::Contains("cannot read the 1 token after <s> of prompt p"), Error);
}

TEST_CASE("family: embeddings end with the separator, and no tail is padded where none can be") {
  const auto tokens = [](const TokenLayout& layout, Pool pool) {
    EmbedOptions options;
    options.pooling.pool = pool;
    return EmbedPlanner(config_of(layout), options).plan("s", "AAAAAAGG").requests.front()->tokens;
  };
  CHECK(tokens(kGenerator, Pool::separator) == Ids{1, 32, 1});
  CHECK(tokens(kGenerator, Pool::last) == Ids{1, 32});
  CHECK(tokens(kDnaOnly, Pool::separator) == Ids{0, 3, 1});
  EmbedOptions padded;
  padded.pooling.pad_tail = true;
  CHECK(contains(message_of([&] { EmbedPlanner(config_of(kGenerator), padded); }), "pads no 6-mer"));
  CHECK(message_of([&] { EmbedPlanner(config_of(kDnaOnly), padded); }) == "no error");
}

TEST_CASE("family: the context of next-token is that of the authors") {
  const auto context = [](const TokenLayout& layout, std::optional<int64_t> given) {
    ModelConfig config = config_of(layout);
    config.max_positions = 8192;
    RecipeSettings settings;
    settings.recipes = {"next-token"};
    settings.context = given;
    return settings_of(*make_recipes(settings, config).at(0)).at(1);
  };
  using Setting = std::pair<std::string, std::string>;
  CHECK(context(kCarbon, {}) == Setting("context", "24000"));
  CHECK(context(kGenerator, {}) == Setting("context", "8192"));
  CHECK(context(kGenerator, 24000) == Setting("context", "24000"));
}
