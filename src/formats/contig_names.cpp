// Contig name mapping between VCF and FASTA: exact, by prefix, or by a file.

#include "src/formats/contig_names.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "src/base/advice_topics.hpp"
#include "src/base/error.hpp"
#include "src/base/letters.hpp"
#include "src/files/text_input.hpp"

namespace carbon {

namespace {

/// A name that is nothing but the prefix keeps it.
std::string strip(const std::string& name, const std::string& prefix) {
  return name.size() > prefix.size() && name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

bool any_match(const std::vector<std::string>& vcf_names, const std::string& vcf_prefix,
               const std::vector<std::string>& fasta_names, const std::string& fasta_prefix) {
  std::unordered_set<std::string> known;
  for (const std::string& name : fasta_names) known.insert(strip(name, fasta_prefix));
  for (const std::string& name : vcf_names) {
    if (known.count(strip(name, vcf_prefix))) return true;
  }
  return false;
}

std::string shown(const std::string& prefix) {
  return prefix.empty() ? "-" : prefix;
}

/// The same for all spellings of a name.
std::string plain_spelling(std::string name) {
  name = strip(strip(small_letters(name), "chromosome"), "chr");
  return name == "mt" ? "m" : name;
}

}  // namespace

std::string other_spelling(const std::string& name, const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), name) != names.end()) return "";
  std::string found;
  const std::string plain = plain_spelling(name);
  for (const std::string& other : names) {
    if (plain_spelling(other) != plain) continue;
    if (!found.empty()) return "";
    found = other;
  }
  return found;
}

ContigNames ContigNames::exact() {
  return {};
}

ContigNames ContigNames::with_prefixes(const std::string& text) {
  const size_t comma = text.find(',');
  if (comma == 0 || comma == std::string::npos || comma + 1 == text.size() ||
      text.find(',', comma + 1) != std::string::npos) {
    throw Error("parse_chr_names",
                "'" + text + "' is not VCF_PREFIX,FASTA_PREFIX; write - for no prefix, e.g. chr,-");
  }
  ContigNames names;
  names.vcf_prefix_ = text.substr(0, comma);
  names.fasta_prefix_ = text.substr(comma + 1);
  if (names.vcf_prefix_ == "-") names.vcf_prefix_.clear();
  if (names.fasta_prefix_ == "-") names.fasta_prefix_.clear();
  return names;
}

ContigNames ContigNames::with_map(const std::string& path) {
  constexpr const char* function_name = "read_chr_map";
  constexpr const char* spaces = " \t";
  ContigNames names;
  TextInput input(path, function_name);
  std::string line;
  while (input.line(line)) {
    const size_t begin = line.find_first_not_of(spaces);
    if (begin == std::string::npos) continue;
    const size_t end = line.find_first_of(spaces, begin);
    const size_t second = end == std::string::npos ? end : line.find_first_not_of(spaces, end);
    if (second == std::string::npos) {
      throw Error(function_name, input.where() + ": a line has two columns, the VCF name and the FASTA name");
    }
    const size_t second_end = line.find_first_of(spaces, second);
    if (second_end != std::string::npos && line.find_first_not_of(spaces, second_end) != std::string::npos) {
      throw Error(function_name,
                  input.where() + ": more than two columns; a line has a VCF name and a FASTA name");
    }
    const std::string vcf_name = line.substr(begin, end - begin);
    const std::string fasta_name = line.substr(second, second_end - second);
    const auto [present, inserted] = names.map_.emplace(vcf_name, fasta_name);
    if (!inserted && present->second != fasta_name) {
      throw Error(function_name,
                  input.where() + ": " + vcf_name + " is already mapped to " + present->second);
    }
  }
  if (names.map_.empty())
    throw Error(function_name, path + " has no names; give lines with a VCF name and a FASTA name");
  return names;
}

std::string ContigNames::to_fasta(const std::string& vcf_name, const IndexedFasta& fasta) const {
  return find(
      vcf_name, [&](const std::string& name) { return fasta.length(name) >= 0; }, fasta.path());
}

std::string ContigNames::find(const std::string& vcf_name, const std::function<bool(const std::string&)>& has,
                              const std::string& path) const {
  if (const auto mapped = map_.find(vcf_name); mapped != map_.end())
    return has(mapped->second) ? mapped->second : "";
  const std::string bare = strip(vcf_name, vcf_prefix_);
  if (fasta_prefix_.empty()) return has(bare) ? bare : "";
  // Two names of the other file can give `bare` without the prefix: `bare` with the prefix, and `bare`
  // itself, unless it also begins with the prefix.
  const std::string prefixed = fasta_prefix_ + bare;
  const bool has_bare = has(bare) && strip(bare, fasta_prefix_) == bare;
  const bool has_prefixed = has(prefixed);
  if (has_bare && has_prefixed)
    throw Error("map_contig", vcf_name + " matches both " + bare + " and " + prefixed + " of " + path,
                {AdviceTopic::contig_map});
  return has_prefixed ? prefixed : has_bare ? bare : "";
}

Advice ContigNames::advice(const std::vector<std::string>& vcf_names,
                           const std::vector<std::string>& fasta_names) const {
  if (vcf_names.empty() || fasta_names.empty()) return {};
  std::vector<std::string> mapped = vcf_names;
  for (std::string& name : mapped) {
    if (const auto found = map_.find(name); found != map_.end()) name = found->second;
  }
  if (any_match(mapped, vcf_prefix_, fasta_names, fasta_prefix_)) return {};
  const std::vector<std::string> prefixes = {"", "chr", "Chr", "CHR", "chromosome", "Chromosome"};
  for (const std::string& vcf_prefix : prefixes) {
    for (const std::string& fasta_prefix : prefixes) {
      if (vcf_prefix.empty() && fasta_prefix.empty() && map_.empty() && vcf_prefix_.empty() &&
          fasta_prefix_.empty()) {
        continue;
      }
      if (!any_match(vcf_names, vcf_prefix, fasta_names, fasta_prefix)) continue;
      if (vcf_prefix.empty() && fasta_prefix.empty()) return {AdviceTopic::contig_names_equal};
      return {AdviceTopic::contig_prefixes, {shown(vcf_prefix), shown(fasta_prefix)}};
    }
  }
  return {AdviceTopic::contig_pairs, {vcf_names.front(), fasta_names.front()}};
}

}  // namespace carbon
