// The model that a server or libcarbon has loaded, as verbs need it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/engine/loaded_model.hpp"
#include "tokenizer/hybrid.hpp"

namespace carbon {

class ServedModel {
 public:
  /// `drafts`: null, or the draft model. `names`: under which the model is served; none: its own id.
  /// Throws Error for auto_dna_tags if the family of the model has no such tags.
  ServedModel(LoadedModels& models, LoadedModels* drafts, std::vector<std::string> names, bool auto_dna_tags);

  const LoadedModel& model() const { return models_.front(); }
  const LoadedModel* draft() const { return drafts_ ? &drafts_->front() : nullptr; }
  const ModelConfig& config() const { return model().config(); }
  size_t devices() const { return models_.size(); }
  const HybridTokenizer& tokenizer() const { return tokenizer_; }
  bool auto_dna_tags() const { return auto_dna_tags_; }
  const std::vector<std::string>& names() const { return names_; }
  const std::string& name() const { return names_.front(); }
  /// Seconds since 1970 when the model was loaded.
  int64_t created() const { return created_; }

 private:
  LoadedModels& models_;
  LoadedModels* drafts_;
  std::vector<std::string> names_;
  bool auto_dna_tags_;
  int64_t created_;
  HybridTokenizer tokenizer_;
};

}  // namespace carbon
