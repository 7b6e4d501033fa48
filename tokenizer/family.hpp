// What a family of models has of its own around the tokens of DNA: how many bases a token has, which tokens
// begin and separate sequences, where ids lie, what becomes of a rest that is too short for a token, and what
// may be said about a sequence besides its bases (docs/model.md, "Families").
//
// A family is a value. Whoever needs one of these facts reads it from the value, through TokenLayout
// (kmer.hpp), and never asks which family it is. Another family of decoders over DNA is another value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace carbon {

/// What can stand beside the bases of a sequence. none: nothing. text: any text, cut by the model's BPE, with
/// ids below those of DNA, before the token that begins the sequence. tokens: single tokens of the
/// vocabulary, between the token that begins the sequence and its first 6-mer.
enum class MetadataKind { none, text, tokens };

/// The bases of a token of Carbon and GENERator, and how many such tokens there are. For the values below and
/// the files of these families; everything else asks a TokenLayout.
inline constexpr int kKmerLength = 6;
inline constexpr int kKmerCount = 4096;

struct ModelFamily {
  std::string_view name;
  /// Bases of a token of DNA, which is a k-mer of so many, and what such a token is called in messages.
  size_t bases;
  std::string_view token_word;
  /// As text: the tokens below. Without a separator_tag the family has no separator.
  std::string_view begin_tag, separator_tag, oov_tag;

  // Ids, counted from where the DNA tokens of a vocabulary begin; of no meaning where a layout has them from
  // the tokenizer file of a checkpoint (TokenLayout::letters).
  uint32_t begin, separator;  // of the tags
  uint32_t oov;               // stands for bases that are no k-mer
  uint32_t kmer0;             // the k-mer of A alone; the others follow

  /// True: a last piece that is too short is padded with A and becomes a k-mer. False: it becomes <oov>.
  bool pads;
  MetadataKind metadata;
  uint32_t metadata_place;  // how many tokens stand before it: none, or the one that begins the sequence
  /// Of MetadataKind::tokens: the texts of all tokens before the 6-mers, in the order of their ids. Those up
  /// to `special` are the tokenizer's own; the others may describe a sequence.
  std::span<const std::string_view> tokens;
  uint32_t special;

  /// True: the row of the last position of the context may predict one more token. False: the model was
  /// trained on windows that end with the token at that position.
  bool predicts_past_context;

  /// In bp: the window of vep's recipe centered, and the left context of next-token, in the evaluations that
  /// the authors published.
  int64_t centered_window, next_token_context;
  /// True: as defaults these are shortened to what fits the model's context.
  bool defaults_fit;
  /// The line `family=...` among the settings that the digest of a model covers; "" for none.
  std::string_view digest_mark;
};

/// HuggingFaceBio's Carbon, and all checkpoints with its tokenizer.
inline constexpr ModelFamily kCarbonFamily = {.name = "Carbon",
                                              .bases = kKmerLength,
                                              .token_word = "6-mer",
                                              .begin_tag = "<dna>",
                                              .separator_tag = "</dna>",
                                              .oov_tag = "<oov>",
                                              .begin = 0,
                                              .separator = 1,
                                              .oov = 2,
                                              .kmer0 = 3,
                                              .pads = true,
                                              .metadata = MetadataKind::text,
                                              .metadata_place = 0,
                                              .tokens = {},
                                              .special = 0,
                                              .predicts_past_context = true,
                                              .centered_window = 8192,
                                              .next_token_context = 24000,
                                              .defaults_fit = false,
                                              .digest_mark = ""};

inline constexpr std::array<std::string_view, 32> kGeneratorTokens = {
    "<oov>",     "<s>",   "</s>",  "<pad>", "<mask>",   "<bog>",  "<eog>",  "<bok>",
    "<eok>",     "<+>",   "<->",   "<cds>", "<pseudo>", "<tRNA>", "<rRNA>", "<ncRNA>",
    "<miscRNA>", "<mam>", "<vrt>", "<inv>", "<pln>",    "<fng>",  "<prt>",  "<arc>",
    "<bct>",     "<mit>", "<plt>", "<plm>", "<vir>",    "<sp0>",  "<sp1>",  "<sp2>"};

/// GenerTeam's GENERator.
inline constexpr ModelFamily kGeneratorFamily = {.name = "GENERator",
                                                 .bases = kKmerLength,
                                                 .token_word = "6-mer",
                                                 .begin_tag = "<s>",
                                                 .separator_tag = "<s>",
                                                 .oov_tag = "<oov>",
                                                 .begin = 1,
                                                 .separator = 1,
                                                 .oov = 0,
                                                 .kmer0 = 32,
                                                 .pads = false,
                                                 .metadata = MetadataKind::tokens,
                                                 .metadata_place = 1,
                                                 .tokens = kGeneratorTokens,
                                                 .special = 5,
                                                 .predicts_past_context = true,
                                                 .centered_window = 8192,
                                                 .next_token_context = 8192,
                                                 .defaults_fit = false,
                                                 .digest_mark = "GENERator"};

/// GenerTeam's GENERanno and HuggingFaceBio's Carbon-A, which say of every base whether it is coding. They
/// have the tokens of a GENERator, but a sequence is its 6-mers alone. No base is predicted, so that windows
/// and contexts of other families mean nothing here.
inline constexpr ModelFamily kGenerannoFamily = [] {
  ModelFamily family = kGeneratorFamily;
  family.name = "GENERanno";
  family.separator_tag = "";
  family.predicts_past_context = false;
  family.centered_window = 0;
  family.next_token_context = 0;
  family.digest_mark = "GENERanno";
  return family;
}();

/// Open Athena's MarinDNA: a token for each letter, with ids from its tokenizer file. A sequence begins with
/// [BOS] and has no end.
inline constexpr ModelFamily kMarinFamily = {.name = "MarinDNA",
                                             .bases = 1,
                                             .token_word = "letter",
                                             .begin_tag = "[BOS]",
                                             .separator_tag = "",
                                             .oov_tag = "[UNK]",
                                             .begin = 0,
                                             .separator = 0,
                                             .oov = 0,
                                             .kmer0 = 0,
                                             .pads = false,
                                             .metadata = MetadataKind::none,
                                             .metadata_place = 1,
                                             .tokens = {},
                                             .special = 0,
                                             .predicts_past_context = false,
                                             .centered_window = 8191,
                                             .next_token_context = std::numeric_limits<int64_t>::max(),
                                             .defaults_fit = true,
                                             .digest_mark = ""};

}  // namespace carbon
