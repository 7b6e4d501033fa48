// Asks an HTTP server one question.
#pragma once

#include <cstdint>
#include <string>

#include "src/serve/http.hpp"

namespace carbon {

/// Sends method, path, body and authorization of `request`, and returns status, content type and body of the
/// answer. Throws Error if nobody listens there or there is no answer within `seconds`.
HttpAnswer http_ask(const std::string& host, uint16_t port, const HttpRequest& request, double seconds);

}  // namespace carbon
