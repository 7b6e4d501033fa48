// A pass over the strand from its first base to its last finds the best score of everything that may be true
// after a base, and keeps its state from time to time. Then the blocks between these states are computed
// again, from the last one back, now with the decision that each of the scores was the best one by, and the
// best set of genes is read from the decisions.
//
// What may be true after a base (a state): no gene is open; a gene ends here with a stop; a gene is open, and
// its last codon is complete, or has one base or two, of a class of StopClasses. An intron begins after such
// a base and ends before another one, so introns are no states of their own: of those that are long enough to
// end here, the best one is kept for each state that they may interrupt.

#include "src/annotate/decoder.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <utility>

#include "src/annotate/gene.hpp"

namespace carbon {
namespace {

constexpr size_t kCodingStates = 1 + 2 * StopClasses::kMost;
using Scores = std::array<int64_t, kCodingStates>;
constexpr int64_t kNever = std::numeric_limits<int64_t>::min() / 2;
bool possible(int64_t score) {
  return score > kNever / 2;
}

// The decisions of a base, in one word.
struct Field {
  uint32_t shift, bits;
  uint32_t get(uint32_t word) const { return word >> shift & ((1u << bits) - 1); }
  uint32_t put(uint32_t value) const { return value << shift; }
};
constexpr Field kOutside = {0, 4};    // kStays, kEnds, or kEndsOpen + the state that ends without a stop
constexpr Field kEnded = {4, 2};      // the class of two bases that the stop has completed
constexpr Field kIntrons = {6, 7};    // a bit for each state: an intron before this base comes from it
constexpr Field kComplete = {13, 3};  // a class of two bases, or kStart and its like
constexpr Field kOne = {16, 2};       // kFromComplete and its like
constexpr uint32_t kTwoShift = 18;    // for each class of two bases: a class of one base, or kTwoEdge
constexpr Field two_field(size_t two) {
  return {kTwoShift + 2 * static_cast<uint32_t>(two), 2};
}
enum : uint32_t { kStays, kEnds, kEndsOpen };
enum : uint32_t { kStart = StopClasses::kMost, kStartOnStop, kCompleteEdge };
enum : uint32_t { kFromComplete, kOneEdge, kFirstOnStop };
constexpr uint32_t kTwoEdge = StopClasses::kMost;

struct Donor {
  int64_t score = kNever, at = 0;
};

// An intron that has begun, too short to end yet.
struct YoungIntron {
  int64_t at = 0;
  Scores scores;
};

/// All that the bases before `at` have to say to those that follow.
struct State {
  int64_t at = 0;
  size_t gap = 0;  // the first one that does not end before
  Scores coding;
  std::array<int64_t, 3> outside{};  // after the last base, and after the two before it
  std::array<int64_t, 2> ended;      // the same, of a gene that ends with a stop there
  std::array<int64_t, 2> odds{};     // of the last two bases
  std::deque<YoungIntron> young;
  std::array<Donor, kCodingStates> best;               // of those that may end; without a limit of length
  std::array<std::deque<Donor>, kCodingStates> queue;  // with a limit: in falling order of scores

  State() {
    coding.fill(kNever);
    ended.fill(kNever);
  }
  /// Of the queues, the only part without a bound.
  int64_t queue_bytes() const {
    size_t donors = 0;
    for (const auto& one : queue) donors += one.size();
    return static_cast<int64_t>(donors * sizeof(Donor));
  }
};

/// The decisions of a block of bases, and where introns began that end in it.
struct Block {
  int64_t begin = 0;
  std::vector<uint32_t> decisions;
  struct Acceptor {
    int64_t at = 0;  // the first base after the intron
    std::array<int64_t, kCodingStates> donors;
  };
  std::vector<Acceptor> acceptors;

