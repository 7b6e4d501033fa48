// src/embed/: carbon embed: sequences of FASTA files come in, and hidden states go out, as a table or as a
// matrix with a table of names.
//
// docs/conventions.md has the definitions ("Embeddings").
//
// The command line fills in the options. planner.hpp makes requests of a sequence and rows of their results,
// and run.cpp reads the files and writes the output.
#pragma once

#include <optional>
#include <string>

#include "kernels/tensor.hpp"
#include "src/base/log.hpp"
#include "src/base/long_run.hpp"
#include "src/base/progress.hpp"
#include "src/base/settings.hpp"
#include "src/base/words.hpp"
#include "src/engine/request.hpp"
#include "src/formats/provenance.hpp"
#include "src/formats/sequence_inputs.hpp"
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

}  // namespace carbon
