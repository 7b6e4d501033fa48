// Work in a copy of this process: what may crash, hang or write where it should not ends with the copy.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace carbon {

struct ChildResult {
  std::string text;  // what the work wrote
  int status = 0;    // as waitpid() gives it; SIGALRM if the time was over
};

/// Calls `work` in a copy of this process, which is forked, has the usual handling of signals, leaves no core
/// file and ends when `work` returns or throws, or after `seconds`. `work` gets the number of the file to
/// write to; of what it writes, the first `most` bytes are kept. It must not wait for other threads, which
/// the copy lacks. Throws Error from `function` if no process can be started.
ChildResult run_in_child(const std::string& function, unsigned seconds, size_t most,
                         const std::function<void(int file)>& work);

}  // namespace carbon