  uint32_t at(int64_t base) const { return decisions[static_cast<size_t>(base - begin)]; }
  int64_t donor(int64_t base, size_t state) const {
    const auto found = std::lower_bound(acceptors.begin(), acceptors.end(), base,
                                        [](const Acceptor& one, int64_t place) { return one.at < place; });
    return found->donors[state];
  }
};

/// A strand in reading direction.
class Reading {
 public:
  explicit Reading(const CodingStrand& strand) : strand_(strand), gaps_(strand.gaps) {
    if (!strand.reverse) return;
    std::reverse(gaps_.begin(), gaps_.end());
    for (Interval& gap : gaps_) gap = {size() - gap.end, size() - gap.begin};
  }
  int64_t size() const { return static_cast<int64_t>(strand_.contig.size()); }
  const std::vector<Interval>& gaps() const { return gaps_; }
  uint8_t letter(int64_t at) const {
    if (!strand_.reverse) return letter_number(strand_.contig[static_cast<size_t>(at)]);
    return complement_number(letter_number(strand_.contig[static_cast<size_t>(size() - 1 - at)]));
  }
  bool is(int64_t at, uint8_t letter) const { return at >= 0 && at < size() && this->letter(at) == letter; }
  void read_odds(int64_t begin, std::vector<float>& values, std::vector<int64_t>& odds) const {
    values.resize(odds.size());
    const auto count = static_cast<int64_t>(odds.size());
    strand_.read(strand_.reverse ? size() - begin - count : begin, values);
    if (strand_.reverse) std::reverse(values.begin(), values.end());
    std::transform(values.begin(), values.end(), odds.begin(), log_odds_units);
  }

 private:
  const CodingStrand& strand_;
  std::vector<Interval> gaps_;
};

constexpr uint8_t kA = 0, kC = 1, kG = 2, kT = 3;

class Decoder {
 public:
  Decoder(const CodingStrand& strand, const GeneRules& rules)
      : reading_(strand),
        rules_(rules),
        classes_(GeneticCode(rules.code)),
        gene_cost_(score_units(rules.gene_cost)),
        intron_cost_(score_units(rules.intron_cost)),
        gc_cost_(score_units(kGcIntronCost)),
        missing_cost_(score_units(kMissingEndCost)) {
    for (const Codon& codon : parse_starts(rules.starts, GeneticCode(rules.code)))
      starts_[place_of(codon)] = true;
    limited_ = rules.max_intron > 0 && rules.max_intron < reading_.size();
  }

  int64_t size() const { return reading_.size(); }
  size_t two_state(size_t two) const { return 1 + classes_.ones + two; }

  /// Goes on to base `end`; keeps decisions in `block`, which may be null.
  void advance(State& state, int64_t end, Block* block) {
    while (state.at < end) {
      skip_gap(state, end, block);
      if (state.at < end) advance_letters(state, end, block);
    }
  }

 private:
  static size_t place_of(const Codon& codon) { return 16u * codon[0] + 4u * codon[1] + codon[2]; }

  void skip_gap(State& state, int64_t end, Block* block) const {
    const std::vector<Interval>& gaps = reading_.gaps();
    if (state.gap == gaps.size() || state.at < gaps[state.gap].begin) return;
    const int64_t stop = std::min(end, gaps[state.gap].end);
    if (block) block->decisions.resize(block->decisions.size() + static_cast<size_t>(stop - state.at));
    state.at = stop;
    state.outside.fill(state.outside[0]);
    state.coding.fill(kNever);
    state.ended.fill(kNever);
    if (stop == gaps[state.gap].end) ++state.gap;
  }

  // To the next gap, or to `end`.
  void advance_letters(State& state, int64_t end, Block* block) {
    const std::vector<Interval>& gaps = reading_.gaps();
    const int64_t piece_begin = state.gap == 0 ? 0 : gaps[state.gap - 1].end;
    const int64_t piece_end = state.gap == gaps.size() ? size() : gaps[state.gap].begin;
    for (const int64_t stop = std::min(end, piece_end); state.at < stop;) {
      odds_.resize(static_cast<size_t>(std::min(kReadBases, stop - state.at)));
      reading_.read_odds(state.at, values_, odds_);
      for (const int64_t odds : odds_) {
        const Edges edges = {state.at == piece_begin, state.at + 1 == piece_end};
        const uint32_t decisions = step(state, odds, edges, block);
        if (block) block->decisions.push_back(decisions);
        ++state.at;
      }
    }
  }

