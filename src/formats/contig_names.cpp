// Contig name mapping between VCF and FASTA: exact, by prefix, or by a file.

#include "src/formats/contig_names.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "src/base/words.hpp"
#include "src/files/text_input.hpp"
#include "src/formats/contig_spelling.hpp"

namespace carbon {

namespace {

/// A name that is nothing but the prefix keeps it.
std::string strip(const std::string& name, const std::string& prefix) {
  return name.size() > prefix.size() && name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

std::string shown(const std::string& prefix) {
  return prefix.empty() ? "-" : prefix;
}

}  // namespace

ContigNames::ContigNames(const std::string& prefixes, const std::string& map) {
  if (!prefixes.empty()) read_prefixes(prefixes);
  if (!map.empty()) read_map(map);
}

void ContigNames::read_prefixes(const std::string& text) {
  const size_t comma = text.find(',');
  if (comma == 0 || comma == std::string::npos || comma + 1 == text.size() ||
      text.find(',', comma + 1) != std::string::npos) {
    throw Error("parse_chr_names",
                "'" + text + "' is not VCF_PREFIX,FASTA_PREFIX; write - for no prefix, e.g. chr,-");
  }
  vcf_prefix_ = text.substr(0, comma);
  fasta_prefix_ = text.substr(comma + 1);
  if (vcf_prefix_ == "-") vcf_prefix_.clear();
  if (fasta_prefix_ == "-") fasta_prefix_.clear();
}

void ContigNames::read_map(const std::string& path) {
  constexpr const char* function_name = "read_chr_map";
  TextInput input(path, function_name);
  for (std::string line; input.line(line);) {
    const std::vector<std::string_view> columns = words_of(line);
    if (columns.empty()) continue;
    if (columns.size() != 2)
      throw Error(function_name, input.where() + ": a line has two columns, the VCF name and the FASTA name");
    const auto [present, inserted] = map_.emplace(columns[0], columns[1]);
    if (!inserted && present->second != columns[1])
      throw Error(function_name,
                  input.where() + ": " + present->first + " is already mapped to " + present->second);
  }
  if (map_.empty())
    throw Error(function_name, path + " has no names; give lines with a VCF name and a FASTA name");
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
                {"give the right names in pairs with {--chr-map} FILE"});
  return has_prefixed ? prefixed : has_bare ? bare : "";
}

Advice ContigNames::advice(const std::vector<std::string>& vcf_names,
                           const std::vector<std::string>& fasta_names) const {
  if (vcf_names.empty() || fasta_names.empty()) return {};
  const std::unordered_set<std::string> theirs(fasta_names.begin(), fasta_names.end());
  const auto has = [&](const std::string& name) { return theirs.contains(name); };
  for (const std::string& name : vcf_names)
    if (!find(name, has, "").empty()) return {};
  if (std::any_of(vcf_names.begin(), vcf_names.end(), has))
    return {map_.empty() ? "the names match without {--unify-chr-names}: leave it out"
                         : "the names match without {--unify-chr-names} and {--chr-map}: leave them out"};
  Advice pair = {"name the pairs in a file (the VCF has {0}, the FASTA {1}) and add {--chr-map} FILE",
                 {vcf_names.front(), fasta_names.front()}};
  const ContigSpellings spellings(fasta_names);
  for (const std::string& name : vcf_names) {
    const std::string other = spellings.other(name);
    if (other.empty()) continue;
    const size_t ours = spelling_prefix(name), prefix = spelling_prefix(other);
    if (name.substr(ours) == other.substr(prefix))
      return {"add {--unify-chr-names 0}",
              {shown(name.substr(0, ours)) + "," + shown(other.substr(0, prefix))}};
    pair.values = {name, other};
  }
  return pair;
}

Error ContigNames::none_matches(const std::string& function, const std::string& whose,
                                const std::vector<std::string>& vcf_names, const std::string& fasta,
                                const std::vector<std::string>& fasta_names) const {
  Advice known = advice(vcf_names, fasta_names);
  if (known.text.empty()) known = {"give the right names in pairs with {--chr-map} FILE"};
  return {function,
          "no contig of " + whose + " (" + first_of_list(vcf_names) + ") is in " + fasta + " (" +
              first_of_list(fasta_names) + ")",
          known};
}

void VcfContigs::declare(std::vector<std::string> names) {
  declared_ = std::move(names);
  none_to_come_ = none_known();
}

const std::string& VcfContigs::name(const std::string& contig, const Find& find) {
  if (const auto known = names_.find(contig); known != names_.end()) return known->second;
  const std::string& name = names_.emplace(contig, find(contig)).first->second;
  if (!name.empty()) return name;
  unknown_.push_back(contig);
  if (!looked_ahead_ && none_known()) look_ahead(contig, find);
  return name;
}

void VcfContigs::look_ahead(const std::string& contig, const Find& find) {
  if (std::find(declared_.begin(), declared_.end(), contig) == declared_.end()) return;
  looked_ahead_ = true;
  const auto known = [&](const std::string& name) {
    try {
      return !find(name).empty();
    } catch (const Error&) {
      return true;  // two names of the other file match one that may have no records
    }
  };
  if (std::any_of(declared_.begin(), declared_.end(), known)) return;
  none_to_come_ = true;
  unknown_ = declared_;
}

Respelled respelled(const std::vector<std::string>& names, const std::vector<std::string>& of_file,
                    const std::string& file) {
  constexpr size_t kShown = 3;
  const ContigSpellings spellings(of_file);
  std::vector<std::string> pairs;
  for (size_t i = 0; i < names.size() && pairs.size() < kShown; ++i)
    if (const std::string other = spellings.other(names[i]); !other.empty())
      pairs.push_back(names[i] + " " + other);
  if (pairs.empty()) return {};
  return {"; " + file + " calls " + and_list(pairs), {"give the right names in pairs with {--chr-map} FILE"}};
}

}  // namespace carbon
