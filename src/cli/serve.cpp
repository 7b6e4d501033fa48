// carbon serve: options to run_serve.
#include <cstdio>
#include <limits>
#include <optional>
#include <vector>

#include "src/base/error.hpp"
#include "src/cli/commands.hpp"
#include "src/cli/draft_options.hpp"
#include "src/cli/options.hpp"
#include "src/cli/stderr_log.hpp"
#include "src/cli/stop_signals.hpp"
#include "src/serve/options.hpp"
#ifdef CARBON_SERVER
#include "src/serve/check.hpp"
#include "src/serve/run.hpp"
#endif

namespace carbon {
namespace {

void add_network_options(CLI::App& app, ServeOptions& options) {
  const std::string group = "Network";
  app.add_option("--host", options.http.host,
                 "address or name to listen on; 0.0.0.0 for every network (default: 127.0.0.1)")
      ->type_name("HOST")
      ->group(group);
  app.add_option("--port", options.http.port, "port; 0 for one that is free (default: 8000)")
      ->type_name("INT")
      ->check(CLI::Range(0, 65535).description(""))
      ->group(group);
  app.add_option("--port-file", options.port_file, "write the port to this file, and remove it at the end")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--api-key", options.api_key_file,
                 "file with one key per line; clients send one of them (default: no key is needed)")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--cors", options.cors,
                 "origin whose web pages may send requests, e.g. https://lab.example.org, or *")
      ->type_name("ORIGIN")
      ->group(group);
}

void add_limit_options(CLI::App& app, ServeOptions& options) {
  const std::string group = "Limits";
  const auto add = [&](const char* name, size_t& value, size_t most, const std::string& help) {
    app.add_option(name, value, help + " (default: " + std::to_string(value) + ")")
        ->type_name("INT")
        ->check(CLI::Range(size_t{1}, most).description(""))
        ->group(group);
  };
  add("--max-queue", options.limits.queue, 1'000'000, "requests under way; further ones get status 429");
  add("--max-bases", options.limits.bases, size_t{1} << 32,
      "bases of one request, those to be generated included");
  add("--max-items", options.limits.items, 1'000'000, "sequences, variants or samples of one request");
  add("--max-body", options.http.max_body, size_t{1} << 32, "bytes of one request");
  add("--max-connections", options.http.max_connections, 1'000'000, "open connections");
  app.add_option("--max-seconds", options.limits.seconds, "time of one request; 0 for no limit (default: 0)")
      ->type_name("FLOAT")
      ->check(CLI::Range(0.0, 1e9).description(""))
      ->group(group);
  app.add_option("--drain", options.drain_seconds,
                 "seconds that requests under way have after SIGTERM or SIGINT (default: 30)")
      ->type_name("FLOAT")
      ->check(CLI::Range(0.0, 1e9).description(""))
      ->group(group);
}

#ifdef CARBON_SERVER
void log_access(const HttpAccess& access) {
  program_log().event("serve", std::vector<LogMember>{{"client", access.client},
                                                      {"method", access.method},
                                                      {"path", access.path},
                                                      {"status", static_cast<uint64_t>(access.status)},
                                                      {"received", access.received},
                                                      {"sent", access.sent},
                                                      {"seconds", access.seconds},
                                                      {"complete", uint64_t{access.complete}},
                                                      {"id", access.id}});
}
#endif

}  // namespace

int cmd_serve(int argc, char** argv) {
  CLI::App app("Serve a model over HTTP: OpenAI's completions and embeddings, scores in bases, a web page");
  ServeOptions options;
  CommonOptions common;
  DraftChoice draft;
  bool check = false;
  set_usage(app, "carbon serve [-m MODEL] [options]",
            {{"answer requests of this machine", "carbon serve -m HuggingFaceBio/Carbon-500M"},
             {"ask whether a server is ready", "carbon serve --check"}});
  app.add_option("-f,--fasta-ref", options.fasta,
                 "reference FASTA for /v1/dna/variants, plain or BGZF; an index is built if there is none")
      ->type_name("FILE");
  app.add_option("--served-model-name", options.names,
                 "name under which the model is served; several for aliases (default: the model's)")
      ->type_name("NAME");
  app.add_flag("--auto-dna-tags", options.auto_dna_tags, "take a prompt without <dna> for bases");
  app.add_flag("--check", check,
               "send a canned request to the server on --host and --port, and exit with 0 if it is answered");
  add_draft_options(app, draft, "an answer");
  add_network_options(app, options);
  add_limit_options(app, options);
  add_common_options(app, common);

  if (const int status = parse_options(app, argc, argv, "serve"); status >= 0) return status;
#ifdef CARBON_SERVER
  options.log = &program_log();
  if (check) {
    std::printf("%s\n", check_server(options).c_str());
    return 0;
  }
  options.draft_tokens = draft_tokens(draft);
  check_serve_options(options);
  LoadedModels models(common.model);
  std::optional<LoadedModels> drafts = load_draft(draft, common.model);
  SignalStop stop(0);
  options.stop = &stop;
  run_serve(models, drafts ? &*drafts : nullptr, options, log_access);
  return 0;
#else
  throw Error("main_serve",
              "this carbon was built without its server, which needs the headers of Boost "
              "(Debian package libboost-dev): install them, and build it again");
#endif
}

}  // namespace carbon
