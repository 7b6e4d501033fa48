// From what is thrown inside to what a C function returns: a code, and a sentence for carbon_error_text().
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <utility>

#include "include/carbon/carbon.h"

namespace carbon::api {

/// A code of carbon.h with its sentence.
class Problem : public std::exception {
 public:
  Problem(int code, std::string text) : code_(code), text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }
  int code() const { return code_; }

 private:
  int code_;
  std::string text_;
};

/// What was thrown, as a Problem. `otherwise` is the code where an Error says no more than what is wrong.
Problem problem_of(const std::exception_ptr& thrown, int otherwise);

/// Runs `work`, and throws what it throws as a Problem with this code.
template <class Work>
decltype(auto) or_code(int otherwise, const Work& work) {
  try {
    return work();
  } catch (...) {
    throw problem_of(std::current_exception(), otherwise);
  }
}

/// Calls `work` for a C function. Returns what it returns, or the code of what it throws, whose sentence is
/// then that of error_text().
int guarded(const std::function<int()>& work) noexcept;
/// The last sentence of this thread.
const char* error_text() noexcept;

}  // namespace carbon::api
