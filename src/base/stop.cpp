#include "src/base/stop.hpp"

#include "src/base/advice_topics.hpp"
#include "src/base/error.hpp"

namespace carbon {

void end_early(StopRequests& stop, const EarlyEnd& run, Log& log) {
  try {
    if (run.failure) std::rethrow_exception(run.failure);
    run.flush();
  } catch (const Error& error) {
    log.error(error.function(), error.what(), error.advice());
  } catch (const std::exception& error) {
    log.error(run.command, error.what());
  }
  const bool saved = !run.saved_in.empty();
  log.warning(run.command,
              "stopped by " + stop.asked_by() + " after " + run.done +
                  (saved ? ""
                   : run.save_point.empty()
                       ? "; the output is not complete"
                       : "; nothing is kept, because a run can be continued only from " + run.save_point),
              saved ? Advice{AdviceTopic::resume, {run.saved_in}} : Advice{});
  stop.end();
}

}  // namespace carbon
