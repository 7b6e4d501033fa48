// A checkpoint directory: which file holds which tensor, and whether they are the ones the config promises.
// See checkpoint.hpp.
#include "src/model/checkpoint.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <ctime>
#include <exception>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/files.hpp"
#include "src/base/json.hpp"
#include "src/base/letters.hpp"
#include "src/base/threads.hpp"
#include "src/base/words.hpp"
#include "src/model/digest.hpp"
#include "src/model/gguf_model.hpp"
#include "src/model/lora.hpp"
#include "src/model/model_files.hpp"
#include "src/model/safetensors.hpp"
#include "src/model/tensor_buffer.hpp"

namespace carbon {

namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxIndexBytes = size_t{64} << 20;

[[noreturn]] void fail(const std::string& what, const Advice& advice = {}) {
  throw Error("load_checkpoint", what, advice);
}

/// tensor name -> shard file name, from model.safetensors.index.json.
std::map<std::string, std::string> read_weight_map(const std::string& path) {
  const nlohmann::json index = read_json_file(path, kMaxIndexBytes);
  if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object()) {
    fail(path + ": has no weight_map");
  }
  std::map<std::string, std::string> map;
  for (const auto& [name, value] : index["weight_map"].items()) {
    const std::string file = value.is_string() ? value.get<std::string>() : "";
    // A shard is a file in the same directory. A path could lead out of it, and a line feed would divide a
    // message.
    if (file.empty() || file == "." || file == ".." || file.find('/') != file.npos ||
        std::any_of(file.begin(), file.end(), is_control)) {
      fail(path + ": tensor '" + printable(name) + "' names shard '" + printable(file) +
           "', which is not a plain file name");
    }
    map[name] = file;
  }
  return map;
}

/// The file under the names that architecture() has for its tensors.
std::unique_ptr<SafetensorsFile> open_weights(const std::string& path) {
  auto file = std::make_unique<SafetensorsFile>(path);
  file->rename(standard_name);
  return file;
}

bool ignorable_buffer(std::string_view name) {
  return name.ends_with("rotary_emb.inv_freq");
}

/// The names that transformers gives to labels without any.
std::vector<std::string> numbered_labels(size_t count) {
  std::vector<std::string> labels;
  for (size_t i = 0; i < count; ++i) labels.push_back("LABEL_" + std::to_string(i));
  return labels;
}

/// The name of a folder in a form that can stand between quotes in a header line.
std::string in_one_line(std::string name) {
  for (char& c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '"' || c == '\\') c = '_';
  return name;
}

}  // namespace

Checkpoint::Checkpoint(const std::string& path, const std::optional<RopeScaling>& rope_scaling, Log& log,
                       Alignment alignment)
    : dir_(path) {
  if (is_gguf_model(path)) {
    GgufModel model = open_gguf_model(path);
    config_ = model.config;
    for (auto& file : model.files) add_file(std::move(file));
  } else {
    config_ = load_config(path);
    open_files();
  }
  apply(rope_scaling);
  settle(log);
  if (alignment == Alignment::restored) align_tensors();
}

Checkpoint::Checkpoint(std::string name, const ModelConfig& config, std::unique_ptr<TensorFile> tensors,
                       const std::optional<RopeScaling>& rope_scaling, Log& log)
    : dir_(std::move(name)), config_(config) {
  apply(rope_scaling);
  add_file(std::move(tensors));
  settle(log);
  align_tensors();
}

void Checkpoint::add_file(std::unique_ptr<TensorFile> file) {
  for (const auto& [name, info] : file->tensors()) places_[name] = {files_.size(), &info};
  files_.push_back(std::move(file));
}

void Checkpoint::replace(std::unique_ptr<TensorFile> tensors) {
  for (const auto& [name, info] : tensors->tensors()) {
    if (!places_.contains(name))
      fail(tensors->path() + ": tensor '" + printable(name) + "' replaces none of " + dir_);
  }
  add_file(std::move(tensors));
  for (const TensorShape& e : architecture(config_)) check_tensor(e);
  align_tensors();
}

