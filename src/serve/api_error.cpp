#include "src/serve/api_error.hpp"

#include <new>
#include <nlohmann/json.hpp>

#include "src/base/error.hpp"
#include "src/verbs/fields.hpp"
#include "src/verbs/verb.hpp"

namespace carbon {
namespace {

const char* type_of(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 404:
      return "not_found_error";
    case 429:
      return "rate_limit_error";
    case 503:
      return "overloaded_error";
    default:
      return status < 500 ? "invalid_request_error" : "server_error";
  }
}

}  // namespace

std::string ApiError::body() const {
  using nlohmann::ordered_json;
  const auto or_null = [](const std::string& text) {
    return text.empty() ? ordered_json() : ordered_json(text);
  };
  const ordered_json error = {{"message", message_},
                              {"type", type_of(status_)},
                              {"param", or_null(param_)},
                              {"code", or_null(code_)}};
  // Messages may quote what a client has sent.
  return ordered_json{{"error", error}}.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

HttpAnswer ApiError::answer() const {
  HttpAnswer answer;
  answer.status = status_;
  answer.body = body();
  return answer;
}

ApiError api_error_of(const std::exception_ptr& problem) {
  try {
    std::rethrow_exception(problem);
  } catch (const ApiError& error) {
    return error;
  } catch (const OutOfMemory& error) {
    return {503, error.what(), "", "out_of_memory"};
  } catch (const FieldError& error) {
    return {400, told_at(Door::http, error), error.field()};
  } catch (const SettingError& error) {
    return {400, told_at(Door::http, error), field_name(error.setting())};
  } catch (const InputError& error) {
    return {500, error.what()};  // the server's own FASTA
  } catch (const Error& error) {
    return {400, told_at(Door::http, error)};
  } catch (const std::bad_alloc&) {
    return {503, "the server has not enough memory for this request", "", "out_of_memory"};
  } catch (const std::exception& error) {
    return {500, error.what()};
  } catch (...) {
    return {500, "unknown problem"};
  }
}

}  // namespace carbon
