#include "src/model/metadata.hpp"

#include <memory>
#include <optional>

#include "src/base/error.hpp"
#include "src/model/model_files.hpp"
#include "tokenizer/bpe.hpp"
#include "tokenizer/metadata_tags.hpp"
#include "tokenizer/token_text.hpp"

namespace carbon {

std::vector<uint32_t> prefix_ids(const Checkpoint& model, const std::string& text,
                                 const HybridTokenizer* tokenizer) {
  const TokenLayout& layout = model.config().layout;
  if (text.empty()) return {};
  if (layout.metadata() == MetadataKind::none)
    throw Error("metadata",
                "the model " + model.id() + " has a vocabulary of DNA alone and cannot read metadata",
                {"leave out {--prefix}, {--species} and {--gene-type}"});
  const ModelFamily& family = *layout.family;
  for (const std::string_view tag : {family.begin_tag, family.separator_tag})
    if (text.find(tag) != std::string::npos)
      throw Error("metadata",
                  "the metadata text has " + std::string(tag) + " in it; give only the text " +
                      (family.metadata_place == 0 ? "before " : "that stands after ") +
                      std::string(family.begin_tag),
                  {"correct {--prefix}"});
  if (layout.metadata() == MetadataKind::tokens) return metadata_token_ids(text, layout);
  if (layout.first == TokenLayout{}.first)
    if (std::optional<std::vector<uint32_t>> ids = known_tag_ids(text)) return *ids;
  const std::string& dir = model.dir();
  const std::shared_ptr<const Bpe> bpe = tokenizer ? nullptr : load_text_tokenizer(dir);
  if (tokenizer ? !tokenizer->reads_text() : !bpe)
    throw Error("metadata", "the metadata text '" + text + "' is not a known tag and " + dir +
                                " has no tokenizer files; put tokenizer.json, or vocab.json and merges.txt, "
                                "into the directory " +
                                text_tokenizer_directory(dir));
  return (tokenizer ? *tokenizer : HybridTokenizer(layout, bpe)).encode(text).ids;
}

}  // namespace carbon
