#include "src/report/sources/assembly.hpp"

#include <algorithm>
#include <set>

#include "src/base/letters.hpp"
#include "src/base/numbers.hpp"
#include "src/base/words.hpp"

namespace carbon {
namespace {

constexpr int64_t kAround = 25;        // bases on each side in the genome browsers
constexpr size_t kLongestAllele = 50;  // the letters of longer alleles are in no address

const std::vector<Assembly>& assemblies() {
  static const std::vector<Assembly> all = {
      {.name = "GRCh38",
       .words = {"grch38", "hg38", "b38", "hs38", "hs38dh", "assembly38"},
       .first_length = 248'956'422,
       .ucsc = "hg38",
       .ensembl = "www.ensembl.org/Homo_sapiens",
       .gnomad = "gnomad_r4",
       .clinvar = "chrpos38"},
      // chrM of hg19 is not the MT of GRCh37, which later lists call chrM, too.
      {.name = "GRCh37",
       .words = {"grch37", "hg19", "b37", "hs37d5", "hs37"},
       .first_length = 249'250'621,
       .ucsc = "hg19",
       .ensembl = "grch37.ensembl.org/Homo_sapiens",
       .gnomad = "gnomad_r2_1",
       .clinvar = "chrpos37",
       .ucsc_mitochondrion = {}},
      {.name = "T2T",
       .words = {"hs1", "chm13v2", "chm13v2.0", "t2t-chm13v2.0"},
       .first_length = 248'387'328,
       .ucsc = "hs1"},
      {.name = "GRCm39",
       .words = {"grcm39", "mm39"},
       .first_length = 195'154'279,
       .autosomes = 19,
       .ucsc = "mm39",
       .ensembl = "www.ensembl.org/Mus_musculus"},
      {.name = "GRCm38",
       .words = {"grcm38", "mm10"},
       .first_length = 195'471'971,
       .autosomes = 19,
       .ucsc = "mm10"}};
  return all;
}

bool has_word(const Assembly& assembly, std::string_view word) {
  return std::find(assembly.words.begin(), assembly.words.end(), word) != assembly.words.end();
}

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

const Assembly* find_assembly(std::string_view name) {
  const std::string wanted = small_letters(std::string(name));
  for (const Assembly& one : assemblies())
    if (equal_letters(name, one.name) || has_word(one, wanted)) return &one;
  return nullptr;
}

std::string assembly_names() {
  return joined(assemblies(), ", ", &Assembly::name);
}

const Assembly* hinted_assembly(const std::vector<std::string>& texts,
                                const std::unordered_map<std::string, int64_t>& contig_lengths) {
  std::set<const Assembly*> found;
  for (const std::string& text : texts) {
    const std::string words = small_letters(text);
    for (size_t at = 0, end = 0; at < words.size(); at = end + 1) {
      end = at;
      while (end < words.size() && is_letter_or_digit(words[end])) ++end;
      for (const Assembly& one : assemblies())
        if (has_word(one, std::string_view(words).substr(at, end - at))) found.insert(&one);
    }
  }
  for (const auto& [contig, length] : contig_lengths)
    for (const Assembly& one : assemblies())
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
