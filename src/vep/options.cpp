#include "src/vep/options.hpp"

#include <filesystem>
#include <utility>

#include "src/base/advice_topics.hpp"
#include "src/base/error.hpp"
#include "src/files/file_name.hpp"
#include "src/files/sequence_output.hpp"
#include "src/vep/embeddings.hpp"

namespace carbon {
namespace {

bool same_place(const std::string& a, const std::string& b) {
  return a == b || std::filesystem::weakly_canonical(a) == std::filesystem::weakly_canonical(b);
}

}  // namespace

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
    throw Error("vep", "a plain header is for tables", {AdviceTopic::table_output});
  check_output_name("vep", options.output, {"vcf", "bcf", "tsv"}, "VCF, BCF or a table",
                    "give it a name that ends in .vcf.gz, .bcf or .tsv.gz");
  if (!options.cache.empty() && options.output != "-" && same_place(options.cache, options.output))
    throw Error("vep", options.output + " is named as output and as score cache; they must be two files",
                {AdviceTopic::other_cache});
  if (!options.histogram.empty())
    for (const auto& [path, what] : {std::pair(options.output, "output"), {options.cache, "score cache"}})
      if (!path.empty() && same_place(options.histogram, path))
        throw Error("vep", path + " is named as histogram and as " + what + "; they must be two files");
  if (!options.embeddings.empty()) {
    if (options.scores.recipes != std::vector<std::string>{"centered"})
      throw Error("vep",
                  "embeddings are those of the windows of recipe centered, which is to be the only one");
    check_embeddings_file(options.embeddings);
    if (same_file(options.embeddings, options.output))
      throw Error("vep", options.output + " is named as output and for embeddings; they must be two files");
  }
  check_continuable("vep", options.output, options.earlier);
}

}  // namespace carbon
