#include "src/embed/options.hpp"

#include "src/base/advice_topics.hpp"
#include "src/base/error.hpp"
#include "src/embed/writer.hpp"

namespace carbon {

void check_embed_options(const EmbedOptions& options) {
  if (options.pooling.pool == Pool::none && options.strand == StrandChoice::both)
    throw Error("embed",
                "rows of single 6-mers cannot be averaged over both strands, because the 6-mers of the two "
                "strands do not match",
                {AdviceTopic::pool_none_both});
  check_embed_output(options);
}

}  // namespace carbon
