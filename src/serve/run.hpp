// src/serve/: carbon serve: a model and the requests of clients over HTTP come in, and answers go out,
// until it is asked to end (docs/serving.md). http_* are the only files that include Boost; from a request
// to its answer lead api, service and work; page/ has the files of the page.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/base/log.hpp"
#include "src/base/long_run.hpp"
#include "src/engine/loaded_model.hpp"
#include "src/serve/http.hpp"

namespace carbon {

/// Limits of one request. What exceeds them is refused with status 400 or 413 and a message that names the
/// limit.
struct RequestLimits {
  size_t queue = 1024;       // requests under way in the whole server; further ones get status 429
  size_t bases = 1'000'000;  // of one request: those sent, and those to be generated for all samples
  size_t items = 4096;       // sequences, prompts, variants or samples of one request
  double seconds = 0;        // from its arrival to the end of its answer; 0: no limit
};

/// The options of `carbon serve` (carbon-serve(1)). The command line fills them in.
struct ServeOptions {
  HttpOptions http;
  RequestLimits limits;
  std::vector<std::string> names;  // under which the model is served, the first one in answers; "" is not one
  std::string fasta;               // reference of /v1/dna/variants; "": none
  std::string api_key_file;        // one key per line, which clients must show; "": none
  std::string cors;                // origin that browsers may send requests from, or *; "": none
  std::string port_file;           // the port is written to it; "": none
  bool auto_dna_tags = false;      // a prompt without <dna> is taken for bases
  double drain_seconds = 30;       // for requests under way after the server was asked to end
  std::optional<size_t> draft_tokens;
  StopRequests* stop = nullptr;  // who may ask for the end; null: nobody
  /// Takes what is to be called, in an ordinary thread, whenever somebody asks that files be read again; it
  /// must not throw. Called before stop->watch(). Null: nobody asks.
  std::function<void(std::function<void()>)> when_reload_is_asked = nullptr;
  Log* log = &silent_log();
};

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
