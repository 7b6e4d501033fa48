#include "src/embed/options.hpp"

#include <climits>

#include "src/base/error.hpp"
#include "src/embed/writer.hpp"

namespace carbon {

SettingList embed_settings(EmbedOptions& options) {
  return {
      Setting("layer", "L",
              "-1: after the final norm (default); L: the residual stream after the first L layers",
              &options.layer)
          .range(kFinalNorm, INT_MAX),
      Setting("pool", "POOL",
              "separator (the row of </dna> or a last <s>; default), last (6-mer), mean (over all 6-mers) or "
              "none (one row per 6-mer)",
              options.pooling.pool, kPoolWords),
      Setting("pad-tail", "pad a partial 6-mer at the end with A (default: leave it out)",
              options.pooling.pad_tail),
      Setting("strand", "STRAND", "+ (default), - (reverse complement) or both (mean of the two rows)",
              options.strand, kStrandWords)};
}

void check_embed_options(const EmbedOptions& options) {
  if (options.pooling.pool == Pool::none && options.strand == StrandChoice::both)
    throw Error("embed",
                "rows of single 6-mers cannot be averaged over both strands, because the 6-mers of the two "
                "strands do not match",
                {"use {--strand} both with another {--pool}, or {--pool} none with {--strand} + and with "
                 "{--strand} -"});
  check_embed_output(options);
}

}  // namespace carbon