void Checkpoint::add_adapter(const LoraAdapter& adapter, WeightType type, int threads) {
  if (config_.annotator)
    fail(dir_ + ": adapters of models that annotate are not supported", {"leave out {--lora}"});
  take_score_of(adapter);
  adapted_ = adapter.merge(*this, type, threads);
  adapter_id_ = adapter.id();
  adapter_lines_ = adapter.digest_lines(*adapted_);
}

// PEFT saves a whole score.weight where the head was trained anew.
void Checkpoint::take_score_of(const LoraAdapter& adapter) {
  const TensorInfo* const score = adapter.whole(kScore);
  if (score == nullptr) return;
  if (config_.layout.letters)
    fail(adapter.dir() + ": holds a classification head, which models of one base a token cannot have");
  check_trained_on_kmers(adapter.dir());
  if (config_.classifier) return;
  if (score->shape.size() != 2 || score->shape[1] != config_.hidden)
    fail(adapter.dir() + ": tensor " + kScore + " has shape " + shape_text(score->shape) +
         ", but a row for each label with " + std::to_string(config_.hidden) +
         " numbers, the width of the model, is needed");
  config_.classifier = ClassifierConfig{numbered_labels(score->shape[0]), ""};
  config_.tied_head = false;
}

void Checkpoint::set_metadata(const std::string& text, std::vector<uint32_t> ids) {
  config_ = with_metadata(std::move(config_), std::move(ids));
  metadata_ = text;
}

void Checkpoint::apply(const std::optional<RopeScaling>& rope_scaling) {
  if (!rope_scaling) return;
  if (config_.annotator)
    fail(dir_ + ": a model that annotates keeps the rope scaling of its config.json",
         {"leave out {--rope-scaling}"});
  const RopeScaling own = config_.rope_scaling;
  apply_rope_scaling(*rope_scaling, config_);
  if (config_.rope_scaling != own) rope_override_ = rope_scaling_text(*rope_scaling);
}

void Checkpoint::open_files() {
  const std::string single = dir_ + "/model.safetensors", index = single + ".index.json";
  if (path_exists(single)) {
    add_file(open_weights(single));
    return;
  }
  if (!path_exists(index)) {
    const std::string other = unread_weights(dir_);
    fail(dir_ + ": there is neither model.safetensors nor model.safetensors.index.json; " +
         (other.empty() ? "incomplete download?" : other));
  }
  std::map<std::string, size_t> opened;
  for (const auto& [name, shard] : read_weight_map(index)) {
    auto [at, is_new] = opened.try_emplace(shard, files_.size());
    if (is_new) {
      const std::string path = dir_ + "/" + shard;
      if (!path_exists(path)) {
        fail(path + ": this shard is listed in " + index + " but is missing; incomplete download?");
      }
      files_.push_back(open_weights(path));
    }
    const auto& tensors = files_[at->second]->tensors();
    auto tensor = tensors.find(name);
    if (tensor == tensors.end()) tensor = tensors.find(standard_name(name));
    if (tensor == tensors.end()) {
      fail(files_[at->second]->path() + ": does not hold tensor '" + printable(name) + "', though " + index +
           " says so");
    }
    if (!places_.emplace(tensor->first, Place{at->second, &tensor->second}).second)
      fail(index + ": names two tensors that are both " + printable(tensor->first) +
           "; save the model again");
  }
}

const TensorInfo* Checkpoint::find(std::string_view name) const {
  const auto at = places_.find(name);
  return at == places_.end() ? nullptr : at->second.info;
}

uint64_t Checkpoint::file_bytes() const {
  uint64_t bytes = 0;
  for (const auto& file : files_) bytes += file->size();
  return bytes;
}

