#include "src/report/sections/variant_groups.hpp"

#include <set>

#include "src/report/drawing/plot.hpp"

namespace carbon {
namespace {

constexpr size_t kAllele = 16;

}  // namespace

GroupNames::GroupNames(const std::vector<std::string>& first) {
  for (const std::string& name : first) number(name);
}

size_t GroupNames::number(std::string_view name) {
  name = name.substr(0, kLength);
  if (const auto found = numbers_.find(name); found != numbers_.end()) return found->second;
  if (names_.size() == kMost) return kMost;
  names_.emplace_back(name);
  numbers_.emplace(name, names_.size() - 1);
  return names_.size() - 1;
}

std::string cut_text(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  // Not in the middle of a letter of several bytes.
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return std::string(text.substr(0, most)) + "\u2026";
}

std::string allele_text(const std::string& allele) {
  if (allele.size() <= kAllele + 4) return allele;
  return cut_text(allele, kAllele) + " (" + count_text(allele.size()) + " letters)";
}

std::string counted(uint64_t count, const std::string& word) {
  return count_text(count) + " " + word + (count == 1 ? "" : "s");
}

std::vector<std::string> figure_parts(const std::vector<std::string>& tags) {
  std::vector<std::string> out;
  std::set<std::string> taken;
  for (const std::string& tag : tags) {
    std::string part = "_";
    for (const char c : tag) {
      const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
      part += plain ? c : '_';
    }
    std::string name = part;
    for (int copy = 2; !taken.insert(name).second; ++copy) name = part + "_" + std::to_string(copy);
    out.push_back(name);
  }
  return out;
}

}  // namespace carbon
