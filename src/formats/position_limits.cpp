#include "src/formats/position_limits.hpp"

#include <algorithm>

#include "src/base/error.hpp"

namespace carbon {

namespace {

constexpr const char* function_name = "write_vcf";

}  // namespace

void check_last_position(const VcfWriterOptions& options, int64_t last, const std::string& what) {
  const char type = output_type(options);
  if ((type == 'b' || type == 'u') && last > kLastBcfPosition)
    throw Error(function_name,
                what + ", but BCF holds positions of up to " + std::to_string(kLastBcfPosition) +
                    "; name an output that ends in .vcf.gz or .tsv.gz",
                {"or write VCF with {-O} z"});
  if (options.index == VcfIndexKind::tbi && last > kLastTbiPosition)
    throw Error(function_name,
                what + ", but a .tbi index holds positions of up to " + std::to_string(kLastTbiPosition) +
                    " (512 Mb); a .csi index holds more",
                {"use {-W} ({--write-index}=csi)"});
  if (type == 't' && options.index == VcfIndexKind::csi && last > kLastTablePosition)
    throw Error(function_name,
                what + ", but the index of a table holds positions of up to " +
                    std::to_string(kLastTablePosition) + "; write .vcf.gz, whose index holds more",
                {"or leave out {--write-index}"});
}

/// htslib gives a table so many levels of bins that bins of 2^14 reach 2^32, and those of 2^15 reach 2^33.
int table_index_shift(const VcfWriterOptions& options) {
  constexpr int64_t kReached = int64_t{1} << 32;
  const bool longer = std::any_of(options.contigs.begin(), options.contigs.end(),
                                  [&](const auto& contig) { return contig.second > kReached; });
  return longer ? 15 : 14;
}

}  // namespace carbon
