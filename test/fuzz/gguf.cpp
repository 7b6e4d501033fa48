// A GGUF file: the container, the settings and the vocabulary in its metadata, and the model. The input is
// the header; zeros for the tensors follow.
#include "src/model/gguf.hpp"

#include "src/model/gguf_model.hpp"
#include "test/fuzz/harness.hpp"
#include "tokenizer/bpe.hpp"

namespace carbon::fuzz {
namespace {

void read_value(const GgufValue& value) {
  value.whole();
  value.number();
  value.boolean();
  value.text();
  value.texts();
  value.integers();
  value.length();
  value.shown();
}

}  // namespace

void run(std::string_view input, const Folder& folder) {
  constexpr size_t kTensorBytes = size_t{1} << 18;
  const std::string path = folder.put("model.gguf", input, kTensorBytes);
  const GgufFile file(path);
  for (const auto& [key, value] : file.metadata()) read_value(value);
  for (const auto& [name, tensor] : file.tensors())
    require(tensor.begin <= tensor.end && tensor.end <= file.size(), "a tensor outside of its file");
  attempt([&] {
    if (auto lists = gguf_bpe(file)) Bpe(std::move(*lists)).encode("any text, a b 12");
  });
  open_gguf_model(path, GgufRows::as_stored);
  open_gguf_model(path, GgufRows::restored);
}

}  // namespace carbon::fuzz
