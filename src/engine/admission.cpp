// The scheduler's memory: who may have keys and values, where they come from, and what to do when there is no
// more of it.
#include <algorithm>

#include "src/base/error.hpp"
#include "src/base/log.hpp"
#include "src/engine/drafter.hpp"
#include "src/engine/scheduler.hpp"

namespace carbon {
namespace {

// Keys and values are kept for this many times LoadedModel::batch_tokens() tokens. One sequence runs however
// long it is.
constexpr size_t kCachedBatches = 8;
// A pass that does not fit the memory is not made shorter than this: too little would be gained.
constexpr size_t kLeastPass = 256;

size_t pages(size_t tokens) {
  return (tokens + ops::kPageTokens - 1) / ops::kPageTokens;
}

}  // namespace

size_t Scheduler::page_limit() const {
  return kCachedBatches * model_.batch_tokens() / ops::kPageTokens;
}

// Tokens of the whole sequence that are cached at the end; the last 6-mer drawn is never an input.
size_t Scheduler::final_length(const SequenceRun& run) const {
  return run.shared + run.tokens.size() +
         (run.generates() ? run.missing() - std::min<size_t>(1, run.missing()) : 0);
}

// Pages that the run takes of its own; one more for the copy of a page that it shares in part.
size_t Scheduler::pages_of(const SequenceRun& run) const {
  return pages(final_length(run)) + 1 - pages(run.sequence ? run.sequence->length() : run.shared);
}

// Pages that admitted runs will take beyond those in use.
size_t Scheduler::promised_pages() const {
  size_t sum = 0;
  for (const std::deque<RunPtr>* runs : {&reading_, &living_})
    for (const RunPtr& run : *runs) sum += pages_of(*run);
  return sum;
}

bool Scheduler::has_room(const SequenceRun& run) const {
  if (reading_.empty() && living_.empty()) return true;
  if (living_.size() + reading_.size() >= model_.batch_tokens()) return false;
  return model_.decoder().kv().pages_in_use() + promised_pages() + pages_of(run) <= page_limit();
}

// True for a sample whose first 6-mer is drawn from logits that its parent has already.
bool Scheduler::draws_from_parent(const SequenceRun& run) const {
  const Request& request = run.request();
  return run.generates() && run.tokens.empty() && request.parent &&
         request.parent->head == HeadKind::kmer_logits &&
         request.parent->want_begin < request.parent->tokens.size() &&
         request.shared == request.parent->tokens.size();
}

// True if what the run begins with is there, or will not be there any more.
bool Scheduler::ready(const SequenceRun& run) const {
  if (run.shared == 0) return true;
  if (draws_from_parent(run)) return run.request().parent->outcome != Outcome::pending;
  const RunPtr parent = table_.run_of(*run.request().parent);
  if (!parent || parent->outcome != Outcome::pending) return true;
  return parent->sequence && parent->sequence->length() >= run.shared;
}

// Gives keys and values to waiting runs, in their order, until the next pass is full or memory is used up.
void Scheduler::admit() {
  size_t rows = 0;
  for (const RunPtr& run : reading_) rows += run->remaining();
  std::vector<RunPtr> first_draws;
  const auto draw = [&] {
    draw_first(first_draws);
    first_draws.clear();
  };
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    const RunPtr run = *at;
    const bool draws = draws_from_parent(*run);
    if (!ready(*run) || (!draws && rows >= pass_limit())) {
      ++at;
      continue;
    }
    if (!has_room(*run) && !(table_.drop_finished() && has_room(*run))) break;
    at = waiting_.erase(at);
    start(run);
    if (draws && run->shared > 0) first_draws.push_back(run);
    rows += run->remaining();
    reading_.push_back(run);
  }
  draw();
}

void Scheduler::start(const RunPtr& run) {
  // A sample of one 6-mer needs nothing but its parent's logits.
  const bool only_logits = draws_from_parent(*run) && run->missing() == 1;
  if (run->shared > 0 && !only_logits) {
    const RunPtr parent = table_.run_of(*run->request().parent);
    if (parent && parent->sequence && parent->sequence->length() >= run->shared) {
      run->sequence = parent->sequence->fork();
      run->sequence->truncate(run->shared);
    } else {
      stand_alone(*run);
    }
  }
  if (!run->sequence) run->sequence = model_.decoder().kv().make_sequence();
  count_fork(*run);
}

// The parent need not keep its keys and values for this child any more.
void Scheduler::count_fork(SequenceRun& run) {
  const RequestPtr& parent = run.request().parent;
  if (!parent || run.fork_counted) return;
  run.fork_counted = true;
  if (parent->forks > 0) --parent->forks;
}

