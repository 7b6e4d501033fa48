// What is wrong with a request, in the form that OpenAI's clients read.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "src/serve/http.hpp"

namespace carbon {

/// Becomes {"error":{"message","type","param","code"}} with an HTTP status. `param` is the field that is
/// wrong, "" if none is; `code` a word for programs, "" if there is none. The type follows from the status.
class ApiError : public std::exception {
 public:
  ApiError(int status, std::string message, std::string param = "", std::string code = "")
      : status_(status), message_(std::move(message)), param_(std::move(param)), code_(std::move(code)) {}

  const char* what() const noexcept override { return message_.c_str(); }
  int status() const { return status_; }
  /// The JSON object of the error, in one line.
  std::string body() const;
  HttpAnswer answer() const;

 private:
  int status_;
  std::string message_, param_, code_;
};

/// The error for what was thrown while a request was handled: an ApiError as it is, an Error of the program
/// as status 400, with the field if it is a SettingError, an InputError as status 500, and anything else as
/// status 500.
ApiError api_error_of(const std::exception_ptr& problem);

}  // namespace carbon
