// The normal form of alleles: all spellings of a variant have it, and it spells the same variant.
#include "src/vep/variant.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <set>

#include "src/vep/structural.hpp"
#include "tokenizer/kmer.hpp"

using namespace carbon;

namespace {

NormalAllele normal(const std::string& contig, int64_t pos, const std::string& ref, const std::string& alt) {
  return normalise(pos, ref, alt, [&](int64_t i) {
    REQUIRE(i >= 0);
    REQUIRE(i < pos + static_cast<int64_t>(ref.size()));
    return contig[static_cast<size_t>(i)];
  });
}

std::string applied(const std::string& contig, int64_t pos, const std::string& ref, const std::string& alt) {
  std::string out = contig;
  REQUIRE(out.compare(static_cast<size_t>(pos), ref.size(), ref) == 0);
  return out.replace(static_cast<size_t>(pos), ref.size(), alt);
}

std::string text(const NormalAllele& allele) {
  return std::to_string(allele.pos) + " " + allele.ref + " " + allele.alt;
}

}  // namespace

TEST_CASE("alleles are trimmed and moved to the left as bcftools norm does it") {
  const std::string contig = "CAAAATGTGTGTCNAAC";
  CHECK(text(normal(contig, 1, "AAAA", "AAAC")) == "4 A C");
  CHECK(text(normal(contig, 1, "AAAAT", "CAAAT")) == "1 A C");
  CHECK(text(normal(contig, 1, "AAAA", "CAAC")) == "1 AAAA CAAC");
  CHECK(text(normal(contig, 3, "AA", "A")) == "0 CA C");
  CHECK(text(normal(contig, 4, "A", "AA")) == "0 C CA");
  CHECK(text(normal(contig, 9, "TGT", "T")) == "4 ATG A");
  CHECK(text(normal(contig, 11, "T", "TGT")) == "4 A ATG");
  CHECK(text(normal(contig, 15, "AC", "C")) == "13 NA N");
  CHECK(text(normal(contig, 0, "CA", "A")) == "0 CA A");
  CHECK(text(normal(contig, 0, "C", "TTC")) == "0 C TTC");
  CHECK(text(normal("AAAA", 2, "AA", "A")) == "0 AA A");
  CHECK(text(normal("AAAA", 3, "A", "AAA")) == "0 A AAA");
  CHECK(text(normal(contig, 5, "TG", "TG")) == "5 T T");
}

TEST_CASE("every spelling of a variant has one normal form, and two variants have two") {
  std::mt19937 random(4);
  for (int round = 0; round < 60; ++round) {
    std::string contig;
    const size_t length = 3 + random() % 9;
    for (size_t i = 0; i < length; ++i) contig += "AC"[random() % 2];
    // Every way to write that up to four bases become up to four others, by the sequence that results.
    std::map<std::string, std::set<std::string>> indels;
    std::map<std::string, std::string> variants;
    for (size_t pos = 0; pos < length; ++pos) {
      for (size_t n = 1; n <= std::min<size_t>(4, length - pos); ++n) {
        const std::string ref = contig.substr(pos, n);
        for (int code = 0; code < 30; ++code) {
          std::string alt;
          for (int rest = code + 2; rest > 1; rest /= 2) alt += "AC"[rest % 2];
          if (alt == ref) continue;
          const NormalAllele form = normal(contig, static_cast<int64_t>(pos), ref, alt);
          const std::string result = applied(contig, static_cast<int64_t>(pos), ref, alt);
          REQUIRE(applied(contig, form.pos, form.ref, form.alt) == result);
          REQUIRE(text(normal(contig, form.pos, form.ref, form.alt)) == text(form));
          const bool pure = form.ref.size() == 1 || form.alt.size() == 1;
          if (pure && form.ref.size() != form.alt.size()) indels[result].insert(text(form));
        }
      }
    }
    for (const auto& [result, forms] : indels) REQUIRE(forms.size() == 1);
  }
}

TEST_CASE("a long repeat takes time in proportion to its length") {
  std::string contig(2'000'000, 'A');
  contig[0] = 'C';
  CHECK(text(normal(contig, 1'999'998, "AA", "A")) == "0 CA C");
}