void Checkpoint::check_tensor(const TensorShape& expected) const {
  const TensorInfo* info = find(expected.name);
  if (info == nullptr)
    fail(dir_ + ": tensor " + expected.name + " " + shape_text(expected.shape) + " is missing" +
         (expected.name == kHead ? "; a model that AutoModel has saved lacks it: load it with "
                                   "AutoModelForCausalLM, and save it again"
                                 : ""));
  const std::string where = files_[places_.at(expected.name).file]->path() + ": tensor " + expected.name;
  if (info->shape != expected.shape) {
    fail(where + " has shape " + shape_text(info->shape) + ", but config.json requires " +
         shape_text(expected.shape));
  }
  const std::optional<WeightType> dtype = weight_type_of(info->dtype);
  if (!dtype) fail(where + " has dtype " + info->dtype + "; supported are " + kWeightTypes);
}

/// Formats of files need not align tensors, but kernels want them aligned. Those that are not are copied.
void Checkpoint::align_tensors() {
  std::vector<std::vector<TensorSpec>> specs(files_.size());
  for (const TensorShape& e : architecture(config_)) {
    const Place& place = places_.at(e.name);
    if (place.info->begin % weight_format(*weight_type_of(place.info->dtype)).alignment != 0)
      specs[place.file].push_back({e.name, place.info->dtype, e.shape});
  }
  for (size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].empty()) continue;
    auto copies = std::make_unique<TensorBuffer>(files_[i]->path(), specs[i], files_[i]->stamp());
    for (const TensorSpec& spec : specs[i]) {
      const std::span<uint8_t> to = copies->writable(spec.name);
      const uint8_t* const from = bytes_of(places_.at(spec.name));
      std::memcpy(to.data(), from, to.size());
      give_back_pages(from, to.size());
    }
    copies->finish();
    add_file(std::move(copies));
  }
}

void Checkpoint::settle(Log& log) {
  if (config_.classifier)
    settle_labels();
  else if (config_.annotator)
    settle_annotator();
  else
    settle_head(log);
  check_tensors(log);
}

/// Takes the place of a tensor that the index does not name.
void Checkpoint::find_in_shards(const std::string& name) {
  for (size_t i = 0; i < files_.size() && !has(name); ++i)
    if (const auto at = files_[i]->tensors().find(name); at != files_[i]->tensors().end())
      places_[name] = {i, &at->second};
}

/// The matrix says how many labels there are; config.json names them, or need not.
void Checkpoint::settle_labels() {
  find_in_shards(kScore);
  const TensorInfo* const score = find(kScore);
  if (score == nullptr)
    fail(dir_ + ": tensor " + kScore +
         ", the classification head that config.json names in architectures, is " +
         "missing; incomplete download?");
  if (score->shape.size() != 2 || score->shape[0] == 0 || score->shape[1] != config_.hidden)
    fail(dir_ + ": tensor " + kScore + " has shape " + shape_text(score->shape) +
         ", but a row for each label with " + std::to_string(config_.hidden) +
         " numbers, the hidden_size of config.json, is needed");
  std::vector<std::string>& labels = config_.classifier->labels;
  if (labels.empty()) labels = numbered_labels(score->shape[0]);
  if (labels.size() != score->shape[0])
    fail(dir_ + ": id2label of config.json names " + std::to_string(labels.size()) + " labels, but " +
         kScore + " has " + std::to_string(score->shape[0]) + " rows");
}

/// Says of heads that are not those of config.json what they are instead.
void Checkpoint::settle_annotator() {
  const bool hidden = config_.annotator->hidden_layer;
  for (size_t strand = 0; strand < AnnotatorConfig::kStrands; ++strand) {
    const std::string own = head_tensor(strand, hidden ? kLastMatrix : kHeadMatrix),
                      other = head_tensor(strand, hidden ? kHeadMatrix : kLastMatrix);
    for (const std::string& name : {own, other}) find_in_shards(name);
    if (!has(own) && has(other))
      fail(dir_ + ": use_mlp_classifier of config.json is " + (hidden ? "true" : "false") +
           ", but the head of the files is tensor " + other + "; correct config.json");
    const TensorInfo* const head = find(own);
    const uint64_t rows = config_.layout.bases() * AnnotatorConfig::kClasses;
    if (head != nullptr && head->shape.size() == 2 && head->shape[0] != rows)
      fail(dir_ + ": tensor " + own + " has " + std::to_string(head->shape[0]) +
           " rows, which are 2 classes for each base of a token; only tokens of " +
           count_of(config_.layout.bases(), "base") + ", which are " + std::to_string(rows) +
           " rows, are supported");
  }
}

