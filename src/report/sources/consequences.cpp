// Reads the annotations of bcftools csq (BCSQ), of VEP (CSQ) and of SnpEff (ANN).
#include "src/report/sources/variants.hpp"

#include <algorithm>
#include <iterator>

#include "src/base/words.hpp"

namespace carbon {
namespace {

// https://www.ensembl.org/info/genome/variation/prediction/predicted_data.html
constexpr std::string_view kOrder[] = {
    "transcript_ablation",
    "splice_acceptor_variant",
    "splice_donor_variant",
    "stop_gained",
    "frameshift_variant",
    "stop_lost",
    "start_lost",
    "transcript_amplification",
    "feature_elongation",
    "feature_truncation",
    "inframe_insertion",
    "inframe_deletion",
    "missense_variant",
    "protein_altering_variant",
    "splice_donor_5th_base_variant",
    "splice_region_variant",
    "splice_donor_region_variant",
    "splice_polypyrimidine_tract_variant",
    "incomplete_terminal_codon_variant",
    "start_retained_variant",
    "stop_retained_variant",
    "synonymous_variant",
    "coding_sequence_variant",
    "mature_miRNA_variant",
    "5_prime_UTR_variant",
    "3_prime_UTR_variant",
    "non_coding_transcript_exon_variant",
    "intron_variant",
    "NMD_transcript_variant",
    "non_coding_transcript_variant",
    "coding_transcript_variant",
    "upstream_gene_variant",
    "downstream_gene_variant",
    "TFBS_ablation",
    "TFBS_amplification",
    "TF_binding_site_variant",
    "regulatory_region_ablation",
    "regulatory_region_amplification",
    "regulatory_region_variant",
    "intergenic_variant",
    "sequence_variant",
};

// Other names: those of bcftools csq (which leaves _variant out) and of SnpEff, with the nearest of Ensembl.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"5_prime_utr", "5_prime_UTR_variant"},
    {"3_prime_utr", "3_prime_UTR_variant"},
    {"non_coding", "non_coding_transcript_variant"},
    {"inframe_altering", "protein_altering_variant"},
    {"exon_loss_variant", "transcript_ablation"},
    {"chromosome_number_variation", "transcript_ablation"},
    {"bidirectional_gene_fusion", "transcript_ablation"},
    {"gene_fusion", "transcript_ablation"},
    {"rare_amino_acid_variant", "missense_variant"},
    {"disruptive_inframe_insertion", "inframe_insertion"},
    {"conservative_inframe_insertion", "inframe_insertion"},
    {"disruptive_inframe_deletion", "inframe_deletion"},
    {"conservative_inframe_deletion", "inframe_deletion"},
    {"initiator_codon_variant", "start_retained_variant"},
    {"5_prime_UTR_premature_start_codon_gain_variant", "5_prime_UTR_variant"},
    {"5_prime_UTR_truncation", "5_prime_UTR_variant"},
    {"3_prime_UTR_truncation", "3_prime_UTR_variant"},
    {"structural_interaction_variant", "coding_sequence_variant"},
    {"protein_protein_contact", "coding_sequence_variant"},
    {"miRNA", "mature_miRNA_variant"},
    {"exon_variant", "non_coding_transcript_exon_variant"},
    {"non_coding_exon_variant", "non_coding_transcript_exon_variant"},
    {"conserved_intron_variant", "intron_variant"},
    {"nc_transcript_variant", "non_coding_transcript_variant"},
    {"transcript_variant", "coding_transcript_variant"},
    {"intragenic_variant", "coding_transcript_variant"},
    {"gene_variant", "coding_transcript_variant"},
    {"conserved_intergenic_variant", "intergenic_variant"},
    {"intergenic_region", "intergenic_variant"},
};

size_t place(std::string_view term) {
  return static_cast<size_t>(std::find(std::begin(kOrder), std::end(kOrder), term) - std::begin(kOrder));
}

std::string_view part(std::string_view text, char separator, size_t number) {
  for (; number > 0; --number) {
    const size_t end = text.find(separator);
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find(separator));
}

// The most severe of the terms of one entry, which are separated by &.
std::string_view worst_term(std::string_view terms) {
  std::string_view worst;
  size_t least = std::size(kOrder) + 1;
  for (const std::string_view term : split(terms, '&'))
    if (const size_t rank = severity(term); !term.empty() && rank < least) worst = term, least = rank;
  return worst;
}

// How VEP names an allele: without the first base that all alleles share, if their lengths differ.
std::string vep_name(const std::string& ref, const std::vector<std::string>& alts, size_t i) {
  const auto is_star = [](const std::string& alt) { return alt.find('*') != std::string::npos; };
  const std::string& alt = alts[i];
  const bool indel =
      std::any_of(alts.begin(), alts.end(), [&](const auto& a) { return a.size() != ref.size(); });
  const bool shared = !ref.empty() && std::all_of(alts.begin(), alts.end(), [&](const auto& a) {
    return is_star(a) || (!a.empty() && a[0] == ref[0]);
  });
  if (!indel || !shared || is_star(alt)) return alt;
  return alt.size() == 1 ? "-" : alt.substr(1);
}

// The shortest spelling, as VEP has it with --minimal.
std::string minimal_name(std::string ref, std::string alt) {
  size_t same = 0;
  while (same < ref.size() && same < alt.size() && ref[same] == alt[same]) ++same;
  ref.erase(0, same);
  alt.erase(0, same);
  while (!ref.empty() && !alt.empty() && ref.back() == alt.back()) ref.pop_back(), alt.pop_back();
  return alt.empty() ? "-" : alt;
}

// The name that VEP has for an allele without bases.
std::string_view symbolic_name(const std::string& alt) {
  constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"<DEL", "deletion"}, {"<DUP", "duplication"}, {"<INS", "insertion"}, {"<INV", "inversion"}};
  for (const auto& [start, name] : names)
    if (alt.starts_with(start)) return name;
  return {};
}

