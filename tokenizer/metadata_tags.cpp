#include "tokenizer/metadata_tags.hpp"

#include <algorithm>
#include <array>

#include "src/base/error.hpp"

namespace carbon {

namespace {

// The token `>`, and the token `><`, which the tokenizer makes where one tag follows another.
constexpr uint32_t kClose = 29, kCloseOpen = 1784;

struct SpeciesTag {
  std::string_view name, evaluation;  // in corpus and card; in eval
  std::string_view token;             // where metadata is single tokens
  std::vector<uint32_t> corpus, card, eval;
};

struct GeneTag {
  std::string_view name, token;                // token: where metadata is single tokens; "" if there is none
  std::vector<uint32_t> alone, after_species;  // ids of the whole tag; ids that follow `><`
};

struct PlainTag {
  std::string_view text;
  std::vector<uint32_t> ids;
};

const std::array<SpeciesTag, 6>& species_tags() {
  static const std::array<SpeciesTag, 6> tags = {{
      {"vertebrate_mammalian",
       "mammalian_species",
       "<mam>",
       {27, 42490, 29, 64832, 64116, 717, 8666, 10480},
       {27, 64832, 64116, 717, 8666, 10480, 29},
       {13748, 8666, 10480, 74130, 29}},
      {"vertebrate_other",
       "vertebrate_non_mammalian_species",
       "<vrt>",
       {27, 42490, 29, 64832, 64116, 30456},
       {27, 64832, 64116, 30456, 29},
       {27, 64832, 64116, 21637, 717, 8666, 10480, 74130, 29}},
      {"fungi",
       "fungi_species",
       "<fng>",
       {27, 42490, 29, 78606, 72},
       {63895, 81490, 29},
       {63895, 81490, 74130, 29}},
      {"plant", "plant_species", "<pln>", {27, 42490, 29, 20827}, {27, 20827, 29}, {27, 20827, 74130, 29}},
      {"protozoa",
       "protozoan_species",
       "<prt>",
       {27, 42490, 29, 15110, 12738, 64},
       {27, 15110, 12738, 64, 29},
       {27, 15110, 12738, 276, 74130, 29}},
      {"invertebrate",
       "invertebrate_species",
       "<inv>",
       {27, 42490, 29, 258, 64832, 64116},
       {27, 258, 64832, 64116, 29},
       {27, 258, 64832, 64116, 74130, 29}},
  }};
  return tags;
}

const std::array<GeneTag, 7>& gene_tags() {
  static const std::array<GeneTag, 7> tags = {{
      {"protein_coding_region", "<cds>", {27, 78465, 666, 3700, 20627, 29}, {78465, 666, 3700, 20627, 29}},
      {"pseudo_gene", "<pseudo>", {7926, 21952, 59602, 29}, {68893, 59602, 29}},
      {"transfer_rna", "<tRNA>", {27, 24188, 1710, 3376, 29}, {24188, 1710, 3376, 29}},
      {"transfer_messenger_rna",
       "",
       {27, 24188, 717, 40137, 1710, 3376, 29},
       {24188, 717, 40137, 1710, 3376, 29}},
      {"non_coding_rna", "<ncRNA>", {27, 6280, 666, 3700, 1710, 3376, 29}, {6280, 666, 3700, 1710, 3376, 29}},
      {"miscellaneous_rna",
       "<miscRNA>",
       {13748, 3427, 40142, 1710, 3376, 29},
       {47240, 40142, 1710, 3376, 29}},
      {"ribosomal_rna", "<rRNA>", {27, 1897, 95008, 1710, 3376, 29}, {1897, 95008, 1710, 3376, 29}},
  }};
  return tags;
}

// Tags of the raw data set, and one from an earlier version of the evaluation code.
const std::array<PlainTag, 10>& plain_tags() {
  static const std::array<PlainTag, 10> tags = {{
      {"<protozoa_species>", {27, 15110, 12738, 64, 74130, 29}},
      {"<mam>", {13748, 309, 29}},
      {"<vrt>", {39297, 3342, 29}},
      {"<fng>", {63895, 968, 29}},
      {"<pln>", {27, 500, 77, 29}},
      {"<prt>", {27, 88697, 29}},
      {"<inv>", {27, 14057, 29}},
      {"<cds>", {27, 4385, 82, 29}},
      {"<+>", {27, 10, 29}},
      {"<->", {27, 405}},
  }};
  return tags;
}

// The tag with a name. Throws Error, which lists the known names, if there is none.
template <class Tags>
const auto& find_tag(const Tags& tags, std::string_view name, const std::string& what) {
  std::string names;
  for (const auto& tag : tags) {
    if (tag.name == name) return tag;
    names += (names.empty() ? "" : ", ") + std::string(tag.name);
  }
  throw Error("metadata_text",
              "unknown " + what + " '" + std::string(name) + "'; the known names are " + names);
}

std::string in_brackets(std::string_view name) {
  return "<" + std::string(name) + ">";
}

std::optional<std::vector<uint32_t>> species_ids(std::string_view text) {
  for (const SpeciesTag& tag : species_tags()) {
    if (text == "<species>" + std::string(tag.name)) return tag.corpus;
    if (text == in_brackets(tag.name)) return tag.card;
    if (text == in_brackets(tag.evaluation)) return tag.eval;
  }
  return std::nullopt;
}

const GeneTag* find_gene(std::string_view text) {
  const auto& tags = gene_tags();
  const auto tag =
      std::find_if(tags.begin(), tags.end(), [&](const GeneTag& g) { return text == in_brackets(g.name); });
  return tag == tags.end() ? nullptr : &*tag;
}

std::string written_text(TagGrammar grammar, const SpeciesTag* species, const GeneTag* gene) {
  std::string text;
  if (species && grammar == TagGrammar::corpus) text = "<species>" + std::string(species->name);
  if (species && grammar != TagGrammar::corpus)
    text = in_brackets(grammar == TagGrammar::card ? species->name : species->evaluation);
  if (gene && grammar == TagGrammar::corpus)
    throw Error("metadata_text", "the corpus grammar has no gene types; choose the tag grammar card or eval");
  return gene ? text + in_brackets(gene->name) : text;
}

std::string token_text(const MetadataNames& names, const SpeciesTag* species, const GeneTag* gene,
                       std::string_view family) {
  if (names.grammar)
    throw Error("metadata_text",
                "a model of the family " + std::string(family) +
                    " has a token for each species and gene type, so there is no grammar to choose",
                {"leave out {--tag-grammar}"});
  if (gene && gene->token.empty())
    throw Error("metadata_text", "a model of the family " + std::string(family) +
                                     " has no token for the gene type " + std::string(gene->name));
  return std::string(species ? species->token : "") + std::string(gene ? gene->token : "");
}

const SpeciesTag* find_species(const MetadataNames& names) {
  return names.species.empty() ? nullptr : &find_tag(species_tags(), names.species, "species");
}

const GeneTag* find_gene_type(const MetadataNames& names) {
  return names.gene.empty() ? nullptr : &find_tag(gene_tags(), names.gene, "gene type");
}

}  // namespace

void check_metadata_names(const MetadataNames& names) {
  find_species(names);
  find_gene_type(names);
}

std::string metadata_text(const TokenLayout& layout, const MetadataNames& names) {
  const SpeciesTag* const species = find_species(names);
  const GeneTag* const gene = find_gene_type(names);
  return layout.metadata() == MetadataKind::tokens
             ? token_text(names, species, gene, layout.family->name)
             : written_text(names.grammar.value_or(TagGrammar::corpus), species, gene);
}

std::optional<std::vector<uint32_t>> known_tag_ids(std::string_view text) {
  for (const PlainTag& tag : plain_tags())
    if (text == tag.text) return tag.ids;
  if (const GeneTag* gene = find_gene(text)) return gene->alone;
  const size_t joint = text.find("><");
  if (joint == std::string_view::npos) return species_ids(text);
  const GeneTag* gene = find_gene(text.substr(joint + 1));
  std::optional<std::vector<uint32_t>> ids = species_ids(text.substr(0, joint + 1));
  if (!gene || !ids || ids->back() != kClose) return std::nullopt;
  ids->back() = kCloseOpen;
  ids->insert(ids->end(), gene->after_species.begin(), gene->after_species.end());
  return ids;
}

}  // namespace carbon
