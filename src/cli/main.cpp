// The command table, and the one place where errors become exit codes: 0 done, 1 any failure, 128+n by
// signal.
#include <sys/prctl.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <vector>
#ifdef __GLIBC__
#include <nss.h>
#endif

#include "kernels/ops.hpp"
#include "src/base/error.hpp"
#include "src/base/installed.hpp"
#include "src/base/words.hpp"
#include "src/cli/commands.hpp"
#include "src/cli/signals.hpp"
#include "src/cli/stderr_log.hpp"
#include "src/files/htslib_messages.hpp"
#include "src/files/run_files.hpp"
#include "src/plugin/loader.hpp"
#ifdef CARBON_SERVER
#include "src/serve/http.hpp"
#endif
#include "version.h"

namespace {

using carbon::Command;

constexpr Command kCommands[] = {
    {"vep", "Variants", "annotate a VCF or BCF with variant-effect scores", carbon::declare_vep},
    {"scan", "Variants", "score every base and every SNV of a genome", carbon::declare_scan},
    {"score", "Sequences", "per-base log-likelihoods of FASTA sequences", carbon::declare_score},
    {"embed", "Sequences", "hidden states of FASTA sequences, as a table or a matrix", carbon::declare_embed},
    {"predict", "Sequences", "values of the labels of a fine-tuned model for FASTA sequences",
     carbon::declare_predict},
    {"annotate", "Sequences", "genes of FASTA sequences, as GFF3, or coding probabilities",
     carbon::declare_annotate},
    {"generate", "Sequences", "continue FASTA prompts with new sequence", carbon::declare_generate},
    {"serve", "Sequences", "answer requests over HTTP, for OpenAI clients and in bases",
     carbon::declare_serve},
    {"mcp", "Sequences", "offer the model as tools to programs that speak MCP", carbon::declare_mcp},
    {"tokenize", "Sequences", "convert text and DNA to token ids and back", carbon::declare_tokenize},
    {"report", "Reports", "draw the scores in files that the other commands wrote, as one HTML file",
     carbon::declare_report},
    {"models", "Machine", "list the models that are found, with shape, size and licence",
     carbon::declare_models},
    {"bench", "Machine", "measure the speed of a model next to the limits of the machine",
     carbon::declare_bench},
    {"plugin", "Plugins", "list the plugins; 'carbon +NAME' runs one", carbon::declare_plugin},
};

// The C library would load services for the names of users and hosts that were built for the system's C
// library, if this program runs with its own.
void keep_to_own_c_library() {
#ifdef __GLIBC__
  if (!carbon::started_by_own_loader()) return;
  for (const char* names : {"passwd", "hosts"}) __nss_configure_lookup(names, "files");
  prctl(PR_SET_NAME, "carbon");  // the kernel took the loader for the program
#endif
}

// Of the archive that runs everywhere, a line of --version.
std::string archive_version() {
#ifdef CARBON_PORTABLE
  return std::string("portable build, started by ") +
         (carbon::started_by_own_loader() ? "its own loader\n" : "the system's loader\n");
#else
  return "";
#endif
}

std::string boost_version() {
#ifdef CARBON_SERVER
  return carbon::http_library_version();
#else
  return "not built in: no carbon serve";
#endif
}

// First line exactly "carbon X.Y.Z"; then libraries, device kinds and the instruction set in use.
std::string version_text() {
  const carbon::ops::CudaStatus cuda = carbon::ops::cuda_status();
  std::string text = "carbon " CARBON_VERSION "\nhtslib " + carbon::htslib_version() + "\nBoost " +
                     boost_version() + "\nCUDA " + (cuda.library.empty() ? "" : cuda.library) +
                     (!cuda.library.empty() && !cuda.problem.empty() ? "; " : "") + cuda.problem + "\n";
  for (const std::string& device : cuda.devices) text += "GPU " + device + "\n";
  return text + "CPU " + carbon::ops::cpu_isa("") + "\n" + archive_version();
}

void print_usage(std::FILE* out) {
  std::fprintf(out,
               "\nProgram: carbon (DNA language models on the command line)\n"
               "Version: %s (using htslib %s)\n\n"
               "Usage:   carbon <command> [options]\n"
               "         carbon +<plugin> [options] -- [plugin options]\n\n"
               "Commands:\n",
               CARBON_VERSION, carbon::htslib_version().c_str());
  const char* group = "";
  for (const Command& command : kCommands) {
    if (std::strcmp(group, command.group) != 0) std::fprintf(out, "\n -- %s\n", group = command.group);
    std::fprintf(out, "    %-12s %s\n", command.name, command.help);
  }
  std::fputs(
      "\n"
      " 'carbon <command> --help' lists a command's options; 'carbon --version' shows what this build\n"
      " contains; 'carbon completion bash' or 'zsh' prints a script that completes command lines.\n\n",
      out);
}

// Commands and plugins with names like `name`.
std::string similar_commands(const std::string& name) {
  std::vector<std::string> names;
  for (const Command& command : kCommands) names.emplace_back(command.name);
  for (const std::string& plugin : carbon::plugin_names()) names.push_back("+" + plugin);
  return carbon::did_you_mean(name, names);
}

int run(const Command& command, int argc, char** argv) {
  carbon::CommandLine line(command.name);
  const carbon::Run run = command.declare(line);
  const std::optional<int> status = line.parse(argc, argv);
  return status ? *status : run(line);
}

int dispatch(int argc, char** argv) {
  if (argc < 2) {
    print_usage(stderr);
    return 1;
  }
  std::string name = argv[1];
  if (name == "--help" || name == "-h" || (name == "help" && argc == 2)) {
    print_usage(stdout);
    return 0;
  }
  if (name == "--version" || name == "version") {
    std::fputs(version_text().c_str(), stdout);
    return 0;
  }
  if (name == "completion") return carbon::cmd_completion(kCommands, argc - 1, argv + 1);
  std::vector<char*> words(argv + 1, argv + argc);
  std::string flag = "--help";
  if (name == "help") {
    name = argv[2];
    words = {argv[2], flag.data()};
  }
  // 'carbon plugin NAME' is 'carbon +NAME'.
  if (name == "plugin" && words.size() > 1 && words[1][0] != '-') {
    words.erase(words.begin());
    name = "+" + std::string(words[0]);
    words[0] = name.data();
  }
  const int count = static_cast<int>(words.size());
  words.push_back(nullptr);
  if (name.starts_with('+')) return carbon::run_plugin_command(count, words.data());
  for (const Command& command : kCommands)
    if (name == command.name) return run(command, count, words.data());
  carbon::program_log().error("main", "unrecognized command '" + name + "'" + similar_commands(name) +
                                          "; 'carbon --help' lists the commands");
  return 1;
}

// Looked for before a command reads its options, because those may be wrong and the message is to be JSON
// too.
bool wants_json(char** begin, char** end) {
  for (char** word = begin; word != end && std::strcmp(*word, "--") != 0; ++word)
    if (std::strcmp(*word, "--log-json") == 0) return true;
  return false;
}

// What stdio still holds must reach standard output, or the run has failed.
int flush_stdout(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  carbon::program_log().error("main", "cannot write to standard output");
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  carbon::open_closed_descriptors();
  keep_to_own_c_library();
  if (wants_json(argv, argv + argc)) carbon::program_log().set_json(true);
  carbon::remove_unfinished_files_on_signals();
  carbon::report_lost_files();
  carbon::report_limits_of_files();
  carbon::set_htslib_verbosity(carbon::program_log().verbosity());
  const carbon::RunFiles files;
  try {
    return flush_stdout(dispatch(argc, argv));
  } catch (const carbon::SettingError& error) {
    // Whoever checks a setting does not know how it was given.
    const std::string message = error.what();
    const bool named = message.starts_with(error.setting() + " ");
    carbon::program_log().error(error.function(), (named ? "--" : "") + message, error.advice());
  } catch (const carbon::Error& error) {
    carbon::program_log().error(error.function(), error.what(), error.advice());
  } catch (const std::bad_alloc&) {
    carbon::program_log().error("main", "out of memory; a smaller --batch-tokens or --window needs less");
  } catch (const std::exception& error) {
    carbon::program_log().error("main", error.what());
  }
  return 1;
}
