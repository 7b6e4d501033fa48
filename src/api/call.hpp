// src/api/: libcarbon, the C interface of include/carbon/carbon.h: sequences or variants of the caller come
// in, and results with their arrays go out, in the order of the inputs.
//
// Here is one call on a model. The engine computes while the caller does other things; planning and the
// taking of results happen in the caller's threads.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "src/api/open_model.hpp"
#include "src/api/problem.hpp"
#include "src/verbs/fields.hpp"
#include "src/verbs/verb.hpp"

namespace carbon::api {

/// A verb with its options, as a door has read them.
struct NamedVerb {
  /// `note` takes what users should know of inputs. Throws Problem for a model that cannot be used so, and
  /// for options.
  NamedVerb(const VerbEntry& entry, const OpenModel& model, const Fields& options, Door door,
            SharedReference* reference, std::function<void(const std::string&)> note);
  /// The same for the library. Throws Problem, also for a name that no verb has.
  NamedVerb(const std::string& name, const OpenModel& model, const Fields& options);

  std::string inputs;  // what messages call them, in the plural
  std::unique_ptr<Verb> verb;
};

/// All functions may be called from any thread, and throw Problem.
class Call {
 public:
  Call(std::shared_ptr<OpenModel> model, NamedVerb verb);
  /// Cancels the call.
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// Returns CARBON_E_AGAIN if there is no room for an input now.
  int add(std::string_view text);
  void end();
  /// Goes on to the next result. Returns CARBON_E_AGAIN if there is none after this time, and CARBON_E_END if
  /// there are no more.
  int next(std::chrono::milliseconds timeout);
  /// Of the inputs so far: how many of their pieces (a window, a sample) are computed and taken, and how many
  /// they are.
  struct Progress {
    size_t done = 0, planned = 0;
  };
  Progress progress();
  /// Adds all inputs, and calls `take` for each result. `progress` (may be null) is called now and then.
  /// Throws Problem of the code CARBON_E_CANCELLED soon after another thread has set `cancelled`.
  void compute(const std::vector<std::string>& inputs, const std::atomic<bool>& cancelled,
               const std::function<void(size_t done, size_t planned)>& progress,
               const std::function<void(const Result&)>& take);
  /// An array of the result at hand, valid until the next next().
  const Array& array(std::string_view name);
  /// Whoever waits in next() stops at once, with this problem, as does each later use.
  void stop(const Problem& why);
  /// The same, and lets go of the model.
  void close(const Problem& why);

 private:
  using Pending = std::shared_ptr<std::atomic<size_t>>;  // how many requests of a piece are not finished
  // What tells whoever waits that there is something to see. The engine's thread may ring it when the call is
  // gone.
  class Bell {
   public:
    void ring();
    uint64_t rings_now();
    /// The engine's thread: one request less. Rings for the piece that is waited for.
    void request_finished(std::atomic<size_t>& pending);
    /// Waits until it has rung since `heard`, or `pending` (may be null) is 0.
    void wait(uint64_t heard, const Pending& pending, std::chrono::steady_clock::time_point until);

   private:
    std::mutex mutex_;
    std::condition_variable rung_;
    uint64_t rings_ = 0;
    const void* awaited_ = nullptr;
  };
  struct Running {
    Piece piece;
    size_t bytes = 0;
    Pending pending;
  };

  void check();
  void plan(const std::function<void(const Emit&)>& work);
  void run_waiting();
  void run_next(std::vector<RequestPtr>& requests);
  void take_finished();
  void advance();
  void set_stopped(const Problem& why);
  void cancel_requests();

  std::mutex mutex_;  // guards what follows
  std::shared_ptr<OpenModel> model_;
  NamedVerb verb_;
  uint64_t owner_;  // of its requests
  size_t added_ = 0;
  bool ended_ = false;
  std::deque<Piece> waiting_;    // not given to the engine yet
  std::deque<Running> running_;  // given to the engine, in the order in which they are taken
  size_t held_ = 0;              // bytes of these
  Progress progress_;
  std::deque<Result> results_;
  std::optional<Result> current_;

  std::mutex stop_mutex_;  // guards what follows, because a stop must not wait for planning
  std::optional<Problem> stopped_;

  const std::shared_ptr<Bell> bell_ = std::make_shared<Bell>();
};

}  // namespace carbon::api
