// Reads the files of tokenizers as hostile input: a step of a tokenizer that this program does not do is an
// Error. See vocabulary_files.hpp.
#include "src/model/vocabulary_files.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/files.hpp"
#include "src/base/json.hpp"
#include "src/model/config.hpp"

namespace carbon {
namespace {

using nlohmann::json;

// tokenizer.json of a MarinDNA.

/// A thousand times such a file.
constexpr size_t kLargestLetterFile = size_t{1} << 20;
constexpr const char *kBegin = "[BOS]", *kEnd = "[EOS]", *kUnknown = "[UNK]";
constexpr const char* kLetters[] = {"a", "t", "c", "g"};

class LetterFile {
 public:
  LetterFile(std::string path, uint64_t vocab_size)
      : path_(std::move(path)), vocab_size_(vocab_size), root_(read_json_file(path_, kLargestLetterFile)) {}

  /// Fails unless the steps of the tokenizer are those of a tokenizer of single letters.
  void check_steps() const {
    require("/model/type", {"WordLevel"});
    require("/model/unk_token", {kUnknown});
    require("/normalizer/type", {"Lowercase"});
    require("/pre_tokenizer/type", {"Split"});
    require("/pre_tokenizer/pattern", {json::object({{"Regex", ".{1}"}}), json::object({{"Regex", "."}}),
                                       json::object({{"String", ""}})});
    require("/pre_tokenizer/behavior", {"Isolated"});
    require("/pre_tokenizer/invert", {json(false), json()});
    require("/post_processor/type", {"TemplateProcessing"});
    require("/post_processor/single/0/SpecialToken/id", {kBegin});
    require("/post_processor/single/1/Sequence/id", {"A"});
    if (closes()) require("/post_processor/single/2/SpecialToken/id", {kEnd});
    require("/post_processor/single/3", {json()});
  }

  void read_tokens() {
    const json& vocabulary = at("/model/vocab");
    if (!vocabulary.is_object()) fail("model.vocab is not an object of token: id");
    for (const auto& [token, id] : vocabulary.items()) add(token, id);
    const json& added = at("/added_tokens");
    if (added.is_null()) return;
    if (!added.is_array()) fail("added_tokens is not an array");
    for (const json& entry : added) {
      if (!entry.is_object() || !entry.contains("content") || !entry["content"].is_string() ||
          !entry.contains("id"))
        fail("an entry of added_tokens has no text \"content\" or no \"id\"");
      add(entry["content"].get<std::string>(), entry["id"]);
    }
  }

  LetterVocabulary vocabulary() const {
    LetterVocabulary v;
    v.begin = special(kBegin);
    v.unknown = id_of(kUnknown);
    if (closes()) v.end = special(kEnd);
    for (size_t i = 0; i < v.letters.size(); ++i) v.letters[i] = id_of(kLetters[i]);
    return v;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw Error("load_letters", path_ + ": " + what); }

  /// The value at a place of the file; null if it is absent.
  const json& at(const char* place) const {
    const json::json_pointer pointer(place);
    return root_.contains(pointer) ? root_.at(pointer) : absent_;
  }

  /// True if something stands after the text.
  bool closes() const { return !at("/post_processor/single/2").is_null(); }

  void require(const char* place, std::initializer_list<json> known) const {
    const json& value = at(place);
    for (const json& one : known)
      if (value == one) return;
    fail(std::string(place + 1) + (value.is_null() ? " is missing" : " is " + printable(value.dump())) +
         " and must be " + known.begin()->dump() + ": this is not a tokenizer of single bases after " +
         kBegin);
  }

  void add(const std::string& token, const json& value) {
    const bool letter = std::ranges::find(kLetters, token) != std::end(kLetters);
    if (!letter && !(token.size() > 2 && token.front() == '[' && token.back() == ']'))
      fail("token '" + printable(token) +
           "' is neither a, c, g or t nor a name in square brackets; only tokenizers of single bases are "
           "supported");
    if (!value.is_number_unsigned() || value.get<uint64_t>() >= vocab_size_)
      fail("the id of token '" + printable(token) + "' is " + printable(value.dump()) +
           " and must be a whole number below " + std::to_string(vocab_size_) +
           ", the vocab_size of config.json");
    const auto id = static_cast<uint32_t>(value.get<uint64_t>());
    if (const auto [place, is_new] = ids_.emplace(token, id); place->second != id)
      fail("token '" + printable(token) + "' has two ids, " + std::to_string(place->second) + " and " +
           std::to_string(id));
    if (const auto [place, is_new] = tokens_.emplace(id, token); place->second != token)
      fail("id " + std::to_string(id) + " is given to two tokens, '" + printable(place->second) + "' and '" +
           printable(token) + "'");
  }

  uint32_t id_of(const char* token) const {
    const auto place = ids_.find(token);
    if (place == ids_.end())
      fail(std::string("token ") + token + " is missing; [BOS], [UNK], a, c, g and t are needed");
    return place->second;
  }

  /// A token that the tokenizer puts around a text, where its id stands a second time.
  uint32_t special(const char* token) const {
    const uint32_t id = id_of(token);
    const std::string place = std::string("/post_processor/special_tokens/") + token + "/ids";
    require(place.c_str(), {json::array({id})});
    return id;
  }

