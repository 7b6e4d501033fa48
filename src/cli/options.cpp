#include "src/cli/options.hpp"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/near_names.hpp"
#include "src/cli/argument_words.hpp"
#include "src/cli/stderr_log.hpp"
#include "src/files/htslib_messages.hpp"
#include "src/formats/vcf.hpp"
#include "src/model/rope_scaling.hpp"

namespace carbon {
namespace {

constexpr const char* kMessages = "Messages";  // heading of a part of --help

std::string expected_one_of(const std::vector<std::string>& names, const std::string& text) {
  return "expected " + or_list(names) + ", not '" + text + "'";
}

std::function<void(CLI::App&)>& next_look() {
  static std::function<void(CLI::App&)> look;
  return look;
}

}  // namespace

void set_usage(CLI::App& app, const std::string& usage, const std::vector<Example>& examples) {
  app.formatter(std::make_shared<HelpFormatter>(usage, examples));
}

void describe_options(std::function<void(CLI::App&)> look) {
  next_look() = std::move(look);
}

int parse_options(CLI::App& app, int argc, char** argv, const std::string& command) {
  app.name("carbon " + command);
  if (const auto look = std::exchange(next_look(), nullptr)) {
    look(app);
    return 0;
  }
  ArgumentWords words(app, argc, argv, command);
  try {
    app.parse(words.count(), words.argv());
    return -1;
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help() << std::flush;
    return std::cout ? 0 : 1;
  } catch (const CLI::ParseError& e) {
    program_log().error("main_" + command, std::string(e.what()) + "; see 'carbon " + command + " --help'");
    return 1;
  }
}

void set_message_level(int level) {
  program_log().set_verbosity(level);
  // htslib has no hook for its messages, which are lines of text.
  set_htslib_verbosity(program_log().json() ? StderrLog::off : level);
}

void add_verbosity_options(CLI::App& app) {
  app.add_flag_callback(
         "-q,--quiet", [] { set_message_level(StderrLog::error_level); },
         "write only errors, and the summary at the end of a run, to standard error")
      ->group(kMessages);
  app.add_option_function<int>(
         "-v,--verbosity", [](const int& level) { set_message_level(level); },
         "0 silent, 1 errors, 3 warnings (default), 4 information, 5 debug")
      ->type_name("INT")
      ->check(CLI::Range(0, 6))
      ->group(kMessages);
  app.add_flag_callback(
         "--log-json", [] { program_log().set_json(true); },
         "write messages and progress as JSON, one object per line; messages of htslib are left out")
      ->group(kMessages);
}

void add_progress_option(CLI::App& app, ProgressMode& mode) {
  app.add_option("--progress", mode,
                 "show progress: auto (a bar on a terminal, else one line every 10 minutes), always or never")
      ->type_name("WHEN")
      ->transform(choice_of(kProgressWords))
      ->group(kMessages);
}

void add_common_options(CLI::App& app, CommonOptions& options) {
  ModelOptions& model = options.model;
  model.log = &program_log();
  const std::string group = "Model and machine";
  app.add_option("-m,--model", model.model,
                 "checkpoint directory, GGUF file or model name (default: $CARBON_MODEL, else the bundled "
                 "carbon-tiny)")
      ->type_name("DIR|FILE|NAME")
      ->group(group);
  app.add_option_function<std::string>(
         "--rope-scaling",
         [&model](const std::string& text) { model.rope_scaling = parse_rope_scaling(text); },
         "yarn:FACTOR for FACTOR times the model's context, or none (default: as the model says)")
      ->type_name("yarn:F|none")
      ->group(group);
  app.add_option("--lora", model.lora,
                 "add the weights of this LoRA adapter, a directory that PEFT has saved")
      ->type_name("DIR")
      ->group(group);
  app.add_option("--device", model.device,
                 "auto (the CPU), cpu, cuda (the first GPU), cuda:N or cuda:N,N... (GPUs of one kind)")
      ->type_name("DEV")
      ->group(group);
  app.add_option("--dtype", model.dtype,
                 "auto, bf16, f32 or int8 (auto: bf16 if every matrix is BF16, else f32)")
      ->type_name("TYPE")
      ->check(one_of({"auto", "bf16", "f32", "int8"}))
      ->group(group);
  app.add_option("-@,--threads", model.threads,
                 "number of threads (default: the CPUs that this process may use)")
      ->type_name("INT")
      ->check(CLI::Range(1, 4096))
      ->group(group);
  app.add_option(
         "--batch-tokens", model.batch_tokens,
         "new tokens per forward pass at most; changes speed and memory, never the output (default: 4096, of "
         "which a CPU takes 2048 at a time; on a GPU 128 per multiprocessor)")
      ->type_name("INT")
      ->check(CLI::Range(size_t{1}, size_t{1} << 24))
      ->group(group);
  add_progress_option(app, options.progress);
  add_verbosity_options(app);
  app.final_callback([&model] {
    if (model.device == "auto")
      program_log().info(
          "main",
          "--device auto is the CPU: the CUDA backend has not been verified on a GPU yet, and runs only "
          "with --device cuda");
  });
}

void add_region_options(CLI::App& app, SequenceInputs& inputs, const std::string& verb) {
  app.add_option("-r,--regions", inputs.regions,
                 verb + " chr:beg-end of an indexed FASTA; may be given several times")
      ->type_name("REGION")
      ->allow_extra_args(false);
  app.add_option("-R,--regions-file", inputs.region_files,
                 "regions from a file (BED if named .bed or .bed.gz)")
      ->type_name("FILE")
      ->allow_extra_args(false);
}

void add_strand_option(CLI::App& app, StrandChoice& strand, const std::string& help) {
  app.add_option("--strand", strand, help)->type_name("STRAND")->transform(choice_of(kStrandWords));
}

void add_resume_options(CLI::App& app, EarlierRun& earlier) {
  CLI::Option* resume = app.add_flag_callback(
      "--resume", [&] { earlier = EarlierRun::resume; },
      "continue an interrupted run from FILE.partial (with -o FILE), or else begin one");
  app.add_flag_callback(
         "--restart", [&] { earlier = EarlierRun::discard; },
         "discard the FILE.partial of an interrupted run and begin again")
      ->excludes(resume);
}

CLI::Validator numbered_choice(std::vector<std::pair<std::string, int>> choices) {
  const auto number = [choices = std::move(choices)](std::string& text) {
    std::vector<std::string> names;
    for (const auto& [name, value] : choices) {
      if (text == name) {
        text = std::to_string(value);
        return std::string();
      }
      names.push_back(name);
    }
    return expected_one_of(names, text);
  };
  return CLI::Validator(number, "");
}

void with_dashes(const std::string& function, const std::function<void()>& parse) {
  try {
    parse();
  } catch (const SettingError& error) {
    throw Error(function, std::string("--") + error.what());
  }
}

CLI::Validator one_of(const std::vector<std::string>& names) {
  const auto check = [names](const std::string& text) {
    const bool known = std::find(names.begin(), names.end(), text) != names.end();
    return known ? std::string() : expected_one_of(names, text);
  };
  return CLI::Validator(check, "");
}

void add_selection_options(CLI::App& app, VcfReaderOptions& selection) {
  const std::string group = "Records to read";
  const auto overlap = [&](const std::string& name, VcfOverlap& value, const std::string& help) {
    app.add_option_function<std::string>(
           name, [name, &value](const std::string& text) { value = parse_vcf_overlap(text, name); }, help)
        ->type_name("pos|record|variant|0|1|2")
        ->group(group);
  };
  CLI::Option* regions =
      app.add_option("-r,--regions", selection.regions,
                     "read only these regions: chr, chr:pos, chr:beg-end, chr:beg- (needs an index)")
          ->type_name("LIST")
          ->group(group);
  app.add_option("-R,--regions-file", selection.regions_file,
                 "like -r, with regions from a file: CHROM POS or CHROM BEG END, or BED if named .bed[.gz]")
      ->type_name("FILE")
      ->group(group)
      ->excludes(regions);
  overlap("--regions-overlap", selection.regions_overlap,
          "what must overlap a region: POS, any base of REF, or a changed base (default: record)");
  CLI::Option* targets = app.add_option("-t,--targets", selection.targets,
                                        "like -r, but without an index; ^LIST reads all records except these")
                             ->type_name("[^]LIST")
                             ->group(group);
  app.add_option("-T,--targets-file", selection.targets_file,
                 "like -R, but without an index; ^FILE reads all records except these")
      ->type_name("[^]FILE")
      ->group(group)
      ->excludes(targets);
  overlap("--targets-overlap", selection.targets_overlap,
          "what must overlap a target: POS, any base of REF, or a changed base (default: pos)");
}

std::string command_line(int argc, char** argv) {
  std::string line = argv[0];
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool quote = argument.find_first_of(" \t\n") != std::string::npos;
    line += quote ? " '" + argument + "'" : " " + argument;
  }
  for (char& c : line)
    if (c == '\n') c = ' ';  // a header line cannot hold one
  return line;
}

std::string default_input(const CLI::App& app) {
  if (!isatty(STDIN_FILENO)) return "-";
  if (program_log().json()) {
    program_log().error(
        "main", "no input is named and standard input is a terminal; see '" + app.get_name() + " --help'");
  } else {
    std::cerr << app.help();
  }
  return "";
}

bool default_inputs(const CLI::App& app, SequenceInputs& inputs) {
  if (!inputs.files.empty()) return true;
  inputs.files.push_back(default_input(app));
  return !inputs.files.front().empty();
}

}  // namespace carbon
