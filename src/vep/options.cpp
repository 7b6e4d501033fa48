#include "src/vep/options.hpp"

#include "src/base/error.hpp"
#include "src/genome/output.hpp"
#include "src/vep/header.hpp"

namespace carbon {

void check_vep_output(const VepOptions& options) {
  output_options(options);
  if (options.resume && replaced_file(options.output).empty())
    throw Error("vep", "--resume: " + (options.output == "-" ? "standard output" : options.output) +
                           " is written directly and cannot be continued; name a regular file with -o");
}

void check_vep_options(const VepOptions& options, size_t max_positions) {
  const auto largest = static_cast<int64_t>(kKmerLength * (max_positions - 1));
  const std::string context =
      " does not fit the model's context of " + std::to_string(max_positions) + " tokens";
  if (options.wants(Recipe::centered)) {
    if (options.window < 12 || options.window % 2 != 0)
      throw Error("vep",
                  "--window " + std::to_string(options.window) + ": expected an even number of at least 12");
    if (options.window > largest)
      throw Error("vep", "--window " + std::to_string(options.window) + context +
                             "; the largest that fits is " + std::to_string(largest));
  }
  if (options.wants(Recipe::next_token)) {
    if (options.context < 0)
      throw Error("vep", "--context " + std::to_string(options.context) + ": expected 0 or more");
    if (options.context > largest)
      throw Error("vep", "--context " + std::to_string(options.context) + context +
                             "; the largest that fits is " + std::to_string(largest));
  }
}

std::vector<Strand> strands_of(Recipe recipe, VepStrand option) {
  if (option == VepStrand::recipe_default)
    option = recipe == Recipe::centered ? VepStrand::both : VepStrand::forward;
  if (option == VepStrand::forward) return {Strand::forward};
  if (option == VepStrand::reverse) return {Strand::reverse};
  return {Strand::forward, Strand::reverse};
}

}  // namespace carbon
