#include "src/engine/sequence_run.hpp"

#include <algorithm>
#include <string_view>

namespace carbon {
namespace {

// A difference of a value and itself is 0, unless the value is infinite or NaN. Written so that the compiler
// uses vectors: a GPU waits while this runs.
template <class T>
bool all_finite(std::span<const T> values) {
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < values.size(); ++i) sum += values[i] - values[i];
  return sum == 0;
}

// How many finished runs are kept for equal requests: at most, and whatever their length.
constexpr size_t kKept = 16, kKeptParents = 2;

size_t hash_of(const Request& request) {
  const std::string_view bytes(reinterpret_cast<const char*>(request.tokens.data()),
                               request.tokens.size() * sizeof(request.tokens[0]));
  return std::hash<std::string_view>()(bytes) ^ (request.shared * 0x9e3779b97f4a7c15u);
}

// True if the run's results contain those that `request` asks for, or can still be extended to.
bool can_serve(SequenceRun& run, const Request& request) {
  const bool not_begun = run.done == 0 && run.outcome == Outcome::pending;
  const Reading* reading = run.reading_of(request);
  // Rows of inner layers come from passes of their own.
  if (!reading) return not_begun && request.layer == kFinalNorm && run.request().layer == kFinalNorm;
  const size_t first = request.want_begin + run.request_begin, end = run.end_for(request);
  if (request.head == HeadKind::none) return true;
  if (first == reading->want_begin && end == reading->want_end) return true;
  if (request.head != HeadKind::marginals) return false;
  return not_begun || (first >= reading->want_begin && end <= reading->want_end);
}

}  // namespace

void Reading::keep_values(size_t row, size_t width, std::span<const double> more) {
  values->resize(row * width);
  values->insert(values->end(), more.begin(), more.end());
  finite = finite && all_finite(more);
}

void Reading::keep_states(size_t row, size_t width, std::span<const float> more) {
  finite = finite && all_finite(more);
  states.resize(row * width);
  states.insert(states.end(), more.begin(), more.end());
}

std::vector<uint32_t> Reading::counts(size_t end) const {
  std::vector<uint32_t> counts;
  for (const uint32_t target : targets)
    if (target > summed && target < end) counts.push_back(target - static_cast<uint32_t>(summed));
  if (end > summed) counts.push_back(static_cast<uint32_t>(end - summed));
  return counts;
}

// What is not finite stays so in every later sum.
void Reading::keep_sums(std::span<const uint32_t> counts, std::span<const double> more) {
  const size_t before = summed, width = more.size() / counts.size();
  for (size_t i = 0; i < counts.size(); ++i) {
    const std::span<const double> sum = more.subspan(i * width, width);
    sums.assign(sum.begin(), sum.end());
    summed = before + counts[i];
    if (std::ranges::find(targets, summed) != targets.end()) add_mean();
  }
  finite = finite && all_finite(std::span<const double>(sums));
}

void Reading::add_mean() {
  for (const double sum : sums) states.push_back(static_cast<float>(sum / static_cast<double>(summed)));
}

void Reading::end() {
  if (summed > 0) add_mean();
}

void Reading::clear() {
  values->clear();
  states.clear();
  sums.clear();
  summed = 0;
}

bool RunTable::shareable(const Request& request) {
  if (request.generation) return false;
  if (request.head == HeadKind::hidden || request.head == HeadKind::kmer_logits ||
      request.head == HeadKind::class_logits)
    return request.want_end != kToTheLast || request.want_begin + 1 == request.tokens.size();
  return true;
}

RunPtr RunTable::find_equal(const Request& request) const {
  if (!shareable(request)) return nullptr;
  const auto [begin, end] = by_content_.equal_range(hash_of(request));
  for (auto at = begin; at != end; ++at) {
    SequenceRun& run = *at->second;
    const bool can_fork = request.forks == 0 || run.sequence || run.outcome == Outcome::pending;
    if (can_fork && same_tokens(run.request(), request) && can_serve(run, request)) return at->second;
  }
  return nullptr;
}

RunPtr RunTable::run_of(const Request& request) const {
  const auto found = by_request_.find(&request);
  return found == by_request_.end() ? nullptr : found->second;
}

void RunTable::add(const RunPtr& run) {
  if (shareable(run->request())) by_content_.emplace(hash_of(run->request()), run);
  by_request_.emplace(&run->request(), run);
}

void RunTable::join(const RunPtr& run, const RequestPtr& request) {
  run->requests.push_back(request);
  run->read_for(*request);
  by_request_.emplace(request.get(), run);
}

void RunTable::remove(const RunPtr& run) {
  for (const RequestPtr& request : run->requests) by_request_.erase(request.get());
  const auto [begin, end] = by_content_.equal_range(hash_of(run->request()));
  for (auto at = begin; at != end; ++at)
    if (at->second == run) {
      by_content_.erase(at);
      break;
    }
  run->sequence.reset();
}

bool RunTable::awaits_children(const SequenceRun& run) {
  return std::any_of(run.requests.begin(), run.requests.end(),
                     [](const RequestPtr& request) { return request->forks > 0; });
}

size_t RunTable::kept_for_children() const {
  size_t tokens = 0;
  for (const RunPtr& run : finished_)
    if (run->sequence && awaits_children(*run)) tokens += run->sequence->length();
  return tokens;
}

size_t RunTable::kept_pages() const {
  size_t pages = 0;
  for (const RunPtr& run : finished_)
    if (run->sequence) pages += pages_for(run->sequence->length());
  return pages;
}

void RunTable::keep_finished(const RunPtr& run) {
  // Forgets the requests that have no more children to come, except the first one, which says what the run
  // has computed.
  const auto served = [](const RequestPtr& request) { return request->forks == 0; };
  for (auto at = run->requests.begin() + 1; at != run->requests.end();) {
    if (served(*at)) by_request_.erase(at->get());
    at = served(*at) ? run->requests.erase(at) : at + 1;
  }
  std::erase(finished_, run);
  finished_.push_back(run);
}

void RunTable::trim_finished(size_t tokens) {
  size_t kept = 0, parents = 0, kept_tokens = 0;
  for (size_t i = finished_.size(); i-- > 0;) {
    const RunPtr run = finished_[i];
    if (awaits_children(*run)) continue;
    ++kept;
    if (run->sequence) ++parents;
    kept_tokens += run->tokens.size();
    const bool among_newest = run->sequence && parents <= kKeptParents;
    if (among_newest || (kept <= kKept && kept_tokens <= tokens)) continue;
    remove(run);
    finished_.erase(finished_.begin() + static_cast<ptrdiff_t>(i));
  }
}

bool RunTable::drop_finished() {
  const size_t before = finished_.size();
  std::erase_if(finished_, [&](const RunPtr& run) {
    if (awaits_children(*run)) return false;
    remove(run);
    return true;
  });
  return finished_.size() < before;
}

void RunTable::clear() {
  by_content_.clear();
  by_request_.clear();
  finished_.clear();
}

}  // namespace carbon
