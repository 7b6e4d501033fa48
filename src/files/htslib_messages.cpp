#include "src/files/htslib_messages.hpp"

#include <htslib/hts.h>
#include <htslib/hts_log.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "src/base/error.hpp"
#include "src/base/system.hpp"

namespace carbon {
namespace {

constexpr unsigned kPatience = 60;      // seconds that a call is given to fail again
constexpr size_t kLongestReason = 300;  // bytes; some messages quote whole lines
constexpr size_t kMostMessages = size_t{64} << 10;

/// Of lines `[E::function] text`, the text of the first.
std::string first_error(std::string_view messages) {
  const size_t begin = messages.find("[E::");
  if (begin == messages.npos) return "";
  messages.remove_prefix(begin);
  const size_t end = messages.find("] ");
  if (end == messages.npos) return "";
  const std::string_view text = messages.substr(end + 2);
  return std::string(text.substr(0, std::min(text.find('\n'), kLongestReason)));
}

}  // namespace

std::string htslib_version() {
  return hts_version();
}

void set_htslib_verbosity(int level) {
  constexpr int information = 4;
  hts_set_log_level(level >= information ? static_cast<htsLogLevel>(level) : HTS_LOG_OFF);
}

std::string htslib_reason(const std::function<void()>& call) {
  const auto fail_again = [&](int messages) {
    if (dup2(messages, STDERR_FILENO) < 0) return;
    hts_set_log_level(HTS_LOG_ERROR);
    call();
  };
  try {
    return first_error(run_in_child("htslib_reason", kPatience, kMostMessages, fail_again).text);
  } catch (const Error&) {
    return "";  // the error that is being explained matters more
  }
}

}  // namespace carbon
