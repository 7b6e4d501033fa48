// The scheduler's results: it reads the heads at the rows of a pass, draws 6-mers, and hands values to the
// requests.
#include <algorithm>
#include <cmath>

#include "src/engine/drafter.hpp"
#include "src/engine/scheduler.hpp"

namespace carbon {
namespace {

// The targets of the rows of parts that one head reads, in their order.
template <class Part>
std::vector<uint32_t> wanted_targets(std::span<const Part> parts) {
  std::vector<uint32_t> targets;
  for (const Part& part : parts) {
    const auto first = part.reading->targets.begin() + static_cast<ptrdiff_t>(part.row);
    targets.insert(targets.end(), first, first + static_cast<ptrdiff_t>(part.count));
  }
  return targets;
}

}  // namespace

// Slices of the same class follow one another, and so do their rows.
void Scheduler::read_heads(const Pass& pass, const HiddenRows& rows) {
  const auto alike = [](const Slice& a, const Slice& b) {
    return a.row_class == b.row_class && a.run->generates() == b.run->generates();
  };
  size_t row = 0;
  for (auto at = pass.slices.begin(); at != pass.slices.end();) {
    const auto end =
        std::find_if(at, pass.slices.end(), [&](const Slice& slice) { return !alike(*at, slice); });
    size_t count = 0;
    for (const Slice& slice : std::span(at, end)) count += slice.wanted();
    const HiddenRows part = count > 0 ? model_.decoder().part(rows, row, count, at->row_class) : HiddenRows{};
    if (at->run->generates())
      draw({at, end}, part);
    else
      read_windows({at, end}, part);
    row += count;
    at = end;
  }
}

// What each reading of the slices reads from `rows`, which are theirs: by head, and where one head reads rows
// that follow one another, these together.
std::vector<Scheduler::Part> Scheduler::parts_of(std::span<const Slice> slices) {
  std::vector<Part> parts;
  size_t at = 0;
  for (const Slice& slice : slices) {
    SequenceRun& run = *slice.run;
    const size_t begin = run.done + slice.want_begin, slice_end = run.done + slice.tokens.size();
    for (Reading& reading : run.readings) {
      const size_t first = std::max(begin, reading.want_begin), end = std::min(slice_end, reading.want_end);
      if (first < end && reading.head != HeadKind::none)
        parts.push_back({&reading, first - reading.want_begin, at + first - begin, end - first});
    }
    at += slice.wanted();
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.reading->head < b.reading->head; });
  return parts;
}

// Reads the rows of slices that have one class, and keeps the values in their runs.
void Scheduler::read_windows(std::span<const Slice> slices, const HiddenRows& rows) {
  const std::vector<Part> parts = parts_of(slices);
  for (auto at = parts.begin(); at != parts.end();) {
    auto end = at + 1;
    size_t count = at->count;
    const auto follows = [&](const Part& part) {
      return part.reading->head == at->reading->head && part.reading->layer == at->reading->layer &&
             part.at == at->at + count;
    };
    for (; end != parts.end() && follows(*end); ++end) count += end->count;
    read_parts({at, end}, model_.decoder().part(rows, at->at, count, rows.row_class));
    at = end;
  }
  for (const Slice& slice : slices) slice.run->done += slice.tokens.size();
}

// Reads rows that follow one another by one head, and keeps the values in the readings.
void Scheduler::read_parts(std::span<const Part> parts, const HiddenRows& rows) {
  const HeadKind head = parts.front().reading->head;
  if (head == HeadKind::mean_hidden) return sum_parts(parts, rows);
  const size_t width = head_width(head, result_sizes(model_.config()));
  run_head(parts, rows);
  size_t at = 0;
  for (const auto& [reading, row, first, count] : parts) {
    if (gives_doubles(head))
      reading->keep_values(row, width, std::span(values_).subspan(at, count * width));
    else
      reading->keep_states(row, width, std::span(states_).subspan(at, count * width));
    at += count * width;
  }
}

