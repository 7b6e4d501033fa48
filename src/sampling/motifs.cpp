#include "src/sampling/motifs.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <utility>

#include "src/base/error.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

constexpr size_t kMaxStates = 100'000;
// Of all states together: a motif that overlaps itself has begun many times in each.
constexpr size_t kMaxBegun = 10'000'000;

[[noreturn]] void fail_too_many(const std::string& what) {
  throw Error(
      "generate",
      "the motifs are too many, or have too many ambiguous letters, to be followed together (more than " +
          what + "); give fewer or more exact ones");
}
[[noreturn]] void fail_too_many_states() {
  fail_too_many(std::to_string(kMaxStates) + " states");
}

bool is_exact(const Motif& motif) {
  return std::all_of(motif.bases.begin(), motif.bases.end(),
                     [](BaseSet set) { return std::has_single_bit(set); });
}

// Motifs without ambiguous letters: the longest that has begun says which others have (the automaton of Aho
// and Corasick). So a state is a number, and not a list of all that have begun.
class ExactMotifs {
 public:
  void add(const Motif& motif, uint8_t ends) {
    uint32_t node = 0;
    for (const BaseSet set : motif.bases) {
      const auto base = static_cast<size_t>(std::countr_zero(set));
      if (nodes_[node].next[base] == 0) {
        nodes_[node].next[base] = static_cast<uint32_t>(nodes_.size());
        nodes_.emplace_back();
        if (nodes_.size() > kMaxStates) fail_too_many_states();
      }
      node = nodes_[node].next[base];
    }
    nodes_[node].ends |= ends;
  }
  /// When all are added: where no motif goes on, the longest one does that ends the same letters.
  void finish() {
    std::vector<uint32_t> shorter(nodes_.size()), open = {0};
    for (size_t i = 0; i < open.size(); ++i) {
      Node& node = nodes_[open[i]];
      const Node& other = nodes_[shorter[open[i]]];
      node.ends |= other.ends;
      for (size_t base = 0; base < ops::kLetters; ++base) {
        const uint32_t otherwise = i == 0 ? 0 : other.next[base];
        if (node.next[base] == 0) {
          node.next[base] = otherwise;
        } else {
          shorter[node.next[base]] = otherwise;
          open.push_back(node.next[base]);
        }
      }
    }
  }
  uint32_t next(uint32_t node, size_t base) const { return nodes_[node].next[base]; }
  uint8_t ends(uint32_t node) const { return nodes_[node].ends; }

 private:
  struct Node {
    std::array<uint32_t, ops::kLetters> next{};
    uint8_t ends = 0;
  };
  std::vector<Node> nodes_ = {{}};
};

// Which of the other motifs have begun: for each the motif and how many of its letters are there, as one
// number. In order.
using Begun = std::vector<uint64_t>;

constexpr uint64_t begun(size_t motif, size_t letters) {
  return static_cast<uint64_t>(motif) << 32 | letters;
}
constexpr size_t motif_of(uint64_t entry) {
  return entry >> 32;
}
constexpr size_t letters_of(uint64_t entry) {
  return entry & UINT32_MAX;
}

bool fits(const Motif& motif, size_t letter, size_t base) {
  return letter < motif.bases.size() && (motif.bases[letter] >> base & 1) != 0;
}

Begun extended(const Begun& from, std::span<const Motif> motifs, size_t base) {
  Begun to;
  for (const uint64_t entry : from)
    if (fits(motifs[motif_of(entry)], letters_of(entry), base)) to.push_back(entry + 1);
  for (size_t m = 0; m < motifs.size(); ++m)
    if (fits(motifs[m], 0, base)) to.push_back(begun(m, 1));
  std::sort(to.begin(), to.end());
  return to;
}

}  // namespace

Motif reverse_complement(const Motif& motif) {
  // The digits of A and T differ in their lowest bit, as do those of C and G.
  Motif out = motif;
  std::reverse(out.bases.begin(), out.bases.end());
  for (BaseSet& set : out.bases) set = static_cast<BaseSet>((set & 5) << 1 | (set & 10) >> 1);
  return out;
}

std::vector<Motif> stop_codons() {
  std::vector<Motif> out;
  for (const char* codon : {"TAA", "TAG", "TGA"})
    out.push_back({{iupac_bases(codon[0]), iupac_bases(codon[1]), iupac_bases(codon[2])}, true});
  return out;
}

MotifAutomaton::MotifAutomaton(std::span<const Motif> motifs) {
  const auto ends_of = [](const Motif& motif) { return motif.stop_codon ? kStopCodon : kMotif; };
  ExactMotifs exact;
  std::vector<Motif> ambiguous;
  for (const Motif& motif : motifs) {
    longest_ = std::max(longest_, motif.bases.size());
    is_exact(motif) ? exact.add(motif, ends_of(motif)) : ambiguous.push_back(motif);
  }
  exact.finish();
  using Followed = std::pair<uint32_t, Begun>;  // the exact motifs, and the others
  std::map<Followed, State> numbers = {{{}, kStart}};
  std::vector<const Followed*> open = {&numbers.begin()->first};  // in the order of their numbers
  size_t begun_in_all = 0;
  for (size_t state = 0; state < open.size(); ++state) {
    const auto& [node, others] = *open[state];
    uint8_t ends = exact.ends(node);
    for (const uint64_t entry : others) {
      const Motif& motif = ambiguous[motif_of(entry)];
      if (letters_of(entry) == motif.bases.size()) ends |= ends_of(motif);
    }
    ends_.push_back(ends);
    next_.emplace_back();
    for (size_t base = 0; base < ops::kLetters; ++base) {
      const auto [found, is_new] =
          numbers.emplace(Followed(exact.next(node, base), extended(others, ambiguous, base)),
                          static_cast<State>(numbers.size()));
      next_[state][base] = found->second;
      if (!is_new) continue;
      open.push_back(&found->first);
      begun_in_all += found->first.second.size();
    }
    if (numbers.size() > kMaxStates) fail_too_many_states();
    if (begun_in_all > kMaxBegun) fail_too_many(std::to_string(kMaxBegun) + " that have begun");
  }
}

MotifAutomaton::State MotifAutomaton::after(std::string_view sequence) const {
  State state = kStart;
  const size_t first = sequence.size() > longest_ ? sequence.size() - longest_ : 0;
  for (const char letter : sequence.substr(first)) {
    const int base = base_digit(letter);
    state = base < 0 ? kStart : next(state, static_cast<size_t>(base));
  }
  return state;
}

}  // namespace carbon