// The tokens that the run shares with its parent become its own, to be computed anew.
void Scheduler::stand_alone(SequenceRun& run) {
  std::vector<uint32_t> prefix = run.request().prefix();
  prefix.resize(run.shared);
  run.tokens.insert(run.tokens.begin(), prefix.begin(), prefix.end());
  for (size_t* place : {&run.request_begin, &run.decode_begin, &run.want_begin}) *place += run.shared;
  run.shared = 0;
}

// Takes keys and values from a run, which will be computed anew up to here. Samples keep what they have
// drawn: each token is computed in the class that it had.
void Scheduler::suspend(const RunPtr& run) {
  run->sequence.reset();
  run->draft.reset();
  if (run->shared > 0) stand_alone(*run);
  run->done = 0;
  run->values->clear();
  run->states.clear();
  run->sums.clear();
}

// After memory ran out in a pass of `rows` rows, or before one: a shorter pass, then a smaller budget.
void Scheduler::recover(size_t rows) {
  for (const std::deque<RunPtr>* runs : {&reading_, &living_})
    for (const RunPtr& run : *runs) {
      const size_t drawn = run->tokens.size() - std::min<size_t>(1, run->tokens.size());
      const bool has_drawn = run->generates() && !run->request().kmers.empty();
      if (has_drawn && run->sequence->length() >= run->shared + drawn) run->done = drawn;
      if (run->sequence->length() > run->shared + run->done) run->sequence->truncate(run->shared + run->done);
      run->proposed.clear();
    }
  const bool freed = table_.drop_finished();
  // What the sequences of either model had may be what the other one lacks.
  model_.decoder().free_unused_memory();
  draws_.free_unused_memory();
  if (drafter_) drafter_->recover(living_);
  if (rows > kLeastPass && pass_limit() > kLeastPass) {
    pass_rows_ = std::max(std::min(rows, pass_limit()) / 2, kLeastPass);
    return;
  }
  if (!model_.halve_batch()) {
    if (freed) return;
    throw;  // the OutOfMemory that is being handled
  }
  size_t suspended = 0;
  const size_t all = living_.size();
  for (std::deque<RunPtr>* runs : {&reading_, &living_})
    while (living_.size() + reading_.size() > 1 && !runs->empty() &&
           model_.decoder().kv().pages_in_use() + promised_pages() > page_limit()) {
      suspended += runs == &living_ ? 1 : 0;
      suspend(runs->back());
      waiting_.push_front(runs->back());
      runs->pop_back();
    }
  model_.decoder().free_unused_memory();
  if (suspended > 0)
    log::info("engine", std::to_string(suspended) + " of " + std::to_string(all) +
                            " samples wait for memory; they are then computed anew up to where they were");
}

void Scheduler::drop_cancelled() {
  const auto drop = [&](const RunPtr& run) {
    bool wanted = false;
    for (const RequestPtr& request : run->requests) {
      if (request->cancelled && request->outcome == Outcome::pending) {
        request->outcome = Outcome::cancelled;
        if (request->finished) request->finished(*request);
      }
      wanted = wanted || request->outcome == Outcome::pending;
    }
    if (wanted) return false;
    run->outcome = Outcome::cancelled;
    finish(run);
    return true;
  };
  for (std::deque<RunPtr>* runs : {&waiting_, &reading_, &living_}) std::erase_if(*runs, drop);
}

// Why a request cannot be run; "" if it can.
std::string Scheduler::problem_of(const Request& request) const {
  const size_t layers = model_.config().layers;
  if (request.parent && request.parent->outcome == Outcome::refused) return request.parent->problem;
  if (request.parent && request.shared > request.parent->shared + request.parent->tokens.size())
    return "more tokens are shared than the parent has";
  if (request.tokens.empty() && (request.shared == 0 || !request.generation)) return "there are no tokens";
  if (request.layer != kFinalNorm && (request.layer < 1 || static_cast<size_t>(request.layer) > layers))
    return "the model has no layer " + std::to_string(request.layer);
  const size_t first = request.parent ? request.shared : 0;
  try {
    model_.decoder().check(first, request.tokens);
  } catch (const Error& error) {
    return error.what();
  }
  if (!request.generation) return "";
  const size_t length = first + request.tokens.size() + request.generation->bases->kmers() - 1;
  if (length <= model_.config().max_positions) return "";
  return "a sequence of " + std::to_string(length) + " tokens does not fit the model's context of " +
         std::to_string(model_.config().max_positions) + " tokens";
}

}  // namespace carbon
