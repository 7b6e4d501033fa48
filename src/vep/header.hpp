// The header that `carbon vep` writes: tag definitions, what was run on which model, and what is taken out of
// the input's header.
#pragma once

#include <string>

#include "src/engine/loaded_model.hpp"
#include "src/genome/fasta.hpp"
#include "src/vep/options.hpp"
#include "src/vep/output.hpp"

namespace carbon {

/// "+", "-", "both" or "default".
std::string strand_text(VepStrand strand);
/// The recipes by name, joined by "+".
std::string recipe_text(const VepOptions& options);

/// Path, type, compression and index of the output, as far as the options say. Throws Error.
VcfWriterOptions output_options(const VepOptions& options);
/// The same with the header: how it differs from the input's.
VcfWriterOptions writer_options(const LoadedModel& model, const VepOptions& options, const VcfReader& vcf,
                                const IndexedFasta& fasta);

}  // namespace carbon
