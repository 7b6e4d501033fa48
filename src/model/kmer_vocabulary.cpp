#include "src/model/kmer_vocabulary.hpp"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "src/base/error.hpp"
#include "src/base/files.hpp"
#include "src/base/json.hpp"

namespace carbon {
namespace {

constexpr size_t kMaxConfigBytes = size_t{16} << 20;
constexpr const char* kClass = "DNAKmerTokenizer";

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

void check_config(const std::string& path) {
  const nlohmann::json config = read_json_file(path, kMaxConfigBytes);
  if (!config.is_object()) fail(path + ": is not a JSON object");
  const auto has = [&](const char* key, const nlohmann::json& value) {
    return config.contains(key) && config[key] == value;
  };
  const auto shown = [&](const char* key) {
    return config.contains(key) ? printable(config[key].dump()) : std::string("missing");
  };
  if (!has("tokenizer_class", kClass))
    fail(path + ": tokenizer_class is " + shown("tokenizer_class") + ", but a GENERator has " + kClass);
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

}  // namespace

TokenLayout generator_layout() {
  return {0, kGeneratorFamily.kmer0 + kKmerCount, &kGeneratorFamily};
}

bool names_kmer_tokenizer(const std::string& dir) {
  const std::string path = config_path(dir);
  if (!path_exists(path)) return false;
  const nlohmann::json config = read_json_file(path, kMaxConfigBytes);
  return config.is_object() && config.contains("tokenizer_class") && config["tokenizer_class"] == kClass;
}

void check_kmer_tokenizer_files(const std::string& dir) {
  if (path_exists(config_path(dir))) check_config(config_path(dir));
  if (const std::string path = dir + "/vocab.txt"; path_exists(path)) check_vocabulary(path);
}

}  // namespace carbon
