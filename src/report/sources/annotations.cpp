// What annotations of alleles and the header of a file say: the consequences of bcftools csq (BCSQ), of VEP
// (CSQ) and of SnpEff (ANN), and the assembly, with its pages in public databases.
#include <algorithm>
#include <iterator>
#include <set>
#include <unordered_map>

#include "src/base/letters.hpp"
#include "src/base/numbers.hpp"
#include "src/base/words.hpp"
#include "src/formats/carbon_scores.hpp"
#include "src/report/sources/variants.hpp"

namespace carbon {
namespace {

// https://www.ensembl.org/info/genome/variation/prediction/predicted_data.html
// Behind a term of Ensembl stand names that bcftools csq (which leaves _variant out) and SnpEff have for it,
// or for what it is the nearest to.
constexpr std::string_view kOrder[] = {
    "transcript_ablation exon_loss_variant chromosome_number_variation bidirectional_gene_fusion gene_fusion",
    "splice_acceptor_variant",
    "splice_donor_variant",
    "stop_gained",
    "frameshift_variant",
    "stop_lost",
    "start_lost",
    "transcript_amplification",
    "feature_elongation",
    "feature_truncation",
    "inframe_insertion disruptive_inframe_insertion conservative_inframe_insertion",
    "inframe_deletion disruptive_inframe_deletion conservative_inframe_deletion",
    "missense_variant rare_amino_acid_variant",
    "protein_altering_variant inframe_altering",
    "splice_donor_5th_base_variant",
    "splice_region_variant",
    "splice_donor_region_variant",
    "splice_polypyrimidine_tract_variant",
    "incomplete_terminal_codon_variant",
    "start_retained_variant initiator_codon_variant",
    "stop_retained_variant",
    "synonymous_variant",
    "coding_sequence_variant structural_interaction_variant protein_protein_contact",
    "mature_miRNA_variant miRNA",
    "5_prime_UTR_variant 5_prime_utr 5_prime_UTR_premature_start_codon_gain_variant 5_prime_UTR_truncation",
    "3_prime_UTR_variant 3_prime_utr 3_prime_UTR_truncation",
    "non_coding_transcript_exon_variant exon_variant non_coding_exon_variant",
    "intron_variant conserved_intron_variant",
    "NMD_transcript_variant",
    "non_coding_transcript_variant non_coding nc_transcript_variant",
    "coding_transcript_variant transcript_variant intragenic_variant gene_variant",
    "upstream_gene_variant",
    "downstream_gene_variant",
    "TFBS_ablation",
    "TFBS_amplification",
    "TF_binding_site_variant",
    "regulatory_region_ablation",
    "regulatory_region_amplification",
    "regulatory_region_variant",
    "intergenic_variant conserved_intergenic_variant intergenic_region",
    "sequence_variant",
};

// A field of an entry.
std::string_view part(std::string_view entry, size_t field) {
  for (; field > 0; --field) {
    const size_t end = entry.find('|');
    if (end == entry.npos) return {};
    entry.remove_prefix(end + 1);
  }
  return entry.substr(0, entry.find('|'));
}

bool has_part(std::string_view text, char separator, std::string_view wanted) {
  const std::vector<std::string_view> parts = split(text, separator);
  return std::find(parts.begin(), parts.end(), wanted) != parts.end();
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
  return has_part(changes, '+', std::to_string(pos) + ref + ">" + alt);
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

constexpr int64_t kAround = 25;        // bases on each side in the genome browsers
constexpr size_t kLongestAllele = 50;  // the letters of longer alleles are in no address

// Name, words, bases of chromosome 1, autosomes, UCSC, Ensembl, gnomAD and ClinVar.
constexpr Assembly kAssemblies[] = {
    {"GRCh38", "grch38 hg38 b38 hs38 hs38dh assembly38", 248'956'422, 22, "hg38",
     "www.ensembl.org/Homo_sapiens", "gnomad_r4", "chrpos38"},
    // chrM of hg19 is not the MT of GRCh37, which later lists call chrM, too.
    {"GRCh37", "grch37 hg19 b37 hs37d5 hs37", 249'250'621, 22, "hg19", "grch37.ensembl.org/Homo_sapiens",
     "gnomad_r2_1", "chrpos37", ""},
    {"T2T", "hs1 chm13v2 chm13v2.0 t2t-chm13v2.0", 248'387'328, 22, "hs1"},
    {"GRCm39", "grcm39 mm39", 195'154'279, 19, "mm39", "www.ensembl.org/Mus_musculus"},
    {"GRCm38", "grcm38 mm10", 195'471'971, 19, "mm10"}};

std::string_view without_chr(std::string_view contig) {
  if (contig.starts_with("chr")) contig.remove_prefix(3);
  return contig;
}

// 17, X, Y or MT, whatever the file writes; "" for what is not a chromosome of the assembly.
std::string_view chromosome(const Assembly& assembly, std::string_view contig) {
  const std::string_view name = without_chr(contig);
  if (name == "X" || name == "Y") return name;
  if (name == "M" || name == "MT") return "MT";
  int number = 0;
  const bool written_so = !name.empty() && name[0] >= '1' && name[0] <= '9' && parse_number(name, number);
  return written_so && number <= assembly.autosomes ? name : std::string_view{};
}

bool is_spelled_out(std::string_view allele) {
  return !allele.empty() && allele.size() <= kLongestAllele &&
         allele.find_first_not_of("ACGT") == allele.npos;
}

}  // namespace

size_t severity(std::string_view term) {
  static const std::unordered_map<std::string_view, size_t> ranks = [] {
    std::unordered_map<std::string_view, size_t> out;
    for (size_t rank = 0; rank < std::size(kOrder); ++rank)
      for (const std::string_view name : split(kOrder[rank], ' ')) out.emplace(name, rank);
    return out;
  }();
  // A star: the change lies after a stop codon of the same haplotype.
  if (term.starts_with('*')) term.remove_prefix(1);
  auto found = ranks.find(term);
  if (found == ranks.end()) found = ranks.find(std::string(term) + "_variant");
  return found == ranks.end() ? std::size(kOrder) : found->second;
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
      if (const std::string_view name = part(entry, field); !name.empty()) return std::string(name);
  return "";
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
    const std::string_view number = part(entry, number_);
    if (mark([&](size_t i) { return number == std::to_string(i + 1); })) return out;
  }
  const std::string_view name = allele_ == kNone ? "" : part(entry, allele_);
  if (name.empty()) return std::vector<bool>(alts.size(), true);
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
    const std::string_view term = worst_term(part(entry, consequence_));
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

const Assembly* find_assembly(std::string_view name) {
  const std::string wanted = small_letters(std::string(name));
  for (const Assembly& one : kAssemblies)
    if (equal_letters(name, one.name) || has_part(one.words, ' ', wanted)) return &one;
  return nullptr;
}

std::string assembly_names() {
  return joined(kAssemblies, ", ", &Assembly::name);
}

const Assembly* assembly_of(const VcfReader& reader) {
  // Texts that may have its words, such as the path of a FASTA.
  std::vector<std::string> texts = reader.header_lines("reference");
  for (const std::string& line : reader.header_lines("contig"))
    texts.push_back(header_field(header_fields(line), "assembly"));
  std::set<const Assembly*> found;
  for (const std::string& text : texts) {
    const std::string words = small_letters(text);
    for (size_t at = 0, end = 0; at < words.size(); at = end + 1) {
      end = at;
      while (end < words.size() && is_letter_or_digit(words[end])) ++end;
      const std::string_view word = std::string_view(words).substr(at, end - at);
      for (const Assembly& one : kAssemblies)
        if (has_part(one.words, ' ', word)) found.insert(&one);
    }
  }
  for (const auto& [contig, length] : reader.contig_lengths())
    for (const Assembly& one : kAssemblies)
      if (without_chr(contig) == "1" && one.first_length == length) found.insert(&one);
  return found.size() == 1 ? *found.begin() : nullptr;
}

std::vector<std::pair<std::string, std::string>> database_links(const Assembly& assembly,
                                                                std::string_view contig, int64_t pos,
                                                                std::string_view ref, std::string_view alt) {
  const std::string name(chromosome(assembly, contig));
  if (name.empty() || pos < 1) return {};
  std::vector<std::pair<std::string, std::string>> out;
  const int64_t last = pos + static_cast<int64_t>(std::min(ref.size(), kLongestAllele));  // one base more
  const std::string from = std::to_string(std::max<int64_t>(1, pos - kAround));
  const std::string around = from + "-" + std::to_string(last + kAround);
  const bool mitochondrial = name == "MT";
  if (!assembly.gnomad.empty() && !mitochondrial && is_spelled_out(ref) && is_spelled_out(alt))
    out.emplace_back("gnomAD", "https://gnomad.broadinstitute.org/variant/" + name + "-" +
                                   std::to_string(pos) + "-" + std::string(ref) + "-" + std::string(alt) +
                                   "?dataset=" + std::string(assembly.gnomad));
  // ClinVar places an insertion or a deletion at the bases that change, after the first of REF.
  const bool snv = ref.size() == 1 && alt.size() == 1;
  if (!assembly.clinvar.empty())
    out.emplace_back("ClinVar", "https://www.ncbi.nlm.nih.gov/clinvar/?term=" + name + "%5Bchr%5D+AND+" +
                                    std::to_string(pos) + (snv ? "" : ":" + std::to_string(last)) + "%5B" +
                                    std::string(assembly.clinvar) + "%5D");
  const std::string ucsc = mitochondrial ? std::string(assembly.ucsc_mitochondrion) : "chr" + name;
  if (!ucsc.empty())
    out.emplace_back("UCSC", "https://genome.ucsc.edu/cgi-bin/hgTracks?db=" + std::string(assembly.ucsc) +
                                 "&position=" + ucsc + ":" + around);
  if (!assembly.ensembl.empty())
    out.emplace_back("Ensembl",
                     "https://" + std::string(assembly.ensembl) + "/Location/View?r=" + name + ":" + around);
  return out;
}

}  // namespace carbon
