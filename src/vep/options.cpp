#include "src/vep/options.hpp"

#include <filesystem>

#include "src/base/error.hpp"
#include "src/files/output_name.hpp"
#include "src/files/sequence_output.hpp"

namespace carbon {

VcfWriterOptions output_options(const VepOptions& options) {
  VcfWriterOptions out;
  out.path = options.output;
  out.log = options.log;
  if (!options.output_type.empty()) parse_output_type(options.output_type, out);
  if (!options.write_index.empty()) parse_write_index(options.write_index, out);
  return out;
}

void check_vep_output(const VepOptions& options) {
  output_options(options);
  check_output_name("vep", options.output, {"vcf", "bcf", "tsv"}, "VCF, BCF or a table",
                    "give it a name that ends in .vcf.gz, .bcf or .tsv.gz");
  if (!options.cache.empty() && options.output != "-" &&
      std::filesystem::weakly_canonical(options.cache) == std::filesystem::weakly_canonical(options.output))
    throw Error("vep", options.output + " is named as output and as score cache; they must be two files",
                {AdviceTopic::other_cache});
  check_continuable("vep", options.output, options.earlier);
}

}  // namespace carbon
