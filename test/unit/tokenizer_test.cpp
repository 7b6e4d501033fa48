// 6-mers, the hybrid tokenizer and the Unicode helpers. Also reads the shared golden fixtures if they are
// present.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/base/error.hpp"
#include "tokenizer/bpe.hpp"
#include "tokenizer/hybrid.hpp"
#include "tokenizer/kmer.hpp"
#include "tokenizer/unicode.hpp"

using namespace carbon;
using nlohmann::json;
using Ids = std::vector<uint32_t>;
using Mask = std::vector<int8_t>;

namespace {

const TokenLayout kReleased;
const TokenLayout kDnaOnly{0, 4224};

std::filesystem::path shared_folder() {
  const char* value = std::getenv("CARBON_SHARED");
  return value != nullptr ? value : "../shared";
}

HybridTokenizer without_files() {
  return {kReleased, nullptr};
}

uint32_t kmer_id(std::string_view six) {
  return kReleased.kmer0() + static_cast<uint32_t>(kmer_index(six, 6));
}

std::vector<json> read_json_lines(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::vector<json> values;
  for (std::string line; std::getline(in, line);) values.push_back(json::parse(line));
  return values;
}

std::string upper(std::string_view text) {
  std::u32string out;
  for (const char32_t c : code_points(text)) append_python_upper(out, c);
  std::string bytes;
  for (const char32_t c : out) append_utf8(bytes, c);
  return bytes;
}

std::vector<std::string> pretokens(std::string_view text) {
  const std::u32string points = code_points(text);
  std::vector<std::string> pieces;
  for (size_t begin = 0; begin < points.size();) {
    const size_t end = pretoken_end(points, begin);
    REQUIRE(end > begin);
    pieces.emplace_back();
    for (; begin < end; ++begin) append_utf8(pieces.back(), points[begin]);
  }
  return pieces;
}

}  // namespace

TEST_CASE("k-mer indexes round-trip and lie in the published order") {
  for (int index = 0; index < kKmerCount; ++index)
    REQUIRE(kmer_index(kmer_text(static_cast<size_t>(index), 6), 6) == index);
  CHECK(kmer_id("AAAAAA") == 151672);
  CHECK(kmer_id("AAAAAT") == 151673);
  CHECK(kmer_id("AAAAAC") == 151674);
  CHECK(kmer_id("AAAAAG") == 151675);
  CHECK(kmer_id("TTTTTT") == 153037);
  CHECK(kmer_id("CCCCCC") == 154402);
  CHECK(kmer_id("GGGGGG") == 155767);
  CHECK(kmer_id("atcgat") == 152105);
  CHECK(kmer_index("ACGTN", 6) == -1);
  CHECK(kmer_index("ACGTNA", 6) == -1);
  CHECK(kmer_index("ACGTACG", 6) == -1);
  CHECK_THROWS_AS(kmer_text(~size_t{0}, 6), Error);
  CHECK_THROWS_AS(kmer_text(4096, 6), Error);
}

TEST_CASE("base digits and their complements") {
  for (int digit = 0; digit < 4; ++digit) {
    CHECK(base_digit(kBaseLetters[digit]) == digit);
    CHECK(reverse_complement(std::string(1, kBaseLetters[digit])) ==
          std::string(1, kBaseLetters[complement_digit(digit)]));
  }
  CHECK(base_digit('U') == -1);
  CHECK(base_digit('\0') == -1);
}

TEST_CASE("encode_kmers pads the tail and marks chunks with other letters") {
  CHECK(encode_kmers("", kReleased).empty());
  CHECK(encode_kmers("ATCGATA", kReleased) == Ids{152105, 151672});
  CHECK(encode_kmers("ATCGANATCGAT", kReleased) == Ids{kReleased.oov(), 152105});
  CHECK(encode_kmers("ATCGATN", kReleased) == Ids{152105, kReleased.oov()});
  CHECK(encode_kmers("ATCGAT", kDnaOnly) == Ids{3 + 433});
}

TEST_CASE("reverse complement") {
  CHECK(reverse_complement("AACGTt") == "aACGTT");
  CHECK(reverse_complement("RYKMBVDHSWN") == "NWSDHBVKMRY");
  CHECK(reverse_complement("U*-.x") == "x.-*U");
  std::string every_byte;
  for (int byte = 0; byte < 256; ++byte) every_byte.push_back(static_cast<char>(byte));
  CHECK(reverse_complement(every_byte) != every_byte);
  CHECK(reverse_complement(reverse_complement(every_byte)) == every_byte);
}