  struct Edges {
    bool begin, end;
  };

  // The next base, which is in no gap.
  uint32_t step(State& state, int64_t odds, const Edges& edges, Block* block) const {
    const int64_t at = state.at;
    const uint8_t letter = reading_.letter(at);
    Scores before = state.coding, after;
    after.fill(kNever);
    uint32_t decisions = 0;
    if (rules_.introns) end_introns(state, before, decisions, block);

    // The base is the first, the second or the third of a codon.
    const size_t one = 1 + classes_.one_of[letter];
    after[one] = before[0] + odds;
    std::array<uint32_t, StopClasses::kMost> two_from{};
    for (size_t from = 0; from < classes_.ones; ++from) {
      const size_t two = classes_.two_of[from][letter];
      if (!improve(after[two_state(two)], before[1 + from] + odds)) continue;
      two_from[two] = static_cast<uint32_t>(from);
    }
    uint32_t complete = 0, one_from = kFromComplete;
    int64_t ended = kNever;
    for (size_t two = 0; two < classes_.twos(); ++two) {
      const int64_t score = before[two_state(two)] + odds;
      if (classes_.completes_stop(two, letter)) {
        if (improve(ended, score)) decisions |= kEnded.put(static_cast<uint32_t>(two));
      } else if (improve(after[0], score)) {
        complete = static_cast<uint32_t>(two);
      }
    }

    // Or a gene begins here.
    if (is_start(at - 2)) {
      const int64_t codon = state.odds[1] + state.odds[0] + odds - gene_cost_;
      if (improve(after[0], state.outside[2] + codon)) complete = kStart;
      if (!rules_.introns && possible(state.ended[1]) &&
          improve(after[0], state.ended[1] + state.odds[0] + odds - gene_cost_))
        complete = kStartOnStop;
    }
    if (edges.begin) {
      const int64_t score = state.outside[0] + odds - gene_cost_ - missing_cost_;
      if (improve(after[0], score)) complete = kCompleteEdge;
      if (improve(after[one], score)) one_from = kOneEdge;
      if (improve(after[two_state(0)], score)) two_from[0] = kTwoEdge;
    }
    if (!rules_.introns && possible(ended) && is_start(at - 3) && improve(after[one], ended - gene_cost_))
      one_from = kFirstOnStop;

    // Or it ends here.
    int64_t outside = state.outside[0];
    uint32_t outside_from = kStays;
    if (improve(outside, ended)) outside_from = kEnds;
    if (edges.end)
      for (size_t from = 0; from < kCodingStates; ++from)
        if (improve(outside, after[from] - missing_cost_))
          outside_from = kEndsOpen + static_cast<uint32_t>(from);

    state.coding = after;
    state.outside = {outside, state.outside[0], state.outside[1]};
    state.ended = {ended, state.ended[0]};
    state.odds = {odds, state.odds[0]};
    if (rules_.introns) begin_intron(state);
    for (size_t two = 0; two < classes_.twos(); ++two) decisions |= two_field(two).put(two_from[two]);
    return decisions | kOutside.put(outside_from) | kComplete.put(complete) | kOne.put(one_from);
  }

  static bool improve(int64_t& best, int64_t score) {
    if (score <= best) return false;
    best = score;
    return true;
  }

  bool is_start(int64_t at) const {
    if (at < 0) return false;
    const Codon codon = {reading_.letter(at), reading_.letter(at + 1), reading_.letter(at + 2)};
    if (std::max({codon[0], codon[1], codon[2]}) == kOtherLetter) return false;
    return starts_[place_of(codon)];
  }

