// The built-in metadata tags.
#include "tokenizer/metadata_tags.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

#include "src/base/error.hpp"
#include "tokenizer/bpe.hpp"

using namespace carbon;
using Ids = std::vector<uint32_t>;

namespace {

std::string metadata_text(TagGrammar grammar, const std::string& species, const std::string& gene) {
  return metadata_text(TokenLayout{}, {species, gene, grammar});
}

}  // namespace

TEST_CASE("metadata texts of the three grammars") {
  CHECK(metadata_text(TagGrammar::corpus, "vertebrate_mammalian", "") == "<species>vertebrate_mammalian");
  CHECK(metadata_text(TagGrammar::card, "vertebrate_mammalian", "protein_coding_region") ==
        "<vertebrate_mammalian><protein_coding_region>");
  CHECK(metadata_text(TagGrammar::eval, "vertebrate_other", "") == "<vertebrate_non_mammalian_species>");
  CHECK(metadata_text(TagGrammar::eval, "protozoa", "") == "<protozoan_species>");
  CHECK(metadata_text(TagGrammar::card, "", "transfer_rna") == "<transfer_rna>");
  CHECK_THROWS_WITH_AS(
      metadata_text(TagGrammar::corpus, "mouse", ""),
      doctest::Contains("unknown species 'mouse'; the known names are vertebrate_mammalian, "), Error);
  CHECK_THROWS_WITH_AS(metadata_text(TagGrammar::card, "", "exon"),
                       doctest::Contains("protein_coding_region"), Error);
  CHECK_THROWS_AS(metadata_text(TagGrammar::corpus, "plant", "transfer_rna"), Error);
}

TEST_CASE("ids of known tags") {
  CHECK(known_tag_ids("<species>fungi") == Ids{27, 42490, 29, 78606, 72});
  CHECK(known_tag_ids("<pseudo_gene>") == Ids{7926, 21952, 59602, 29});
  CHECK(known_tag_ids("<->") == Ids{27, 405});
  CHECK(known_tag_ids("<mammalian_species><protein_coding_region>") ==
        Ids{13748, 8666, 10480, 74130, 1784, 78465, 666, 3700, 20627, 29});
  // The tokenizer cuts the second tag in another way than the same tag alone.
  CHECK(known_tag_ids("<plant><pseudo_gene>") == Ids{27, 20827, 1784, 68893, 59602, 29});
  for (const char* text : {"", "<", "fungi", "<fungi>x", "<species>fungi<transfer_rna>",
                           "<transfer_rna><fungi>", "<fungi><fungi>", "<transfer_rna><transfer_rna>"})
    CHECK_FALSE(known_tag_ids(text));
}

TEST_CASE("built-in ids are those of the published BPE files") {
  const char* variable = std::getenv("CARBON_SHARED");
  const std::filesystem::path files = std::filesystem::path(variable ? variable : "../shared") / "qwen3";
  if (!Bpe::present(files.string())) {
    MESSAGE("SKIPPED: no Qwen3 tokenizer files; set CARBON_SHARED");
    return;
  }
  const Bpe bpe = Bpe::load(files.string());
  std::vector<std::string> texts = {
      "<protozoa_species>", "<mam>", "<vrt>", "<fng>", "<pln>", "<prt>", "<inv>", "<cds>", "<+>", "<->"};
  const std::vector<std::string> genes = {"protein_coding_region",  "pseudo_gene",    "transfer_rna",
                                          "transfer_messenger_rna", "non_coding_rna", "miscellaneous_rna",
                                          "ribosomal_rna"};
  for (const std::string& gene : genes) texts.push_back(metadata_text(TagGrammar::card, "", gene));
  for (const char* species :
       {"vertebrate_mammalian", "vertebrate_other", "fungi", "plant", "protozoa", "invertebrate"}) {
    for (const TagGrammar grammar : {TagGrammar::corpus, TagGrammar::card, TagGrammar::eval})
      texts.push_back(metadata_text(grammar, species, ""));
    for (const TagGrammar grammar : {TagGrammar::card, TagGrammar::eval})
      for (const std::string& gene : genes) texts.push_back(metadata_text(grammar, species, gene));
  }
  CHECK(texts.size() == 10 + 7 + 6 * (3 + 2 * 7));
  for (const std::string& text : texts) {
    CAPTURE(text);
    CHECK(known_tag_ids(text) == bpe.encode(text));
  }
}
