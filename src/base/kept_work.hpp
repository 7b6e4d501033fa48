// What a run says that fails after it has computed something which --resume can continue.
#pragma once

#include <functional>
#include <string>

#include "src/base/error.hpp"
#include "src/base/log.hpp"

namespace carbon {

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

}  // namespace carbon