  // Introns are remembered from the base after which they begin on.
  void begin_intron(State& state) const {
    const int64_t at = state.at + 1;
    if (!reading_.is(at, kG)) return;
    const bool gc = reading_.is(at + 1, kC);
    if (!gc && !reading_.is(at + 1, kT)) return;
    YoungIntron intron{at, state.coding};
    for (int64_t& score : intron.scores) score -= intron_cost_ + (gc ? gc_cost_ : 0);
    if (std::any_of(intron.scores.begin(), intron.scores.end(), possible)) state.young.push_back(intron);
  }

  // Replaces the score before this base by that of an intron which ends there, where that is higher.
  void end_introns(State& state, Scores& before, uint32_t& decisions, Block* block) const {
    for (; !state.young.empty() && state.young.front().at <= state.at - rules_.min_intron;
         state.young.pop_front())
      grow_up(state, state.young.front());
    if (!reading_.is(state.at - 1, kG) || !reading_.is(state.at - 2, kA)) return;
    Block::Acceptor acceptor{state.at, {}};
    uint32_t used = 0;
    for (size_t from = 0; from < kCodingStates; ++from) {
      const Donor donor = best_donor(state, from);
      if (!improve(before[from], donor.score)) continue;
      used |= 1u << from;
      acceptor.donors[from] = donor.at;
    }
    if (used && block) block->acceptors.push_back(acceptor);
    decisions |= kIntrons.put(used);
  }

  void grow_up(State& state, const YoungIntron& intron) const {
    for (size_t from = 0; from < kCodingStates; ++from) {
      const Donor donor{intron.scores[from], intron.at};
      if (!possible(donor.score)) continue;
      if (!limited_) {
        if (donor.score > state.best[from].score) state.best[from] = donor;
        continue;
      }
      std::deque<Donor>& queue = state.queue[from];
      while (!queue.empty() && queue.back().score <= donor.score) queue.pop_back();
      queue.push_back(donor);
    }
  }

  Donor best_donor(State& state, size_t from) const {
    if (!limited_) return state.best[from];
    std::deque<Donor>& queue = state.queue[from];
    while (!queue.empty() && queue.front().at < state.at - rules_.max_intron) queue.pop_front();
    return queue.empty() ? Donor{} : queue.front();
  }

  static constexpr int64_t kReadBases = int64_t{1} << 14;

  Reading reading_;
  const GeneRules& rules_;
  StopClasses classes_;
  std::array<bool, 64> starts_{};
  int64_t gene_cost_, intron_cost_, gc_cost_, missing_cost_;
  bool limited_ = false;
  std::vector<float> values_;
  std::vector<int64_t> odds_;
};

/// Reads the best set of genes from decisions, from the last base back.
class Trace {
 public:
  Trace(const Decoder& decoder) : decoder_(decoder), at_(decoder.size() - 1) {}

  /// The base after which the state is known that the trace has come to.
  int64_t at() const { return at_; }
  /// Goes on as long as it is in the block.
  void follow(const Block& block) {
    while (at_ >= block.begin) {
      switch (place_) {
        case Place::outside:
          leave_outside(block);
          break;
        case Place::ended:
          leave_ended(block);
          break;
        case Place::coding:
          leave_coding(block);
          break;
      }
    }
  }
  std::vector<DecodedGene> genes() && {
    std::reverse(genes_.begin(), genes_.end());
    return std::move(genes_);
  }

 private:
  enum class Place { outside, ended, coding };

  void leave_outside(const Block& block) {
    const uint32_t from = kOutside.get(block.at(at_));
    if (from == kStays) {
      --at_;
    } else if (from == kEnds) {
      place_ = Place::ended;
    } else {
      open_gene(false);
      place_ = Place::coding;
      state_ = from - kEndsOpen;
    }
  }

  void leave_ended(const Block& block) {
    open_gene(true);
    go_back(block, decoder_.two_state(kEnded.get(block.at(at_))));
  }