// Adds the rows of the parts to the sums of their readings. Rows that come again after a pass that failed are
// in the sums already.
void Scheduler::sum_parts(std::span<const Part> parts, const HiddenRows& rows) {
  const size_t width = model_.config().hidden;
  std::vector<Reading*> readings;
  std::vector<std::vector<uint32_t>> counts;
  std::vector<ops::RowSums> sums;
  values_.clear();
  for (const auto& [reading, row, first, count] : parts) {
    std::vector<uint32_t> mine = reading->counts(row + count);
    if (mine.empty()) continue;
    const size_t known = reading->summed - row;
    readings.push_back(reading);
    counts.push_back(std::move(mine));
    sums.push_back({first - parts.front().at + known, counts.back()});
    const size_t end = values_.size() + (1 + counts.back().size()) * width;
    values_.insert(values_.end(), reading->sums.begin(), reading->sums.end());
    values_.resize(end);
  }
  const bool final = parts.front().reading->layer == kFinalNorm;
  model_.decoder().sum_states(rows, final, sums, values_.data());
  const double* at = values_.data();
  for (size_t i = 0; i < readings.size(); ++i) {
    at += width;
    readings[i]->keep_sums(counts[i], {at, counts[i].size() * width});
    at += counts[i].size() * width;
  }
}

// Fills `out` [rows.count, kRankWidth] with the ranks of the k-mers `targets`, one per row. The logits of a
// few rows at a time are in memory.
void Scheduler::rank_rows(const HiddenRows& rows, std::span<const uint32_t> targets, double* out) {
  constexpr size_t kRows = 256;
  const size_t kmers = model_.head().kmer_count();
  for (size_t first = 0; first < rows.count; first += kRows) {
    const size_t count = std::min(kRows, rows.count - first);
    states_.resize(count * kmers);
    model_.head().kmer_logits(model_.decoder().part(rows, first, count, rows.row_class), states_.data());
    model_.pool().run(count, [&](size_t i, size_t) {
      rank_kmers({states_.data() + i * kmers, kmers}, kAllAllowed, targets[first + i],
                 out + (first + i) * kRankWidth);
    });
  }
}

// Fills `out` with the logits of the classes of bases. The states of a few rows at a time are in memory.
void Scheduler::classify_rows(const HiddenRows& rows, float* out) {
  constexpr size_t kRows = 1024;
  const AnnotatorHead& head = model_.annotator_head();
  std::vector<float> states;
  for (size_t first = 0; first < rows.count; first += kRows) {
    const size_t count = std::min(kRows, rows.count - first);
    states.resize(count * model_.config().hidden);
    model_.decoder().download_final(model_.decoder().part(rows, first, count, rows.row_class), states.data());
    head.logits(states, model_.pool(), out + first * head.width());
  }
}

// Runs the head of the parts on their rows and fills values_ or states_ with head_width() values per row.
void Scheduler::run_head(std::span<const Part> parts, const HiddenRows& rows) {
  const HeadKind head = parts.front().reading->head;
  const size_t count = rows.count * head_width(head, result_sizes(model_.config()));
  switch (head) {
    case HeadKind::none:
      return;
    case HeadKind::marginals:
      values_.resize(count);
      return model_.head().marginals(rows, values_.data());
    case HeadKind::conditionals:
      values_.resize(count);
      return model_.head().conditionals(rows, wanted_targets(parts), values_.data());
    case HeadKind::token_logprobs:
      values_.resize(count);
      return model_.head().token_logprob(rows, wanted_targets(parts), values_.data());
    case HeadKind::kmer_ranks:
      values_.resize(count);
      return rank_rows(rows, wanted_targets(parts), values_.data());
    case HeadKind::kmer_logits:
      states_.resize(count);
      return model_.head().kmer_logits(rows, states_.data());
    case HeadKind::class_logits:
      states_.resize(count);
      return classify_rows(rows, states_.data());
    case HeadKind::hidden:
      states_.resize(count);
      return parts.front().reading->layer == kFinalNorm
                 ? model_.decoder().download_final(rows, states_.data())
                 : model_.decoder().download_residual(rows, states_.data());
    case HeadKind::mean_hidden:
      return;  // sum_parts
  }
}

