#include "src/sampling/bounds.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "kernels/draw_math.hpp"
#include "src/base/error.hpp"
#include "src/base/words.hpp"
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
namespace {

constexpr size_t kWordBits = 64;
constexpr size_t kWordsInMiB = (size_t{1} << 20) / sizeof(uint64_t);

uint32_t gc_of(size_t base) {
  return base >= 2 ? 1 : 0;  // digits are those of A, T, C, G
}

// 0.1 is not exact in binary; a share that should be a whole number of bases must not be rounded past it.
uint32_t at_least(double percent, size_t bases) {
  return static_cast<uint32_t>(std::ceil(percent * static_cast<double>(bases) / 100 - 1e-9));
}
uint32_t at_most(double percent, size_t bases) {
  return static_cast<uint32_t>(std::floor(percent * static_cast<double>(bases) / 100 + 1e-9));
}

// A set of counts is one bit per count. Adds the counts c for which c + `more` is in `from`; `more` is 0
// or 1.
void add_shifted(std::span<uint64_t> out, std::span<const uint64_t> from, uint32_t more) {
  for (size_t i = 0; i < out.size(); ++i) {
    const uint64_t carried = i + 1 < from.size() && more > 0 ? from[i + 1] << (kWordBits - 1) : 0;
    out[i] |= from[i] >> more | carried;
  }
}

// Adds the counts c for which c + `more` is from `least` to `most`.
void add_counts(std::span<uint64_t> out, size_t least, size_t most, uint32_t more) {
  for (size_t count = std::max<size_t>(least, more); count <= most; ++count)
    out[(count - more) / kWordBits] |= uint64_t{1} << (count - more) % kWordBits;
}

}  // namespace

BoundedBases::BoundedBases(std::shared_ptr<const MotifAutomaton> motifs, std::optional<GcBound> gc,
                           uint8_t frames, NewBases bases, size_t most_mib)
    : motifs_(std::move(motifs)), gc_(gc), frames_(frames), bases_(std::move(bases)) {
  if (gc_ && (gc_->window == 0 || gc_->window > bases_.length)) gc_->window = bases_.length;
  // The last window is the largest: it has less than two windows' bases.
  if (gc_) words_ = std::min(2 * gc_->window, bases_.length) / kWordBits + 1;
  const size_t rows = (bases_.kmers() + 1) * motifs_->states();
  if (rows > most_mib * kWordsInMiB / words_)
    throw Error("generate",
                "following the bounds over " + count_of(bases_.length, "new base") + " takes more than " +
                    std::to_string(most_mib) +
                    " MiB of memory; generate fewer bases at a time, or with fewer motifs",
                gc_ ? Advice{"or bound the GC content of shorter windows with {--gc-window}"} : Advice{});
  table_.resize(rows * words_);
  fill_table();
}

BoundedBases::Place BoundedBases::place(size_t base) const {
  Place out;
  // A codon that begins at base f ends at f + 2, f + 5 and so on.
  out.ends_codon = (frames_ >> (base + 1) % 3 & 1) != 0;
  if (!gc_) return out;
  const size_t last = std::max<size_t>(bases_.length / gc_->window, 1) - 1;
  const size_t number = std::min(base / gc_->window, last);
  const size_t end = number == last ? bases_.length : (number + 1) * gc_->window;
  const size_t size = end - number * gc_->window;
  out.ends_window = base + 1 == end;
  out.least_gc = at_least(gc_->least, size);
  out.most_gc = at_most(gc_->most, size);
  return out;
}

// How many new bases stand before a new 6-mer.
size_t BoundedBases::base_before(size_t kmer) const {
  return kmer == 0 ? 0 : std::min(kmer * bases_.k - bases_.given, bases_.length);
}

bool BoundedBases::append(BoundState& state, const Place& place, size_t base) const {
  state.motifs = motifs_->next(state.motifs, base);
  if (breaks_motifs(state.motifs, place)) return false;
  if (!gc_) return true;
  state.gc += gc_of(base);
  if (!place.ends_window) return state.gc <= place.most_gc;
  const bool kept = state.gc >= place.least_gc && state.gc <= place.most_gc;
  state.gc = 0;
  return kept;
}