TEST_CASE("regions are cut as the released tokenizer cuts them") {
  const HybridTokenizer tokenizer = without_files();
  const auto ids = [&](const char* text) { return tokenizer.encode(text).ids; };
  CHECK(ids("") == Ids{});
  CHECK(ids("<dna></dna>") == Ids{151669, 151670});
  CHECK(ids("<dna> \t\n</dna>") == Ids{151669, 151670});
  CHECK(ids("<dna>ATCGAT") == Ids{151669, 152105});
  CHECK(ids("ATCGAT</dna>") == Ids{152105, 151670});
  CHECK(ids("</dna></dna>") == Ids{151670, 151670});
  CHECK(ids("<dna>\xC2\xA0 atcgat\x1C\xE3\x80\x80</dna>") == Ids{151669, 152105, 151670});
  CHECK(ids("<dna>ATCGAT<dna>A</dna>") == Ids{151669, 152105, 151671, 151670});
  CHECK(ids("<dna>ATC GAT</dna>") == Ids{151669, 151671, kmer_id("TAAAAA"), 151670});
  CHECK(ids("<|endoftext|><dna>ATCGAT</dna><think>") == Ids{151643, 151669, 152105, 151670, 151667});
  CHECK(tokenizer.encode("<dna>ATCGATAT</dna>").mask == Mask{0, 6, 2, 0});
  CHECK(tokenizer.encode("<dna>ATCGATATN").mask == Mask{0, 6, 0});
  CHECK(tokenizer.encode("<think>").mask == Mask{-1});
}

TEST_CASE("chunks are counted in upper-cased code points") {
  const HybridTokenizer tokenizer = without_files();
  // Sharp s becomes SS and pushes the last base into the next chunk; the ligature st ends in a T of its own
  // chunk.
  CHECK(tokenizer.encode("<dna>ATCG\u00DFA</dna>").ids == Ids{151669, 151671, 151672, 151670});
  CHECK(tokenizer.encode("<dna>AAAAA\uFB06</dna>").ids == Ids{151669, 151671, kmer_id("TAAAAA"), 151670});
  CHECK(tokenizer.encode("<dna>AAAAA\uFB06</dna>").mask == Mask{0, 0, 1, 0});
  CHECK(tokenizer.encode("<dna>\U0001F9ECAAAAAC</dna>").ids ==
        Ids{151669, 151671, kmer_id("CAAAAA"), 151670});
}

TEST_CASE("auto tags wrap only text without a literal <dna>") {
  const HybridTokenizer tokenizer = without_files();
  CHECK(tokenizer.encode("ATCGAT", true).ids == Ids{151669, 152105, 151670});
  CHECK(tokenizer.encode("", true).ids == Ids{151669, 151670});
  CHECK(tokenizer.encode("<dna>ATCGAT", true).ids == Ids{151669, 152105});
  CHECK_THROWS_AS(tokenizer.encode("hello <dna>ATCGAT", true), Error);
}

