// The scheduler's results: heads are read from the rows of a pass, 6-mers drawn, and values handed over.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "src/engine/drafter.hpp"
#include "src/engine/scheduler.hpp"

namespace carbon {
namespace {

template <class T>
bool all_finite(std::span<const T> values) {
  return std::all_of(values.begin(), values.end(), [](T value) { return std::isfinite(value); });
}

}  // namespace

// Slices of one class and head lie together, and so do their rows.
void Scheduler::read_heads(const Pass& pass, const HiddenRows& rows) {
  const auto alike = [](const Slice& a, const Slice& b) {
    return a.row_class == b.row_class && a.run->generates() == b.run->generates() &&
           (a.run->generates() || a.run->head() == b.run->head());
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
      read_group({at, end}, part);
    row += count;
    at = end;
  }
}

void Scheduler::read_group(std::span<const Slice> slices, const HiddenRows& rows) {
  const HeadKind head = slices.front().run->head();
  const bool is_double = head == HeadKind::marginals || head == HeadKind::token_logprobs;
  const size_t width = head == HeadKind::marginals        ? ops::kMarginals
                       : head == HeadKind::token_logprobs ? 1
                       : head == HeadKind::kmer_logits    ? ops::kKmers
                                                          : model_.config().hidden;
  std::vector<double> values(is_double ? rows.count * width : 0);
  std::vector<float> states(is_double || head == HeadKind::none ? 0 : rows.count * width);
  if (rows.count > 0 && head == HeadKind::marginals) model_.head().marginals(rows, values.data());
  if (rows.count > 0 && head == HeadKind::kmer_logits) model_.head().kmer_logits(rows, states.data());
  if (rows.count > 0 && head == HeadKind::token_logprobs) {
    std::vector<uint32_t> targets;
    for (const Slice& slice : slices) {
      const SequenceRun& run = *slice.run;
      const auto first = run.request().targets.begin() +
                         static_cast<ptrdiff_t>(run.done + slice.want_begin - run.want_begin);
      targets.insert(targets.end(), first, first + static_cast<ptrdiff_t>(slice.wanted()));
    }
    model_.head().token_logprob(rows, targets, values.data());
  }
  if (rows.count > 0 && (head == HeadKind::hidden || head == HeadKind::mean_hidden))
    model_.decoder().download_residual(rows, states.data());

  std::span<double> doubles(values);
  std::span<float> floats(states);
  for (const Slice& slice : slices) {
    SequenceRun& run = *slice.run;
    if (is_double) {
      const auto mine = doubles.first(slice.wanted() * width);
      doubles = doubles.subspan(mine.size());
      run.values->insert(run.values->end(), mine.begin(), mine.end());
      run.finite = run.finite && all_finite<double>(mine);
    } else if (head != HeadKind::none) {
      const auto mine = floats.first(slice.wanted() * width);
      floats = floats.subspan(mine.size());
      if (head != HeadKind::kmer_logits && run.request().layer == kFinalNorm)
        model_.decoder().final_norm(mine.data(), slice.wanted());
      run.finite = run.finite && all_finite<float>(mine);
      if (head == HeadKind::mean_hidden) {
        run.sums.resize(width);
        for (size_t i = 0; i < mine.size(); ++i) run.sums[i % width] += double{mine[i]};
      } else {
        run.states.insert(run.states.end(), mine.begin(), mine.end());
      }
    }
    run.done += slice.tokens.size();
  }
}

// The first 6-mer of a prompt's sample, and the next ones of living samples. All that a sample draws from has
// the class of its row, however many rows there are, so that a draft changes no bit of it.
void Scheduler::draw(std::span<const Slice> slices, const HiddenRows& rows) {
  DrawChains chains;
  std::vector<const Slice*> drawing;
  std::vector<size_t> drawn_before;
  for (const Slice& slice : slices) {
    SequenceRun& run = *slice.run;
    if (slice.wanted() == 0) run.done += slice.tokens.size();  // a part of a prompt
    if (slice.wanted() == 0) continue;
    const size_t drawn = run.request().kmers.size();
    for (size_t i = 0; i < slice.wanted(); ++i) chains.add(run.draw(drawn + i));
    chains.end_chain();
    drawing.push_back(&slice);
    drawn_before.push_back(drawn);
  }
  if (drawing.empty()) return;
  const uint32_t first_kmer = model_.config().layout.kmer0();
  draws_.draw(rows, model_.decoder(), chains, [&](size_t chain, const ops::DrawnKmer& drawn) {
    SequenceRun& run = *drawing[chain]->run;
    if (!run.take(drawn, first_kmer)) return false;
    const size_t at = run.request().kmers.size() - 1 - drawn_before[chain];
    return at < run.proposed.size() && run.request().kmers.back() == run.proposed[at];
  });
  for (size_t i = 0; i < drawing.size(); ++i) {
    SequenceRun& run = *drawing[i]->run;
    const size_t added = run.request().kmers.size() - drawn_before[i];
    counts_.drawn += added;
    run.done = run.tokens.size() - 1;
    run.sequence->truncate(std::min(run.sequence->length(), run.shared + run.done));
    if (run.request().progressed) run.request().progressed(run.request(), added);
  }
}

// The first 6-mers of samples whose parent has the logits.
void Scheduler::draw_first(const std::vector<RunPtr>& runs) {
  if (runs.empty()) return;
  DrawChains chains;
  std::vector<const float*> logits;
  for (const RunPtr& run : runs) {
    chains.add(run->draw(0));
    chains.end_chain();
    const std::vector<float>& states = run->request().parent->states;
    logits.push_back(states.data() + states.size() - ops::kKmers);
  }
  const uint32_t first_kmer = model_.config().layout.kmer0();
  draws_.draw_from_logits(logits, chains, [&](size_t i, const ops::DrawnKmer& drawn) {
    runs[i]->take(drawn, first_kmer);
    return true;
  });
  counts_.drawn += runs.size();
  for (const RunPtr& run : runs)
    if (run->request().progressed) run->request().progressed(run->request(), 1);
}

void Scheduler::deliver(SequenceRun& run, Request& request) {
  if (request.outcome != Outcome::pending) return;
  const size_t width = request.head == HeadKind::marginals ? ops::kMarginals : 1;
  request.value_store = run.values;
  request.first_value = request.head == HeadKind::none || run.values->empty()
                            ? 0
                            : (request.want_begin + run.request_begin - run.want_begin) * width;
  request.states = RunTable::shareable(request) ? run.states : std::move(run.states);
  request.outcome = run.outcome;
  if (request.finished) request.finished(request);
}

void Scheduler::finish(const RunPtr& run) {
  count_fork(*run);
  if (run->outcome == Outcome::pending) run->outcome = run->finite ? Outcome::done : Outcome::not_finite;
  if (!run->sums.empty()) {
    const auto rows = static_cast<double>(run->tokens.size() - run->want_begin);
    for (const double sum : run->sums) run->states.push_back(static_cast<float>(sum / rows));
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
  if (request->parent && request->parent->forks > 0) --request->parent->forks;
  request->outcome = Outcome::refused;
  request->problem = problem;
  if (request->finished) request->finished(*request);
}

}  // namespace carbon
