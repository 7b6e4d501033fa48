#include "src/vep/options.hpp"

#include <filesystem>

#include "src/base/error.hpp"
#include "src/genome/sequence_output.hpp"

namespace carbon {
namespace {

// Throws Error if the bases of a window or context do not fit the model's context.
void check_fits(const std::string& name, int64_t bases, size_t max_positions, AdviceTopic advice) {
  const auto largest = static_cast<int64_t>(kKmerLength * (max_positions - 1));
  if (bases > largest)
    throw Error("vep",
                "a " + name + " of " + std::to_string(bases) + " bp does not fit the model's context of " +
                    std::to_string(max_positions) + " tokens; the largest that fits is " +
                    std::to_string(largest) + " bp",
                {advice});
}

// For windows with two such contexts; negative if not even these fit.
int64_t longest_horizon(int64_t context, size_t max_positions) {
  return anchored_longest(context, 0, max_positions) - 1;
}

void check_anchored_context(int64_t context, size_t max_positions) {
  constexpr auto kmer = static_cast<int64_t>(kKmerLength);
  if (context < kmer || context % kmer != 0)
    throw Error("vep",
                "a context of " + std::to_string(context) +
                    " bp cannot be used by recipe anchored; expected a multiple of 6",
                {AdviceTopic::context});
  const int64_t left = longest_horizon(context, max_positions);
  if (left < 0)
    throw Error("vep",
                "windows of two contexts of " + std::to_string(context) +
                    " bp do not fit the model's context of " + std::to_string(max_positions) +
                    " tokens; the largest that fits is " +
                    std::to_string((context + left / 2) / kmer * kmer) + " bp",
                {AdviceTopic::context});
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
  if (!options.cache.empty() && options.output != "-" &&
      std::filesystem::weakly_canonical(options.cache) == std::filesystem::weakly_canonical(options.output))
    throw Error("vep", options.output + " is named as output and as score cache; they must be two files",
                {AdviceTopic::other_cache});
  check_continuable("vep", options.output, options.earlier);
}

void check_vep_window(const VepOptions& options, const ModelConfig& config) {
  if (!options.wants(Recipe::centered)) return;
  if (options.window < 12 || options.window % 2 != 0)
    throw Error("vep",
                "a window of " + std::to_string(options.window) +
                    " bp cannot be used; expected an even number of at least 12",
                {AdviceTopic::window});
  check_fits("window", options.window, config.sequence_positions(), AdviceTopic::window);
}

void complete_vep_contexts(VepOptions& options, const ModelConfig& config) {
  const size_t max_positions = config.sequence_positions();
  if (!options.context) options.context = config.layout.family->next_token_context;
  if (options.wants(Recipe::next_token)) {
    if (*options.context < 0)
      throw Error(
          "vep",
          "a context of " + std::to_string(*options.context) + " bp cannot be used; expected 0 or more",
          {AdviceTopic::context});
    check_fits("context", *options.context, max_positions, AdviceTopic::context);
  }
  if (options.wants(Recipe::anchored)) check_anchored_context(options.anchored_context, max_positions);
}

void check_vep_horizons(const VepOptions& options, const ModelConfig& config) {
  if (!options.wants(Recipe::anchored)) return;
  const size_t max_positions = config.sequence_positions();
  const int64_t largest = longest_horizon(options.anchored_context, max_positions);
  if (options.horizons.back() > largest)
    throw Error("vep",
                "a horizon of " + std::to_string(options.horizons.back()) +
                    " bp does not fit the model's context of " + std::to_string(max_positions) +
                    " tokens; the largest that fits is " + std::to_string(largest) + " bp",
                {AdviceTopic::horizon});
}

void complete_vep_options(VepOptions& options, const ModelConfig& config) {
  check_vep_window(options, config);
  complete_vep_contexts(options, config);
  check_vep_horizons(options, config);
}

int phases_of(const NormalAllele& allele, PhaseChoice choice) {
  if (choice == PhaseChoice::automatic) return allele.ref.size() == allele.alt.size() ? 1 : kPhases;
  return choice == PhaseChoice::one ? 1 : kPhases;
}

std::vector<Strand> strands_of(Recipe recipe, VepStrand option) {
  if (option == VepStrand::recipe_default)
    option = recipe == Recipe::next_token ? VepStrand::forward : VepStrand::both;
  if (option == VepStrand::forward) return {Strand::forward};
  if (option == VepStrand::reverse) return {Strand::reverse};
  return {Strand::forward, Strand::reverse};
}

}  // namespace carbon
