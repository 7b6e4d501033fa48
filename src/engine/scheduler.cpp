#include "src/engine/scheduler.hpp"

#include <algorithm>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/stopwatch.hpp"
#include "src/engine/drafter.hpp"

namespace carbon {
namespace {

// While samples are being generated, prompts and windows get 1/4 of a pass.
constexpr size_t kWindowShare = 4;

// Slices of one row class are ordered by this number in a pass.
int kind_of(const SequenceRun& run) {
  return run.generates() ? static_cast<int>(HeadKind::mean_hidden) + 1 : static_cast<int>(run.request().head);
}

}  // namespace

SchedulerCounts& SchedulerCounts::operator+=(const SchedulerCounts& other) {
  rows += other.rows;
  capacity += other.capacity;
  window_passes += other.window_passes;
  sample_passes += other.sample_passes;
  window_seconds += other.window_seconds;
  sample_seconds += other.sample_seconds;
  drawn += other.drawn;
  shared += other.shared;
  prefix_tokens += other.prefix_tokens;
  prefix_hits += other.prefix_hits;
  return *this;
}

SchedulerState& SchedulerState::operator+=(const SchedulerState& other) {
  counts += other.counts;
  drafts += other.drafts;
  waiting += other.waiting;
  running += other.running;
  pages += other.pages;
  kept_pages += other.kept_pages;
  page_limit += other.page_limit;
  return *this;
}

Scheduler::Scheduler(LoadedModel& model, Drafter* drafter, const SchedulerOptions& options)
    : model_(model),
      drafter_(drafter),
      options_(options),
      draws_(model.backend(), model.head(), model.pool()),
      pass_rows_(model.backend().pass_rows()) {}

Scheduler::~Scheduler() {
  clear();
}

size_t Scheduler::pass_limit() const {
  return std::max<size_t>(1, std::min(pass_rows_, model_.batch_tokens()));
}

void Scheduler::run(RequestQueue& queue, int device) {
  const auto equal = [this](const Request& request) { return table_.find_equal(request) != nullptr; };
  for (;;) {
    if (const std::exception_ptr failure = queue.failure()) std::rethrow_exception(failure);
    if (const size_t rows = wanted_rows(); rows > 0) {
      const std::vector<RequestPtr> taken = queue.take(device, rows, idle(), equal);
      if (taken.empty() && idle()) return;
      for (const RequestPtr& request : taken) add(request);
    }
    step();
  }
}

// Rows that are still needed to fill the next pass; 0 if the known requests fill it. A server takes a new
// request before every pass, because a short one need not wait for a long one.
size_t Scheduler::wanted_rows() const {
  if (options_.interactive) return pass_limit();
  size_t known = 0;
  for (const std::deque<RunPtr>* runs : {&waiting_, &reading_})
    for (const RunPtr& run : *runs) {
      known += std::max<size_t>(run->remaining(), 1);
      if (known >= pass_limit()) return 0;
    }
  return pass_limit() - known;
}

void Scheduler::add(const RequestPtr& request) {
  if (const std::string problem = problem_of(*request); !problem.empty()) return refuse(request, problem);
  if (const RunPtr equal = table_.find_equal(*request)) {
    ++counts_.shared;
    table_.join(equal, request);
    equal->has_children |= request->forks > 0;
    if (request->parent) request->parent->lower_forks();
    if (equal->outcome == Outcome::pending) return;
    deliver(*equal, *request);
    return table_.keep_finished(equal);
  }
  const auto run = std::make_shared<SequenceRun>();
  run->requests = {request};
  run->tokens = request->tokens;
  run->shared = request->parent ? request->shared : 0;
  run->has_children = request->forks > 0;
  if (run->generates() && run->tokens.empty() && !draws_from_parent(*run)) {
    // The parent has no logits, so the last shared token is computed again for its row.
    --run->shared;
    run->tokens = {request->prefix().back()};
    run->request_begin = 1;
  }
  run->decode_begin = run->want_begin = run->tokens.size();
  run->read_for(*request);
  table_.add(run);
  wait(run);
}

void Scheduler::wait(const RunPtr& run) {
  auto at = waiting_.end();
  while (at != waiting_.begin() && (*std::prev(at))->request().priority < run->request().priority) --at;
  waiting_.insert(at, run);
}

bool Scheduler::step() {
  drop_cancelled();
  size_t rows = 0;
  try {
    admit();
    Pass pass = pack();
    rows = pass.rows;
    if (rows > 0) run_pass(pass);
  } catch (const OutOfMemory&) {
    recover(rows);
  }
  move_runs();
  publish();
  return !idle();
}

void Scheduler::publish() {
  const std::lock_guard lock(state_mutex_);
  state_.counts = counts_;
  if (drafter_) state_.drafts = drafter_->counts();
  state_.waiting = waiting_.size();
  state_.running = reading_.size() + generating_.size();
  state_.pages = model_.decoder().kv().pages_in_use();
  state_.kept_pages = prefixes_.pages() + table_.kept_pages();
  state_.page_limit = page_limit();
}

SchedulerState Scheduler::state() const {
  const std::lock_guard lock(state_mutex_);
  return state_;
}

size_t Scheduler::blocks_of(const SequenceRun& run) const {
  const int layer = run.request().layer;
  return layer == kFinalNorm ? model_.config().layers : static_cast<size_t>(layer);
}

Scheduler::Pass Scheduler::pack() {
  Pass pass;
  pass.blocks = model_.config().layers;
  if (generating_.empty() && reading_.empty()) return pass;
  const size_t depth = reading_.empty() ? pass.blocks : blocks_of(*reading_.front());
  const bool both = !generating_.empty() && depth != pass.blocks;
  windows_turn_ = both && !windows_turn_;
  if (generating_.empty() || windows_turn_) pass.blocks = depth;
  const size_t limit = pass_limit();
  std::vector<Slice> samples;
  if (!generating_.empty() && !windows_turn_) {
    pack_samples(pass, reading_.empty() ? limit : std::max<size_t>(1, limit - limit / kWindowShare));
    samples.swap(pass.slices);
  }
  pack_windows(pass, window_limit(pass, limit));
  std::stable_sort(pass.slices.begin(), pass.slices.end(), [](const Slice& a, const Slice& b) {
    return std::pair(a.row_class, kind_of(*a.run)) < std::pair(b.row_class, kind_of(*b.run));
  });
  pass.slices.insert(pass.slices.end(), samples.begin(), samples.end());
  return pass;
}

// Packs as many samples that are being generated as there is room for, each with the 6-mers that the draft
// proposes.
void Scheduler::pack_samples(Pass& pass, size_t limit) {
  const size_t proposals = drafter_ ? drafter_->next() : 0;
  const size_t count = std::min(generating_.size(), std::max<size_t>(1, limit / (1 + proposals)));
  pass.samples.assign(generating_.begin(), generating_.begin() + static_cast<ptrdiff_t>(count));
  if (drafter_) drafter_->propose(pass.samples);
  for (const RunPtr& run : pass.samples) {
    Slice slice{run, {run->tokens.back()}, 0, ops::RowClass::decode};
    for (const uint16_t kmer : run->proposed) slice.tokens.push_back(model_.config().layout.kmer_id(kmer));
    pass.rows += slice.tokens.size();
    pass.slices.push_back(std::move(slice));
  }
}

// Rows that prompts and windows may have in a pass of at most `limit` rows that has its samples.
size_t Scheduler::window_limit(const Pass& pass, size_t limit) const {
  if (!pass.samples.empty())
    limit = std::min(limit - std::min(limit, pass.rows), std::max<size_t>(1, limit / kWindowShare));
  return options_.interactive && limit > 0 ? slices_.rows(pass.samples.size(), reading_.size(), limit)
                                           : limit;
}

// In a server half of the rows go to the run with the fewest left, so that a short prompt need not wait until
// a long one is done. The oldest run has the other half, so that it finishes eventually.
std::vector<Piece> Scheduler::cut_windows(std::span<const size_t> remaining, size_t limit) const {
  std::vector<Piece> pieces = fill_pass(remaining, limit);
  if (!options_.interactive || pieces.size() != 1 || pieces[0].tokens < 2) return pieces;
  const size_t oldest = pieces[0].index;
  size_t shortest = oldest;
  for (size_t i = 0; i < remaining.size(); ++i)
    if (remaining[i] > 0 && remaining[i] < remaining[shortest]) shortest = i;
  if (shortest == oldest) return pieces;
  const size_t tokens = std::min(remaining[shortest], limit / 2);
  return {{oldest, limit - tokens}, {shortest, tokens}};
}

void Scheduler::pack_windows(Pass& pass, size_t limit) {
  std::vector<size_t> remaining;
  for (const RunPtr& run : reading_) {
    // A suspended sample computes its tokens again, except the last one: its row is computed when the sample
    // draws its next 6-mer.
    const size_t end = run->tokens.size() - (run->request().kmers.empty() ? 0 : 1);
    const size_t class_end = run->done < run->decode_begin ? std::min(end, run->decode_begin) : end;
    remaining.push_back(blocks_of(*run) == pass.blocks ? class_end - run->done : 0);
  }
  for (const Piece& piece : cut_windows(remaining, limit)) {
    const RunPtr& run = reading_[piece.index];
    const size_t end = run->done + piece.tokens;
    Slice slice;
    slice.run = run;
    slice.tokens.assign(run->tokens.begin() + static_cast<ptrdiff_t>(run->done),
                        run->tokens.begin() + static_cast<ptrdiff_t>(end));
    slice.want_begin = std::clamp(run->want_begin, run->done, end) - run->done;
    if (run->generates()) slice.want_begin = piece.tokens - (end == run->tokens.size() ? 1 : 0);
    slice.row_class = run->done < run->decode_begin ? ops::RowClass::prefill : ops::RowClass::decode;
    pass.rows += piece.tokens;
    pass.slices.push_back(std::move(slice));
  }
}

void Scheduler::run_pass(Pass& pass) {
  std::vector<Chunk> chunks;
  for (Slice& slice : pass.slices)
    chunks.push_back(
        {&*slice.run->sequence, slice.tokens, slice.want_begin, slice.tokens.size(), slice.row_class});
  std::vector<size_t> drawn_before;
  for (const RunPtr& run : pass.samples) drawn_before.push_back(run->request().kmers.size());
  const Stopwatch watch;
  const std::optional<HiddenRows> rows =
      model_.decoder().forward_while(chunks, pass.blocks, [&] { return is_wanted(pass); });
  if (!rows) return drop_cancelled();
  read_heads(pass, *rows);
  // Only now are all buffers there that a pass takes: those of its heads too, and weights that only they use.
  if (!std::exchange(room_known_, true)) room_ = free_room();
  size_t sample_rows = 0;
  for (size_t i = pass.slices.size() - pass.samples.size(); i < pass.slices.size(); ++i)
    sample_rows += pass.slices[i].tokens.size();
  slices_.record(pass.samples.size(), pass.rows - sample_rows, watch.seconds());
  const bool samples = !pass.samples.empty();
  ++(samples ? counts_.sample_passes : counts_.window_passes);
  (samples ? counts_.sample_seconds : counts_.window_seconds) += watch.seconds();
  counts_.rows += pass.rows;
  counts_.capacity += pass_limit();
  if (drafter_ && !pass.samples.empty())
    drafter_->record_draws(pass.samples, drawn_before, pass.samples.size() == pass.slices.size(),
                           watch.seconds());
  // Samples for which there was no room come first in the next pass.
  std::rotate(generating_.begin(), generating_.begin() + static_cast<ptrdiff_t>(pass.samples.size()),
              generating_.end());
}

// False when all requests of a pass have been cancelled.
bool Scheduler::is_wanted(const Pass& pass) {
  return std::any_of(pass.slices.begin(), pass.slices.end(),
                     [](const Slice& slice) { return slice.run->is_wanted(); });
}

// Called after each pass, also one that failed or was given up: samples with a first 6-mer become samples
// that are being generated, and complete runs are finished.
void Scheduler::move_runs() {
  std::vector<RunPtr> finished;
  const auto complete = [&](const RunPtr& run) {
    const bool all = run->generates() ? run->missing() == 0 : run->remaining() == 0;
    if (!all && !(run->generates() && run->outcome != Outcome::pending)) return false;
    finished.push_back(run);
    return true;
  };
  std::erase_if(generating_, complete);
  std::erase_if(reading_, [&](const RunPtr& run) {
    if (complete(run)) return true;
    if (!run->generating()) return false;
    keep_prefix(*run);
    generating_.push_back(run);
    return true;
  });
  for (const RunPtr& run : finished) finish(run);
}

void Scheduler::clear() {
  for (std::deque<RunPtr>* runs : {&waiting_, &reading_, &generating_}) runs->clear();
  prefixes_.clear();
  table_.clear();
}

}  // namespace carbon
