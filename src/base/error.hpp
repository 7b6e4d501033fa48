// The one exception type of the program.
//
// A message names what went wrong, where (file, line, contig:pos, tensor) and what to do. main() catches it
// once, prints `[E::function] message` and exits 1. Nothing else in the program calls exit().
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace carbon {

class Error : public std::runtime_error {
 public:
  /// `function` is the name that goes into `[E::function]`, e.g. "load_config".
  Error(std::string function, const std::string& message)
      : std::runtime_error(message), function_(std::move(function)) {}
  const std::string& function() const { return function_; }

 private:
  std::string function_;
};

/// No memory on the host or the device for what was asked. Smaller pieces may still fit, and nothing has been
/// changed.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

}  // namespace carbon
