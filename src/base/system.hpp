// What this process asks of the operating system: how many CPUs and how much memory it may use, the time,
// random bits, and a copy of itself.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

namespace carbon {

/// The number of CPUs in the affinity mask, or the CPU quota of the control groups (rounded up) if that is
/// smaller; at least 1.
int available_cpus();

/// The number of memory domains (NUMA nodes of Linux) that have a CPU of the affinity mask, as the files
/// node*/cpulist below a folder say; at least 1, also where the system says nothing.
int memory_domains(const std::string& folder = "/sys/devices/system/node");

/// The answer where nothing is known.
inline constexpr uint64_t kUnknownMemory = std::numeric_limits<uint64_t>::max();

/// Bytes: the kernel's estimate of available memory, or what the limits of the control groups leave if that
/// is less.
uint64_t available_memory();

/// Measures how long something takes: seconds since it was made.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

/// Random bits for what must differ from run to run. What has to be repeated is in random.hpp.
///
/// Asks the kernel, and opens no file: std::random_device of some C++ libraries needs /dev/urandom, which a
/// container may lack. Throws Error if the kernel has none.
uint64_t system_random();

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
