#include "src/serve/work.hpp"

#include <algorithm>
#include <exception>
#include <span>
#include <string_view>
#include <utility>

#include "src/base/json.hpp"
#include "src/base/words.hpp"
#include "src/sampling/joint.hpp"
#include "src/serve/metrics.hpp"
#include "src/serve/service.hpp"
#include "src/verbs/fields.hpp"
#include "src/verbs/served_model.hpp"

namespace carbon {
namespace {

using std::chrono::steady_clock;

constexpr const char* kNoteHeader = "X-Carbon-Note";
// Long beside what it costs to change from one work to another, and short for a client that waits for
// several.
constexpr std::chrono::milliseconds kTurn{10};

double seconds_of(steady_clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

std::string Work::error_piece(const ApiError& error) const {
  return "data: " + error.body() + "\n\ndata: [DONE]\n\n";
}

void Work::report_ignored(const Fields& fields) {
  constexpr size_t kMost = 8;  // a header is not for lists
  std::vector<std::string> names = fields.others();
  if (names.empty()) return;
  const bool more = names.size() > kMost;
  if (more) names.resize(kMost);
  add_note("ignored fields: " + joined(names, ", ", printable) + (more ? ", ..." : ""));
}

void Work::tell(const std::string& note) {
  if (!note.empty()) add_note(note);
}

void Work::add_note(const std::string& text) {
  note_ += (note_.empty() ? "" : "; ") + text;
  service_->log().info("serve", request().path + ": " + text);
}

void Work::run(const std::vector<RequestPtr>& requests) {
  bool none = false;
  {
    const std::lock_guard lock(mutex_);
    if (ended_ || stopped_) return;
    requests_.insert(requests_.end(), requests.begin(), requests.end());
    pending_ += requests.size();
    none = pending_ == 0;
  }
  if (none) return schedule(kFinished);
  // The service keeps this object until the last request is finished.
  for (const RequestPtr& request : requests) {
    request->owner = owner_;
    request->finished = [this](Request&) { request_finished(); };
  }
  try {
    service_->queue_.push(requests);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    pending_ -= requests.size();
    throw;
  }
}

// Once the last request is counted, a worker may end this object.
void Work::request_finished() {
  const std::lock_guard lock(mutex_);
  if (--pending_ == 0) schedule_locked(kFinished);
}

void Work::stop(const ApiError& reason) {
  {
    const std::lock_guard lock(mutex_);
    if (ended_ || stopped_) return;
    stopped_ = reason;
  }
  cancel_requests();
  schedule(0);
}

void Work::cancel_requests() {
  const std::lock_guard lock(mutex_);
  for (const RequestPtr& request : requests_) request->cancelled = true;
}

void Work::schedule(unsigned todo) {
  const std::lock_guard lock(mutex_);
  schedule_locked(todo);
}

void Work::schedule_locked(unsigned todo) {
  todo_ |= todo;
  if (!std::exchange(scheduled_, true)) post();
}

void Work::post() {
  service_->workers_.post([self = shared_from_this()] { self->drive(); });
}

// A turn: does what is to be done by now. What is asked for meanwhile is done in the next.
void Work::drive() {
  unsigned todo = 0;
  std::optional<ApiError> stopped;
  {
    const std::lock_guard lock(mutex_);
    todo = std::exchange(todo_, 0);
    if (!ended_) stopped = stopped_;
  }
  if (stopped) {
    service_->metrics().ended(Metrics::End::abort, 0);
    fail(*stopped);
  }
  turn_end_ = steady_clock::now() + kTurn;
  for (const unsigned one : {kBegin, kMore, kLook, kFinished})
    if ((todo & one) != 0) do_one(one);
  bool done = false;
  {
    const std::lock_guard lock(mutex_);
    if (todo_ != 0 || (stopped_ && !ended_)) return post();
    scheduled_ = false;
    done = ended_ && pending_ == 0;
  }
  if (done) service_->finished(*this);
}

void Work::do_one(unsigned todo) {
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
  }
  try {
    if (todo == kBegin) begin();
    if (todo == kMore) more();
    if (todo == kLook) look();
    if (todo == kFinished) {
      check_requests();
      forget_requests();
      finished();
    }
  } catch (...) {
    fail(api_error_of(std::current_exception()));
  }
}

// The scheduler refuses what endpoints have not found, such as a sequence beyond the model's context.
void Work::check_requests() const {
  for (const RequestPtr& request : requests_) {
    if (request->outcome == Outcome::refused) throw ApiError(400, request->problem);
    if (request->outcome == Outcome::not_finite)
      throw ApiError(500, "a result is not finite; the checkpoint's weights or activations are not finite");
  }
}

// Their results may be large, and the endpoint may be about to run more of them.
void Work::forget_requests() {
  const std::lock_guard lock(mutex_);
  requests_.clear();
}

void Work::fail(const ApiError& error) {
  if (!streaming_) return answer(error.answer());
  send(error_piece(error));
  end_stream();
}

void Work::answer(HttpAnswer answer) {
  if (!note_.empty()) answer.headers.emplace_back(kNoteHeader, note_);
  exchange_->answer(std::move(answer));
  end();
}

void Work::answer_json(std::string body) {
  HttpAnswer whole;
  whole.body = std::move(body);
  answer(std::move(whole));
}

void Work::start_stream(std::string content_type) {
  HttpAnswer head;
  head.content_type = std::move(content_type);
  if (!note_.empty()) head.headers.emplace_back(kNoteHeader, note_);
  streaming_ = true;
  exchange_->start(std::move(head));
}

void Work::send(std::string piece) {
  exchange_->send(std::move(piece));
}

void Work::end_stream() {
  exchange_->finish();
  end();
}

void Work::end() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  cancel_requests();
}

// ---- A work for the model.

void ModelWork::answer_read(size_t tokens, std::string body) {
  service().metrics().tokens(tokens, 0);
  service().metrics().ended(Metrics::End::length, seconds());
  answer_json(std::move(body));
}

void ModelWork::begin() {
  const Fields fields = Fields::of_body(request().body);
  check_name(fields);
  begin(fields);
}

// Another model is not served.
void ModelWork::check_name(const Fields& fields) const {
  const std::string asked = fields.text("model", served_.name());
  const std::vector<std::string>& names = served_.names();
  if (std::find(names.begin(), names.end(), asked) != names.end()) return;
  throw ApiError(404,
                 "the model '" + printable(asked) + "' is not served here; the one that is has the name '" +
                     served_.name() + "'",
                 "model", "model_not_found");
}

// ---- What is drawn meanwhile.

std::shared_ptr<SampleFeed> SampleFeed::attach(Request& sample, Work* work, Metrics& metrics,
                                               steady_clock::time_point arrived) {
  const auto feed = std::make_shared<SampleFeed>();
  feed->arrived_ = arrived;
  sample.started = [&metrics, arrived] { metrics.queued(seconds_of(steady_clock::now() - arrived)); };
  sample.progressed = [feed, work, &metrics](const Request& request, size_t added) {
    feed->drawn(request, added, metrics);
    if (work) work->wake();
  };
  return feed;
}

// `added` is 0 if the logits for the next 6-mer were not finite.
void SampleFeed::drawn(const Request& sample, size_t added, Metrics& metrics) {
  if (added == 0) return;
  const steady_clock::time_point now = steady_clock::now();
  if (last_) {
    metrics.next_token(seconds_of(now - *last_));
  } else {
    metrics.first_token(seconds_of(now - arrived_));
  }
  last_ = now;
  const std::lock_guard lock(mutex_);
  const auto from_end = [](auto& list, size_t n) { return list.end() - static_cast<ptrdiff_t>(n); };
  news_.kmers.insert(news_.kmers.end(), from_end(sample.kmers, added), sample.kmers.end());
  news_.logp = sample.logp;
  if (!sample.generation->rank) return;
  const std::span<const double> ranks = sample.values();
  news_.ranks.insert(news_.ranks.end(), from_end(ranks, added * kRankWidth), ranks.end());
}

SampleFeed::News SampleFeed::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(news_, {});
}

}  // namespace carbon