  void leave_coding(const Block& block) {
    const uint32_t decisions = block.at(at_);
    const size_t first_two = decoder_.two_state(0);
    if (state_ == 0) {
      const uint32_t from = kComplete.get(decisions);
      if (from < StopClasses::kMost) return go_back(block, decoder_.two_state(from));
      if (from == kCompleteEdge) return begin_at_edge(1);
      begin_gene(at_ - 2);
      at_ -= from == kStart ? 3 : 2;
      place_ = from == kStart ? Place::outside : Place::ended;
    } else if (state_ < first_two) {
      const uint32_t from = kOne.get(decisions);
      if (from == kFromComplete) return go_back(block, 0);
      if (from == kOneEdge) return begin_at_edge(0);
      begin_gene(at_ - 3);
      place_ = Place::ended;
    } else {
      const uint32_t from = two_field(state_ - first_two).get(decisions);
      if (from == kTwoEdge) return begin_at_edge(2);
      go_back(block, 1 + from);
    }
  }

  // To the base before, or over an intron.
  void go_back(const Block& block, size_t state) {
    place_ = Place::coding;
    state_ = state;
    if ((kIntrons.get(block.at(at_)) >> state & 1) == 0) {
      --at_;
      return;
    }
    end_segment(at_);
    segment_end_ = block.donor(at_, state);
    at_ = segment_end_ - 1;
  }

  void open_gene(bool has_stop) {
    gene_ = {};
    gene_.has_stop = has_stop;
    segment_end_ = at_ + 1;
  }
  void end_segment(int64_t begin) { gene_.segments.push_back({begin, segment_end_}); }
  void begin_gene(int64_t begin) {
    end_segment(begin);
    std::reverse(gene_.segments.begin(), gene_.segments.end());
    genes_.push_back(std::move(gene_));
  }
  void begin_at_edge(int phase) {
    gene_.has_start = false;
    gene_.phase = phase;
    begin_gene(at_);
    --at_;
    place_ = Place::outside;
  }

  const Decoder& decoder_;
  int64_t at_;
  Place place_ = Place::outside;
  size_t state_ = 0;
  DecodedGene gene_;
  int64_t segment_end_ = 0;
  std::vector<DecodedGene> genes_;
};

}  // namespace

int64_t score_units(double nats) {
  return std::llrint(nats * 65536);
}

int64_t log_odds_units(float probability) {
  const double p = probability;
  if (!(p > 0)) return score_units(-kMostLogOdds);
  if (!(p < 1)) return score_units(kMostLogOdds);
  return score_units(std::clamp(std::log(p / (1 - p)), -kMostLogOdds, kMostLogOdds));
}

std::vector<Interval> gaps_of(std::string_view contig) {
  std::vector<Interval> gaps;
  const auto size = static_cast<int64_t>(contig.size());
  for (int64_t begin = 0, at = 0; at <= size; ++at) {
    if (at < size && letter_number(contig[static_cast<size_t>(at)]) == kOtherLetter) continue;
    if (at - begin >= kLeastGap) gaps.push_back({begin, at});
    begin = at + 1;
  }
  return gaps;
}

DecodedStrand decode_strand(const CodingStrand& strand, const GeneRules& rules, int64_t spacing) {
  Decoder decoder(strand, rules);
  std::vector<State> kept;
  State state;
  while (state.at < decoder.size()) {
    kept.push_back(state);
    const int64_t length = spacing * (1 + state.queue_bytes() / kCheckpointBases);
    decoder.advance(state, std::min(decoder.size(), state.at + length), nullptr);
  }
  DecodedStrand decoded;
  decoded.score = state.outside[0];
  Trace trace(decoder);
  for (int64_t end = decoder.size(); !kept.empty(); kept.pop_back()) {
    State& from = kept.back();
    const int64_t begin = from.at;
    if (trace.at() >= begin) {
      Block block;
      block.begin = begin;
      block.decisions.reserve(static_cast<size_t>(end - begin));
      decoder.advance(from, end, &block);
      trace.follow(block);
    }
    end = begin;
  }
  decoded.genes = std::move(trace).genes();
  return decoded;
}

}  // namespace carbon
