#include "src/engine/run_table.hpp"

#include <algorithm>
#include <string_view>

namespace carbon {
namespace {

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
  const size_t first = request.want_begin + run.request_begin;
  if (first == reading->want_begin || request.head == HeadKind::none) return true;
  if (request.head != HeadKind::marginals) return false;
  return first > reading->want_begin || not_begun;
}

}  // namespace

bool RunTable::shareable(const Request& request) {
  if (request.generation) return false;
  if (request.head == HeadKind::hidden || request.head == HeadKind::kmer_logits)
    return request.want_begin + 1 == request.tokens.size();
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
    if (run->sequence) pages += (run->sequence->length() + ops::kPageTokens - 1) / ops::kPageTokens;
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