void BoundedBases::fill_table() {
  const size_t row = motifs_->states() * words_;
  std::vector<uint64_t> now(row, 0), before(row);
  for (size_t state = 0; state < motifs_->states(); ++state)
    now[state * words_] = 1;  // all windows have ended
  size_t at = bases_.length;
  for (size_t kmer = bases_.kmers() + 1; kmer-- > 0;) {
    for (; at > base_before(kmer); --at) {
      step_back(at - 1, now, before);
      now.swap(before);
    }
    std::copy(now.begin(), now.end(), table_.begin() + static_cast<ptrdiff_t>(kmer * row));
  }
}

void BoundedBases::step_back(size_t at, const std::vector<uint64_t>& after,
                             std::vector<uint64_t>& before) const {
  const size_t set = bases_.given + at;
  const BaseSet allowed = set < bases_.sets.size() ? bases_.sets[set] : kAnyBase;
  const Place here = place(at);
  std::fill(before.begin(), before.end(), 0);
  for (MotifAutomaton::State state = 0; state < motifs_->states(); ++state)
    for (size_t base = 0; base < ops::kLetters; ++base) {
      const MotifAutomaton::State to = motifs_->next(state, base);
      if ((allowed >> base & 1) == 0 || breaks_motifs(to, here)) continue;
      const std::span<const uint64_t> from(after.data() + to * words_, words_);
      const std::span<uint64_t> out(before.data() + state * words_, words_);
      if (!gc_ || !here.ends_window)
        add_shifted(out, from, gc_ ? gc_of(base) : 0);
      else if ((from[0] & 1) != 0)
        add_counts(out, here.least_gc, here.most_gc, gc_of(base));
    }
}

bool BoundedBases::can_end(size_t kmer, const BoundState& state) const {
  if (state.gc >= words_ * kWordBits) return false;
  const size_t word = (kmer * motifs_->states() + state.motifs) * words_ + state.gc / kWordBits;
  return (table_[word] >> state.gc % kWordBits & 1) != 0;
}

// The 6-mers of one place as they are put together base by base.
struct BoundedBases::Extension {
  size_t kmer = 0, first = 0, last = 0;  // bases [first, last) are written
  std::array<Place, ops::kBases> places{};
  KmerSet found;
};

KmerSet BoundedBases::allowed(const BoundState& state, size_t kmer) const {
  Extension extension{kmer, bases_.first(kmer), bases_.last(kmer), {}, {}};
  for (size_t j = extension.first; j < extension.last; ++j)
    extension.places[j] = place(base_before(kmer) + j - extension.first);
  extend(extension, state, 0, 0);
  return extension.found;
}

// Adds the 6-mers whose first `bases` bases are `prefix`, after which the state is `state`. Bases that are
// not written are free: those of the prompt, and those after the last new base.
void BoundedBases::extend(Extension& extension, const BoundState& state, size_t bases, size_t prefix) const {
  if (bases == extension.last) {
    if (!can_end(extension.kmer + 1, state)) return;
    const size_t free = size_t{1} << 2 * (bases_.k - bases);
    for (size_t i = 0; i < free; ++i) extension.found.set(prefix * free + i);
    return;
  }
  for (size_t base = 0; base < ops::kLetters; ++base) {
    BoundState to = state;
    if (bases >= extension.first && !append(to, extension.places[bases], base)) continue;
    extend(extension, to, bases + 1, prefix * ops::kLetters + base);
  }
}

BoundState BoundedBases::next(BoundState state, size_t kmer, size_t drawn) const {
  const size_t first = bases_.first(kmer);
  for (size_t j = first; j < bases_.last(kmer); ++j)
    append(state, place(base_before(kmer) + j - first), ops::base_of(drawn, j, bases_.k));
  return state;
}

}  // namespace carbon
