// `carbon serve`: answers requests over HTTP until it is asked to end (docs/serving.md, carbon-serve(1)).
#pragma once

#include "src/engine/loaded_model.hpp"
#include "src/serve/http.hpp"
#include "src/serve/options.hpp"

namespace carbon {

/// Throws Error for files that cannot be used. Needs no model.
void check_serve_options(const ServeOptions& options);

/// Serves the model until options.stop asks for the end; then it takes no more requests, finishes those under
/// way within options.drain_seconds, and returns. `drafts`: null, or a second model on as many devices, which
/// changes no byte of an answer. `access` is called for each answer. Throws Error if the port cannot be had
/// or a device fails.
void run_serve(LoadedModels& models, LoadedModels* drafts, const ServeOptions& options,
               std::function<void(const HttpAccess&)> access);

}  // namespace carbon
