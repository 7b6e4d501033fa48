// The text of a sequence with its metadata tags, for all families: tags, DNA regions, single tokens and
// letters. The last lines of an input are names of a species and of a gene type.
#include "src/model/vocabulary_files.hpp"
#include "test/fuzz/harness.hpp"
#include "tokenizer/hybrid.hpp"
#include "tokenizer/metadata_tags.hpp"
#include "tokenizer/token_text.hpp"
#include "tokenizer/unicode.hpp"

namespace carbon::fuzz {
namespace {

void encode(const TokenLayout& layout, std::string_view text) {
  const HybridTokenizer tokenizer(layout, nullptr);
  for (const bool tags : {false, true}) {
    attempt([&] {
      const Encoding encoding = tokenizer.encode(text, tags);
      require(encoding.ids.size() == encoding.mask.size(), "ids and mask differ in length");
      for (const uint32_t id : encoding.ids) require(id < layout.vocab_size, "an id outside the vocabulary");
      check_utf8(tokenizer.decode(encoding.ids), "fuzz");
    });
  }
}

// With [EOS] and without it.
TokenLayout letter_layout(bool closes) {
  const uint32_t a = closes ? 4 : 3;
  const std::optional<uint32_t> end = closes ? std::optional<uint32_t>(3) : std::nullopt;
  return {0, a + 4, &kMarinFamily, {}, LetterVocabulary{2, 1, end, {a, a + 3, a + 1, a + 2}}};
}

}  // namespace

void run(std::string_view input, const Folder& /*folder*/) {
  const auto files = split_files(input, 2);
  const TokenLayout generator = generator_layout();
  for (const TokenLayout& layout : {TokenLayout(), TokenLayout{0, 4099, &kCarbonFamily}, generator,
                                    letter_layout(false), letter_layout(true)}) {
    encode(layout, files[0]);
    const auto names = split_lines(files[1], 2);
    for (const std::optional<TagGrammar> grammar :
         {std::optional<TagGrammar>(), std::optional(TagGrammar::card), std::optional(TagGrammar::eval)})
      attempt([&] {
        metadata_text(layout, {names.empty() ? "" : names[0], names.size() < 2 ? "" : names[1], grammar});
      });
  }
  known_tag_ids(files[0]);
  attempt([&] {
    for (const uint32_t id : metadata_token_ids(files[0], generator))
      require(generator.is_metadata(id), "a token that describes no sequence");
  });
}

}  // namespace carbon::fuzz
