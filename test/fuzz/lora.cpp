// A LoRA adapter: adapter_config.json and the header of its tensors, whose bytes are zeros, added to a small
// model.
#include "src/model/lora.hpp"

#include "src/model/checkpoint.hpp"
#include "test/fuzz/harness.hpp"
#include "test/unit/model_fixture.hpp"

namespace carbon::fuzz {
namespace {

std::string write_model(const Folder& folder) {
  model_test::TestModel().write(folder.path());
  return folder.path();
}

struct Base {
  Folder folder;
  Checkpoint checkpoint{write_model(folder)};
};

}  // namespace

void run(std::string_view input, const Folder& folder) {
  constexpr size_t kTensorBytes = size_t{1} << 16;
  static const Base base;
  const auto files = split_files(input, 2);
  folder.put("adapter_config.json", files[0]);
  folder.put("adapter_model.safetensors", files[1], kTensorBytes);
  const LoraAdapter adapter(folder.path());
  for (const WeightType type : {WeightType::bf16, WeightType::f32}) {
    const auto merged = adapter.merge(base.checkpoint, type, 1);
    require(!merged->tensors().empty(), "an adapter that changes nothing");
    require(!adapter.digest_lines(*merged).empty(), "an adapter that nothing identifies");
  }
}

}  // namespace carbon::fuzz
