#include "src/engine/drafter.hpp"

#include <algorithm>

#include "src/base/numbers.hpp"
#include "src/base/system.hpp"

namespace carbon {
namespace {

// Of DraftPolicy: rounds of each k, one warm-up round, which may prepare buffers and products of a new shape
// and is not counted, and two measured rounds.
constexpr int kWarmUp = 1, kSamples = 3;
// Drafting is not switched off before this many drafted 6-mers are tested: the acceptance is too uncertain.
constexpr double kEnoughTested = 40;
// Times are measured again after this many rounds, because contexts grow and the machine's load changes.
constexpr size_t kSteadyRounds = 256;
// When this many 6-mers are tested, the counts are halved, so that newer ones weigh more.
constexpr double kMemory = 4096;

const std::vector<uint32_t>& context_of(const SequenceRun& run) {
  return *run.request().generation->draft_context;
}

// Accepted proposals stay in the draft's cache. In the place of the last 6-mer drawn it has a rejected
// proposal, or nothing yet.
void drop_rejected(SequenceRun& run) {
  if (!run.draft) return;
  const size_t valid = context_of(run).size() + run.request().kmers.size() - 1;
  if (run.draft->length() > valid) run.draft->truncate(valid);
}

}  // namespace

double DraftPolicy::expected(double acceptance, size_t k) {
  double sum = 0, power = 1;
  for (size_t i = 0; i <= k; ++i, power *= acceptance) sum += power;
  return sum;
}

size_t DraftPolicy::next() const {
  if (off_) return 0;
  if (fixed_) return *fixed_;
  return measuring_ ? kMeasured[turn_ % kMeasured.size()] : chosen_;
}

void DraftPolicy::start_measuring() {
  measuring_ = true;
  turn_ = 0;
  costs_ = {};
}

void DraftPolicy::record(const DraftRound& round) {
  tested_ += static_cast<double>(round.tested);
  accepted_ += static_cast<double>(round.accepted);
  if (tested_ > kMemory) {
    tested_ /= 2;
    accepted_ /= 2;
  }
  if (fixed_ || off_) return;
  // The measured times hold for a similar number of rows only.
  if (round.rows * 4 < rows_ * 3 || round.rows * 3 > rows_ * 4) {
    rows_ = round.rows;
    start_measuring();
    return;
  }
  if (!measuring_) {
    if (++steady_rounds_ >= kSteadyRounds) start_measuring();
    return;
  }
  Cost& cost = costs_[turn_ % kMeasured.size()];
  // Takes the shortest time, because other programs on the machine can only make it longer.
  const double seconds = round.draft_seconds + round.target_seconds;
  if (cost.samples >= kWarmUp)
    cost.seconds = cost.samples == kWarmUp ? seconds : std::min(cost.seconds, seconds);
  ++cost.samples;
  if (++turn_ == kMeasured.size() * kSamples) choose();
}

double DraftPolicy::seconds(size_t k) const {
  size_t i = 1;
  while (kMeasured[i] < k) ++i;
  const double share =
      static_cast<double>(k - kMeasured[i - 1]) / static_cast<double>(kMeasured[i] - kMeasured[i - 1]);
  return costs_[i - 1].seconds + share * (costs_[i].seconds - costs_[i - 1].seconds);
}

void DraftPolicy::choose() {
  chosen_ = 0;
  for (size_t k = 1; k <= kMeasured.back(); ++k)
    if (expected(acceptance(), k) / seconds(k) > expected(acceptance(), chosen_) / seconds(chosen_))
      chosen_ = k;
  if (chosen_ == 0 && tested_ < kEnoughTested) return start_measuring();
  off_ = chosen_ == 0;
  measuring_ = false;
  steady_rounds_ = 0;
}

DraftCounts& DraftCounts::operator+=(const DraftCounts& other) {
  rounds += other.rounds;
  steps += other.steps;
  drafted += other.drafted;
  tested += other.tested;
  accepted += other.accepted;
  draft_seconds += other.draft_seconds;
  target_seconds += other.target_seconds;
  return *this;
}

Drafter::Drafter(LoadedModel& draft, std::optional<size_t> draft_tokens)
    : model_(draft), policy_(draft_tokens), draws_(draft.backend(), draft.head(), draft.pool()) {}

size_t Drafter::pass_limit() const {
  return std::min(model_.backend().pass_rows(), model_.batch_tokens());
}

// Gives every sample its sequence in the draft's cache. Contexts that are not in the cache yet are computed
// first, once for all samples of a prompt. A context that does not fit the draft's is left out, and its
// samples get no proposals.
void Drafter::read_contexts(const std::vector<RunPtr>& runs) {
  std::erase_if(contexts_, [](const auto& entry) { return entry.second.tokens.use_count() == 1; });
  std::vector<Context> contexts;
  std::vector<size_t> remaining;
  for (const RunPtr& run : runs) {
    const auto& tokens = run->request().generation->draft_context;
    if (run->draft || !tokens || tokens->size() > model_.config().max_positions ||
        contexts_.contains(tokens.get()))
      continue;
    if (std::any_of(contexts.begin(), contexts.end(), [&](const Context& c) { return c.tokens == tokens; }))
      continue;
    contexts.push_back({tokens, model_.decoder().kv().make_sequence()});
    remaining.push_back(tokens->size());
  }
  for (;;) {
    std::vector<Chunk> chunks;
    for (size_t i = 0, room = pass_limit(); i < contexts.size() && room > 0; ++i) {
      const size_t count = std::min(remaining[i], room);
      if (count == 0) continue;
      const std::span<const uint32_t> tokens(*contexts[i].tokens);
      chunks.push_back({&contexts[i].sequence, tokens.subspan(contexts[i].sequence.length(), count), 0, 0});
      remaining[i] -= count;
      room -= count;
    }
    if (chunks.empty()) break;
    model_.decoder().forward(chunks);
  }
  for (Context& context : contexts) {
    const auto* const key = context.tokens.get();
    contexts_.emplace(key, std::move(context));
  }
  for (const RunPtr& run : runs) {
    if (run->draft) continue;
    const auto found = contexts_.find(run->request().generation->draft_context.get());
    if (found != contexts_.end()) run->draft = found->second.sequence.fork();
  }
}

// Returns how many 6-mers may be drafted for a sample now.
size_t Drafter::room(const SequenceRun& run) const {
  if (!run.draft || run.missing() < 2) return 0;
  // All 6-mers drawn so far and all proposed ones but the last are inputs of the draft.
  const size_t inputs = context_of(run).size() + run.request().kmers.size();
  const size_t limit = model_.config().max_positions;
  return std::min(run.missing() - 1, inputs > limit ? 0 : limit - inputs + 1);
}

// Appends one proposal to each sample.
void Drafter::step(const std::vector<RunPtr>& runs) {
  const TokenLayout& layout = model_.config().layout;
  std::vector<std::vector<uint32_t>> tokens(runs.size());
  std::vector<Chunk> chunks;
  DrawChains draws;
  for (size_t i = 0; i < runs.size(); ++i) {
    SequenceRun& run = *runs[i];
    const std::vector<uint16_t>& kmers = run.request().kmers;
    // The cache lacks the last 6-mer, and those before it that the target drew without a proposal.
    for (size_t at = run.draft->length() - context_of(run).size(); at < kmers.size() + run.proposed.size();
         ++at)
      tokens[i].push_back(layout.kmer_id(at < kmers.size() ? kmers[at] : run.proposed[at - kmers.size()]));
    chunks.push_back({&*run.draft, tokens[i], tokens[i].size() - 1, tokens[i].size(), ops::RowClass::decode});
    draws.add(run.draw(kmers.size() + run.proposed.size()));
    draws.end_chain();
  }
  // Logits of the draft that are not finite propose 6-mer 0. That is harmless: the target draws for itself.
  draws_.draw(model_.decoder().forward(chunks), model_.decoder(), draws,
              [&](size_t i, const ops::DrawnKmer& drawn) {
                runs[i]->proposed.push_back(static_cast<uint16_t>(drawn.kmer));
                return true;
              });
}

void Drafter::propose(const std::vector<RunPtr>& runs) {
  const Stopwatch watch;
  asked_ = policy_.next();
  draft_seconds_ = 0;
  if (policy_.off()) {
    for (const RunPtr& run : runs) run->draft.reset();  // nothing reads them any more
    return;
  }
  read_contexts(runs);
  std::vector<size_t> wanted;
  for (const RunPtr& run : runs) wanted.push_back(std::min(asked_, room(*run)));
  for (size_t done = 0; done < asked_; ++done) {
    std::vector<RunPtr> drafted;
    for (size_t i = 0; i < runs.size(); ++i)
      if (wanted[i] > done) drafted.push_back(runs[i]);
    if (drafted.empty()) break;
    step(drafted);
    ++counts_.steps;
    counts_.drafted += drafted.size();
  }
  draft_seconds_ = watch.seconds();
}

void Drafter::record_draws(const std::vector<RunPtr>& runs, const std::vector<size_t>& drawn_before,
                           bool timed, double target_seconds) {
  if (policy_.off()) return;
  DraftRound round{asked_, runs.size(), 0, 0, draft_seconds_, target_seconds};
  for (size_t i = 0; i < runs.size(); ++i) {
    SequenceRun& run = *runs[i];
    const size_t drawn = run.request().kmers.size() - drawn_before[i];
    const size_t accepted = std::min(run.proposed.size(), drawn - std::min<size_t>(1, drawn));
    round.accepted += accepted;
    round.tested += std::min(run.proposed.size(), drawn);
    run.proposed.clear();
    drop_rejected(run);
  }
  counts_.tested += round.tested;
  counts_.accepted += round.accepted;
  if (!timed) return;
  policy_.record(round);
  ++counts_.rounds;
  counts_.draft_seconds += draft_seconds_;
  counts_.target_seconds += target_seconds;
  if (!policy_.off()) return;
  contexts_.clear();
  model_.log().message("generate",
                       "drafting is off from here on: " + fixed_text(100 * policy_.acceptance(), 1) +
                           " % of the drafted 6-mers were accepted, so that it would be slower than "
                           "generating without a draft");
}

void Drafter::recover(const std::deque<RunPtr>& generating) {
  for (const RunPtr& run : generating) drop_rejected(*run);
  std::erase_if(contexts_, [](const auto& entry) { return entry.second.tokens.use_count() == 1; });
  draws_.free_unused_memory();
  model_.decoder().free_unused_memory();
}

}  // namespace carbon
