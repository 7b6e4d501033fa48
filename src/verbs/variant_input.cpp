// See variant_input.hpp.
#include "src/verbs/variant_input.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "src/base/json.hpp"
#include "src/base/letters.hpp"
#include "src/base/numbers.hpp"
#include "src/base/words.hpp"
#include "src/vep/structural.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

// Positions beyond any contig, and the longest of structural_alleles().
constexpr int64_t kMostPosition = 1'000'000'000'000'000;
std::string read_allele(const Fields& variant, const std::string& name,
                        const std::function<void(const std::string&)>& note) {
  const std::string allele = variant.required_text(name);
  if (allele.empty()) variant.fail(name, "is empty; an allele has at least one letter");
  if (allele.find(',') != std::string::npos)
    variant.fail(name, "has a comma; send a variant for each allele");
  // What has other characters, such as <DUP>, is no sequence.
  if (std::all_of(allele.begin(), allele.end(), is_ascii_letter))
    return checked_bases(variant.full_name(name), allele, note);
  return allele;
}

// The values of an INFO tag that a request has as JSON: one, or a list of texts and numbers, in which null is
// a missing value. What is neither is refused: it would be read as absent.
InfoValues info_values(const nlohmann::json& value, const std::function<void(const char*)>& refuse) {
  constexpr const char* kWanted = "must be a text, a number, true or false, or a list of texts and numbers";
  InfoValues values;
  if (value.is_boolean()) {
    values.type = value.get<bool>() ? InfoType::flag : InfoType::none;
    return values;
  }
  const nlohmann::json list = value.is_array() ? value : nlohmann::json::array({value});
  if (list.empty()) refuse(kWanted);
  bool texts = false;
  for (const nlohmann::json& one : list) {
    if (one.is_structured() || one.is_boolean()) refuse(kWanted);
    texts |= one.is_string();
  }
  if (texts) {
    values.type = InfoType::text;
    for (const nlohmann::json& one : list) {
      const std::string text = one.is_string() ? one.get<std::string>() : one.is_null() ? "." : one.dump();
      for (const std::string_view part : split(text, ',')) values.texts.emplace_back(part);
    }
    return values;
  }
  // Doubles of this size hold whole numbers exactly, unlike the Float tags of a VCF.
  const auto exact = [](const nlohmann::json& one) {
    const double real = one.is_number_float() ? one.get<double>() : 0;
    return std::fabs(real) < 0x1p53 && real == std::floor(real);
  };
  values.type = std::all_of(list.begin(), list.end(), exact) ? InfoType::integer : InfoType::real;
  for (const nlohmann::json& one : list) values.numbers.push_back(one.is_number() ? one.get<double>() : NAN);
  return values;
}

// What the record says of <DEL>, <DUP> and <INV>: its INFO, or END and SVLEN alone.
std::vector<std::optional<StructuralAllele>> read_structural(const Fields& variant, const Variant& read) {
  std::map<std::string, InfoValues> info;
  if (const nlohmann::json* const all = variant.find("info")) {
    if (!all->is_object()) variant.fail("info", "must be an object, such as {\"END\": 2000}");
    for (const auto& one : all->items())
      info[one.key()] = info_values(
          one.value(), [&](const char* wanted) { variant.fail("info." + printable(one.key()), wanted); });
  }
  const auto number = [](int64_t value) {
    InfoValues values;
    values.type = InfoType::integer;
    values.numbers = {static_cast<double>(value)};
    return values;
  };
  if (variant.has("end")) info["END"] = number(variant.whole("end", 0, 0, kMostPosition));
  if (variant.has("svlen")) info["SVLEN"] = number(variant.whole("svlen", 0, -kMostPosition, kMostPosition));
  return structural_alleles(read.pos, {to_upper(read.alts[0])}, [&](const std::string& tag) {
    const auto found = info.find(tag);
    return found == info.end() ? InfoValues() : found->second;
  });
}

Fields object_of(const std::string& name, std::string_view text) {
  try {
    return {parse_json(text, name), name};
  } catch (const FieldError&) {
    throw;
  } catch (const Error& error) {
    throw FieldError(name, error.what());
  }
}

}  // namespace

PlacedVariant read_variant(const Fields& variant, bool placed,
                           const std::function<void(const std::string&)>& note) {
  if (placed && variant.has("chrom"))
    variant.fail("chrom", "cannot be used with the field sequence, on which all variants are then");
  PlacedVariant out;
  out.contig = placed ? kVariantSequence : variant.required_text("chrom");
  if (out.contig.empty()) variant.fail("chrom", "is empty; give the name of the contig");
  variant.required("pos");
  out.variant.pos = variant.whole("pos", 0, 0, kMostPosition) - 1;
  out.variant.ref = read_allele(variant, "ref", note);
  out.variant.alts = {read_allele(variant, "alt", note)};
  out.variant.structural = read_structural(variant, out.variant);
  variant.refuse_others();
  return out;
}

PlacedVariant read_variant(const std::string& name, std::string_view text, bool placed,
                           const std::function<void(const std::string&)>& note) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{')
    return read_variant(object_of(name, text), placed, note);
  const std::vector<std::string_view> words = words_of(text);
  const size_t arrow = words.size() == 2 ? words[1].find('>') : std::string_view::npos;
  const size_t colon = words.empty() ? 0 : words[0].rfind(':');
  std::string digits(words.empty() || placed ? words.empty() ? "" : words[0] : words[0].substr(colon + 1));
  std::erase(digits, ',');
  int64_t pos = 0;
  if (arrow == std::string_view::npos || (colon == std::string_view::npos) != placed ||
      !parse_number(digits, pos))
    throw FieldError(
        name, name + (first == std::string_view::npos ? " is empty" : " is '" + printable(text) + "'") +
                  "; expected a place and its alleles, such as " +
                  (placed ? "120 G>T" : "chr17:43094692 G>T"));
  nlohmann::json row = {
      {"pos", pos}, {"ref", words[1].substr(0, arrow)}, {"alt", words[1].substr(arrow + 1)}};
  if (!placed) row["chrom"] = words[0].substr(0, colon);
  return read_variant(Fields(std::move(row), name), placed, note);
}

std::string variant_text(const VcfReader& vcf, const VcfRecord& record, size_t alt) {
  nlohmann::json row = {{"chrom", record.contig()},
                        {"pos", record.pos() + 1},
                        {"ref", record.ref()},
                        {"alt", record.alts()[alt]}};
  if (record.alts()[alt].starts_with('<')) {
    std::vector<std::string> alts;
    for (const std::string& one : record.alts()) alts.push_back(to_upper(one));
    const auto info = [&](const std::string& tag) { return vcf.info(record, tag); };
    if (const auto allele = structural_alleles(record.pos(), alts, info)[alt]) {
      row["svlen"] = allele->length;
      if (!allele->inserted.empty()) row["info"]["SVINSSEQ"] = allele->inserted;
    }
  }
  return row.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace carbon
