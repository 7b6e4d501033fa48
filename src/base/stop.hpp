// A request from outside to stop a long run at a safe point. The command line makes one from signals.
#pragma once

#include <exception>
#include <functional>
#include <string>

#include "src/base/log.hpp"

namespace carbon {

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

}  // namespace carbon
