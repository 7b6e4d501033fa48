#include "src/serve/prompts.hpp"

#include <algorithm>
#include <utility>

#include "src/base/json.hpp"
#include "src/base/letters.hpp"
#include "src/serve/api_error.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

constexpr std::string_view kBegin = "<dna>", kEnd = "</dna>";

std::string_view without_end(std::string_view text, std::string_view tag = kEnd) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  if (text.ends_with(tag)) text.remove_suffix(tag.size());
  return text;
}

std::string_view without_beginning(std::string_view text, std::string_view tag = "") {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  if (text.starts_with(tag)) text.remove_prefix(tag.size());
  return text;
}

std::vector<uint32_t> read_ids(const nlohmann::json& list, const std::string& field) {
  std::vector<uint32_t> ids;
  ids.reserve(list.size());
  for (const nlohmann::json& id : list) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() > UINT32_MAX)
      throw ApiError(400, field + "[" + std::to_string(ids.size()) + "] is not a token id", field);
    ids.push_back(id.get<uint32_t>());
  }
  return ids;
}

std::string sent_bases(const Fields& fields, std::string_view text, const std::string& field) {
  return checked_bases(field, text, [&](const std::string& note) { fields.note(note); });
}

// A text of a family with <dna> and </dna>.
DnaText split_tagged_text(const Fields& fields, std::string_view text, const std::string& field,
                          bool auto_dna_tags) {
  const size_t begin = text.find(kBegin);
  if (begin == std::string_view::npos) {
    if (auto_dna_tags) return {"", sent_bases(fields, without_end(text), field)};
    throw ApiError(
        400,
        field +
            " has no <dna>: write \"<dna>ACGT...\" with the bases after the tag (a server started with "
            "--auto-dna-tags adds it)",
        field, "dna_tag_missing");
  }
  const std::string_view bases = without_end(text.substr(begin + kBegin.size()));
  for (const std::string_view tag : {kBegin, kEnd})
    if (bases.find(tag) != std::string_view::npos ||
        text.substr(0, begin).find(kEnd) != std::string_view::npos)
      throw ApiError(400, field + " has more than one DNA region; give one, and </dna> only at its end",
                     field);
  return {std::string(text.substr(0, begin)), sent_bases(fields, bases, field)};
}

// A text of a family whose whole text is DNA and single tokens. The token that begins a sequence may be there
// or not: nothing else can be meant.
DnaText split_token_text(const Fields& fields, std::string_view text, const std::string& field,
                         const ModelFamily& family) {
  const std::string begin(family.begin_tag);
  for (const std::string_view tag : {kBegin, kEnd})
    if (text.find(tag) != std::string_view::npos)
      throw ApiError(400,
                     field + " has " + std::string(tag) + ", which a model of the family " +
                         std::string(family.name) + " does not know: write \"" + begin +
                         "ACGT...\", or the bases alone",
                     field, "dna_tag_unknown");
  std::string_view rest = without_beginning(text, begin);
  std::string metadata;
  for (rest = without_beginning(rest); rest.starts_with('<') && !rest.starts_with(family.separator_tag);
       rest = without_beginning(rest)) {
    const size_t end = std::min(rest.find('>'), rest.size() - 1) + 1;
    metadata += rest.substr(0, end);
    rest.remove_prefix(end);
  }
  rest = without_end(rest, family.separator_tag);
  if (rest.find(family.begin_tag) != std::string_view::npos)
    throw ApiError(400, field + " has more than one " + begin + "; a sequence begins with one", field);
  return {metadata, sent_bases(fields, rest, field)};
}

}  // namespace

DnaText split_dna_text(const Fields& fields, std::string_view text, const std::string& field,
                       const ServedModel& served) {
  const TokenLayout& layout = served.config().layout;
  if (layout.letters) return {"", sent_bases(fields, text, field)};
  return layout.metadata() == MetadataKind::tokens
             ? split_token_text(fields, text, field, *layout.family)
             : split_tagged_text(fields, text, field, served.auto_dna_tags());
}

std::vector<SentPrompt> read_prompts(const Fields& fields, const std::string& name, const ServedModel& served,
                                     size_t most) {
  const nlohmann::json& value = fields.required(name);
  std::vector<SentPrompt> prompts;
  const auto add = [&](const nlohmann::json& one, const std::string& field) {
    if (one.is_string()) {
      prompts.emplace_back(split_dna_text(fields, one.get_ref<const std::string&>(), field, served));
    } else if (one.is_array()) {
      prompts.emplace_back(read_ids(one, field));
    } else {
      throw ApiError(400, field + " must be a string or a list of token ids", field);
    }
  };
  if (!value.is_array() || (!value.empty() && value.front().is_number())) {
    add(value, name);
    return prompts;
  }
  if (value.empty()) fields.fail(name, "is empty");
  if (value.size() > most)
    fields.fail(name, "has " + std::to_string(value.size()) + " entries; the server's limit is " +
                          std::to_string(most));
  for (const nlohmann::json& one : value) add(one, name + "[" + std::to_string(prompts.size()) + "]");
  return prompts;
}

std::string bases_of(const SentPrompt& prompt, const TokenLayout& layout) {
  if (const auto* const text = std::get_if<DnaText>(&prompt)) return text->bases;
  std::string bases;
  bool dna = false;
  for (const uint32_t id : std::get<std::vector<uint32_t>>(prompt)) {
    if (dna && layout.is_kmer(id)) bases += kmer_text(layout.kmer_of(id), layout.bases());
    if (dna && id == layout.oov()) bases.append(layout.bases(), 'N');
    dna = dna || id == layout.begin();
  }
  return bases;
}

}  // namespace carbon
