#include "src/sampling/bounds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "kernels/draw_math.hpp"
#include "src/base/error.hpp"
#include "src/base/words.hpp"

namespace carbon {
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
