#include "src/sampling/motifs.hpp"

#include <algorithm>
#include <map>

#include "src/base/error.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

constexpr size_t kMaxStates = 100'000;

// Which motifs have begun: for each the motif and how many of its letters are there, as one number. In order.
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
  for (const Motif& motif : motifs) longest_ = std::max(longest_, motif.bases.size());
  std::map<Begun, State> numbers = {{{}, kStart}};
  std::vector<const Begun*> open = {&numbers.begin()->first};  // in the order of their numbers
  for (size_t state = 0; state < open.size(); ++state) {
    uint8_t ends = 0;
    for (const uint64_t entry : *open[state]) {
      const Motif& motif = motifs[motif_of(entry)];
      if (letters_of(entry) == motif.bases.size()) ends |= motif.stop_codon ? kStopCodon : kMotif;
    }
    ends_.push_back(ends);
    next_.emplace_back();
    for (size_t base = 0; base < ops::kLetters; ++base) {
      const auto [found, is_new] =
          numbers.emplace(extended(*open[state], motifs, base), static_cast<State>(numbers.size()));
      if (is_new) open.push_back(&found->first);
      next_[state][base] = found->second;
    }
    if (numbers.size() > kMaxStates)
      throw Error(
          "generate",
          "the motifs are too many, or have too many ambiguous letters, to be followed together (more than " +
              std::to_string(kMaxStates) + " states); give fewer or more exact ones");
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
