#include "test/reference/gene_sets.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "src/base/words.hpp"

namespace carbon::reference {
namespace {

bool is_dna(char letter) {
  return std::string("ACGT").find(letter) != std::string::npos;
}

std::vector<std::string> list_of(const std::string& text) {
  std::vector<std::string> list;
  for (const std::string_view part : split(text, ',')) list.emplace_back(part);
  return list;
}

bool has(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

}  // namespace

std::vector<std::string> stop_codons(int code) {
  const std::map<int, std::string> others = {{2, "TAA,TAG,AGA,AGG"},  {6, "TGA"},      {14, "TAG"},
                                             {15, "TAA,TGA"},         {16, "TAA,TGA"}, {22, "TCA,TAA,TGA"},
                                             {23, "TTA,TAA,TAG,TGA"}, {29, "TGA"},     {30, "TGA"},
                                             {32, "TAA,TGA"},         {33, "TAG"}};
  if (const auto found = others.find(code); found != others.end()) return list_of(found->second);
  const bool three = std::set<int>{1, 11, 12, 26}.count(code) > 0;
  return list_of(three ? "TAA,TAG,TGA" : "TAA,TAG");
}

GeneSets::GeneSets(std::string letters, std::vector<int64_t> odds, const GeneRules& rules)
    : letters_(std::move(letters)),
      odds_(std::move(odds)),
      rules_(rules),
      gap_(letters_.size(), false),
      starts_(list_of(rules.starts)),
      stops_(stop_codons(rules.code)) {
  for (size_t at = 0; at < letters_.size(); ++at) {
    size_t end = at;
    while (end < letters_.size() && !is_dna(letters_[end])) ++end;
    if (end - at >= 10)
      std::fill(gap_.begin() + static_cast<long>(at), gap_.begin() + static_cast<long>(end), true);
    if (end > at) at = end;
  }
  const int64_t cost = score_units(rules.gene_cost), missing = score_units(10);
  for (size_t at = 0; at < letters_.size() && complete(); ++at) {
    ScoredGene gene;
    if (has(starts_, letters_.substr(at, 3))) {
      gene.gene.segments = {{static_cast<int64_t>(at), static_cast<int64_t>(at) + 3}};
      gene.score = odds_[at] + odds_[at + 1] + odds_[at + 2] - cost;
      extend(gene, letters_.substr(at, 3), at + 2);
    }
    if (!begins_at_edge(at)) continue;
    for (int phase = 0; phase < 3; ++phase) {
      gene.gene = {{{static_cast<int64_t>(at), static_cast<int64_t>(at) + 1}}, false, true, phase};
      gene.score = odds_[at] - cost - missing;
      // Bases of the codon that lies before the edge, none of which makes a stop.
      extend(gene, std::string(static_cast<size_t>((3 - phase) % 3), '?') + letters_[at], at);
    }
  }
  std::stable_sort(genes_.begin(), genes_.end(),
                   [](const ScoredGene& a, const ScoredGene& b) { return a.gene.end() < b.gene.end(); });
}

bool GeneSets::is_intron(size_t begin, size_t end) const {
  const auto length = static_cast<int64_t>(end - begin);
  if (length < rules_.min_intron || (rules_.max_intron > 0 && length > rules_.max_intron)) return false;
  const std::string first = letters_.substr(begin, 2);
  return (first == "GT" || first == "GC") && letters_.substr(end - 2, 2) == "AG";
}

// Of a gene whose last coding base so far is `at`; `coding` are its bases, from the beginning of a codon on.
void GeneSets::extend(const ScoredGene& gene, const std::string& coding, size_t at) {
  if (!complete()) return;
  if (coding.size() % 3 == 0 && has(stops_, coding.substr(coding.size() - 3))) return record(gene);
  if (ends_at_edge(at)) {
    ScoredGene open = gene;
    open.gene.has_stop = false;
    open.score -= score_units(10);
    record(open);
  }
  const auto go_on = [&](size_t next, int64_t cost) {
    ScoredGene longer = gene;
    const auto begin = static_cast<int64_t>(next);
    if (next == at + 1)
      longer.gene.segments.back().end = begin + 1;
    else
      longer.gene.segments.push_back({begin, begin + 1});
    longer.score += odds_[next] - cost;
    extend(longer, coding + letters_[next], next);
  };
  if (at + 1 < letters_.size() && !in_gap(at + 1)) go_on(at + 1, 0);
  if (!rules_.introns) return;
  for (size_t next = at + 3; next < letters_.size(); ++next)
    if (!in_gap(next) && is_intron(at + 1, next))
      go_on(next, score_units(rules_.intron_cost) + (letters_[at + 2] == 'C' ? score_units(5) : 0));
}

void GeneSets::record(const ScoredGene& gene) {
  genes_.push_back(gene);
}

int64_t GeneSets::odds(int64_t begin, int64_t end) const {
  int64_t sum = 0;
  for (int64_t at = begin; at < end; ++at) sum += odds_[static_cast<size_t>(at)];
  return sum;
}

bool GeneSets::begins_on_stop(const DecodedGene& gene, const DecodedGene& before) const {
  return !rules_.introns && gene.has_start && before.has_stop &&
         (gene.begin() == before.end() - 4 || gene.begin() == before.end() - 1);
}

int64_t GeneSets::best() const {
  // Totals of sets that end with a gene, by where it ends; and of all that end there or before.
  std::map<int64_t, std::vector<std::pair<const DecodedGene*, int64_t>>> ending;
  std::vector<int64_t> up_to(letters_.size() + 1, 0);
  int64_t done = 0;
  for (const ScoredGene& one : genes_) {
    for (; done < one.gene.end(); ++done)
      up_to[static_cast<size_t>(done) + 1] = up_to[static_cast<size_t>(done)];
    int64_t total = one.score + up_to[static_cast<size_t>(one.gene.begin())];
    for (const int64_t end : {one.gene.begin() + 4, one.gene.begin() + 1})
      for (const auto& [before, score] : ending[end])
        if (begins_on_stop(one.gene, *before))
          total = std::max(total, score + one.score - odds(one.gene.begin(), end));
    ending[one.gene.end()].emplace_back(&one.gene, total);
    up_to[static_cast<size_t>(done)] = std::max(up_to[static_cast<size_t>(done)], total);
  }
  return *std::max_element(up_to.begin(), up_to.end());
}

bool GeneSets::allowed(const std::vector<DecodedGene>& set) const {
  for (size_t i = 1; i < set.size(); ++i)
    if (set[i].begin() < set[i - 1].end() && !begins_on_stop(set[i], set[i - 1])) return false;
  return true;
}

int64_t GeneSets::total(const std::vector<DecodedGene>& set) const {
  int64_t total = 0;
  for (size_t i = 0; i < set.size(); ++i) {
    const auto found =
        std::find_if(genes_.begin(), genes_.end(), [&](const ScoredGene& one) { return one.gene == set[i]; });
    if (found == genes_.end()) throw std::logic_error("a gene that the rules do not allow");
    total += found->score;
    if (i > 0 && set[i].begin() < set[i - 1].end()) total -= odds(set[i].begin(), set[i - 1].end());
  }
  return total;
}

}  // namespace carbon::reference
