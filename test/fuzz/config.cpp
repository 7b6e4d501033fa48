// The settings of a model: config.json, and dna_config.json or the tokenizer files of a GENERator or of a
// MarinDNA.
#include "src/model/config.hpp"
#include "src/model/digest.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "test/fuzz/harness.hpp"

namespace carbon::fuzz {

void run(std::string_view input, const Folder& folder) {
  const auto files = split_files(input, 5);
  constexpr const char* names[] = {"config.json", "dna_config.json", "tokenizer_config.json", "vocab.txt",
                                   "tokenizer.json"};
  for (size_t i = 0; i < files.size(); ++i)
    if (!files[i].empty()) folder.put(names[i], files[i]);
  const ModelConfig config = load_config(folder.path());
  for (const double frequency : rope_inv_freq(config))
    require(std::isfinite(frequency), "an angle that is not finite");
  require(std::isfinite(rope_attention_factor(config)), "an attention factor that is not finite");
  if (const auto& letters = config.layout.letters) {
    std::vector<uint32_t> ids(letters->letters.begin(), letters->letters.end());
    ids.insert(ids.end(), {letters->begin, letters->unknown, letters->end.value_or(letters->begin)});
    require(std::ranges::max(ids) < config.vocab, "letters outside of the vocabulary");
    std::ranges::sort(ids);
    require(std::unique(ids.begin(), ids.end()) - ids.begin() == 6 + (letters->end ? 1 : 0), "equal ids");
  } else {
    require(config.layout.kmer_end() <= config.vocab, "6-mers outside of the vocabulary");
  }
  require(!config_fingerprint(config).empty(), "no fingerprint");
}

}  // namespace carbon::fuzz
