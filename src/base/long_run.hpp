// A run that takes long: shares of it for the tasks of a job array, an estimate of how long it takes, a
// request to stop it, what it says and keeps when it is stopped or fails, and what must be equal for --resume
// to continue it.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "src/base/error.hpp"
#include "src/base/log.hpp"

namespace carbon {

/// The I-th of N contiguous shares of a run's work.
struct Shard {
  uint64_t index = 1, count = 1;  // 1 <= index <= count
};

/// Reads `I/N`. Throws Error.
Shard parse_shard(const std::string& text);
/// As parse_shard() reads it.
std::string shard_text(const Shard& shard);

/// Items [begin, end), counted from 0.
struct IndexRange {
  uint64_t begin = 0, end = std::numeric_limits<uint64_t>::max();
};

/// The sizes of shares differ by at most one item; the shares 1/N to N/N are all items in order.
IndexRange share_of(const Shard& shard, uint64_t items);

/// What a run is asked for that computes nothing but says how long it would take, and proposes shares.
struct EstimateOptions {
  bool wanted = false;
  double limit = 0;  // seconds that a share may take; 0: no shares are proposed
  std::function<std::string(uint64_t shares)> share_command = {};  // the command of share $I of so many
};

/// A request from outside to stop a long run at a safe point. The command line makes one from signals.
class StopRequests {
 public:
  virtual ~StopRequests() = default;
  /// From now on the first request to stop calls `request`, in an ordinary thread. It must not throw.
  virtual void watch(std::function<void()> request) = 0;
  /// From now on a request does what it would have done without this object.
  virtual void ignore() = 0;
  /// Who asked, for messages; "" if nobody has.
  virtual std::string asked_by() const = 0;
  /// Ends the process, as whoever asked expects it.
  [[noreturn]] virtual void end() = 0;
};

/// Says that the run is about to stop, and how to end it at once.
void say_stopping(const StopRequests& stop, const std::string& command, Log& log);

/// What a run says that ends early.
struct EarlyEnd {
  std::string command;  // "vep"
  std::string done;     // "17 records"
  std::function<std::string()>
      saved_in;                 // the file from which --resume continues, asked after `flush`; "": none
  std::exception_ptr failure;   // of the work that was still finished, or null
  std::function<void()> flush;  // writes or marks what is finished; not called after a failure
  std::string save_point = {};  // of a run that --resume could continue later, e.g. "every 65,536th base"
};

/// Ends the process after a request to stop, with messages. Nothing is destroyed, because threads of the run
/// may still be working.
void end_early(StopRequests& stop, const EarlyEnd& run, Log& log);

/// The input is not the one that the interrupted run had read. So its work cannot be continued with this
/// input, and the advice is to discard it.
class OtherInput : public Error {
 public:
  explicit OtherInput(const std::string& message)
      : Error("resume", message, {"or discard it with {--restart}"}) {}
};

/// A run whose work an error does not lose.
struct KeptWork {
  std::string command;                    // "vep"
  std::function<std::string()> saved_in;  // the file from which --resume continues; "" if there is none yet
  Log& log;
};

/// Says that reading ended, while the run still computes what it has read before. Why, the error says with
/// which the run ends; and whether anything is kept, it says then, too.
void say_finishing(const KeptWork& kept);

/// Calls `work`. An error of it that leaves something to continue says so when it is thrown on; an OtherInput
/// does not.
void run_keeping(const KeptWork& kept, const std::function<void()>& work);

/// What must be equal for a run to continue an earlier one that was interrupted, by the names that messages
/// use: "model", "window" and so on.
using RunIdentity = std::map<std::string, std::string>;

/// What becomes of the file that an interrupted run has left.
enum class EarlierRun {
  refuse,   // the run ends with an error, so that nothing is lost
  resume,   // the run continues from it
  discard,  // the run starts from the beginning
};

/// As JSON on one line. Bytes that are not UTF-8 are replaced.
std::string identity_json(const RunIdentity& run);

/// What differs between identity_json() of an earlier run and `run`, e.g. "window 8192, now 4096"; "" if they
/// are equal. Throws Error, which names `path`, for a text that is not JSON.
std::string identity_differences(std::string_view earlier, const RunIdentity& run, const std::string& path);

}  // namespace carbon
