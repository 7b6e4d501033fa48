// Names, shapes and rows: from llama.cpp's to Hugging Face's. See gguf_model.hpp.
#include "src/model/gguf_model.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/model/llama_tensors.hpp"
#include "src/model/tensor_buffer.hpp"

namespace carbon {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error("load_gguf", path + ": " + what);
}

struct Name {
  const char *in_gguf, *in_config;
};
constexpr Name kGlobal[] = {{"token_embd.weight", "model.embed_tokens.weight"},
                            {"output_norm.weight", "model.norm.weight"},
                            {"output.weight", "lm_head.weight"}};
constexpr Name kInLayer[] = {{"attn_norm", "input_layernorm"},    {"attn_q", "self_attn.q_proj"},
                             {"attn_k", "self_attn.k_proj"},      {"attn_v", "self_attn.v_proj"},
                             {"attn_output", "self_attn.o_proj"}, {"ffn_norm", "post_attention_layernorm"},
                             {"ffn_gate", "mlp.gate_proj"},       {"ffn_up", "mlp.up_proj"},
                             {"ffn_down", "mlp.down_proj"}};

/// The name of a tensor of a Hugging Face checkpoint in a GGUF file.
std::string gguf_name(const std::string& name) {
  for (const Name& global : kGlobal)
    if (name == global.in_config) return global.in_gguf;
  constexpr std::string_view before = "model.layers.", after = ".weight";
  const std::string middle = name.substr(before.size(), name.size() - before.size() - after.size());
  const size_t dot = middle.find('.');
  for (const Name& tensor : kInLayer)
    if (middle.substr(dot + 1) == tensor.in_config)
      return "blk." + middle.substr(0, dot) + "." + tensor.in_gguf + std::string(after);
  throw Error("load_gguf", "tensor " + name + " has no name in GGUF files");
}

/// Without leading ones, which the format leaves out.
std::vector<uint64_t> stored_shape(std::vector<uint64_t> shape) {
  while (shape.size() > 1 && shape.front() == 1) shape.erase(shape.begin());
  return shape;
}

/// A file of a model under the names of Hugging Face.
class RenamedTensors final : public TensorFile {
 public:
  RenamedTensors(std::unique_ptr<const GgufFile> file, std::map<std::string, TensorInfo> tensors)
      : TensorFile(file->path()), file_(std::move(file)) {
    stamp_ = file_->stamp();
    data_ = file_->data();
    size_ = file_->size();
    tensors_ = std::move(tensors);
  }

 private:
  std::unique_ptr<const GgufFile> file_;
};

/// The place of "-00002-of-00003.gguf" at the end of a path, and its numbers.
struct PartName {
  std::string stem;
  uint64_t number = 1, count = 1;
};

std::optional<PartName> part_name(const std::string& path) {
  constexpr size_t kLength = std::string_view("-00001-of-00003.gguf").size();
  if (path.size() <= kLength) return std::nullopt;
  const std::string end = path.substr(path.size() - kLength);
  if (end[0] != '-' || end.substr(6, 4) != "-of-" || end.substr(15) != ".gguf") return std::nullopt;
  PartName name{path.substr(0, path.size() - kLength)};
  const auto read = [&](size_t at, uint64_t& value) {
    const char* const begin = end.data() + at;
    const auto [stop, problem] = std::from_chars(begin, begin + 5, value);
    return problem == std::errc() && stop == begin + 5;
  };
  if (!read(1, name.number) || !read(10, name.count) || name.number < 1 || name.number > name.count)
    return std::nullopt;
  return name;
}

std::string part_path(const PartName& name, uint64_t number) {
  const auto five = [](uint64_t value) {
    const std::string digits = std::to_string(value);
    return std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
  };
  return name.stem + "-" + five(number) + "-of-" + five(name.count) + ".gguf";
}

/// The number in a key such as split.count; `otherwise` if there is none.
uint64_t split_number(const GgufFile& file, const char* key, uint64_t otherwise) {
  const GgufValue* const value = file.find(key);
  if (value == nullptr) return otherwise;
  const auto number = value->whole();
  if (!number) fail(file.path(), std::string(key) + " " + value->shown() + ": must be a whole number");
  return *number;
}