TEST_CASE("named alleles are spelled out, if their ends are known exactly") {
  using Numbers = std::map<std::string, std::vector<double>>;
  const auto length = [](const Numbers& numbers, const std::string& alt, size_t alts = 1) {
    std::vector<std::string> all(alts, alt);
    const auto found = structural_alleles(9, all, [&](const std::string& tag) {
      const auto value = numbers.find(tag);
      InfoValues values;
      if (value == numbers.end()) return values;
      values.type = tag.ends_with("PRECISE") ? InfoType::flag : InfoType::integer;
      values.numbers = value->second;
      return values;
    });
    return found.back() ? found.back()->length : 0;
  };
  CHECK(length({{"END", {15}}}, "<DEL>") == 5);
  CHECK(length({{"SVLEN", {-5}}}, "<DEL>") == 5);
  CHECK(length({{"SVLEN", {5}}}, "<DUP>") == 5);
  CHECK(length({{"SVLEN", {5}}}, "<DUP:TANDEM>") == 5);
  CHECK(length({{"END", {15}}, {"SVLEN", {0}}}, "<INV>") == 5);
  CHECK(length({{"END", {15}}, {"SVLEN", {-5}}}, "<DEL>") == 5);
  CHECK(length({{"END", {15}}, {"SVLEN", {-6}}}, "<DEL>") == 0);
  CHECK(length({{"END", {15}}, {"SVLEN", {3, 4}}}, "<DEL>", 2) == 4);
  CHECK(length({{"END", {15}}}, "<DEL>", 2) == 0);
  CHECK(length({{"END", {10}}}, "<DEL>") == 0);
  CHECK(length({{"END", {3}}}, "<DEL>") == 0);
  CHECK(length({{"END", {15}}}, "<DEL:ME>") == 0);
  CHECK(length({{"END", {15}}}, "<INS>") == 0);
  CHECK(length({{"END", {15}}}, "<CNV>") == 0);
  CHECK(length({{"END", {15}}, {"IMPRECISE", {}}}, "<DEL>") == 0);
  CHECK(length({{"END", {15}}, {"CIPOS", {0, 2}}}, "<DEL>") == 0);
  CHECK(length({{"END", {15}}, {"CIPOS", {0, 2}}, {"HOMLEN", {2}}}, "<DEL>") == 5);
  CHECK(length({{"END", {15}}, {"CIPOS", {-19, 19}}, {"HOMLEN", {18}}, {"PRECISE", {}}}, "<DEL>") == 5);
  CHECK(length({{"END", {15}}, {"CIPOS", {-19, 19}}, {"HOMLEN", {18}}}, "<DEL>") == 0);
  CHECK(length({{"END", {15}}, {"CIEND", {-2, 1}}, {"HOMLEN", {2}}}, "<DEL>") == 0);
  CHECK(length({{"END", {15}}, {"CIPOS", {0, 0}}, {"CIEND", {0, 0}}}, "<DEL>") == 5);
  CHECK(length({{"SVLEN", {1e300}}}, "<DEL>") == 0);
  CHECK(length({{"END", {1e300}}}, "<DEL>") == 0);

  const auto spelled = [](StructuralAllele::Kind kind, const std::string& inserted = "") {
    const Variant variant = spelled_out(9, 'A', {kind, 3, inserted}, "CCG");
    return std::to_string(variant.pos) + " " + variant.ref + " " + variant.alts[0];
  };
  CHECK(spelled(StructuralAllele::deletion) == "9 ACCG A");
  CHECK(spelled(StructuralAllele::duplication) == "9 A ACCG");
  CHECK(spelled(StructuralAllele::inversion) == "10 CCG CGG");
  CHECK(spelled(StructuralAllele::deletion, "TT") == "9 ACCG ATT");
  CHECK(spelled(StructuralAllele::duplication, "TT") == "9 A ACCGTT");
}

TEST_CASE("what a record says of a named allele is read as text too, and never dropped") {
  using Texts = std::map<std::string, std::vector<std::string>>;
  const auto found = [](Texts texts, const std::string& alt) {
    texts["END"] = {"15"};
    const auto allele = structural_alleles(9, {alt}, [&](const std::string& tag) {
      InfoValues values;
      if (const auto value = texts.find(tag); value != texts.end())
        values.type = InfoType::text, values.texts = value->second;
      return values;
    })[0];
    return allele ? std::to_string(allele->length) + allele->inserted : "";
  };
  CHECK(found({}, "<DEL>") == "5");
  CHECK(found({{"CIPOS", {"0", "0"}}}, "<DEL>") == "5");
  CHECK(found({{"CIPOS", {"0", "+2"}}}, "<DEL>").empty());
  CHECK(found({{"CIPOS", {"0", "+2"}}, {"HOMLEN", {"2"}}}, "<DEL>") == "5");
  CHECK(found({{"CIPOS", {"a", "b"}}}, "<DEL>").empty());
  CHECK(found({{"HOMLEN", {"inf"}}}, "<DEL>").empty());
  CHECK(found({{"SVLEN", {"."}}}, "<DEL>") == "5");
  CHECK(found({{"PRECISE", {}}}, "<DEL>") == "5");
  CHECK(found({{"PRECISE", {"0"}}}, "<DEL>").empty());
  CHECK(found({{"SVINSSEQ", {"acgt"}}, {"SVINSLEN", {"4"}}}, "<DEL>") == "5ACGT");
  CHECK(found({{"SVINSLEN", {"4"}}}, "<DEL>").empty());
  CHECK(found({{"DUPSVINSSEQ", {"AC"}}}, "<DUP>") == "5AC");
  CHECK(found({{"SVCLAIM", {"D"}}}, "<DUP>").empty());
  CHECK(found({{"CN", {"3"}}}, "<DUP>").empty());
  CHECK(found({{"INV3", {}}}, "<INV>").empty());
}
