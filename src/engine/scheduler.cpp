#include "src/engine/scheduler.hpp"

#include <algorithm>
#include <set>
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
    const std::vector<RequestPtr> taken = queue.take(device, pass_limit(), known_rows(), idle(), equal);
    if (taken.empty() && idle()) return;
    for (const RequestPtr& request : taken) add(request);
    step();
  }
}

std::map<uint64_t, size_t> Scheduler::known_rows() const {
  std::map<uint64_t, size_t> rows;
  for (const std::deque<RunPtr>* runs : {&waiting_, &reading_})
    for (const RunPtr& run : *runs) rows[run->request().owner] += std::max<size_t>(run->remaining(), 1);
  return rows;
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
  // Whoever comes later has not waited before.
  uint64_t least = 0;
  if (!served_.empty())
    least = std::min_element(served_.begin(), served_.end(), [](auto& a, auto& b) {
              return a.second < b.second;
            })->second;
  served_.emplace(request->owner, least);
  waiting_.push_back(run);
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
  const size_t depth = reading_.empty() ? pass.blocks : blocks_of(*next_of_reading());
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

// The first run of the owner who has had the fewest rows.
RunPtr Scheduler::next_of_reading() const {
  return *std::min_element(reading_.begin(), reading_.end(), [&](const RunPtr& a, const RunPtr& b) {
    return served_.at(a->request().owner) < served_.at(b->request().owner);
  });
}

// How many of the `limit` rows of a pass each owner has, whose runs in reading_ have `remaining` tokens each:
// equal parts, and what one does not need is for the others. If there are more owners than rows, those have
// one who have had the fewest.
std::map<uint64_t, size_t> Scheduler::divide(std::span<const size_t> remaining, size_t limit) const {
  std::map<uint64_t, size_t> rows;
  for (size_t i = 0; i < remaining.size(); ++i)
    if (remaining[i] > 0) rows[reading_[i]->request().owner] += remaining[i];
  std::vector<std::pair<uint64_t, size_t>> owners(rows.begin(), rows.end());  // and what they want
  rows.clear();
  if (owners.size() > limit) {
    std::stable_sort(owners.begin(), owners.end(),
                     [&](auto& a, auto& b) { return served_.at(a.first) < served_.at(b.first); });
    owners.resize(limit);
  }
  std::stable_sort(owners.begin(), owners.end(), [](auto& a, auto& b) { return a.second < b.second; });
  for (size_t i = 0; i < owners.size(); ++i) {
    const size_t part = std::min(owners[i].second, limit / (owners.size() - i));
    rows[owners[i].first] = part;
    limit -= part;
  }
  return rows;
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
  std::map<uint64_t, size_t> rows = divide(remaining, limit);
  for (size_t i = 0; i < reading_.size(); ++i) {
    const RunPtr& run = reading_[i];
    if (remaining[i] == 0) continue;
    size_t& left = rows[run->request().owner];
    const size_t tokens = std::min(remaining[i], left), end = run->done + tokens;
    if (tokens == 0) continue;
    left -= tokens;
    Slice slice;
    slice.run = run;
    slice.tokens.assign(run->tokens.begin() + static_cast<ptrdiff_t>(run->done),
                        run->tokens.begin() + static_cast<ptrdiff_t>(end));
    slice.want_begin = std::clamp(run->want_begin, run->done, end) - run->done;
    if (run->generates()) slice.want_begin = tokens - (end == run->tokens.size() ? 1 : 0);
    slice.row_class = run->done < run->decode_begin ? ops::RowClass::prefill : ops::RowClass::decode;
    pass.rows += tokens;
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
  for (const Slice& slice : pass.slices) served_[slice.run->request().owner] += slice.tokens.size();
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
  forget_owners();
}

// Owners without runs have no turn any more.
void Scheduler::forget_owners() {
  std::set<uint64_t> present;
  for (const std::deque<RunPtr>* runs : {&waiting_, &reading_, &generating_})
    for (const RunPtr& run : *runs) present.insert(run->request().owner);
  std::erase_if(served_, [&](const auto& entry) { return !present.contains(entry.first); });
}

void Scheduler::clear() {
  for (std::deque<RunPtr>* runs : {&waiting_, &reading_, &generating_}) runs->clear();
  prefixes_.clear();
  table_.clear();
  served_.clear();
}

}  // namespace carbon
