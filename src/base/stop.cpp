#include "src/base/stop.hpp"

#include "src/base/error.hpp"

namespace carbon {

void say_stopping(const StopRequests& stop, const std::string& command, Log& log) {
  log.message(
      command,
      stop.asked_by() + ": stopping; what is finished is written, and a second signal ends the run at once");
}

void end_early(StopRequests& stop, const EarlyEnd& run, Log& log) {
  try {
    if (run.failure) std::rethrow_exception(run.failure);
    run.flush();
  } catch (const Error& error) {
    log.error(error.function(), error.what(), error.advice());
  } catch (const std::exception& error) {
    log.error(run.command, error.what());
  }
  const std::string saved_in = run.saved_in ? run.saved_in() : "";
  const bool saved = !saved_in.empty();
  log.warning(run.command,
              "stopped by " + stop.asked_by() + " after " + run.done +
                  (saved ? ""
                   : run.save_point.empty()
                       ? "; the output is not complete"
                       : "; nothing is kept, because a run can be continued only from " + run.save_point),
              saved ? Advice{"continue with {--resume}, from {0}", {saved_in}} : Advice{});
  stop.end();
}

}  // namespace carbon
