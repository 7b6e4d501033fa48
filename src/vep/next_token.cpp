#include "src/vep/next_token.hpp"

#include <algorithm>

#include "tokenizer/kmer.hpp"

namespace carbon {

std::string next_token_context(int64_t pos, const ReferenceSlice& slice, int64_t context, Strand strand) {
  const std::string_view bases =
      slice.get(next_token_begin(pos, context, strand), next_token_end(pos, context, strand));
  std::string read = strand == Strand::forward ? std::string(bases) : reverse_complement(bases);
  const size_t leading = std::min(read.find_first_not_of('N'), read.size());
  return read.substr(leading + (read.size() - leading) % kKmerLength);
}

}  // namespace carbon
