#include "src/model/dna_config.hpp"

#include <nlohmann/json.hpp>
#include <optional>

#include "src/base/error.hpp"
#include "src/base/files.hpp"
#include "src/base/json.hpp"
#include "src/model/config.hpp"

namespace carbon {
namespace {

using nlohmann::json;

constexpr size_t kMaxBytes = size_t{64} << 20;
constexpr const char* kFirstToken = "<dna>";

[[noreturn]] void fail(const std::string& what) {
  throw Error("models", what);
}

std::optional<uint64_t> id_in(const json& ids) {
  if (!ids.is_object() || !ids.contains(kFirstToken) || !ids[kFirstToken].is_number_unsigned())
    return std::nullopt;
  return ids[kFirstToken].get<uint64_t>();
}

// Of tokenizer.json: a list of objects with id and content, or the vocabulary.
std::optional<uint64_t> id_in_tokenizer(const json& tokenizer) {
  if (!tokenizer.is_object()) return std::nullopt;
  if (const auto added = tokenizer.find("added_tokens"); added != tokenizer.end() && added->is_array())
    for (const json& token : *added)
      if (token.is_object() && token.value("content", json()) == kFirstToken && token.contains("id") &&
          token["id"].is_number_unsigned())
        return token["id"].get<uint64_t>();
  const auto model = tokenizer.find("model");
  if (model == tokenizer.end() || !model->is_object() || !model->contains("vocab")) return std::nullopt;
  return id_in((*model)["vocab"]);
}

struct FoundId {
  uint64_t id;
  std::string file;
};

std::optional<FoundId> first_token(const std::string& dir) {
  const std::string tokenizer = dir + "/tokenizer.json", added = dir + "/added_tokens.json";
  if (path_exists(tokenizer))
    if (const auto id = id_in_tokenizer(read_json_file(tokenizer, kMaxBytes))) return FoundId{*id, tokenizer};
  if (path_exists(added))
    if (const auto id = id_in(read_json_file(added, kMaxBytes))) return FoundId{*id, added};
  return std::nullopt;
}

bool opens(const std::string& dir) {
  try {
    load_config(dir);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

DnaConfigSkeleton dna_config_skeleton(const std::string& dir) {
  const std::string path = dir + "/dna_config.json";
  if (path_exists(path)) fail(path + " is there already; edit it");
  if (!path_exists(dir + "/config.json"))
    fail(dir + ": there is no config.json; name the directory of a Hugging Face checkpoint");
  if (opens(dir)) fail(dir + ": this model needs no dna_config.json; its vocabulary is known");
  const std::optional<FoundId> found = first_token(dir);
  const nlohmann::ordered_json skeleton = {
      {"k", kKmerLength},
      {"dna_start_id", found ? nlohmann::ordered_json(found->id) : nlohmann::ordered_json()},
      {"dna_special_tokens", {"<dna>", "</dna>", "<oov>"}},
      {"dna_vocab_size", 3 + kKmerCount}};
  const std::string after =
      "</dna>, <oov> and the 4,096 6-mers must follow it (docs/model.md, \"Vocabulary\")";
  return {skeleton.dump(2) + "\n", found
                                       ? "dna_start_id " + std::to_string(found->id) +
                                             " is the id of <dna> in " + found->file + "; check it: " + after
                                       : "fill in dna_start_id, the id of <dna>: " + after};
}

}  // namespace carbon
