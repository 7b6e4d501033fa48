#include "src/generate/metadata.hpp"

#include <memory>
#include <optional>

#include "src/base/error.hpp"
#include "tokenizer/bpe.hpp"
#include "tokenizer/metadata_tags.hpp"

namespace carbon {

std::vector<uint32_t> prefix_ids(const LoadedModel& model, const std::string& text,
                                 const HybridTokenizer* tokenizer) {
  const TokenLayout& layout = model.config().layout;
  if (text.empty()) return {};
  if (layout.first == 0)
    throw Error(
        "generate",
        "the model " + model.checkpoint().id() + " has a vocabulary of DNA alone and cannot read metadata",
        {"no_metadata"});
  for (const char* tag : {"<dna>", "</dna>"})
    if (text.find(tag) != std::string::npos)
      throw Error("generate",
                  std::string("the metadata text has ") + tag + " in it; give only the text before <dna>",
                  {"prefix"});
  if (layout.first == TokenLayout{}.first)
    if (std::optional<std::vector<uint32_t>> ids = known_tag_ids(text)) return *ids;
  const std::string& dir = model.checkpoint().dir();
  if (!Bpe::present(dir))
    throw Error("generate", "the metadata text '" + text + "' is not a known tag and " + dir +
                                " has no tokenizer files; put tokenizer.json, or vocab.json and merges.txt, "
                                "into this directory");
  if (tokenizer) return tokenizer->encode(text).ids;
  return HybridTokenizer(layout, std::make_shared<const Bpe>(Bpe::load(dir))).encode(text).ids;
}

bool same_text_ids(const TokenLayout& a, const TokenLayout& b) {
  return a.first == b.first && a.vocab_size == b.vocab_size;
}

void check_draft(const LoadedModel& model, const LoadedModel& draft, const std::string& prefix) {
  if (!prefix.empty() && !same_text_ids(model.config().layout, draft.config().layout))
    throw Error("generate",
                "the draft " + draft.checkpoint().id() + " has another text vocabulary than " +
                    model.checkpoint().id() +
                    " and cannot read the metadata; use a draft model with the same vocabulary, or "
                    "generate without metadata");
}

}  // namespace carbon
