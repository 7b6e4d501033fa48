// The subcommands: each takes its own argv (argv[0] is its name) and returns the exit status.
#pragma once

namespace carbon {

/// A line of the command table in main.cpp.
struct Command {
  const char* name;
  const char* group;
  const char* help;
  int (*run)(int argc, char** argv);
};

int cmd_vep(int argc, char** argv);
int cmd_scan(int argc, char** argv);
int cmd_score(int argc, char** argv);
int cmd_embed(int argc, char** argv);
int cmd_generate(int argc, char** argv);
int cmd_serve(int argc, char** argv);
int cmd_tokenize(int argc, char** argv);
int cmd_report(int argc, char** argv);
int cmd_models(int argc, char** argv);
int cmd_bench(int argc, char** argv);
int cmd_plugin(int argc, char** argv);
/// argv[0] is +NAME.
int cmd_run_plugin(int argc, char** argv);

}  // namespace carbon
