// Bounds of generated sequence against brute force over all continuations, and motifs against plain search.
#include "src/sampling/bounds.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>

#include "src/base/error.hpp"
#include "src/generate/bounds.hpp"
#include "tokenizer/kmer.hpp"

using namespace carbon;

namespace {

constexpr std::string_view kLetters = "ATCG";  // in the order of their digits

Motif motif(const std::string& text) {
  return {parse_constraint(text, "a motif", "test")};
}

bool occurs_at(const std::string& text, size_t at, const Motif& motif) {
  if (at + motif.bases.size() > text.size()) return false;
  for (size_t j = 0; j < motif.bases.size(); ++j) {
    const int base = base_digit(text[at + j]);
    if (base < 0 || (motif.bases[j] >> base & 1) == 0) return false;
  }
  return true;
}

/// What is asked of the new bases, in plain words.
struct Case {
  std::string prompt;
  size_t length = 0;
  std::vector<std::string> avoided;  // on both strands
  uint8_t frames = 0;
  std::optional<GcBound> gc;
  std::string constraint;
};

/// What is avoided, as written and on the other strand.
std::vector<Motif> avoided_motifs(const Case& c) {
  std::vector<Motif> motifs;
  for (const std::string& avoided : c.avoided) {
    motifs.push_back(motif(avoided));
    motifs.push_back(reverse_complement(motif(avoided)));
  }
  return motifs;
}

/// True if prompt + bases keeps everything, by searching the text for `motifs`, those of avoided_motifs(),
/// and for the rest.
bool keeps(const Case& c, const std::vector<Motif>& motifs, const std::string& bases) {
  const std::string text = c.prompt + bases;
  for (const Motif& one : motifs)
    for (size_t at = 0; at < text.size(); ++at)
      if (at + one.bases.size() > c.prompt.size() && occurs_at(text, at, one)) return false;
  for (size_t frame = 0; frame < 3; ++frame)
    for (size_t at = c.prompt.size() + frame - 3; (c.frames >> frame & 1) != 0 && at + 3 <= text.size();
         at += 3)
      if (at + 3 > c.prompt.size() && at < text.size())
        for (const char* stop : {"TAA", "TAG", "TGA"})
          if (text.compare(at, 3, stop) == 0) return false;
  for (size_t i = 0; i < std::min(c.constraint.size(), bases.size()); ++i)
    if ((iupac_bases(c.constraint[i]) & iupac_bases(bases[i])) == 0) return false;
  if (!c.gc) return true;
  const size_t window = c.gc->window == 0 ? bases.size() : std::min(c.gc->window, bases.size());
  for (size_t at = 0; at + window <= bases.size(); at += window) {
    const size_t end = at + 2 * window > bases.size() ? bases.size() : at + window;
    const auto count =
        std::count_if(bases.begin() + static_cast<ptrdiff_t>(at), bases.begin() + static_cast<ptrdiff_t>(end),
                      [](char b) { return b == 'C' || b == 'G'; });
    const double percent = 100.0 * static_cast<double>(count) / static_cast<double>(end - at);
    if (percent < c.gc->least - 1e-9 || percent > c.gc->most + 1e-9) return false;
  }
  return true;
}

/// All texts of `length` bases that keep everything, sorted.
std::vector<std::string> brute_force(const Case& c) {
  const std::vector<Motif> motifs = avoided_motifs(c);
  std::vector<std::string> out;
  for (size_t v = 0; v < size_t{1} << 2 * c.length; ++v) {
    std::string bases;
    for (size_t j = c.length; j-- > 0;) bases += kLetters[v >> 2 * j & 3];
    if (keeps(c, motifs, bases)) out.push_back(bases);
  }
  std::sort(out.begin(), out.end());
  return out;
}

BoundedBases bounded(const Case& c, NewBases& bases) {
  std::vector<Motif> motifs = stop_codons();
  for (const Motif& one : avoided_motifs(c)) motifs.push_back(one);
  bases.given = c.prompt.size() % kKmerLength;
  bases.length = c.length;
  bases.sets.assign(bases.given, kAnyBase);
  for (const char code : c.constraint) bases.sets.push_back(iupac_bases(code));
  return {std::make_shared<const MotifAutomaton>(motifs), c.gc, c.frames, bases};
}

/// All texts that draws of allowed 6-mers can give, sorted; each once. Requires that no step is a dead end.
std::vector<std::string> by_draws(const Case& c) {
  NewBases bases;
  const BoundedBases bounds = bounded(c, bases);
  std::vector<std::string> out;
  const std::function<void(const BoundState&, size_t, const std::string&)> go =
      [&](const BoundState& state, size_t kmer, const std::string& text) {
        if (kmer == bases.kmers()) return out.push_back(text);
        const KmerSet allowed = bounds.allowed(state, kmer);
        REQUIRE(allowed.any());
        std::string last;
        for (size_t v = 0; v < kKmerCount; ++v) {
          if (!allowed.test(v) || !ops::allows(bases.allowed(kmer), v)) continue;
          const size_t first = bases.first(kmer);
          const std::string written = kmer_text(v, kKmerLength).substr(first, bases.last(kmer) - first);
          if (first == 0 && written == last) continue;  // differs only in bases that are not written
          last = written;
          go(bounds.next(state, kmer, v), kmer + 1, text + written);
        }
      };
  const BoundState start = bounds.start(c.prompt);
  if (bounds.possible(start)) go(start, 0, "");
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void check(const Case& c) {
  const std::vector<std::string> expected = brute_force(c), got = by_draws(c);
  CAPTURE(c.prompt);
  CAPTURE(c.length);
  CAPTURE(expected.size());
  CHECK(got == expected);
}

}  // namespace

TEST_CASE("draws under each bound give all continuations that keep it, and no other") {
  check({"ACGTAC", 8, {"GGTC"}, 0, {}, ""});
  check({"ACGTGG", 8, {"GGTC", "ANT"}, 0, {}, ""});  // the first letters are in the prompt
  check({"ACGTGGT", 9, {"GGTC"}, 0, {}, ""});        // within its first new 6-mer
  check({"ACGTAA", 8, {"AAA", "CCC"}, 0, {}, ""});
  check({"ACGTTA", 8, {}, 1, {}, ""});
  check({"ACGTTA", 8, {}, 2, {}, ""});  // TA + A would be a stop codon
  check({"ACGTTA", 8, {}, 7, {}, ""});
  check({"ACGTAC", 9, {}, 0, GcBound{50, 60, 0}, ""});
  check({"ACGTAC", 9, {}, 0, GcBound{30, 70, 4}, ""});  // windows of 4 and 5
  check({"ACG", 9, {}, 0, GcBound{40, 40, 5}, ""});
}

TEST_CASE("bounds go together with one another and with a constraint") {
  check({"ACGTT", 9, {"GGW", "AAA"}, 1, GcBound{34, 67, 3}, ""});
  check({"ACGTTAC", 8, {"TTT", "CG"}, 4, GcBound{25, 50, 4}, "NRNNYS"});
  check({"NNNNTA", 8, {"TAG"}, 2, GcBound{0, 50, 0}, "SN"});
  // The constraint makes AAAA at the end, so that the base before it must not be an A.
  check({"ACGTAC", 9, {"AAAAA"}, 0, {}, "NNNNNAAAA"});
}

TEST_CASE("what cannot be kept is known before the first draw") {
  const auto possible = [](const Case& c) {
    NewBases bases;
    const BoundedBases bounds = bounded(c, bases);
    return bounds.possible(bounds.start(c.prompt));
  };
  CHECK_FALSE(possible({"ACGTAC", 600, {"N"}, 0, {}, ""}));
  CHECK_FALSE(possible({"ACGTAC", 600, {"S"}, 0, GcBound{1, 100, 0}, ""}));
  CHECK(possible({"ACGTAC", 600, {"S"}, 0, GcBound{0, 100, 0}, ""}));
  CHECK_FALSE(possible({"ACGTAC", 4, {}, 0, GcBound{30, 40, 0}, ""}));  // 1.2 to 1.6 bases
  CHECK_FALSE(possible({"ACGTAC", 600, {"GGTC"}, 0, {}, std::string(590, 'N') + "GGTC"}));
  CHECK(possible({"ACGTAC", 600, {"GGTC"}, 0, GcBound{45, 45, 20}, std::string(590, 'N') + "GGTA"}));
}

TEST_CASE("motifs are found where plain search finds them") {
  std::mt19937 random(5);
  const std::vector<std::string> texts = {"GGTCTC", "GANTC",  "AAAA", "CCWGG",   "GATNNNNATC",
                                          "ACACAC", "TCTCGA", "CTCG", "GAGACAT", "AGAC"};
  std::vector<Motif> motifs;
  for (const std::string& text : texts) motifs.push_back(motif(text));
  const MotifAutomaton automaton(motifs);
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "ACGTACGTACGTACGTN"[random() % 17];
  MotifAutomaton::State state = MotifAutomaton::kStart;
  for (size_t i = 0; i < text.size(); ++i) {
    const int base = base_digit(text[i]);
    state = base < 0 ? MotifAutomaton::kStart : automaton.next(state, static_cast<size_t>(base));
    const bool expected = std::any_of(motifs.begin(), motifs.end(), [&](const Motif& one) {
      return i + 1 >= one.bases.size() && occurs_at(text, i + 1 - one.bases.size(), one);
    });
    REQUIRE(automaton.ends_motif(state) == expected);
    REQUIRE(automaton.after(text.substr(0, i + 1)) == state);
  }
}

TEST_CASE("the motif of the other strand") {
  const auto letters = [](const Motif& m) { return m.bases; };
  CHECK(letters(reverse_complement(motif("GGTCTCN"))) == letters(motif("NGAGACC")));
  CHECK(letters(reverse_complement(motif("RYKMBV"))) == letters(motif("BVKMRY")));
}

TEST_CASE("too much to follow is refused") {
  std::vector<Motif> motifs;
  for (const char* end : {"ACG", "TTG", "CAT"})
    for (const char* begin : {"A", "C", "GG"}) motifs.push_back(motif(begin + std::string(30, 'N') + end));
  CHECK_THROWS_AS(MotifAutomaton{motifs}, const Error&);
  // Each letter goes on with all that have begun: a list of them in each state would take gigabytes.
  const std::vector<Motif> runs = {motif(std::string(20'000, 'A')), motif(std::string(20'000, 'T'))};
  CHECK(MotifAutomaton{runs}.states() == 40'001);
  CHECK_THROWS_AS(MotifAutomaton{{{motif(std::string(20'000, 'N'))}}}, const Error&);
  CHECK_THROWS_AS(MotifAutomaton{{{motif(std::string(200'000, 'A'))}}}, const Error&);
  NewBases bases;
  CHECK_THROWS_AS(bounded({"ACGTAC", 1'000'000, {"GGTC"}, 0, GcBound{40, 60, 0}, ""}, bases), const Error&);
}
