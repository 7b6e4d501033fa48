// The scheduler's memory: which runs get KV cache pages, what they share with their parents, and what happens
// when memory runs out.
#include <algorithm>
#include <utility>

#include "src/base/error.hpp"
#include "src/engine/drafter.hpp"
#include "src/engine/scheduler.hpp"

namespace carbon {
namespace {

// The share of the free memory that keys and values may take. The rest is for what is allocated later (a
// longer rotary table, weights of a head that is used for the first time) and for other programs.
constexpr double kRoomShare = 0.85;

// A pass that does not fit the memory is not made shorter than this many rows, because too little would be
// gained.
constexpr size_t kLeastPass = 256;

// One owner leaves this part of the memory for those who come later.
constexpr size_t kNewcomers = 8;

}  // namespace

size_t Scheduler::page_limit() const {
  return std::max(room_, options_.cached_batches * model_.batch_tokens() / ops::kPageTokens);
}

// Pages for which the device has memory, those included that are allocated, when all other buffers of the
// longest pass are. A draft on the device keeps the same tokens in pages of its own. 0 on a CPU.
size_t Scheduler::free_room() const {
  const std::optional<size_t> free = model_.backend().free_memory();
  if (!free) return 0;
  size_t bytes = *free, lacking = 0, page_bytes = 0;
  const auto add = [&](LoadedModel& model, size_t rows) {
    KvCache& kv = model.decoder().kv();
    bytes += kv.pages() * kv.store().page_bytes();
    page_bytes += kv.store().page_bytes();
    lacking += model.decoder().bytes_lacking(rows);
  };
  add(model_, pass_limit());
  if (drafter_) add(drafter_->model(), drafter_->pass_limit());
  return static_cast<size_t>(kRoomShare * static_cast<double>(bytes - std::min(bytes, lacking))) / page_bytes;
}

// Called when memory ran out although the device had more when room_ was found: another program may have
// taken it since. Returns true if runs have been suspended, whose pages are now free.
bool Scheduler::lower_room() {
  if (room_ == 0) return false;
  // Lower than before in any case, so that it is not tried without end.
  room_ = std::min(free_room(), room_ - (room_ + 7) / 8);
  return suspend_surplus() > 0;
}

// Tokens in the KV cache when the run is complete. The last 6-mer drawn is not among them, because it is
// never an input.
size_t Scheduler::final_length(const SequenceRun& run) const {
  return run.shared + run.tokens.size() +
         (run.generates() ? run.missing() - std::min<size_t>(1, run.missing()) : 0);
}

// Pages that the run will still allocate. One of them is for the copy of a page that it shares in part.
size_t Scheduler::pages_of(const SequenceRun& run) const {
  return pages_for(final_length(run)) + 1 - pages_for(run.sequence ? run.sequence->length() : run.shared);
}

// Pages in use, and those that admitted runs will take.
size_t Scheduler::pages_taken() const {
  size_t sum = model_.decoder().kv().pages_in_use();
  for (const std::deque<RunPtr>* runs : {&reading_, &generating_})
    for (const RunPtr& run : *runs) sum += pages_of(*run);
  return sum;
}

// True if the run may be admitted while `pages` pages are taken; `more`: its owner has others that run.
bool Scheduler::has_room(const SequenceRun& run, size_t pages, bool more) const {
  if (reading_.empty() && generating_.empty()) return true;
  const auto usable = [&](size_t all) { return options_.shared && more ? all - all / kNewcomers : all; };
  if (generating_.size() + reading_.size() >= usable(model_.batch_tokens())) return false;
  const size_t needed = pages + pages_of(run);
  const size_t limit = usable(page_limit());
  if (needed <= limit) return true;
  // What a parent keeps is freed only after its children have run, so they need not wait for it.
  const RunPtr parent = run.shared > 0 ? table_.run_of(*run.request().parent) : nullptr;
  return parent && parent->outcome != Outcome::pending && parent->sequence &&
         needed <= limit + table_.kept_for_children() / ops::kPageTokens;
}

// True for a sample whose first 6-mer is drawn from the logits in its parent's results.
bool Scheduler::draws_from_parent(const SequenceRun& run) const {
  const Request& request = run.request();
  return run.generates() && run.tokens.empty() && request.parent &&
         request.parent->head == HeadKind::kmer_logits &&
         request.parent->want_begin < request.parent->tokens.size() &&
         request.shared == request.parent->tokens.size();
}

// True if the run need not wait for its parent: the shared tokens are in the parent's cache, or never will
// be.
bool Scheduler::ready(const SequenceRun& run) const {
  if (run.shared == 0) return true;
  if (draws_from_parent(run)) return run.request().parent->outcome != Outcome::pending;
  const RunPtr parent = table_.run_of(*run.request().parent);
  if (!parent || parent->outcome != Outcome::pending) return true;
  return parent->sequence && parent->sequence->length() >= run.shared;
}

// Starts waiting runs, until of each owner a pass is full or the page budget is used up. The owner who has
// had the fewest rows is the next, and nobody passes one for whom there is no room.
void Scheduler::admit() {
  struct Turn {
    uint64_t served = 0;        // rows that it has had, or will have of what is admitted
    size_t rows = 0;            // of these, those to come
    bool runs = false;          // something of it is admitted
    std::vector<RunPtr> waits;  // in order
    size_t next = 0;
  };
  std::map<uint64_t, Turn> turns;
  for (const RunPtr& run : waiting_) turns[run->request().owner].waits.push_back(run);
  if (turns.empty()) return;
  for (const std::deque<RunPtr>* runs : {&reading_, &generating_})
    for (const RunPtr& run : *runs)
      if (const auto turn = turns.find(run->request().owner); turn != turns.end()) {
        turn->second.runs = true;
        if (runs == &reading_) turn->second.rows += run->remaining();
      }
  for (auto& [owner, turn] : turns) turn.served = served_.at(owner) + turn.rows;

  size_t pages = pages_taken();
  std::vector<RunPtr> first_draws;
  for (;;) {
    Turn* turn = nullptr;
    for (auto& [owner, each] : turns)
      if (each.next < each.waits.size() && (!turn || each.served < turn->served)) turn = &each;
    if (!turn) break;
    const RunPtr run = turn->waits[turn->next++];
    const bool draws = draws_from_parent(*run);
    if (!ready(*run) || (!draws && turn->rows >= pass_limit())) continue;
    while (!has_room(*run, pages, turn->runs) && free_kept()) pages = pages_taken();
    if (!has_room(*run, pages, turn->runs)) break;
    pages += pages_of(*run);
    start(run);
    if (draws && run->shared > 0) first_draws.push_back(run);
    turn->rows += run->remaining();
    turn->served += run->remaining();
    turn->runs = true;
    reading_.push_back(run);
  }
  std::erase_if(waiting_, [](const RunPtr& run) { return run->sequence.has_value(); });
  draw_first(first_draws);
}

void Scheduler::start(const RunPtr& run) {
  // A sample of a single 6-mer needs only its parent's logits, no keys and values.
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
  if (!run->sequence) begin_on_kept_prefix(*run);
  if (!run->sequence) run->sequence = model_.decoder().kv().make_sequence();
  count_fork(*run);
  if (std::function<void()> started; std::swap(started, run->request().started), started) started();
}

// Begins a run that stands alone with the keys and values of an earlier prompt, as far as they go and none of
// their rows is read.
void Scheduler::begin_on_kept_prefix(SequenceRun& run) {
  if (!run.request().keep_prefix || run.shared > 0 || blocks_of(run) != model_.config().layers) return;
  const size_t most = std::min({run.tokens.size() - 1, run.decode_begin, run.want_begin});
  counts_.prefix_tokens += run.decode_begin;
  run.sequence = prefixes_.find(run.tokens, most);
  if (!run.sequence) return;
  run.done = run.sequence->length();
  counts_.prefix_hits += run.done;
}

// Called when the tokens of a prompt are in the cache.
void Scheduler::keep_prefix(const SequenceRun& run) {
  if (!run.request().keep_prefix || run.shared > 0 || !run.sequence) return;
  if (blocks_of(run) != model_.config().layers) return;
  prefixes_.keep(run.tokens, std::min({run.done, run.decode_begin, run.sequence->length()}), *run.sequence);
  // The rest of the cache is for what runs.
  prefixes_.trim(page_limit() * ops::kPageTokens / 2);
}

// Frees what is kept only because it may be wanted again. Returns false if there was nothing.
bool Scheduler::free_kept() {
  return prefixes_.drop_oldest() || table_.drop_finished();
}

// Tells the parent that it need not keep its keys and values for this child any more.
void Scheduler::count_fork(SequenceRun& run) {
  const RequestPtr& parent = run.request().parent;
  if (!parent || run.fork_counted) return;
  run.fork_counted = true;
  parent->lower_forks();
}

// Makes the run independent of its parent: copies the shared tokens, which are then computed again.
void Scheduler::stand_alone(SequenceRun& run) {
  std::vector<uint32_t> prefix = run.request().prefix();
  prefix.resize(run.shared);
  run.tokens.insert(run.tokens.begin(), prefix.begin(), prefix.end());
  for (size_t* place : {&run.request_begin, &run.decode_begin, &run.want_begin}) *place += run.shared;
  for (Reading& reading : run.readings) {
    reading.want_begin += run.shared;
    reading.want_end += run.shared;
  }
  run.shared = 0;
}

// Frees the keys and values of a run, which will later be computed again up to this point. A sample keeps its
// drawn 6-mers. Each token is computed again in the row class that it had, and so gets the same bits.
void Scheduler::suspend(const RunPtr& run) {
  run->sequence.reset();
  run->draft.reset();
  if (run->shared > 0) stand_alone(*run);
  run->done = 0;
  // The values of a sample belong to the 6-mers that it keeps.
  if (!run->generates())
    for (Reading& reading : run->readings) reading.clear();
}

// Suspends runs, the last ones first, until the others fit the page budget or one is left. Returns how many.
size_t Scheduler::suspend_surplus() {
  size_t suspended = 0, samples = 0;
  const size_t all = generating_.size();
  for (std::deque<RunPtr>* runs : {&reading_, &generating_})
    while (generating_.size() + reading_.size() > 1 && !runs->empty() && pages_taken() > page_limit()) {
      ++suspended;
      samples += runs == &generating_ ? 1 : 0;
      suspend(runs->back());
      waiting_.push_front(runs->back());
      runs->pop_back();
    }
  if (suspended > 0) {
    model_.decoder().free_unused_memory();
    if (drafter_) drafter_->recover(generating_);
  }
  if (samples > 0)
    model_.log().info("engine",
                      std::to_string(samples) + " of " + std::to_string(all) +
                          " samples wait for memory; they are then computed again up to where they were");
  return suspended;
}

// Called when memory ran out in a pass of `rows` rows, or before a pass (`rows` is 0). Lowers the page budget
// if it follows the device's memory and runs exceed it. Otherwise makes passes shorter and, if they are short
// already, the batch and with it the page budget smaller. Throws the OutOfMemory again if nothing more can be
// freed.
void Scheduler::recover(size_t rows) {
  for (const std::deque<RunPtr>* runs : {&reading_, &generating_})
    for (const RunPtr& run : *runs) {
      const size_t drawn = run->tokens.size() - std::min<size_t>(1, run->tokens.size());
      const bool has_drawn = run->generates() && !run->request().kmers.empty();
      if (has_drawn && run->sequence->length() >= run->shared + drawn) run->done = drawn;
      if (run->sequence->length() > run->shared + run->done) run->sequence->truncate(run->shared + run->done);
      run->proposed.clear();
    }
  bool freed = false;
  while (free_kept()) freed = true;
  // Either model may need the memory that the other one frees.
  model_.decoder().free_unused_memory();
  draws_.free_unused_memory();
  if (drafter_) drafter_->recover(generating_);
  if (lower_room()) return;
  if (rows > kLeastPass && pass_limit() > kLeastPass) {
    pass_rows_ = std::max(std::min(rows, pass_limit()) / 2, kLeastPass);
    return;
  }
  if (!model_.halve_batch()) {
    if (freed) return;
    throw;  // the OutOfMemory that is being handled
  }
  room_ = 0;
  suspend_surplus();
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
  for (std::deque<RunPtr>* runs : {&waiting_, &reading_, &generating_}) std::erase_if(*runs, drop);
}

// Returns why the request cannot be run, or "" if it can.
std::string Scheduler::problem_of(const Request& request) const {
  const size_t layers = model_.config().layers;
  if (request.parent && request.parent->outcome == Outcome::refused) return request.parent->problem;
  if (request.parent && request.shared > request.parent->shared + request.parent->tokens.size())
    return "the request shares more tokens than its parent has";
  if (request.tokens.empty() && (request.shared == 0 || !request.generation))
    return "the request has no tokens";
  if (request.layer != kFinalNorm && (request.layer < 1 || static_cast<size_t>(request.layer) > layers))
    return "the model has no layer " + std::to_string(request.layer);
  if ((request.head == HeadKind::class_logits) != !model_.config().causal() && request.head != HeadKind::none)
    return model_.config().causal() ? "the model has no classes of bases"
                                    : "the model gives nothing but the classes of bases";
  if (!model_.config().causal() && (request.parent || request.generation || request.keep_prefix))
    return "the model sees a sequence as a whole, so that nothing can follow it";
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
