#include "src/engine/scheduler.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "kernels/ops.hpp"
#include "src/base/error.hpp"
#include "src/base/system.hpp"
#include "src/engine/drafter.hpp"

namespace carbon {

namespace {

// So many prompts at most, because each one is compared with every new prompt.
constexpr size_t kMostEntries = 256;

size_t common_length(std::span<const uint32_t> a, std::span<const uint32_t> b) {
  const size_t n = std::min(a.size(), b.size());
  return static_cast<size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<ptrdiff_t>(n), b.begin()).first - a.begin());
}

}  // namespace

void PrefixCache::keep(std::span<const uint32_t> tokens, size_t length, const Sequence& sequence) {
  tokens = tokens.first(length);
  if (length < ops::kPageTokens) return;
  const auto longer = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return common_length(entry.tokens, tokens) == length;
  });
  if (longer != entries_.end()) {
    std::rotate(longer, longer + 1, entries_.end());
    return;
  }
  std::erase_if(entries_, [&](const Entry& entry) {
    return common_length(entry.tokens, tokens) == entry.tokens.size();
  });
  if (entries_.size() >= kMostEntries) entries_.pop_front();
  entries_.push_back({{tokens.begin(), tokens.end()}, sequence.fork()});
  entries_.back().sequence.truncate(length);
}

std::optional<Sequence> PrefixCache::find(std::span<const uint32_t> tokens, size_t most) {
  tokens = tokens.first(std::min(most, tokens.size()));
  size_t longest = ops::kPageTokens - 1;
  auto best = entries_.end();
  for (auto at = entries_.begin(); at != entries_.end(); ++at) {
    const size_t common = common_length(at->tokens, tokens);
    if (common <= longest) continue;
    longest = common;
    best = at;
  }
  if (best == entries_.end()) return std::nullopt;
  Sequence fork = best->sequence.fork();
  fork.truncate(longest);
  std::rotate(best, best + 1, entries_.end());
  return fork;
}

bool PrefixCache::drop_oldest() {
  if (entries_.empty()) return false;
  entries_.pop_front();
  return true;
}

void PrefixCache::trim(size_t most) {
  for (size_t total = tokens(); total > most;) {
    total -= entries_.front().tokens.size();
    entries_.pop_front();
  }
}

size_t PrefixCache::pages() const {
  size_t sum = 0;
  for (const Entry& entry : entries_) sum += pages_for(entry.tokens.size());
  return sum;
}

size_t PrefixCache::tokens() const {
  size_t sum = 0;
  for (const Entry& entry : entries_) sum += entry.tokens.size();
  return sum;
}

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
