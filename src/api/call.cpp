#include "src/api/call.hpp"

#include <algorithm>
#include <utility>

#include "src/base/json.hpp"
#include "src/base/words.hpp"

namespace carbon::api {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// So many pieces are under way even if they are large: while one is computed, the next ones must be ready.
constexpr size_t kLeastPieces = 6;
// What a piece takes besides its requests. Pieces without any are held back by it, too.
constexpr size_t kPieceBytes = 1024;
// How often whoever waits looks whether the engine has failed.
constexpr milliseconds kLook{100};

}  // namespace

void Call::Bell::ring() {
  const std::lock_guard lock(mutex_);
  ++rings_;
  rung_.notify_all();
}

uint64_t Call::Bell::rings_now() {
  const std::lock_guard lock(mutex_);
  return rings_;
}

void Call::Bell::request_finished(std::atomic<size_t>& pending) {
  const std::lock_guard lock(mutex_);
  if (--pending > 0 || awaited_ != &pending) return;
  ++rings_;
  rung_.notify_all();
}

void Call::Bell::wait(uint64_t heard, const Pending& pending, steady_clock::time_point until) {
  std::unique_lock lock(mutex_);
  awaited_ = pending.get();
  rung_.wait_until(lock, until, [&] { return rings_ != heard || (pending && *pending == 0); });
}

namespace {

const VerbEntry& known_verb(const std::string& name) {
  if (const VerbEntry* const entry = find_verb(name)) return *entry;
  std::vector<std::string> names;
  for (const VerbEntry& known : verb_table()) names.emplace_back(known.name);
  throw Problem(CARBON_E_ARGUMENT, "'" + printable(name) + "' is not a verb; it must be " + or_list(names));
}

}  // namespace

NamedVerb::NamedVerb(const std::string& name, const OpenModel& model, const Fields& options)
    : NamedVerb(known_verb(name), model, options, Door::library, nullptr,
                [&log = model.log()](const std::string& note) { log.info("carbon", note); }) {}

NamedVerb::NamedVerb(const VerbEntry& entry, const OpenModel& model, const Fields& options, Door door,
                     SharedReference* reference, std::function<void(const std::string&)> note)
    : inputs(entry.inputs) {
  or_code(CARBON_E_MODEL, [&] { check_use(model.served().model().checkpoint(), entry.use); });
  Log& log = model.log();
  const VerbContext context{model.served(), reference, std::move(note),
                            [&log](const std::string& advice) { log.warning("carbon", advice); }, log};
  verb = or_code(CARBON_E_SETTING, [&] { return make_verb(entry, context, options, door); });
}

Call::Call(std::shared_ptr<OpenModel> model, NamedVerb verb)
    : model_(std::move(model)), verb_(std::move(verb)), owner_(model_->new_owner()) {}

Call::~Call() {
  cancel_requests();
}

// Throws what has ended the call, if anything has.
void Call::check() {
  {
    const std::lock_guard lock(stop_mutex_);
    if (stopped_) throw Problem(*stopped_);
  }
  or_code(CARBON_E_FAILED, [&] { model_->check(); });
}

int Call::add(std::string_view text) {
  const std::lock_guard lock(mutex_);
  check();
  if (ended_) throw Problem(CARBON_E_ARGUMENT, "carbon_call_end() has said that no more inputs come");
  run_waiting();
  if (!waiting_.empty()) return CARBON_E_AGAIN;
  const std::string name = verb_.inputs + ("[" + std::to_string(added_) + "]");
  or_code(CARBON_E_INPUT,
          [&] { plan([&](const Emit& emit) { verb_.verb->add(added_, name, text, emit); }); });
  ++added_;
  run_waiting();
  bell_->ring();
  return CARBON_OK;
}

void Call::end() {
  const std::lock_guard lock(mutex_);
  check();
  ended_ = true;
  bell_->ring();
}

// An input whose planning fails leaves nothing behind.
void Call::plan(const std::function<void(const Emit&)>& work) {
  std::deque<Piece> pieces;
  work([&](Piece piece) { pieces.push_back(std::move(piece)); });
  progress_.planned += pieces.size();
  for (Piece& piece : pieces) waiting_.push_back(std::move(piece));
}

// Gives the engine as much as fills its passes.
void Call::run_waiting() {
  std::vector<RequestPtr> requests;
  while (!waiting_.empty() && (held_ < model_->most_bytes() || running_.size() < kLeastPieces)) {
    run_next(requests);
    while (!waiting_.empty() && waiting_.front().linked) run_next(requests);
  }
  if (!requests.empty()) or_code(CARBON_E_FAILED, [&] { model_->run(requests); });
}

void Call::run_next(std::vector<RequestPtr>& requests) {
  Running& running = running_.emplace_back();
  running.piece = std::move(waiting_.front());
  waiting_.pop_front();
  running.bytes = kPieceBytes;
  running.pending = std::make_shared<std::atomic<size_t>>(running.piece.requests.size());
  for (const RequestPtr& request : running.piece.requests) {
    request->owner = owner_;
    running.bytes += request->bytes(result_sizes(model_->served().config()));
    request->finished = [bell = bell_, pending = running.pending](Request&) {
      bell->request_finished(*pending);
    };
    requests.push_back(request);
  }
  held_ += running.bytes;
}

