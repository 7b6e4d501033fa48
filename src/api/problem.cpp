#include "src/api/problem.hpp"

#include <new>

#include "src/base/error.hpp"
#include "src/base/threads.hpp"
#include "src/verbs/fields.hpp"
#include "src/verbs/verb.hpp"

namespace carbon::api {
namespace {

constexpr const char* kNoMemory = "there is not enough memory for this";

// A text of fixed size, because there may be no memory for the sentence that says so.
thread_local std::string last_text;
thread_local const char* last_problem = "";

int remember(const Problem& problem) noexcept {
  try {
    last_text = problem.what();
    last_problem = last_text.c_str();
  } catch (...) {
    last_problem = kNoMemory;
  }
  return problem.code();
}

}  // namespace

Problem problem_of(const std::exception_ptr& thrown, int otherwise) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Problem& problem) {
    return problem;
  } catch (const std::bad_alloc&) {
    return {CARBON_E_MEMORY, kNoMemory};
  } catch (const OutOfMemory& error) {
    return {CARBON_E_MEMORY, error.what()};
  } catch (const SettingError& error) {
    return {CARBON_E_SETTING, told_at(Door::library, error)};
  } catch (const InputError& error) {
    return {CARBON_E_INPUT, error.what()};
  } catch (const Error& error) {
    return {otherwise, told_at(Door::library, error)};
  } catch (const std::exception& error) {
    return {CARBON_E_FAILED, error.what()};
  } catch (...) {
    return {CARBON_E_FAILED, "unknown problem"};
  }
}

int guarded(const std::function<int()>& work) noexcept {
  const OwnEnvironment own;  // whatever the caller's is
  try {
    last_problem = "";
    return work();
  } catch (...) {
    try {
      return remember(problem_of(std::current_exception(), CARBON_E_FAILED));
    } catch (...) {
      last_problem = kNoMemory;
      return CARBON_E_MEMORY;
    }
  }
}

const char* error_text() noexcept {
  return last_problem;
}

}  // namespace carbon::api
