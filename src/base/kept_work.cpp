#include "src/base/kept_work.hpp"

#include "src/base/error.hpp"

namespace carbon {

void say_finishing(const KeptWork& kept) {
  kept.log.warning(kept.command, "reading ended early; what was read before is still computed");
}

void run_keeping(const KeptWork& kept, const std::function<void()>& work) {
  const auto warn = [&] {
    if (const std::string path = kept.saved_in(); !path.empty())
      kept.log.warning(kept.command, "what was computed is kept",
                       {"continue with {--resume}, from {0}", {path}});
  };
  try {
    work();
  } catch (const OtherInput&) {
    throw;  // to say that the work is kept would contradict its advice
  } catch (const Error& error) {
    const std::string path = kept.saved_in();
    if (path.empty()) throw;
    if (!error.advice().text.empty()) {
      warn();
      throw;
    }
    throw Error(error.function(), std::string(error.what()) + "; what was computed is kept",
                {"continue with {--resume}, from {0}", {path}});
  } catch (...) {
    warn();
    throw;
  }
}

}  // namespace carbon