TEST_CASE("text that cannot be encoded or decoded is a clear error") {
  const auto message = [](auto action) -> std::string {
    try {
      action();
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  const HybridTokenizer tokenizer = without_files();
  const std::string text = message([&] { (void)tokenizer.encode("<dna>A</dna> hi"); });
  CHECK(text.find("byte offset 12") != std::string::npos);
  CHECK(text.find("needs the BPE files") != std::string::npos);
  CHECK(message([&] { (void)tokenizer.encode("<dna>A\xFF"); }).find("byte offset 6") != std::string::npos);
  CHECK(message([&] { (void)tokenizer.decode({9707}); }).find("9707") != std::string::npos);
  const HybridTokenizer dna_only(kDnaOnly, nullptr);
  CHECK(message([&] { (void)dna_only.encode("hi"); }).find("DNA tokens only") != std::string::npos);
  CHECK(message([] {
          HybridTokenizer(TokenLayout{151669, 151700}, nullptr);
        }).find("no room") != std::string::npos);
  CHECK_THROWS_AS(HybridTokenizer(TokenLayout{UINT32_MAX, UINT32_MAX}, nullptr), Error);
}

TEST_CASE("decode without tokenizer files") {
  const HybridTokenizer tokenizer = without_files();
  CHECK(tokenizer.decode({}) == "");
  CHECK(tokenizer.decode({151669, 152105, 9707, 151643, 151671, 155768, 151670}) ==
        "<dna>ATCGAT<oov><unused_0></dna>");
  CHECK(tokenizer.decode({151669, 152105, 151670}, true) == "ATCGAT");
  CHECK(tokenizer.decode({151643, 151657, 155775, 155776, UINT32_MAX}) ==
        "<|endoftext|><tool_call><unused_7>");
  CHECK(tokenizer.decode({151643, 151645, 151657, 151671, 151670}, true) == "<tool_call>");
  const HybridTokenizer dna_only(kDnaOnly, nullptr);
  CHECK(dna_only.decode({0, 3, 1, 4223, 4224, 151643}) == "<dna>AAAAAA</dna><unused_124>");
}

TEST_CASE("encode and decode are inverse on DNA of whole k-mers") {
  const HybridTokenizer tokenizer = without_files();
  std::string all = "<dna>";
  for (size_t index = 0; index < kKmerCount; ++index) all += kmer_text(index, 6);
  all += "</dna>";
  const Encoding encoding = tokenizer.encode(all);
  REQUIRE(encoding.ids.size() == 4098);
  for (uint32_t i = 0; i < kKmerCount; ++i) REQUIRE(encoding.ids[i + 1] == kReleased.kmer0() + i);
  CHECK(tokenizer.decode(encoding.ids) == all);
}

TEST_CASE("a text of closing tags alone takes linear time") {
  std::string text;
  for (int i = 0; i < 200000; ++i) text += "</dna>";
  CHECK(without_files().encode(text).ids == Ids(200000, 151670));
}

TEST_CASE("UTF-8 is checked strictly and repaired as Python repairs it") {
  for (const char* bad :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xC3", "\xE2\x82", "\xF0\x9F\xA7"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(check_utf8(bad, "test"), Error);
  }
  CHECK_NOTHROW(check_utf8("A\u00E9\u20AC\U0010FFFF", "test"));
  CHECK(replace_invalid_utf8("a\xE2\x82z\xFF\xF0\x9F\xA7") == "a\uFFFDz\uFFFD\uFFFD");
  CHECK(replace_invalid_utf8("\xED\xA0\x80") == "\uFFFD\uFFFD\uFFFD");
}

TEST_CASE("upper-casing is Python's, growth included") {
  CHECK(upper("acgtn xyz") == "ACGTN XYZ");
  CHECK(upper("\u00DF\u0131\uFB01\u0149") == "SSIFI\u02BCN");
  CHECK(upper("\u1E9A\u1E97") == "A\u02BET\u0308");
  CHECK(upper("\u0130\u1E9E\u017F") == "\u0130\u1E9ES");
  CHECK(upper("\u1F80\u1F88\u0390") == "\u1F08\u0399\u1F08\u0399\u0399\u0308\u0301");
}

TEST_CASE("NFC composes, orders marks and stays linear on a long run of them") {
  CHECK(nfc(U"plain \u00E9") == U"plain \u00E9");
  CHECK(nfc(U"e\u0301") == U"\u00E9");
  CHECK(nfc(U"\u212B\u1112\u1161\u11AB") == U"\u00C5\uD55C");
  CHECK(nfc(U"a\u0302\u0323") == U"\u1EAD");
  CHECK(nfc(U"\u0958") == U"\u0915\u093C");
  std::u32string marks = U"x";
  for (int i = 0; i < 200000; ++i) marks += i % 2 == 0 ? U'\u0300' : U'\u0316';
  const std::u32string ordered = nfc(marks);
  REQUIRE(ordered.size() == marks.size());
  CHECK(ordered[1] == U'\u0316');
  CHECK(ordered.back() == U'\u0300');
}

TEST_CASE("the pre-tokenizer takes the pieces of its regular expression") {
  using Pieces = std::vector<std::string>;
  CHECK(pretokens("Hello world!") == Pieces{"Hello", " world", "!"});
  CHECK(pretokens("it's we'LL I'\u017F o'x") ==
        Pieces{"it", "'s", " we", "'LL", " I", "'\u017F", " o", "'x"});
  CHECK(pretokens("a1234") == Pieces{"a", "1", "2", "3", "4"});
  CHECK(pretokens("  a   b ") == Pieces{" ", " a", "  ", " b", " "});
  CHECK(pretokens("a \n \n  b") == Pieces{"a", " \n \n", " ", " b"});
  CHECK(pretokens("x...\r\n\ny") == Pieces{"x", "...\r\n\n", "y"});
  CHECK(pretokens("\ta\t1") == Pieces{"\ta", "\t", "1"});
  CHECK(pretokens("\r\n") == Pieces{"\r\n"});
  CHECK(pretokens(" +1 \u00BD") == Pieces{" +", "1", " ", "\u00BD"});
}

TEST_CASE("golden encode and decode cases") {
  const std::filesystem::path shared = shared_folder();
  if (!std::filesystem::exists(shared / "fixtures/tokenizer_golden.jsonl")) {
    MESSAGE("SKIPPED: no tokenizer fixtures; set CARBON_SHARED");
    return;
  }
  const auto bpe = std::make_shared<const Bpe>(Bpe::load((shared / "qwen3").string()));
  const HybridTokenizer tokenizer(kReleased, bpe);
  const std::vector<json> encode_cases = read_json_lines(shared / "fixtures/tokenizer_golden.jsonl");
  REQUIRE(encode_cases.size() == 298);
  for (const json& c : encode_cases) {
    const auto text = c.at("text").get<std::string>();
    CAPTURE(text);
    const Encoding encoding = tokenizer.encode(text, c.at("auto").get<bool>());
    CHECK(encoding.ids == c.at("ids").get<Ids>());
    CHECK(encoding.mask == c.at("mask").get<Mask>());
    CHECK(tokenizer.decode(encoding.ids) == c.at("dec").get<std::string>());
    CHECK(tokenizer.decode(encoding.ids, true) == c.at("dec_skip").get<std::string>());
  }
  const std::vector<json> decode_cases = read_json_lines(shared / "fixtures/decode_golden.jsonl");
  REQUIRE(decode_cases.size() == 43);
  for (const json& c : decode_cases) {
    const auto ids = c.at("ids").get<Ids>();
    CAPTURE(c.dump());
    CHECK(tokenizer.decode(ids) == c.at("dec").get<std::string>());
    CHECK(tokenizer.decode(ids, true) == c.at("dec_skip").get<std::string>());
  }
}