// Makes results of what is finished, until there is one.
void Call::take_finished() {
  while (results_.empty() && !running_.empty() && *running_.front().pending == 0) {
    const Running done = std::move(running_.front());
    running_.pop_front();
    held_ -= done.bytes;
    for (const RequestPtr& request : done.piece.requests)
      if (request->outcome == Outcome::refused) throw Problem(CARBON_E_INPUT, request->problem);
    Findings findings;
    // What is wrong where nothing was computed is wrong with the input.
    or_code(done.piece.requests.empty() ? CARBON_E_INPUT : CARBON_E_FAILED,
            [&] { done.piece.take(findings); });
    ++progress_.done;
    progress_.planned += findings.next.size();
    for (Result& result : findings.results) results_.push_back(std::move(result));
    if (findings.next.empty()) continue;
    // They are few, and what comes after them waits for them anyway.
    std::deque<Running> after = std::exchange(running_, {});
    std::deque<Piece> later = std::exchange(waiting_, {});
    std::vector<RequestPtr> requests;
    for (Piece& piece : findings.next) {
      waiting_.push_back(std::move(piece));
      run_next(requests);
    }
    for (Running& running : after) running_.push_back(std::move(running));
    waiting_ = std::move(later);
    or_code(CARBON_E_FAILED, [&] { model_->run(requests); });
  }
}

int Call::next(milliseconds timeout) {
  const auto until = steady_clock::now() + timeout;
  std::unique_lock lock(mutex_);
  current_.reset();
  for (;;) {
    check();
    const uint64_t heard = bell_->rings_now();
    try {
      advance();
    } catch (const Problem& problem) {
      set_stopped(problem);
      cancel_requests();
      throw;
    }
    if (!results_.empty()) {
      current_ = std::move(results_.front());
      results_.pop_front();
      return CARBON_OK;
    }
    if (running_.empty() && ended_) return CARBON_E_END;
    const auto now = steady_clock::now();
    if (now >= until) return CARBON_E_AGAIN;
    const Pending front = running_.empty() ? nullptr : running_.front().pending;
    lock.unlock();
    bell_->wait(heard, front, std::min(until, now + kLook));
    lock.lock();
  }
}

// Goes on as far as it can without waiting.
void Call::advance() {
  take_finished();
  if (results_.empty() && running_.empty() && waiting_.empty())
    or_code(CARBON_E_INPUT, [&] {
      plan([&](const Emit& emit) { verb_.verb->flush(emit); });
      if (ended_ && waiting_.empty()) verb_.verb->end();
    });
  run_waiting();
  take_finished();  // what needs no request
}

Call::Progress Call::progress() {
  const std::lock_guard lock(mutex_);
  check();
  return progress_;
}

void Call::compute(const std::vector<std::string>& inputs, const std::atomic<bool>& cancelled,
                   const std::function<void(size_t done, size_t planned)>& tell,
                   const std::function<void(const Result&)>& take) {
  size_t told = 0;
  auto last = steady_clock::now();
  const auto step = [&] {
    if (cancelled) throw Problem(CARBON_E_CANCELLED, "the call was cancelled");
    const int code = next(kLook);
    if (code == CARBON_OK) take(*current_);
    const Progress now = progress();
    if (tell && now.done > told && (code == CARBON_E_END || steady_clock::now() - last >= kLook)) {
      tell(told = now.done, now.planned);
      last = steady_clock::now();
    }
    return code;
  };
  for (const std::string& input : inputs)
    while (add(input) == CARBON_E_AGAIN) step();
  end();
  while (step() != CARBON_E_END) continue;
}

const Array& Call::array(std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (!current_)
    throw Problem(CARBON_E_ARGUMENT, "there is no result: carbon_call_next() has to return CARBON_OK first");
  for (const Array& array : *current_)
    if (array.name() == name) return array;
  std::string names;
  for (const Array& array : *current_) names += (names.empty() ? "" : ", ") + std::string(array.name());
  throw Problem(CARBON_E_ARGUMENT, "the result has no array '" + printable(name) + "'; it has " + names);
}

void Call::set_stopped(const Problem& why) {
  {
    const std::lock_guard lock(stop_mutex_);
    if (!stopped_) stopped_ = why;
  }
  bell_->ring();
}

void Call::stop(const Problem& why) {
  set_stopped(why);
  const std::lock_guard lock(mutex_);
  cancel_requests();
}

void Call::close(const Problem& why) {
  set_stopped(why);
  const std::lock_guard lock(mutex_);
  cancel_requests();
  waiting_.clear();
  running_.clear();
  verb_.verb.reset();
  model_.reset();
}

void Call::cancel_requests() {
  for (const Running& running : running_)
    for (const RequestPtr& request : running.piece.requests) request->cancelled = true;
}

}  // namespace carbon::api
