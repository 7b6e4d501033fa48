// What a door has opened for verbs: the model that a server or libcarbon has loaded, and a FASTA.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "src/base/error.hpp"
#include "src/base/log.hpp"
#include "src/engine/loaded_model.hpp"
#include "src/formats/fasta.hpp"
#include "tokenizer/hybrid.hpp"

namespace carbon {

/// The model, as verbs need it.
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

/// The FASTA of a server, which many requests read. An IndexedFasta serves one thread at a time, and so does
/// this.
class SharedReference {
 public:
  explicit SharedReference(IndexedFasta fasta) : fasta_(std::move(fasta)) {}

  /// Calls `use` while no other thread reads the FASTA.
  void read(const std::function<void(const IndexedFasta&)>& use) {
    const std::lock_guard lock(mutex_);
    use(fasta_);
  }

 private:
  std::mutex mutex_;
  IndexedFasta fasta_;
};

/// A file that a setting names, or the FASTA of a door, cannot be used.
class InputError : public Error {
 public:
  using Error::Error;
};
/// Runs `work`, and throws its Error as InputError.
template <class Work>
decltype(auto) or_input_error(const Work& work) {
  try {
    return work();
  } catch (const OutOfMemory&) {
    throw;
  } catch (const Error& error) {
    throw InputError(error.function(), error.what());
  }
}
/// Throws InputError.
IndexedFasta open_fasta(const std::string& path, Log& log);

}  // namespace carbon
