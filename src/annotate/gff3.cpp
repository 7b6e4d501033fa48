#include "src/annotate/gff3.hpp"

#include <algorithm>

#include "src/base/letters.hpp"
#include "src/base/numbers.hpp"

namespace carbon {
namespace {

constexpr size_t kNumberDigits = 6, kScoreDigits = 4, kLineLetters = 60;

std::string numbered(std::string_view name, size_t number) {
  const std::string digits = std::to_string(number);
  const size_t zeros = digits.size() < kNumberDigits ? kNumberDigits - digits.size() : 0;
  return std::string(name) + "_" + std::string(zeros, '0') + digits;
}

/// The columns of one contig and one strand.
class Lines {
 public:
  Lines(std::string_view name, bool reverse, std::string& text)
      : name_(gff3_name(name)), strand_(reverse ? '-' : '+'), text_(text) {}

  void add(const char* type, const Interval& place, double score, char phase, const std::string& attributes) {
    text_ += name_ + "\tcarbon\t" + type + "\t" + std::to_string(place.begin + 1) + "\t" +
             std::to_string(place.end) + "\t";
    append_general(score, kScoreDigits, text_);
    text_ += {'\t', strand_, '\t', phase, '\t'};
    text_ += attributes + "\n";
  }

 private:
  std::string name_;
  char strand_;
  std::string& text_;
};

std::string partial_attributes(const GeneCall& gene) {
  if (gene.has_start && gene.has_stop) return "";
  const bool low = gene.reverse ? !gene.has_stop : !gene.has_start;
  const bool high = gene.reverse ? !gene.has_start : !gene.has_stop;
  std::string text = ";partial=true";
  if (low) text += ";start_range=.," + std::to_string(gene.begin() + 1);
  if (high) text += ";end_range=" + std::to_string(gene.end()) + ",.";
  return text;
}

// The bases of each segment before its first whole codon, in the order of the contig.
std::vector<int64_t> phases(const GeneCall& gene) {
  std::vector<int64_t> phases;
  int64_t phase = gene.phase;
  const auto add = [&](const Interval& segment) {
    phases.push_back(phase);
    phase = ((phase - segment.size()) % 3 + 3) % 3;
  };
  if (!gene.reverse) {
    std::for_each(gene.segments.begin(), gene.segments.end(), add);
  } else {
    std::for_each(gene.segments.rbegin(), gene.segments.rend(), add);
    std::reverse(phases.begin(), phases.end());
  }
  return phases;
}

void append_fasta(const std::string& name, std::string_view letters, std::string& text) {
  text += ">" + name + "\n";
  for (size_t begin = 0; begin < letters.size(); begin += kLineLetters) {
    text += letters.substr(begin, kLineLetters);
    text += '\n';
  }
}

}  // namespace

std::string gff3_name(std::string_view name) {
  constexpr std::string_view kAlsoAllowed = ".:^*$@!+_?|-";
  std::string text;
  for (const char c : name) {
    if (is_letter_or_digit(c) || kAlsoAllowed.find(c) != std::string_view::npos) {
      text += c;
      continue;
    }
    std::string hex = hex_text(static_cast<unsigned char>(c), 2);
    std::transform(hex.begin(), hex.end(), hex.begin(), capital_letter);
    text += "%" + hex;
  }
  return text;
}

std::string gff3_region(std::string_view name, int64_t bases) {
  return "##sequence-region " + gff3_name(name) + " 1 " + std::to_string(bases) + "\n";
}

void append_gene(const GeneCall& gene, std::string_view name, size_t number, std::string& text) {
  const std::string id = numbered(gff3_name(name), number), transcript = "transcript:" + id + ".1";
  const std::string partial = partial_attributes(gene);
  const Interval whole = {gene.begin(), gene.end()};
  Lines lines(name, gene.reverse, text);
  std::string attributes = "ID=gene:" + id +
                           ";biotype=protein_coding;status=" + (partial.empty() ? "complete" : "partial") +
                           ";min_exon_p=";
  append_general(gene.least, kScoreDigits, attributes);
  lines.add("gene", whole, gene.mean, '.', attributes + partial);
  lines.add("mRNA", whole, gene.mean, '.',
            "ID=" + transcript + ";Parent=gene:" + id + ";biotype=protein_coding" + partial);
  const std::vector<int64_t> phase = phases(gene);
  for (size_t i = 0; i < gene.segments.size(); ++i) {
    lines.add("exon", gene.segments[i], gene.means[i], '.', "Parent=" + transcript);
    lines.add("CDS", gene.segments[i], gene.means[i], static_cast<char>('0' + phase[i]),
              "ID=CDS:" + id + ".1;Parent=" + transcript + partial);
  }
  text += "###\n";
}

void append_run(const GeneCall& run, std::string_view name, size_t number, std::string& text) {
  Lines(name, run.reverse, text)
      .add("coding_region_of_exon", run.segments.front(), run.mean, '.',
           "ID=run:" + numbered(gff3_name(name), number));
}

void append_coding_sequence(const GeneCall& gene, std::string_view name, size_t number,
                            std::string_view contig, std::string& text) {
  append_fasta(numbered(name, number) + ".1", gene.coding_sequence(contig), text);
}

void append_protein(const GeneCall& gene, std::string_view name, size_t number, std::string_view contig,
                    const GeneticCode& code, std::string& text) {
  const std::string bases = gene.coding_sequence(contig);
  const size_t end = bases.size() - (gene.has_stop ? 3 : 0);
  std::string protein;
  for (auto at = static_cast<size_t>(gene.phase); at + 3 <= end; at += 3) {
    const Codon codon = {letter_number(bases[at]), letter_number(bases[at + 1]),
                         letter_number(bases[at + 2])};
    protein += gene.has_start && at == 0 ? 'M' : code.amino_acid(codon);
  }
  append_fasta(numbered(name, number) + ".1", protein, text);
}

}  // namespace carbon
