// Refuses what a model cannot be used for, and reads metadata. See model_use.hpp.
#include "src/model/model_use.hpp"

#include <memory>
#include <optional>
#include <string_view>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/model/model_files.hpp"
#include "tokenizer/bpe.hpp"
#include "tokenizer/hybrid.hpp"
#include "tokenizer/metadata_tags.hpp"
#include "tokenizer/token_text.hpp"

namespace carbon {

void check_use(const Checkpoint& checkpoint, ModelUse use) {
  if (use == ModelUse::any) return;
  const auto& classifier = checkpoint.config().classifier;
  const bool annotates = checkpoint.config().annotator.has_value();
  if (annotates && use != ModelUse::coding)
    throw Error(
        "model",
        checkpoint.id() +
            " says which bases are coding, and gives neither probabilities of bases nor hidden states",
        {"use 'carbon annotate'"});
  if (use == ModelUse::coding && !annotates)
    throw Error("model",
                checkpoint.id() +
                    " does not say which bases are coding; annotate needs a model that does, such as "
                    "Carbon-A or an annotator of GENERanno",
                {"name one with {--model}; 'carbon models' shows the family of each"});
  if (use == ModelUse::bases && classifier)
    throw Error("model",
                checkpoint.id() + " has a classification head (" + std::to_string(classifier->labels.size()) +
                    (classifier->labels.size() == 1 ? " label: " : " labels, the first is ") +
                    printable(classifier->labels.front()) +
                    ") instead of an output matrix, so it gives values of labels and hidden states, but no "
                    "probabilities of bases",
                {"use 'carbon predict', 'carbon embed' or 'carbon vep --recipe head'"});
  if (use == ModelUse::labels && !classifier)
    throw Error(
        "model",
        checkpoint.id() + " has no classification head (score.weight), so it predicts bases and no labels",
        {"name a fine-tuned model with {--model}, or its adapter with {--lora}; 'carbon models' shows "
         "labels"});
}

bool bundled_model_serves(ModelUse use, bool adapted) {
  return use != ModelUse::coding && (use != ModelUse::labels || adapted);
}

void check_bundled_use(ModelUse use, bool adapted) {
  if (bundled_model_serves(use, adapted)) return;
  if (use == ModelUse::coding)
    throw Error(
        "model", "no model is named, and none that annotates is bundled",
        {"name one, such as HuggingFaceBio/Carbon-A-1.2B, with {--model} or in CARBON_MODEL, or give "
         "probabilities with {--from-tracks}; carbon annotate finds genes in FASTA files, and carbon vep "
         "scores the variants of a VCF"});
  throw Error("model", "no model is named, and none with a classification head is bundled",
              {"name a fine-tuned model with {--model} or in CARBON_MODEL"});
}

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