  std::string path_;
  uint64_t vocab_size_;
  json root_;
  const json absent_;
  std::map<std::string, uint32_t> ids_;
  std::map<uint32_t, std::string> tokens_;
};

// tokenizer_config.json and vocab.txt of a GENERator.

constexpr size_t kMaxConfigBytes = size_t{16} << 20;
constexpr const char* kKmerTokenizer = "DNAKmerTokenizer";

[[noreturn]] void fail(const std::string& what) {
  throw Error("load_config", what);
}

std::string config_path(const std::string& dir) {
  return dir + "/tokenizer_config.json";
}

std::string token_text(const TokenLayout& layout, uint32_t id) {
  return layout.is_kmer(id) ? kmer_text(layout.kmer_of(id), layout.bases())
                            : std::string(layout.family->tokens[id]);
}

// Of the first line of vocab.txt: do the lines have ids behind the tokens?
bool has_ids(const std::string& line) {
  return line.find(' ') != std::string::npos;
}

void check_tokenizer_config(const std::string& path) {
  const json config = read_json_file(path, kMaxConfigBytes);
  if (!config.is_object()) fail(path + ": is not a JSON object");
  const auto has = [&](const char* key, const json& value) {
    return config.contains(key) && config[key] == value;
  };
  const auto shown = [&](const char* key) {
    return config.contains(key) ? printable(config[key].dump()) : std::string("missing");
  };
  if (!has("tokenizer_class", kKmerTokenizer))
    fail(path + ": tokenizer_class is " + shown("tokenizer_class") + ", but a GENERator has " +
         kKmerTokenizer);
  if (!has("k", kKmerLength))
    fail(path + ": k is " + shown("k") + "; only tokenizers of " + std::to_string(kKmerLength) +
         " bases per token are supported");
}

void check_vocabulary(const std::string& path) {
  const TokenLayout layout = generator_layout();
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) fail(path + ": is not a regular file");
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(path + ": cannot be opened");
  // A line is read up to this length, which no right one has.
  char buffer[64];
  bool with_ids = false;
  for (uint32_t id = 0; id < layout.vocab_size; ++id) {
    in.getline(buffer, sizeof buffer);
    const std::string where = path + ": line " + std::to_string(id + 1);
    if (in.gcount() == 0)
      fail(where + " is missing; a GENERator has " + std::to_string(layout.vocab_size) + " tokens");
    const bool ended = in.good();  // at a line feed, which gcount() counts
    const std::string line(buffer, static_cast<size_t>(in.gcount()) - (ended ? 1 : 0));
    if (id == 0) with_ids = has_ids(line);
    const std::string token = token_text(layout, id) + (with_ids ? " " + std::to_string(id) : "");
    if (in.fail() || line != token)
      fail(where + " is '" + printable(line) + "' and must be '" + token +
           "': the order of the tokens decides what each id means");
  }
  if (in.peek() != std::ifstream::traits_type::eof())
    fail(path + ": has more lines than the " + std::to_string(layout.vocab_size) + " tokens of a GENERator");
}

// dna_config.json of a Carbon: the id of <dna> in the files of its tokenizer.

constexpr size_t kMaxTokenizerBytes = size_t{64} << 20;
constexpr const char* kFirstToken = "<dna>";

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
    if (const auto id = id_in_tokenizer(read_json_file(tokenizer, kMaxTokenizerBytes)))
      return FoundId{*id, tokenizer};
  if (path_exists(added))
    if (const auto id = id_in(read_json_file(added, kMaxTokenizerBytes))) return FoundId{*id, added};
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

[[noreturn]] void fail_skeleton(const std::string& what) {
  throw Error("models", what);
}

}  // namespace

LetterVocabulary read_letter_vocabulary(const std::string& path, uint64_t vocab_size) {
  if (!path_exists(path))
    throw Error("load_letters", path + " is missing; it says which token stands for each base");
  LetterFile file(path, vocab_size);
  file.check_steps();
  file.read_tokens();
  return file.vocabulary();
}

TokenLayout generator_layout() {
  return {0, kGeneratorFamily.kmer0 + kKmerCount, &kGeneratorFamily};
}

bool names_kmer_tokenizer(const std::string& dir) {
  const std::string path = config_path(dir);
  if (!path_exists(path)) return false;
  const json config = read_json_file(path, kMaxConfigBytes);
  return config.is_object() && config.contains("tokenizer_class") &&
         config["tokenizer_class"] == kKmerTokenizer;
}

void check_kmer_tokenizer_files(const std::string& dir) {
  if (path_exists(config_path(dir))) check_tokenizer_config(config_path(dir));
  if (const std::string path = dir + "/vocab.txt"; path_exists(path)) check_vocabulary(path);
}

DnaConfigSkeleton dna_config_skeleton(const std::string& dir) {
  const std::string path = dir + "/dna_config.json";
  if (path_exists(path)) fail_skeleton(path + " is there already; edit it");
  if (!path_exists(dir + "/config.json"))
    fail_skeleton(dir + ": there is no config.json; name the directory of a Hugging Face checkpoint");
  if (opens(dir)) fail_skeleton(dir + ": this model needs no dna_config.json; its vocabulary is known");
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