// Draws the first 6-mer of samples whose prompt is complete, and the next ones of samples that are being
// generated. The row class of a logit does not depend on how many 6-mers were proposed, so that a draft
// changes no bit of it.
void Scheduler::draw(std::span<const Slice> slices, const HiddenRows& rows) {
  DrawChains chains;
  std::vector<const Slice*> drawing;
  std::vector<size_t> drawn_before, first_row;
  for (const Slice& slice : slices) {
    SequenceRun& run = *slice.run;
    if (slice.wanted() == 0) run.done += slice.tokens.size();  // part of a prompt, without its last token
    if (slice.wanted() == 0) continue;
    const size_t drawn = run.request().kmers.size();
    first_row.push_back(chains.draws.size());
    for (size_t i = 0; i < slice.wanted(); ++i) chains.add(run.draw(drawn + i));
    chains.end_chain();
    drawing.push_back(&slice);
    drawn_before.push_back(drawn);
  }
  if (drawing.empty()) return;
  const TokenLayout& layout = model_.config().layout;
  draws_.draw(rows, model_.decoder(), chains, [&](size_t chain, const ops::DrawnKmer& drawn) {
    SequenceRun& run = *drawing[chain]->run;
    if (!run.take(drawn, layout)) return false;
    const size_t at = run.request().kmers.size() - 1 - drawn_before[chain];
    return at < run.proposed.size() && run.request().kmers.back() == run.proposed[at];
  });
  for (size_t i = 0; i < drawing.size(); ++i) {
    SequenceRun& run = *drawing[i]->run;
    const size_t added = run.request().kmers.size() - drawn_before[i];
    counts_.drawn += added;
    if (run.request().generation->rank && added > 0)
      rank_drawn(run, model_.decoder().part(rows, first_row[i], added, rows.row_class), drawn_before[i]);
    run.done = run.tokens.size() - 1;
    run.sequence->truncate(std::min(run.sequence->length(), run.shared + run.done));
    if (run.request().progressed) run.request().progressed(run.request(), added);
  }
}

// Appends the ranks of the 6-mers that were drawn from `rows`. The logits are computed a second time, which
// gives the same bits, because where the draws were made they may not be on the host.
void Scheduler::rank_drawn(SequenceRun& run, const HiddenRows& rows, size_t drawn_before) {
  const size_t kmers = model_.head().kmer_count();
  states_.resize(rows.count * kmers);
  model_.head().kmer_logits(rows, states_.data());
  for (size_t i = 0; i < rows.count; ++i)
    run.rank_drawn({states_.data() + i * kmers, kmers}, drawn_before + i);
}

// Draws the first 6-mers of samples from the logits that their parents already have.
void Scheduler::draw_first(const std::vector<RunPtr>& runs) {
  if (runs.empty()) return;
  DrawChains chains;
  std::vector<const float*> logits;
  const size_t kmers = model_.head().kmer_count();
  for (const RunPtr& run : runs) {
    chains.add(run->draw(0));
    chains.end_chain();
    const std::vector<float>& states = run->request().parent->states;
    logits.push_back(states.data() + states.size() - kmers);
  }
  const TokenLayout& layout = model_.config().layout;
  draws_.draw_from_logits(logits, chains, [&](size_t i, const ops::DrawnKmer& drawn) {
    if (runs[i]->take(drawn, layout) && runs[i]->request().generation->rank)
      runs[i]->rank_drawn({logits[i], kmers}, 0);
    return true;
  });
  counts_.drawn += runs.size();
  // None if the logits are not finite.
  for (const RunPtr& run : runs)
    if (run->request().progressed) run->request().progressed(run->request(), run->request().kmers.size());
}

void Scheduler::deliver(SequenceRun& run, Request& request) {
  if (request.outcome != Outcome::pending) return;
  Reading& reading = *run.reading_of(request);
  const size_t width = head_width(request.head, result_sizes(model_.config()));
  request.value_store = reading.values;
  request.first_value =
      reading.values->empty() ? 0 : (request.want_begin + run.request_begin - reading.want_begin) * width;
  if (run.outcome == Outcome::done && gives_doubles(request.head) && !request.generation)
    request.value_count = request.wanted_rows() * width;
  request.states = RunTable::shareable(request) ? reading.states : std::move(reading.states);
  request.outcome = run.outcome == Outcome::done && !reading.finite ? Outcome::not_finite : run.outcome;
  if (request.finished) request.finished(request);
}

void Scheduler::finish(const RunPtr& run) {
  count_fork(*run);
  if (!run->generates() && run->outcome == Outcome::pending) keep_prefix(*run);
  if (run->outcome == Outcome::pending) {
    run->outcome = Outcome::done;
    for (Reading& reading : run->readings) reading.end();
  }
  const bool keep =
      run->outcome != Outcome::cancelled && (run->has_children || RunTable::shareable(run->request()));
  if (!keep) table_.remove(run);
  if (!run->has_children) run->sequence.reset();
  run->draft.reset();
  const std::vector<RequestPtr> served = run->requests;
  if (keep) {
    table_.keep_finished(run);
    table_.trim_finished(model_.batch_tokens());
  }
  for (const RequestPtr& request : served) deliver(*run, *request);
}

void Scheduler::refuse(const RequestPtr& request, const std::string& problem) {
  if (request->parent) request->parent->lower_forks();
  request->outcome = Outcome::refused;
  request->problem = problem;
  if (request->finished) request->finished(*request);
}

}  // namespace carbon
