// SHA-256, and the file in which digests are remembered. See digest.hpp.
#include "src/model/digest.hpp"

#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <system_error>

#include "src/base/error.hpp"
#include "src/base/numbers.hpp"
#include "src/model/config.hpp"
#include "src/model/tensor_file.hpp"

namespace carbon {

namespace {

namespace fs = std::filesystem;

/// The directory of remembered digests; empty if neither XDG_CACHE_HOME nor HOME is an absolute path.
fs::path memory_dir() {
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && xdg[0] == '/') return fs::path(xdg) / "carbon";
  if (const char* home = std::getenv("HOME"); home && home[0] == '/')
    return fs::path(home) / ".cache" / "carbon";
  return {};
}

bool is_digest(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// The digest in `file` if the rest of it is `key`, else an empty string.
std::string recall(const fs::path& file, const std::string& key) {
  std::ifstream in(file, std::ios::binary);
  std::string text(65 + key.size() + 1, '\0');  // one byte more than expected, to see a longer file
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  if (text.size() != 65 + key.size() || text[64] != '\n' || text.substr(65) != key) return {};
  return is_digest(std::string_view(text).substr(0, 64)) ? text.substr(0, 64) : std::string();
}

void store(const fs::path& file, const std::string& digest, const std::string& key) {
  std::error_code ignored;
  fs::create_directories(file.parent_path(), ignored);
  fs::path temporary = file;
  temporary += "." + std::to_string(::getpid()) + ".tmp";
  std::ofstream out(temporary, std::ios::binary);
  out << digest << '\n' << key;
  out.close();
  if (!out.fail()) fs::rename(temporary, file, ignored);
  if (out.fail() || ignored) fs::remove(temporary, ignored);
}

/// The hash of data that comes in pieces.
class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    check(context_ != nullptr && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
  }
  void update(const void* data, size_t bytes) { check(EVP_DigestUpdate(context_.get(), data, bytes) == 1); }
  Sha256Bytes bytes() {
    Sha256Bytes hash;
    check(EVP_DigestFinal_ex(context_.get(), hash.data(), nullptr) == 1);
    return hash;
  }
  std::string hex() {
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (const unsigned char byte : bytes()) {
      text += digits[byte >> 4];
      text += digits[byte & 15];
    }
    return text;
  }

 private:
  static void check(bool good) {
    if (!good) throw Error("sha256", "OpenSSL cannot compute SHA-256 on this system");
  }
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

/// A mapping is hashed and given back in blocks of this size, so that a large model is not held in memory
/// twice.
constexpr size_t block_bytes = size_t{16} << 20;

}  // namespace

Sha256Bytes sha256_bytes(std::string_view text) {
  Sha256 hash;
  hash.update(text.data(), text.size());
  return hash.bytes();
}

std::string sha256_hex(std::string_view text) {
  Sha256 hash;
  hash.update(text.data(), text.size());
  return hash.hex();
}

std::string sha256_hex_of_mapping(const void* data, size_t bytes) {
  Sha256 hash;
  for (size_t done = 0; done < bytes;) {
    const char* block = static_cast<const char*>(data) + done;
    const size_t n = std::min(block_bytes, bytes - done);
    hash.update(block, n);
    give_back_pages(block, n);
    done += n;
  }
  return hash.hex();
}

std::string config_fingerprint(const ModelConfig& c) {
  std::map<std::string, std::string> lines = {
      {"head_dim", std::to_string(c.head_dim)},
      {"hidden_size", std::to_string(c.hidden)},
      {"intermediate_size", std::to_string(c.intermediate)},
      {"num_attention_heads", std::to_string(c.heads)},
      {"num_hidden_layers", std::to_string(c.layers)},
      {"num_key_value_heads", std::to_string(c.kv_heads)},
      {"rms_norm_eps", exact_text(static_cast<double>(c.rms_eps))},
      {"rope_theta", exact_text(c.rope_theta)},
      {"rope_type", c.rope_scaling.yarn ? "yarn" : "default"},
      {"tie_word_embeddings", c.tied_head ? "true" : "false"},
      {"vocab_size", std::to_string(c.vocab)},
  };
  if (c.rope_scaling.yarn) {
    lines["yarn_attention_factor"] = exact_text(rope_attention_factor(c));
    lines["yarn_beta_fast"] = exact_text(c.rope_scaling.beta_fast);
    lines["yarn_beta_slow"] = exact_text(c.rope_scaling.beta_slow);
    lines["yarn_factor"] = exact_text(c.rope_scaling.factor);
    lines["yarn_original_max_position_embeddings"] = exact_text(c.rope_scaling.original_max_positions);
    lines["yarn_truncate"] = c.rope_scaling.truncate ? "true" : "false";
  }
  if (const auto& rope = c.llama3_rope) {
    lines["rope_type"] = "llama3";
    lines["llama3_factor"] = exact_text(rope->factor);
    lines["llama3_high_freq_factor"] = exact_text(rope->high_factor);
    lines["llama3_low_freq_factor"] = exact_text(rope->low_factor);
    lines["llama3_original_max_position_embeddings"] = exact_text(rope->original_max_positions);
  }
  if (const auto& letters = c.layout.letters) {
    lines["model_type"] = "qwen3";
    lines["begin_id"] = std::to_string(letters->begin);
    lines["unknown_id"] = std::to_string(letters->unknown);
    for (size_t i = 0; i < letters->letters.size(); ++i)
      lines[std::string("letter_id_") + kBaseLetters[i]] = std::to_string(letters->letters[i]);
  } else {
    lines["dna_start_id"] = std::to_string(c.layout.first);
  }
  if (c.annotator) lines["use_mlp_classifier"] = c.annotator->hidden_layer ? "true" : "false";
  if (const std::string_view mark = c.layout.family->digest_mark; !mark.empty()) lines["family"] = mark;
  std::string text;
  for (const auto& [key, value] : lines) text += key + "=" + value + "\n";
  return text;
}

std::string remembered_digest(const std::string& subject, const std::string& key, bool remember,
                              const std::function<std::string()>& compute) {
  const fs::path dir = memory_dir();
  if (dir.empty()) return compute();
  const fs::path file = dir / ("sha256-" + sha256_hex(subject).substr(0, 16));
  if (std::string known = recall(file, key); !known.empty()) return known;
  std::string digest = compute();
  if (remember) store(file, digest, key);
  return digest;
}

}  // namespace carbon