/// All files of the model, the one with the metadata first.
std::vector<std::unique_ptr<const GgufFile>> open_parts(const std::string& path) {
  std::vector<std::unique_ptr<const GgufFile>> files;
  files.push_back(std::make_unique<GgufFile>(gguf_first_part(path)));
  const std::string& first = files.front()->path();
  const uint64_t count = split_number(*files.front(), "split.count", 1);
  if (split_number(*files.front(), "split.no", 0) != 0)
    fail(first,
         "is not the first part of its model; its name must end as llama.cpp writes it, for example "
         "-00002-of-" +
             std::string("00003.gguf"));
  if (count <= 1) return files;
  const auto name = part_name(first);
  if (!name || name->count != count)
    fail(first, "is the first of " + std::to_string(count) +
                    " parts, but its name does not end in -00001-of-" + std::to_string(count) +
                    " as llama.cpp writes it");
  for (uint64_t number = 2; number <= count; ++number) {
    const std::string part = part_path(*name, number);
    if (!path_exists(part)) fail(part, "this part of the model is missing; incomplete download?");
    files.push_back(std::make_unique<GgufFile>(part));
    if (split_number(*files.back(), "split.no", 0) != number - 1 ||
        split_number(*files.back(), "split.count", 1) != count)
      fail(part, "is not part " + std::to_string(number) + " of " + std::to_string(count));
  }
  return files;
}

/// Where each tensor is: its file and its place there.
struct Place {
  size_t file;
  const TensorInfo* info;
};

std::map<std::string, Place> all_tensors(const std::vector<std::unique_ptr<const GgufFile>>& files) {
  std::map<std::string, Place> places;
  for (size_t i = 0; i < files.size(); ++i)
    for (const auto& [name, info] : files[i]->tensors())
      if (!places.emplace(name, Place{i, &info}).second)
        fail(files[i]->path(), "tensor '" + printable(name) + "' is also in another part of the model");
  return places;
}

void check_tensor(const std::string& path, const std::string& name, const TensorInfo& info,
                  const std::vector<uint64_t>& shape) {
  if (info.shape != stored_shape(shape))
    fail(path, "tensor " + name + " has shape " + shape_text(info.shape) + ", but the metadata requires " +
                   shape_text(stored_shape(shape)));
  if (!weight_type_of(info.dtype))
    fail(path, "tensor " + name + " has type " + info.dtype + ", which is not supported; supported are " +
                   kWeightTypes + ": convert the model with --outtype bf16 or q8_0");
}

/// Takes each tensor of the architecture out of `places`, and what is left is refused.
std::vector<std::map<std::string, TensorInfo>> rename(
    const std::vector<std::unique_ptr<const GgufFile>>& files, const ModelConfig& config) {
  std::map<std::string, Place> places = all_tensors(files);
  std::vector<std::map<std::string, TensorInfo>> renamed(files.size());
  const std::string& path = files.front()->path();
  for (const TensorShape& tensor : architecture(config)) {
    const std::string name = gguf_name(tensor.name);
    const auto at = places.find(name);
    if (at == places.end()) fail(path, "tensor " + name + " " + shape_text(tensor.shape) + " is missing");
    const auto [file, info] = at->second;
    check_tensor(files[file]->path(), name, *info, tensor.shape);
    renamed[file][tensor.name] = {info->dtype, tensor.shape, info->begin, info->end};
    places.erase(at);
  }
  if (places.empty()) return renamed;
  const auto& [name, place] = *places.begin();
  fail(files[place.file]->path(),
       name == "rope_freqs.weight"
           ? "tensor rope_freqs.weight changes the rotary embedding, which is supported only as plain RoPE "
             "and YaRN"
           : "tensor '" + printable(name) + "' is not part of the " + std::to_string(config.layers) +
                 "-layer Llama that the metadata describe and would change the result");
}

/// llama.cpp turns neighbouring numbers of a head, and this program those that are half a head apart. So its
/// converter moves rows of q and k: rows j and j + d/2 of a head become 2j and 2j + 1.
void restore_rows(const uint8_t* in, uint64_t row_bytes, size_t heads, size_t head_dim, uint8_t* out) {
  const size_t half = head_dim / 2;
  for (size_t head = 0; head < heads; ++head)
    for (size_t row = 0; row < head_dim; ++row) {
      const size_t stored = head * head_dim + row % half * 2 + row / half;
      std::memcpy(out + (head * head_dim + row) * row_bytes, in + stored * row_bytes, row_bytes);
    }
}

