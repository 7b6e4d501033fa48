// carbon serve: options to run_serve.
#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

#include "src/base/error.hpp"
#include "src/cli/commands.hpp"
#include "src/cli/options.hpp"
#include "src/cli/signals.hpp"
#include "src/cli/stderr_log.hpp"
#ifdef CARBON_SERVER
#include "src/serve/run.hpp"
#endif

namespace carbon {
namespace {

struct ServeCommand {
  ServeOptions options;
  CommonOptions common;
  DraftChoice draft;
  bool check = false;
};

void add_network_options(CommandLine& line, ServeCommand& command) {
  ServeOptions& options = command.options;
  OptionGroup group = line.group("Network");
  group.option({"host", "HOST", "address or name to listen on; 0.0.0.0 for every network"}, options.http.host)
      .shows_default();
  group.option({"port", "INT", "port; 0 for one that is free"}, options.http.port)
      .range(0, 65535)
      .shows_default();
  group.option({"port-file", kOutput, "write the port to this file, and remove it at the end"},
               options.port_file);
  group
      .option({"api-key", kInput, "file with one key per line; clients send one of them"},
              options.api_key_file)
      .shows_default("no key is needed");
  group.option(
      {"cors", "ORIGIN", "origin whose web pages may send requests, e.g. https://lab.example.org, or *"},
      options.cors);
}

void add_limit_options(CommandLine& line, ServeOptions& options) {
  OptionGroup group = line.group("Limits");
  const auto add = [&](const char* name, size_t& value, size_t most, const char* help) {
    group.option({name, "INT", help}, value).range(1, most).shows_default();
  };
  add("max-queue", options.limits.queue, 1'000'000, "requests under way; further ones get status 429");
  add("max-bases", options.limits.bases, size_t{1} << 32,
      "bases of one request, those to be generated included");
  add("max-items", options.limits.items, 1'000'000, "sequences, variants or samples of one request");
  add("max-body", options.http.max_body, size_t{1} << 32, "bytes of one request");
  add("max-connections", options.http.max_connections, 1'000'000, "open connections");
  group.option({"max-seconds", "FLOAT", "time of one request; 0 for no limit"}, options.limits.seconds)
      .range(0.0, 1e9)
      .shows_default();
  group
      .option({"drain", "FLOAT", "seconds that requests under way have after SIGTERM or SIGINT"},
              options.drain_seconds)
      .range(0.0, 1e9)
      .shows_default();
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

int run(ServeCommand& command) {
  ServeOptions& options = command.options;
  options.log = &program_log();
  if (command.check) {
    std::printf("%s\n", check_server(options).c_str());
    return 0;
  }
  options.draft_tokens = draft_tokens(command.draft);
  check_serve_options(options);
  command.common.model.use = ModelUse::any;  // which endpoints can be answered, each of them finds out
  SignalStop stop(0);
  options.stop = &stop;
  options.when_reload_is_asked = [&stop](std::function<void()> reload) {
    stop.on_hang_up(std::move(reload));
  };
  const auto load = [&] {
    return std::make_unique<ModelsToServe>(
        ModelsToServe{LoadedModels(command.common.model), load_draft(command.draft, command.common.model)});
  };
  run_serve(load, options, log_access);
  return 0;
}
#else
int run(ServeCommand&) {
  throw Error("main_serve",
              "this carbon was built without its server, which needs the headers of Boost "
              "(Debian package libboost-dev): install them, and build it again");
}
#endif

}  // namespace

Run declare_serve(CommandLine& line) {
  const auto command = std::make_shared<ServeCommand>();
  ServeOptions& options = command->options;
  line.describe("Serve a model over HTTP: OpenAI's completions and embeddings, scores in bases, a web page",
                "carbon serve [-m MODEL] [options]",
                {{"answer requests of this machine", "carbon serve -m HuggingFaceBio/Carbon-500M"},
                 {"ask whether a server is ready", "carbon serve --check"}});
  OptionGroup group = line.options();
  group.option(
      {'f', "fasta-ref", kInput,
       "reference FASTA for variants and regions, plain or BGZF; an index is built if there is none"},
      options.fasta);
  group
      .option({"served-model-name", "NAME", "name under which the model is served; several for aliases"},
              options.names)
      .takes_several()
      .shows_default("the model's");
  group.flag("auto-dna-tags", "take a prompt without <dna> for bases", options.auto_dna_tags);
  group.flag("check",
             "send a canned request to the server on --host and --port, and exit with 0 if it is answered",
             command->check);
  line.after_parsing([command] {
    if (command->check) return;
    program_log().set_times(true);
    report_lost_files();  // with the time
  });
  add_draft_options(line, command->draft, "an answer");
  add_network_options(line, *command);
  add_limit_options(line, options);
  add_common_options(line, command->common);
  return [command](const CommandLine&) { return run(*command); };
}

}  // namespace carbon
