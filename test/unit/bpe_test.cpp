// BPE files and merges: a small hand-made vocabulary, hostile files, and the shared Qwen3 files where
// present.
#include <doctest/doctest.h>
#include <unistd.h>
#include <zlib.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/base/error.hpp"
#include "tokenizer/bpe.hpp"
#include "tokenizer/bpe_files.hpp"
#include "tokenizer/hybrid.hpp"
#include "tokenizer/unicode.hpp"

using namespace carbon;
using nlohmann::json;
namespace fs = std::filesystem;
using Ids = std::vector<uint32_t>;

namespace {

/// A folder that is removed at the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "carbon_bpe_XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
    return (path_ / name).string();
  }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

/// The letter that stands for a byte in a byte-level vocabulary.
std::string byte_letter(int byte) {
  char32_t letter = 0x100;
  for (int b = 0; b <= byte; ++b) {
    const bool itself = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
    if (b == byte) {
      std::string text;
      append_utf8(text, itself ? static_cast<char32_t>(b) : letter);
      return text;
    }
    if (!itself) ++letter;
  }
  return "";
}

/// 256 byte tokens (id = byte), then ab 256, abc 257, bc 258, " a" 259, aa 260, aaaa 261.
json tiny_vocab() {
  json vocab = json::object();
  for (int byte = 0; byte < 256; ++byte) vocab[byte_letter(byte)] = byte;
  uint32_t id = 256;
  for (const char* token : {"ab", "abc", "bc", "\u0120a", "aa", "aaaa"}) vocab[token] = id++;
  return vocab;
}

const char* const kTinyMerges = "#version: 0.2\nb c\na b\nab c\n\u0120 a\na a\naa aa\n";