bool is_query(const std::string& name) {
  return name.ends_with("self_attn.q_proj.weight");
}
bool is_key(const std::string& name) {
  return name.ends_with("self_attn.k_proj.weight");
}

/// The queries and keys of one file.
std::unique_ptr<TensorFile> restored(const TensorFile& file, const ModelConfig& config) {
  std::vector<TensorSpec> specs;
  for (const auto& [name, info] : file.tensors())
    if (is_query(name) || is_key(name)) specs.push_back({name, info.dtype, info.shape});
  auto buffer = std::make_unique<TensorBuffer>(file.path(), specs, file.stamp());
  for (const TensorSpec& spec : specs) {
    const TensorInfo& info = file.tensors().at(spec.name);
    const uint64_t bytes = info.end - info.begin;
    restore_rows(file.data() + info.begin, bytes / info.shape.front(),
                 is_query(spec.name) ? config.heads : config.kv_heads, config.head_dim,
                 buffer->writable(spec.name).data());
    give_back_pages(file.data() + info.begin, bytes);
  }
  buffer->finish();
  return buffer;
}

}  // namespace

std::string gguf_first_part(const std::string& path) {
  const auto name = part_name(path);
  return name ? part_path(*name, 1) : path;
}

GgufModel open_gguf_model(const std::string& path, GgufRows rows) {
  std::vector<std::unique_ptr<const GgufFile>> files = open_parts(path);
  GgufModel model{gguf_config(*files.front()), {}};
  model.config.tied_head = std::none_of(
      files.begin(), files.end(), [](const auto& file) { return file->tensors().contains("output.weight"); });
  std::vector<std::map<std::string, TensorInfo>> tensors = rename(files, model.config);
  for (size_t i = 0; i < files.size(); ++i)
    model.files.push_back(std::make_unique<RenamedTensors>(std::move(files[i]), std::move(tensors[i])));
  if (rows == GgufRows::as_stored) return model;
  for (size_t i = 0, count = model.files.size(); i < count; ++i)
    model.files.push_back(restored(*model.files[i], model.config));
  return model;
}

std::optional<BpeFiles> gguf_bpe(const GgufFile& file) {
  enum Kind : int32_t { normal = 1, control = 3, user_defined = 4, unused = 5 };
  const GgufValue *const list = file.find("tokenizer.ggml.tokens"), *const merges =
                                                                        file.find("tokenizer.ggml.merges");
  if (list == nullptr || merges == nullptr) return std::nullopt;
  const auto require = [&](bool good, const std::string& what) {
    if (!good) fail(file.path(), what);
  };
  const GgufValue* const split = file.find("tokenizer.ggml.pre");
  require(split == nullptr || split->text() == "qwen2",
          "tokenizer.ggml.pre " + (split ? split->shown() : "") + ": only 'qwen2' is supported");
  const GgufValue* const type_list = file.find("tokenizer.ggml.token_type");
  const auto types = type_list ? type_list->integers() : std::nullopt;
  const auto tokens = list->texts();
  const auto merge_texts = merges->texts();
  require(tokens && merge_texts, "tokenizer.ggml.tokens and tokenizer.ggml.merges must be lists of texts");
  require(types && types->size() == tokens->size(),
          "tokenizer.ggml.token_type must be a list of as many whole numbers as there are tokens");

  // The tokens of the vocabulary, then added ones, then those of DNA.
  const auto dna = static_cast<size_t>(std::find(tokens->begin(), tokens->end(), "<dna>") - tokens->begin());
  size_t normals = 0;
  while (normals < dna && (*types)[normals] == normal) ++normals;
  std::vector<AddedToken> added;
  for (size_t id = normals; id < dna; ++id) {
    const int32_t type = (*types)[id];
    require(type == control || type == user_defined || type == unused,
            "tokenizer.ggml.token_type of token " + std::to_string(id) + " is " + std::to_string(type) +
                "; after the tokens of text come 3, 4 and 5");
    if (type != unused)
      added.push_back({std::string((*tokens)[id]), static_cast<uint32_t>(id), type == control});
  }
  return read_bpe_lists(file.path(), std::span(*tokens).first(normals), *merge_texts, added);
}

}  // namespace carbon