/// What a tied head is. transformers compares a stored head with the embedding and ties them only if they are
/// equal. It reads all tensors of the shards, also those that the index does not name.
void Checkpoint::settle_head(Log& log) {
  if (!config_.tied_head) return;
  for (const char* name : {kEmbedding, kHead}) find_in_shards(name);
  if (!has(kHead)) return;
  if (!has(kEmbedding)) {
    places_[kEmbedding] = places_.at(kHead);
    return;
  }
  const std::vector<uint64_t> shape = {config_.vocab, config_.hidden};
  for (const char* name : {kEmbedding, kHead}) check_tensor({name, shape});
  const TensorView embedding = tensor(kEmbedding, config_.vocab, config_.hidden);
  const TensorView head = tensor(kHead, config_.vocab, config_.hidden);
  if (is_copy_of(head, embedding) && is_copy_of(embedding, head)) return;
  config_.tied_head = false;
  log.warning("load_checkpoint",
              dir_ + ": config.json says that the output head is the embedding (tie_word_embeddings), but " +
                  "lm_head.weight holds other numbers; using lm_head.weight, as transformers does");
}

void Checkpoint::check_tensors(Log& log) const {
  std::set<std::string> read;
  for (const TensorShape& e : architecture(config_)) {
    check_tensor(e);
    read.insert(e.name);
  }
  const std::string own_head = config_.has_output_matrix() ? "lm_head." : "score.";
  size_t ignored = 0;
  std::string example;
  for (const auto& file : files_) {
    for (const auto& [name, info] : file->tensors()) {
      if (read.contains(name) || ignorable_buffer(name) || (config_.tied_head && name == kHead)) continue;
      if (name.starts_with("model.") || name.starts_with(own_head)) {
        fail(file->path() + ": tensor '" + printable(name) + "' is not part of the " +
             std::to_string(config_.layers) +
             "-layer decoder that config.json describes and would change the result");
      }
      if (ignored++ == 0) example = name;
    }
  }
  if (ignored > 0) {
    log.warning("load_checkpoint", dir_ + ": ignoring " + std::to_string(ignored) +
                                       " unknown tensors, such as '" + printable(example) + "'");
  }
}

std::string Checkpoint::id() const {
  return in_one_line(model_name(dir_) + (adapter_id_.empty() ? "" : "+" + adapter_id_));
}

bool Checkpoint::has(std::string_view name) const {
  return places_.contains(name);
}

TensorView Checkpoint::tensor(std::string_view name, size_t rows, size_t cols) const {
  const TensorInfo* info = find(name);
  const std::string where = dir_ + ": tensor '" + printable(name) + "'";
  if (info == nullptr) fail(where + " is missing");
  const bool as_vector = rows == 1 && info->shape == std::vector<uint64_t>{cols};
  if (!as_vector && info->shape != std::vector<uint64_t>{rows, cols}) {
    fail(where + " has shape " + shape_text(info->shape) + ", not " + shape_text({rows, cols}));
  }
  const std::optional<WeightType> dtype = weight_type_of(info->dtype);
  if (!dtype) fail(where + " has dtype " + info->dtype + "; supported are " + kWeightTypes);
  if (const auto changed = adapted(name, rows, cols)) return *changed;
  return {bytes_of(places_.find(name)->second), *dtype, rows, cols, true};
}

std::optional<TensorView> Checkpoint::adapted(std::string_view name, size_t rows, size_t cols) const {
  if (!adapted_) return std::nullopt;
  const auto at = adapted_->tensors().find(std::string(name));
  if (at == adapted_->tensors().end()) return std::nullopt;
  return TensorView{adapted_->data() + at->second.begin, *weight_type_of(at->second.dtype), rows, cols, true};
}

