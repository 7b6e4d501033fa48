// The options of `carbon serve` (carbon-serve(1), docs/serving.md). The command line fills them in.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/base/log.hpp"
#include "src/base/long_run.hpp"
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

}  // namespace carbon
