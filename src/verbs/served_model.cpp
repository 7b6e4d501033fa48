#include "src/verbs/served_model.hpp"

#include <chrono>
#include <memory>
#include <utility>

#include "src/generate/prompt.hpp"
#include "src/model/model_files.hpp"
#include "tokenizer/token_text.hpp"

namespace carbon {
namespace {

// Text outside DNA needs the files of the model's tokenizer, which many folders lack.
HybridTokenizer tokenizer_of(const LoadedModel& model) {
  const TokenLayout& layout = model.config().layout;
  const std::string& dir = model.checkpoint().dir();
  return {layout, layout.metadata() == MetadataKind::text ? load_text_tokenizer(dir) : nullptr};
}

}  // namespace

ServedModel::ServedModel(LoadedModels& models, LoadedModels* drafts, std::vector<std::string> names,
                         bool auto_dna_tags)
    : models_(models),
      drafts_(drafts),
      names_(std::move(names)),
      auto_dna_tags_(auto_dna_tags),
      created_(std::chrono::duration_cast<std::chrono::seconds>(
                   std::chrono::system_clock::now().time_since_epoch())
                   .count()),
      tokenizer_(tokenizer_of(models.front())) {
  if (config().layout.metadata() == MetadataKind::tokens || config().layout.letters)
    check_no_dna_tags(auto_dna_tags_, config().layout);
  if (draft()) check_draft(models.front().checkpoint(), draft()->checkpoint(), false);
  if (names_.empty()) names_.push_back(models.front().checkpoint().id());
}

IndexedFasta open_fasta(const std::string& path, Log& log) {
  return or_input_error([&] { return IndexedFasta(path, log); });
}

}  // namespace carbon
