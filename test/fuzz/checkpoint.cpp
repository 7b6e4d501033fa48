// A checkpoint in files: config.json, dna_config.json, the index of its shards, and the headers of two
// shards. Without an index the first shard is model.safetensors.
#include "src/model/checkpoint.hpp"

#include "src/model/model_summary.hpp"
#include "test/fuzz/harness.hpp"

namespace carbon::fuzz {

void run(std::string_view input, const Folder& folder) {
  constexpr size_t kTensorBytes = size_t{1} << 17;
  const auto files = split_files(input, 5);
  folder.put("config.json", files[0]);
  if (!files[1].empty()) folder.put("dna_config.json", files[1]);
  const bool sharded = !files[2].empty();
  if (sharded) folder.put("model.safetensors.index.json", files[2]);
  folder.put(sharded ? "model-00001-of-00002.safetensors" : "model.safetensors", files[3], kTensorBytes);
  if (sharded) folder.put("model-00002-of-00002.safetensors", files[4], kTensorBytes);

  attempt([&] { summarise_model(folder.path()); });
  const Checkpoint checkpoint(folder.path());
  const DecoderTensors tensors = decoder_tensors(checkpoint);
  if (const auto& classifier = checkpoint.config().classifier)
    require(checkpoint.score().rows == classifier->labels.size(), "a row without a label");
  require(tensors.layers.size() == checkpoint.config().layers, "a layer is missing");
}

}  // namespace carbon::fuzz
