// `carbon serve --check`: asks a running server, as a container's health check does.
#pragma once

#include <string>

#include "src/serve/options.hpp"

namespace carbon {

/// Sends a canned request to the server that listens at options.http and has the keys of
/// options.keys. Returns a sentence about its answer. Throws Error if there is no proper answer.
std::string check_server(const ServeOptions& options);

}  // namespace carbon