// Whether dna_change of bcftools csq, such as 101A>G+104C>T, has this change.
bool has_change(std::string_view changes, int64_t pos, const std::string& ref, const std::string& alt) {
  const std::string wanted = std::to_string(pos) + ref + ">" + alt;
  const std::vector<std::string_view> all = split(changes, '+');
  return std::find(all.begin(), all.end(), wanted) != all.end();
}

std::vector<std::string> format_fields(const std::string& description) {
  std::vector<std::string> names;
  const size_t format = description.find("Format:");
  if (format == std::string::npos) return names;
  for (const std::string_view field : split(std::string_view(description).substr(format + 7), '|')) {
    std::string& name = names.emplace_back(field);
    std::erase_if(name, [](char c) { return c == ' ' || c == '\'' || c == '"'; });
  }
  return names;
}

}  // namespace

size_t severity(std::string_view term) {
  // A star: the change lies after a stop codon of the same haplotype.
  if (term.starts_with('*')) term.remove_prefix(1);
  if (const size_t found = place(term); found < std::size(kOrder)) return found;
  const auto* other = std::find_if(std::begin(kOtherNames), std::end(kOtherNames),
                                   [&](const auto& pair) { return pair.first == term; });
  if (other != std::end(kOtherNames)) return place(other->second);
  return place(std::string(term) + "_variant");
}

ConsequenceLayout::ConsequenceLayout(const std::string& tag, const std::string& description)
    : bcftools_(tag == "BCSQ" ||
                (tag != "CSQ" && tag != "ANN" && description.find("BCFtools/csq") != std::string::npos)) {
  if (bcftools_) {
    // consequence|gene|transcript|biotype|strand|amino acids|dna change
    consequence_ = 0, symbol_ = 1, allele_ = 6;
    return;
  }
  const std::vector<std::string> names = format_fields(description);
  const auto find = [&](std::string_view name) {
    const auto at = std::find(names.begin(), names.end(), name);
    return at == names.end() ? kNone : static_cast<size_t>(at - names.begin());
  };
  if (!names.empty()) {
    allele_ = find("Allele"), number_ = find("ALLELE_NUM"), consequence_ = find("Consequence");
    symbol_ = find("SYMBOL") != kNone ? find("SYMBOL") : find("HGNC"), gene_ = find("Gene");
  } else if (tag == "ANN" || description.starts_with("Functional annotations:")) {
    // Allele | Annotation | Annotation_Impact | Gene_Name | Gene_ID | ...
    allele_ = 0, consequence_ = 1, symbol_ = 3, gene_ = 4;
  }
}

std::string ConsequenceLayout::gene_of(std::string_view entry) const {
  for (const size_t field : {symbol_, gene_})
    if (field != kNone)
      if (const std::string_view name = part(entry, '|', field); !name.empty()) return std::string(name);
  return "";
}

bool ConsequenceLayout::names_no_allele(std::string_view entry) const {
  return allele_ == kNone || part(entry, '|', allele_).empty();
}

// Which alleles an entry is for. The first spelling by which any allele is named decides.
std::vector<bool> ConsequenceLayout::alleles_of(std::string_view entry, int64_t pos, const std::string& ref,
                                                const std::vector<std::string>& alts) const {
  std::vector<bool> out(alts.size(), false);
  const auto mark = [&](auto is_named) {
    bool any = false;
    for (size_t i = 0; i < alts.size(); ++i)
      if (is_named(i)) out[i] = any = true;
    return any;
  };
  if (number_ != kNone) {
    const std::string_view number = part(entry, '|', number_);
    if (mark([&](size_t i) { return number == std::to_string(i + 1); })) return out;
  }
  if (names_no_allele(entry)) return std::vector<bool>(alts.size(), true);
  const std::string_view name = part(entry, '|', allele_);
  if (bcftools_) {
    mark([&](size_t i) { return has_change(name, pos, ref, alts[i]); });
    return out;
  }
  mark([&](size_t i) { return name == vep_name(ref, alts, i); }) ||
      mark([&](size_t i) { return name == alts[i]; }) ||
      mark([&](size_t i) { return name == minimal_name(ref, alts[i]); }) ||
      mark([&](size_t i) { return name == symbolic_name(alts[i]); });
  return out;
}

std::vector<Consequence> ConsequenceLayout::read(const std::vector<std::string>& entries, int64_t pos,
                                                 const std::string& ref,
                                                 const std::vector<std::string>& alts) const {
  struct Worst {
    size_t rank = ~size_t{0};
    std::string_view term, entry;
  };
  std::vector<Worst> worst(alts.size());
  for (const std::string& entry : entries) {
    const std::string_view term = worst_term(part(entry, '|', consequence_));
    if (term.empty() || term == ".") continue;
    const size_t rank = severity(term);
    if (std::none_of(worst.begin(), worst.end(), [&](const Worst& one) { return rank < one.rank; })) continue;
    const std::vector<bool> mine = alleles_of(entry, pos, ref, alts);
    for (size_t i = 0; i < alts.size(); ++i)
      if (mine[i] && rank < worst[i].rank) worst[i] = {rank, term, entry};
  }
  std::vector<Consequence> out(alts.size());
  for (size_t i = 0; i < alts.size(); ++i) {
    if (worst[i].term.empty()) continue;
    // bcftools csq names here the record that has the consequence of several changes together.
    if (bcftools_ && worst[i].term.starts_with('@'))
      out[i] = {"compound, in another record", ""};
    else
      out[i] = {std::string(worst[i].term), gene_of(worst[i].entry)};
  }
  return out;
}

}  // namespace carbon
