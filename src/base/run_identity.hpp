// What must be equal for a run to continue an earlier one that was interrupted.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace carbon {

/// By the names that messages use: "model", "window" and so on.
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
