// `carbon embed`: reads FASTA and writes hidden states (docs/conventions.md, "Embeddings").
#pragma once

#include "src/embed/options.hpp"
#include "src/engine/engine.hpp"

namespace carbon {

/// Embeds the sequences of the inputs. Throws Error; output files are then not left behind.
void run_embed(Engine& engine, const EmbedOptions& options);

}  // namespace carbon