json tiny_tokenizer_json() {
  json root;
  root["normalizer"] = {{"type", "NFC"}};
  root["pre_tokenizer"] = {{"type", "Sequence"},
                           {"pretokenizers",
                            {{{"type", "Split"},
                              {"pattern", {{"Regex", kPretokenizerRegex}}},
                              {"behavior", "Isolated"},
                              {"invert", false}},
                             {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}};
  root["model"] = {{"type", "BPE"},
                   {"vocab", tiny_vocab()},
                   {"merges", {"b c", {"a", "b"}, "ab c", "\u0120 a", {"a", "a"}, {"aa", "aa"}}}};
  root["added_tokens"] = json::array();
  root["added_tokens"].push_back({{"id", 262}, {"content", "<x>"}, {"special", true}});
  root["added_tokens"].push_back({{"id", 263}, {"content", "<x>y"}, {"special", false}});
  return root;
}

std::string load_error(const std::string& path) {
  try {
    (void)Bpe::load(path);
  } catch (const Error& e) {
    CHECK((e.function() == "load_tokenizer" || e.function() == "read_json"));
    return e.what();
  }
  return "";
}

/// The message of loading a tokenizer.json after one change, which must be refused.
std::string error_after(const std::function<void(json&)>& change) {
  const TemporaryFolder folder;
  json root = tiny_tokenizer_json();
  change(root);
  return load_error(folder.write("tokenizer.json", root.dump()));
}

bool mentions(const std::string& message, const std::string& part) {
  return message.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a small vocabulary merges by rank, leftmost first") {
  const TemporaryFolder folder;
  folder.write("vocab.json", tiny_vocab().dump());
  folder.write("merges.txt", kTinyMerges);
  REQUIRE(Bpe::present(folder.path()));
  for (const std::string& path :
       {folder.path(), folder.path() + "/vocab.json", folder.path() + "/merges.txt"}) {
    const Bpe bpe = Bpe::load(path);
    CHECK(bpe.encode("") == Ids{});
    CHECK(bpe.encode("abc") == Ids{'a', 258});  // "b c" ranks before "a b"
    CHECK(bpe.encode("abab") == Ids{256, 256});
    CHECK(bpe.encode("aaa") == Ids{260, 'a'});
    CHECK(bpe.encode("aaaaaaa") == Ids{261, 260, 'a'});
    CHECK(bpe.encode("x a") == Ids{'x', 259});
    CHECK(bpe.encode("e\u0301") == Ids{0xC3, 0xA9});  // composed before it is cut
    CHECK(bpe.decode({259, 258, 0xC3, 0xA9, 0xC3}, false) == " abc\u00E9\uFFFD");
    CHECK(bpe.decode({262, 151643, UINT32_MAX}, false) == "");
    CHECK_THROWS_AS(bpe.encode("ab\xC3"), Error);
  }
}

TEST_CASE("tokenizer.json takes both spellings of merges and its added tokens") {
  const TemporaryFolder folder;
  const std::string path = folder.write("tokenizer.json", tiny_tokenizer_json().dump());
  const Bpe bpe = Bpe::load(folder.path());
  CHECK(bpe.encode("abc abab ac") == Ids{'a', 258, ' ', 256, 256, 259, 'c'});
  CHECK(bpe.encode("ab<x>ya<x>b<x") == Ids{256, 263, 'a', 262, 'b', '<', 'x'});
  CHECK(bpe.decode({262, 'a', 263}, false) == "<x>a<x>y");
  CHECK(bpe.decode({262, 'a', 263}, true) == "a<x>y");
  CHECK(Bpe::load(path).encode("abab") == Ids{256, 256});

  // A model whose DNA tokens have ids that these files give to other tokens.
  const HybridTokenizer clash({263, 263 + 4099}, std::make_shared<const Bpe>(Bpe::load(path)));
  CHECK(clash.encode("ab<dna>AAAAAA").ids == Ids{256, 263, 266});
  CHECK_THROWS_AS(clash.encode("<x>y"), Error);
  const HybridTokenizer dna_only({0, 4224}, std::make_shared<const Bpe>(Bpe::load(path)));
  CHECK_THROWS_AS(dna_only.encode("ab"), Error);
}

TEST_CASE("a place without tokenizer files") {
  const TemporaryFolder folder;
  CHECK_FALSE(Bpe::present(folder.path()));
  CHECK_FALSE(Bpe::present(folder.path() + "/absent"));
  CHECK(mentions(load_error(folder.path()), "no tokenizer files"));
  folder.write("vocab.json", "{}");
  CHECK_FALSE(Bpe::present(folder.path()));
  CHECK(mentions(load_error(folder.path() + "/absent"), "no tokenizer files"));
}

TEST_CASE("damaged and hostile tokenizer.json files are refused") {
  const TemporaryFolder folder;
  const std::string whole = tiny_tokenizer_json().dump();
  for (size_t size = 0; size < whole.size(); size += 97) {
    CAPTURE(size);
    REQUIRE(mentions(load_error(folder.write("tokenizer.json", whole.substr(0, size))), "not valid JSON"));
  }
  for (const char* text :
       {"null", "[]", "1", "\"text\"", "{}", R"({"model":[]})", R"({"model":{"type":7}})"}) {
    CAPTURE(text);
    CHECK(mentions(load_error(folder.write("tokenizer.json", text)), "/model/type"));
  }
  CHECK(mentions(load_error(folder.write("tokenizer.json", std::string(1 << 20, '['))), "nested"));
  CHECK(mentions(load_error(folder.write("tokenizer.json", whole + "\xFF")), "not valid JSON"));

  CHECK(mentions(error_after([](json& j) { j["model"]["type"] = "WordPiece"; }), "/model/type"));
  CHECK(mentions(error_after([](json& j) { j["model"]["byte_fallback"] = true; }), "byte_fallback"));
  CHECK(mentions(error_after([](json& j) { j["normalizer"] = nullptr; }), "/normalizer/type"));
  CHECK(
      mentions(error_after([](json& j) { j["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = "."; }),
               "Regex"));
  CHECK(mentions(error_after([](json& j) { j["model"].erase("merges"); }), "model.merges"));
  CHECK(mentions(error_after([](json& j) { j["model"]["vocab"] = json::array(); }), "not an object"));
  CHECK(mentions(error_after([](json& j) { j["model"]["vocab"]["ab"] = 262; }), "id 262"));
  CHECK(mentions(error_after([](json& j) { j["model"]["vocab"]["ab"] = UINT64_MAX; }), "outside 0..261"));
  CHECK(mentions(error_after([](json& j) { j["model"]["vocab"]["ab"] = 257; }), "two tokens"));
  CHECK(mentions(error_after([](json& j) { j["model"]["vocab"]["ab"] = -1; }), "not a whole number"));
  CHECK(mentions(error_after([](json& j) { j["model"]["vocab"]["ab"] = 1.5; }), "not a whole number"));
  CHECK(mentions(error_after([](json& j) { j["model"]["vocab"]["ab"] = "256"; }), "not a whole number"));
  CHECK(mentions(error_after([](json& j) { j["model"]["vocab"][""] = 262; }), "empty"));
  CHECK(mentions(error_after([](json& j) { j["model"]["vocab"]["\u4E00"] = 262; }), "not byte-level"));
  CHECK(mentions(error_after([](json& j) {
                   j["model"]["vocab"].erase("\u0120");
                   j["model"]["vocab"]["zz"] = 32;
                 }),
                 "byte 32"));
  CHECK(mentions(error_after([](json& j) { j["model"]["merges"] = "a b"; }), "not an array"));
  CHECK(mentions(error_after([](json& j) { j["model"]["merges"].push_back("b b"); }), "result"));
  CHECK(mentions(error_after([](json& j) { j["model"]["merges"].push_back("zz a"); }), "left part"));
  CHECK(mentions(error_after([](json& j) { j["model"]["merges"].push_back("a b"); }), "merge 7"));
  for (const json& merge :
       {json("ab"), json("a b c"), json(" b"), json(7), json({"a"}), json({"a", 1}), json()}) {
    CAPTURE(merge.dump());
    CHECK(mentions(error_after([&](json& j) { j["model"]["merges"].push_back(merge); }), "neither"));
  }
  CHECK(mentions(error_after([](json& j) { j["added_tokens"] = 1; }), "added_tokens"));
  CHECK(mentions(error_after([](json& j) { j["added_tokens"][1] = "x"; }), "added token 2"));
  CHECK(mentions(error_after([](json& j) { j["added_tokens"][1]["id"] = -5; }), "whole number"));
  CHECK(mentions(error_after([](json& j) { j["added_tokens"][1]["id"] = uint64_t{1} << 32; }), "too large"));
  CHECK(mentions(error_after([](json& j) { j["added_tokens"][1]["id"] = 262; }), "given twice"));
  CHECK(mentions(error_after([](json& j) { j["added_tokens"][1]["id"] = 5; }), "another token"));
  CHECK(mentions(error_after([](json& j) { j["added_tokens"][1]["content"] = ""; }), "empty"));
  CHECK(mentions(error_after([](json& j) { j["added_tokens"][1]["content"] = "<x>"; }), "given twice"));
  CHECK(mentions(error_after([](json& j) { j["added_tokens"][1]["lstrip"] = true; }), "lstrip"));
}

TEST_CASE("of added tokens the longest that begins at a place is taken, however many there are") {
  AddedTokens few(
      {{"<", 0, false}, {"<ab", 1, false}, {"<abcd!", 2, false}, {"<abcd", 3, false}, {"<abz", 4, false}});
  const auto id_at = [&](std::string_view text, size_t from = 0) {
    const AddedTokens::Match match = few.next(text, from);
    return match.token == nullptr ? std::string("none")
                                  : std::to_string(match.position) + ":" + std::to_string(match.token->id);
  };
  CHECK(id_at("x<abcd?") == "1:3");
  CHECK(id_at("<abcd!") == "0:2");
  CHECK(id_at("<abc") == "0:1");
  CHECK(id_at("<a<ab") == "0:0");
  CHECK(id_at("<a<ab", 1) == "2:1");
  CHECK(id_at("<aby") == "0:1");
  CHECK(id_at("ab") == "none");
  CHECK_FALSE(few.add({"<ab", 9, false}));
  CHECK_FALSE(few.add({"new", 3, false}));
  CHECK(id_at("new") == "none");

  const auto start = std::chrono::steady_clock::now();
  AddedTokens many;
  for (uint32_t id = 0; id < 300000; ++id) CHECK_UNARY(many.add({"<" + std::to_string(id) + ">", id, false}));
  const std::string text(300000, '<');
  CHECK(many.next(text, 0).token == nullptr);
  CHECK(many.next(text + "299999>", 0).token->id == 299999);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
}

TEST_CASE("damaged vocab.json and merges.txt are refused with their line") {
  const TemporaryFolder folder;
  const std::string vocab = tiny_vocab().dump();
  folder.write("vocab.json", vocab.substr(0, vocab.size() / 2));
  folder.write("merges.txt", kTinyMerges);
  CHECK(mentions(load_error(folder.path()), "vocab.json: not valid JSON"));
  folder.write("vocab.json", "{\"ab\":0," + vocab.substr(1));
  CHECK(mentions(load_error(folder.path()), "twice"));

  folder.write("vocab.json", vocab);
  for (const char* line : {"ab", "a  b", "a b c", "", " ", "a ", " b"}) {
    CAPTURE(line);
    folder.write("merges.txt", std::string("#version: 0.2\r\nb c\r\n") + line + "\na b\n");
    CHECK(mentions(load_error(folder.path()), "merges.txt:3: expected two tokens"));
  }
  folder.write("merges.txt", "b c\nb \xFF\n");
  CHECK(mentions(load_error(folder.path()), "not valid UTF-8"));
  folder.write("merges.txt", "b c\nc b\n");
  CHECK(mentions(load_error(folder.path()), "merges.txt:2: the result"));
  folder.write("merges.txt", "b c\n# c\n");
  CHECK(mentions(load_error(folder.path()), "merges.txt:2: the result"));
  folder.write("merges.txt", "");
  CHECK(Bpe::load(folder.path()).encode("abc") == Ids{'a', 'b', 'c'});
}

TEST_CASE("a long run of one letter or of spaces is merged in well under quadratic time") {
  const TemporaryFolder folder;
  folder.write("vocab.json", tiny_vocab().dump());
  folder.write("merges.txt", kTinyMerges);
  const Bpe bpe = Bpe::load(folder.path());
  constexpr size_t kLength = 1 << 20;
  const auto start = std::chrono::steady_clock::now();
  CHECK(bpe.encode(std::string(kLength, 'a')) == Ids(kLength / 4, 261));
  CHECK(bpe.encode(std::string(kLength, ' ')) == Ids(kLength, ' '));
  CHECK(bpe.encode(std::string(kLength, '\n') + "a").size() == kLength + 1);
  // A quadratic merge would need hours.
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(60));
}

TEST_CASE("the published tokenizer.json gives the same ids as vocab.json and merges.txt") {
  const char* variable = std::getenv("CARBON_SHARED");
  const fs::path shared = variable != nullptr ? variable : "../shared";
  const std::string packed = (shared / "qwen3/tokenizer.json.gz").string();
  if (!fs::exists(packed) || !fs::exists(shared / "fixtures/tokenizer_golden.jsonl")) {
    MESSAGE("SKIPPED: no Qwen3 tokenizer files; set CARBON_SHARED");
    return;
  }
  const TemporaryFolder folder;
  {
    const std::unique_ptr<gzFile_s, int (*)(gzFile)> in(gzopen(packed.c_str(), "rb"), gzclose);
    REQUIRE(in);
    std::string content;
    std::vector<char> block(1 << 16);
    for (int got = 0; (got = gzread(in.get(), block.data(), static_cast<unsigned>(block.size()))) > 0;)
      content.append(block.data(), static_cast<size_t>(got));
    REQUIRE(content.size() == 11422654);
    folder.write("tokenizer.json", content);
  }
  const HybridTokenizer one({}, std::make_shared<const Bpe>(Bpe::load(folder.path())));
  std::ifstream in(shared / "fixtures/tokenizer_golden.jsonl");
  size_t cases = 0;
  for (std::string line; std::getline(in, line); ++cases) {
    const json c = json::parse(line);
    CAPTURE(line);
    const Encoding encoding = one.encode(c.at("text").get<std::string>(), c.at("auto").get<bool>());
    CHECK(encoding.ids == c.at("ids").get<Ids>());
    CHECK(encoding.mask == c.at("mask").get<std::vector<int8_t>>());
    CHECK(one.decode(encoding.ids) == c.at("dec").get<std::string>());
    CHECK(one.decode(encoding.ids, true) == c.at("dec_skip").get<std::string>());
  }
  CHECK(cases == 298);
}
