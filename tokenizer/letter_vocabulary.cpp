// Reads tokenizer.json as hostile input: a step of the tokenizer that this program does not do is an Error.
#include "tokenizer/letter_vocabulary.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/files.hpp"
#include "src/base/json.hpp"

namespace carbon {
namespace {

using nlohmann::json;

/// A thousand times such a file.
constexpr size_t kLargestFile = size_t{1} << 20;
constexpr const char *kBegin = "[BOS]", *kEnd = "[EOS]", *kUnknown = "[UNK]";
constexpr const char* kLetters[] = {"a", "t", "c", "g"};

class LetterFile {
 public:
  LetterFile(std::string path, uint64_t vocab_size)
      : path_(std::move(path)), vocab_size_(vocab_size), root_(read_json_file(path_, kLargestFile)) {}

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

}  // namespace

LetterVocabulary read_letter_vocabulary(const std::string& path, uint64_t vocab_size) {
  if (!path_exists(path))
    throw Error("load_letters", path + " is missing; it says which token stands for each base");
  LetterFile file(path, vocab_size);
  file.check_steps();
  file.read_tokens();
  return file.vocabulary();
}

}  // namespace carbon
