// The scheduler's passes: which rows of which runs are in the next one, and how many of them are of prompts
// and windows while somebody waits for a stream.
#include <algorithm>
#include <utility>

#include "src/engine/drafter.hpp"
#include "src/engine/scheduler.hpp"

namespace carbon {
namespace {

// While samples are being generated, prompts and windows get 1/4 of a pass.
constexpr size_t kWindowShare = 4;

// Slices of one row class are ordered by this number in a pass.
int kind_of(const SequenceRun& run) {
  return run.generates() ? static_cast<int>(HeadKind::mean_hidden) + 1 : static_cast<int>(run.request().head);
}

// Of SlicePolicy: rows whose time is not known yet.
constexpr size_t kFirstRows = 16, kFirstLoneRows = 256;
// Fewer rows would cost almost the time of these.
constexpr size_t kLeastRows = 8, kLeastLoneRows = 128;
// Seconds that prompts and windows may take in a pass, after which new requests are looked at. If one pass of
// the samples takes longer, they may take as long as that.
constexpr double kLonePass = 0.25;
// The share of a new measurement in an average.
constexpr double kNew = 0.3;

void average(double& mean, double value) {
  mean = mean == 0 ? value : (1 - kNew) * mean + kNew * value;
}

size_t rows_in(double seconds, double row_seconds, size_t least, size_t limit) {
  const double rows = seconds / row_seconds;
  return std::clamp(rows < static_cast<double>(limit) ? static_cast<size_t>(rows) : limit,
                    std::min(least, limit), limit);
}

}  // namespace

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

// Adds the next `tokens` tokens of a run to a pass.
void Scheduler::add_slice(Pass& pass, const RunPtr& run, size_t tokens) {
  const size_t end = run->done + tokens;
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

// What a model sees as a whole is not cut: a pass has as many sequences as fit, and one that is longer alone.
void Scheduler::pack_whole(Pass& pass, size_t limit) {
  if (reading_.empty()) return;
  const RunPtr first = next_of_reading();
  add_slice(pass, first, first->remaining());
  for (const RunPtr& run : reading_)
    if (run != first && pass.rows + run->remaining() <= limit) add_slice(pass, run, run->remaining());
}

void Scheduler::pack_windows(Pass& pass, size_t limit) {
  if (!model_.config().causal()) return pack_whole(pass, limit);
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
    const size_t tokens = std::min(remaining[i], left);
    if (tokens == 0) continue;
    left -= tokens;
    add_slice(pass, run, tokens);
  }
}

// The time of a pass changes slowly with the number of samples.
bool SlicePolicy::knows(size_t samples) const {
  return samples_ > 0 && 4 * samples <= 5 * samples_ && 5 * samples >= 4 * samples_;
}

size_t SlicePolicy::rows(size_t samples, size_t waiting, size_t limit) const {
  if (samples == 0)
    return lone_row_seconds_ == 0 ? std::min(kFirstLoneRows, limit)
                                  : rows_in(kLonePass, lone_row_seconds_, kLeastLoneRows, limit);
  if (!knows(samples)) return 0;
  const double fair = sample_seconds_ * static_cast<double>(waiting) / static_cast<double>(samples);
  const double seconds = std::max(sample_seconds_, std::min(fair, kLonePass));
  return row_seconds_ == 0 ? std::min(kFirstRows, limit) : rows_in(seconds, row_seconds_, kLeastRows, limit);
}

void SlicePolicy::record(size_t samples, size_t window_rows, double seconds) {
  if (samples == 0) {
    if (window_rows > 0) average(lone_row_seconds_, seconds / static_cast<double>(window_rows));
    return;
  }
  if (window_rows > 0) {
    // A pass that happened to be fast must not make a row free.
    const double rest = std::max(seconds - sample_seconds_, 0.1 * seconds);
    return average(row_seconds_, rest / static_cast<double>(window_rows));
  }
  if (knows(samples)) {
    average(sample_seconds_, seconds);
  } else {
    sample_seconds_ = seconds;
  }
  samples_ = samples;
}

}  // namespace carbon
