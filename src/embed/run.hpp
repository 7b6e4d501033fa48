// src/embed/: carbon embed: sequences of FASTA files come in, and hidden states go out, as a table or as a
// matrix with a table of names. predict makes of them the values of the labels of a classification head,
// for carbon predict.
//
// docs/conventions.md has the definitions ("Embeddings").
//
// The command line fills in the options. An EmbedPlanner makes requests of a sequence, take_rows() rows of
// their results, and run_embed() reads the files and writes the output.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/tensor.hpp"
#include "src/base/log.hpp"
#include "src/base/long_run.hpp"
#include "src/base/progress.hpp"
#include "src/base/settings.hpp"
#include "src/base/words.hpp"
#include "src/engine/request.hpp"
#include "src/files/sequence_output.hpp"
#include "src/formats/provenance.hpp"
#include "src/formats/sequence_inputs.hpp"
#include "src/model/config.hpp"
#include "src/pooling/pooled_rows.hpp"

namespace carbon {

class Engine;

enum class EmbedOutput { tsv, npy, safetensors };
inline constexpr Word<EmbedOutput> kEmbedOutputWords[] = {
    {"tsv", EmbedOutput::tsv}, {"npy", EmbedOutput::npy}, {"safetensors", EmbedOutput::safetensors}};

/// The types of the values written.
inline constexpr Word<DType> kEmbedTypeWords[] = {{"f32", DType::f32}, {"f16", DType::f16}};

struct EmbedOptions {
  SequenceInputs inputs;
  std::string output = "-";
  std::optional<EmbedOutput> type;  // default: by the suffix of `output`, else tsv
  DType dtype = DType::f32;         // of the output: f32 or f16
  int layer = kFinalNorm;           // or 1 to the number of blocks
  Pooling pooling;
  StrandChoice strand = StrandChoice::forward;
  EarlierRun earlier = EarlierRun::refuse;  // what becomes of OUTPUT.partial, for a table
  CommandRecord record;                     // of the header, or of what stands for one in a matrix
  ProgressMode progress = ProgressMode::automatic;
  Log* log = &silent_log();
  StopRequests* stop = nullptr;  // who may ask for an early end; null: nobody
};

/// What the states depend on besides sequences and model.
SettingList embed_settings(EmbedOptions& options);

/// Throws Error for options that no model could satisfy.
void check_embed_options(const EmbedOptions& options);

/// Embeds the sequences of the inputs. Throws Error; output files are then not left behind.
void run_embed(Engine& engine, const EmbedOptions& options);

/// A sequence on its way through the run.
struct EmbedItem {
  std::string name;
  std::vector<RequestPtr> requests;  // one per strand, or none where it has no rows
  SequencesDone done = {};           // this sequence and those before it in the run

  size_t bytes() const { return sizeof(*this) + name.capacity(); }
};

class EmbedPlanner {
 public:
  /// Throws Error for a layer that the model lacks, and for a tail to pad where the model's family pads none.
  /// `options` are those that check_embed_options() accepts.
  EmbedPlanner(const ModelConfig& config, const EmbedOptions& options);

  /// Throws Error, which has `name` in its message, for a sequence that does not fit the model's context, and
  /// for one without a k-mer to take the state from.
  EmbedItem plan(std::string name, std::string_view bases) const;

 private:
  PooledRows rows_;
  int layer_;
  StrandChoice strand_;
};

/// Reads the sequences of embed or predict that no earlier run has written, and emits each as `planner` plans
/// it. Throws Error.
template <class Options, class Planner, class Emit>
void plan_sequences(const std::string& command, const Options& options,
                    const std::optional<SequencesDone>& continued, const Planner& planner, const Emit& emit,
                    Progress& progress) {
  read_further_sequences(
      command, options.inputs, *options.log, continued,
      [&](const SequencePlace& place) { return shown_name(place, options.inputs.has_regions()); },
      [&](const SequencePlace&, const std::string& name, const std::string& bases,
          const SequencesDone& done) {
        auto item = planner.plan(name, bases);
        item.done = done;
        emit(std::move(item));
      },
      [&](const SequenceTotals& totals) { progress.set_total(totals.sequences); });
}

/// Takes the rows [n, hidden] out of the finished requests of a sequence: those of one strand, or the mean of
/// both strands. Throws Error for a value that is not finite, or would not be as `type` (f32 or f16).
std::vector<float> take_rows(EmbedItem& item, DType type);

}  // namespace carbon