const uint8_t* Checkpoint::bytes_of(const Place& place) const {
  return files_[place.file]->data() + place.info->begin;
}

TensorView Checkpoint::embedding() const {
  return tensor(kEmbedding, config_.vocab, config_.hidden);
}

TensorView Checkpoint::score() const {
  if (!config_.classifier) fail(dir_ + ": has no classification head");
  const size_t labels = config_.classifier->labels.size();
  // That of an adapter may be the only one.
  if (const auto changed = adapted(kScore, labels, config_.hidden)) return *changed;
  return tensor(kScore, labels, config_.hidden);
}

TensorView Checkpoint::head() const {
  if (!config_.has_output_matrix()) fail(dir_ + ": has no output matrix");
  return config_.tied_head ? embedding() : tensor(kHead, config_.vocab, config_.hidden);
}

bool Checkpoint::all_bf16() const {
  const std::vector<TensorShape> list = architecture(config_);
  return std::all_of(list.begin(), list.end(), [&](const TensorShape& e) {
    return e.shape.size() != 2 || e.name.starts_with("score.") || find(e.name)->dtype == "BF16";
  });
}

std::string Checkpoint::digest_lines(int threads) const {
  std::vector<TensorShape> list = architecture(config_);
  // A head of the adapter has a line of the adapter.
  std::erase_if(list, [&](const TensorShape& e) { return !has(e.name); });
  std::sort(list.begin(), list.end(),
            [](const TensorShape& a, const TensorShape& b) { return a.name < b.name; });
  std::vector<std::string> hashes(list.size());
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  run_threads(
      static_cast<size_t>(std::max(threads, 1)),
      [&](size_t) {
        for (size_t i = next++; i < list.size(); i = next++) {
          const Place& place = places_.at(list[i].name);
          hashes[i] = sha256_hex_of_mapping(bytes_of(place), place.info->end - place.info->begin);
        }
      },
      [&](const std::exception_ptr& error) {
        next = list.size();
        const std::lock_guard lock(mutex);
        failure = error;
      });
  if (failure) std::rethrow_exception(failure);
  std::string lines;
  for (size_t i = 0; i < list.size(); ++i) {
    lines += list[i].name + " " + find(list[i].name)->dtype + " " + shape_text(list[i].shape) + " " +
             hashes[i] + "\n";
  }
  return lines;
}

std::string Checkpoint::sha256(int threads) const {
  const std::string fingerprint = config_fingerprint(config_);
  std::string key = "carbon model digest 1\n";
  int64_t newest = 0;
  bool stamped = true;
  auto add = [&](const std::string& path, const FileStamp& stamp) {
    key += path + " " + stamp.text + "\n";
    newest = std::max(newest, stamp.modified);
    if (stamp.text.empty()) stamped = false;
  };
  for (const auto& file : files_) add(file->path(), file->stamp());
  for (const char* name : {"config.json", "dna_config.json"}) {
    const std::string path = dir_ + "/" + name;
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0) add(path, file_stamp(status));
  }
  key += adapter_lines_ + fingerprint;

  // A file that was written a moment ago could change again without a new modification time, so its digest is
  // not remembered. Nor is that of tensors without files.
  const bool settled = stamped && newest + 2 < std::time(nullptr);
  std::error_code ignored;
  fs::path subject = fs::canonical(dir_, ignored);
  if (ignored) subject = dir_;
  // Runs with another rope scaling or an adapter have a separate entry, so that they do not replace that of
  // plain runs.
  std::string entry = subject.string();
  for (const std::string& change : {rope_override_, adapter_id_})
    if (!change.empty()) entry += "\n" + change;
  return remembered_digest(entry, key, settled,
                           [&] { return sha256_hex(digest_lines(threads) + adapter_lines_ + fingerprint); });
}

}  // namespace carbon
