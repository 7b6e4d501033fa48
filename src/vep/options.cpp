#include "src/vep/options.hpp"

#include "src/base/error.hpp"
#include "src/files/file_name.hpp"
#include "src/files/sequence_output.hpp"
#include "src/vep/embeddings.hpp"

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
  if (options.header == TableHeader::plain && output_type(output_options(options)) != 't')
    throw Error("vep", "a plain header is for tables", {"add {-O} t, or leave out {--header} plain"});
  check_output_name("vep", options.output, {"vcf", "bcf", "tsv"}, "VCF, BCF or a table",
                    "give it a name that ends in .vcf.gz, .bcf or .tsv.gz");
  if (!options.embeddings.empty()) {
    if (options.scores.recipes != std::vector<std::string>{"centered"})
      throw Error("vep",
                  "embeddings are those of the windows of recipe centered, which is to be the only one");
    check_embeddings_file(options.embeddings);
  }
  check_continuable("vep", options.output, options.earlier);
}

}  // namespace carbon
