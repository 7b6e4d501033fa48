// src/serve/: carbon serve: a model and the requests of clients over HTTP come in, and answers go out,
// until it is asked to end (docs/serving.md). http_* are the only files that include Boost; from a request
// to its answer lead api, service and work; page/ has the files of the page.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "src/engine/loaded_model.hpp"
#include "src/serve/http.hpp"
#include "src/serve/options.hpp"

namespace carbon {

/// A model, and perhaps a second one on as many devices that proposes tokens to it, which changes no byte of
/// an answer.
struct ModelsToServe {
  LoadedModels models;
  std::optional<LoadedModels> drafts;
};

/// Throws Error for files that cannot be used. Needs no model.
void check_serve_options(const ServeOptions& options);

/// Listens, loads the models with `load`, and serves them until options.stop asks for the end; until they are
/// loaded, requests are told so, and the end is at once. Then it takes no more requests, finishes those under
/// way within options.drain_seconds, and returns. A hang-up reads the keys again, if keys are needed.
/// `access` is called for each answer. Throws Error if the port cannot be had, and what `load` throws, or if
/// a device fails.
void run_serve(const std::function<std::unique_ptr<ModelsToServe>()>& load, const ServeOptions& options,
               std::function<void(const HttpAccess&)> access);

/// `carbon serve --check`: asks a running server, as a container's health check does.
///
/// Sends a canned request to the server that listens at options.http and has the keys of
/// options.keys. Returns a sentence about its answer. Throws Error if there is no proper answer.
std::string check_server(const ServeOptions& options);

}  // namespace carbon
