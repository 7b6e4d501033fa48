#include "src/cli/options.hpp"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/help_lines.hpp"
#include "src/base/numbers.hpp"
#include "src/files/file_name.hpp"
#include "src/files/htslib_messages.hpp"
#include "src/files/output.hpp"
#include "src/model/config.hpp"
#include "src/pooling/label_values.hpp"

namespace carbon {
namespace {

OptionGroup messages(CommandLine& line) {
  return line.group("Messages");
}

// Of carbon's own messages and of htslib's.
void set_message_level(int level) {
  program_log().set_verbosity(level);
  // htslib has no hook for its messages, which are lines of text.
  set_htslib_verbosity(program_log().json() ? StderrLog::off : level);
}

}  // namespace

void add_verbosity_options(CommandLine& line) {
  OptionGroup group = messages(line);
  group.action('q', "quiet", "write only errors, and the summary at the end of a run, to standard error",
               [] { set_message_level(StderrLog::error_level); });
  group
      .option({'v', "verbosity", "INT",
               "what to write to standard error: 0 nothing, 1 errors, 3 warnings (default), 4 information, 5 "
               "debugging notes"},
              [](const std::string& text) { set_message_level(std::stoi(text)); })
      .range(0, 6)
      .offers({"0", "1", "3", "4", "5"});
  group.action("log-json",
               "write messages and progress as JSON, one object per line; messages of htslib are left out",
               [] { program_log().set_json(true); });
}

namespace {

// Adds the option of a setting, and returns its row.
class SettingOption {
 public:
  SettingOption(CommandLine& line, const std::string& heading, const Setting& setting)
      : line_(line), group_(line.group(heading)), setting_(setting) {}

  Option& operator()(bool* flag) { return group_.flag(setting_.letter, setting_.name, setting_.help, *flag); }
  Option& operator()(const Setting::Choice& choice) {
    Option& row = group_.option(head(), choice.set);
    row.now = choice.get();
    return row.one_of(choice.words);
  }
  Option& operator()(const Setting::List& list) {
    Option& row = list.set_text ? group_.option(head(Names::input), kept_text(list.set_text))
                                : group_.option(head(), [setting = setting_, list](const std::string& text) {
                                    set_list(setting, list, text);
                                  });
    return row.offers(list.words.empty() ? setting_.words : list.words);
  }
  Option& operator()(const Setting::Object& object) {
    return group_.option(head(Names::input), kept_text([set = object.set](const std::string& path) {
                           const LabelScaleText text = read_label_scale(path);
                           set(text.object, text.where);
                         }));
  }
  Option& operator()(std::string* text) { return group_.option(head(), *text); }
  template <class Number>
  Option& operator()(Number* number) {
    Option& row = group_.option(head(), *number);
    if (!setting_.words.empty()) return row.one_of(setting_.words);
    if (setting_.bounds && setting_.bounds->first >= 0)
      row.range(static_cast<size_t>(setting_.bounds->first), static_cast<size_t>(setting_.bounds->second));
    return row;
  }

 private:
  OptionHead head(Names names = Names::nothing) const {
    return {setting_.letter, setting_.name, {setting_.shown, names}, setting_.help};
  }
  // A file is opened when it is declared, which is after parsing.
  std::function<void(const std::string&)> kept_text(std::function<void(const std::string&)> take) {
    const auto kept = std::make_shared<std::optional<std::string>>();
    line_.after_parsing([kept, take = std::move(take)] {
      if (*kept) take(**kept);
    });
    return [kept](const std::string& text) { *kept = text; };
  }

  CommandLine& line_;
  OptionGroup group_;
  const Setting& setting_;
};

}  // namespace

void add_settings(CommandLine& line, const std::string& heading, const SettingList& settings) {
  for (const Setting& setting : settings) {
    SettingOption add(line, heading, setting);
    Option& row = std::visit([&](const auto& target) -> Option& { return add(target); }, setting.target);
    if (setting.default_shown) row.shows_default();
    if (!setting.fallback.empty()) row.shows_default(setting.fallback);
    if (setting.is_required) row.required();
    for (const std::string& other : setting.excluded) row.excludes(other);
    for (const std::string& other : setting.needed) row.needs(other);
  }
}

// Whether the results go to standard output, which is so where no other output was named.
static bool writes_to_stdout(const CommandLine& line) {
  const Option* const output = line.find("--output");
  const auto* const path = output ? std::get_if<std::string*>(&output->target) : nullptr;
  return path && (!line.given("output") || **path == "-");
}

void add_progress_option(CommandLine& line, ProgressMode& mode) {
  messages(line).option({"progress", "WHEN",
                         "show progress: auto (a bar on a terminal without results, else a line every 10 "
                         "minutes), always or never"},
                        mode, kProgressWords);
  line.after_parsing([&line] { program_log().set_results_on_stdout(writes_to_stdout(line)); });
}

void add_common_options(CommandLine& line, CommonOptions& options) {
  ModelOptions& model = options.model;
  model.log = &program_log();
  OptionGroup group = line.group("Model and machine");
  group.option({'m', "model", kModel, "checkpoint directory, GGUF file or model name"}, model.model)
      .shows_default(bundled_model_serves(model.use) ? "$CARBON_MODEL, else the bundled carbon-tiny"
                                                     : "$CARBON_MODEL");
  group
      .option({"rope-scaling", "yarn:F|none",
               "read longer sequences than in training: yarn:F for F times the model's context, or none"},
              [&model](const std::string& text) { model.rope_scaling = parse_rope_scaling(text); })
      .offers({"none"})
      .shows_default("as the model says");
  group.option({"lora", kAdapter, "add the weights of this LoRA adapter, a directory that PEFT has saved"},
               model.lora);
  group
      .option({"device", "DEV",
               "where to compute: auto (the CPU), cpu, cuda (the first GPU), cuda:N or cuda:N,N... (GPUs of "
               "one kind)"},
              model.device)
      .offers({"auto", "cpu", "cuda"});
  group
      .option({"dtype", "TYPE",
               "type of the weights and products: auto (bf16 if every matrix is BF16, else f32), bf16, f16 "
               "(on a GPU), f32 or int8 (on a CPU)"},
              model.dtype)
      .one_of(all_words(kModelDtypeWords));
  group.option({'@', "threads", "INT", "number of threads"}, model.threads)
      .range(1, 4096)
      .shows_default("the CPUs that this process may use");
  group
      .option({"batch-tokens", "INT",
               "new tokens per forward pass at most; changes speed and memory, never the output"},
              model.batch_tokens)
      .range(1, size_t{1} << 24)
      .shows_default("4096, of which a CPU takes 2048 at a time; on a GPU 128 per multiprocessor");
  add_progress_option(line, options.progress);
  add_verbosity_options(line);
  line.after_parsing([&model, function = "main_" + line.command()] {
    if (model.model.empty()) declare_model("", function);
    if (model.device == "auto")
      program_log().info(
          "main",
          "--device auto is the CPU, since scores depend on the kind of device; a GPU computes only with "
          "--device cuda");
  });
}

void add_region_options(CommandLine& line, SequenceInputs& inputs, const std::string& verb) {
  OptionGroup group = line.options();
  group.option(
      {'r', "regions", "REGION", verb + " chr:beg-end of an indexed FASTA; may be given several times"},
      inputs.regions);
  group.option({'R', "regions-file", kInput,
                "like -r, with regions from a file: CHROM POS or CHROM BEG END, or BED if named .bed[.gz]"},
               inputs.region_files);
}

void add_text_output_option(CommandLine& line, std::string& output) {
  line.options().option({'o', "output", kOutput, "output file (default: standard output); BGZF if named .gz"},
                        output);
}

void add_index_option(CommandLine& line, std::string& kind) {
  line.options()
      .option({'W', "write-index", "", "write an index of the output file: csi (default) or tbi"}, kind)
      .offers({"csi", "tbi"})
      .only_attached();
}

void add_resume_options(CommandLine& line, EarlierRun& earlier) {
  OptionGroup group = line.options();
  group.action("resume", "continue an interrupted run from FILE.partial (with -o FILE), or else begin one",
               [&] { earlier = EarlierRun::resume; });
  group
      .action("restart", "discard the FILE.partial of an interrupted run and begin again",
              [&] { earlier = EarlierRun::discard; })
      .excludes("resume");
}

void add_record_option(CommandLine& line, CommandRecord& record) {
  line.options().flag("no-version",
                      "leave out the version and the command line, so that equal runs write equal bytes",
                      record.no_version);
  line.after_parsing([&] { record.text = line.text(); });
}

void add_estimate_option(CommandLine& line, bool& estimate) {
  line.options().flag("estimate", "print the expected work and run time, then exit", estimate);
}

namespace {

constexpr const char* kNoTime = "none";

// out.$I.vcf.gz for out.vcf.gz.
std::string share_path(const std::string& path) {
  if (is_stream(path)) return shell_word(path);
  const size_t stem = stem_of_name(path).size();
  return shell_word(path.substr(0, stem)) + ".$I" + (stem < path.size() ? shell_word(path.substr(stem)) : "");
}

// The parsed command line as it runs one of `shares` shares, whose number is $I, as a line for a shell: each
// file that it writes gets this number into its name. A word is an option, its value, both, or an argument.
class ShareWords {
 public:
  ShareWords(const CommandLine& line, uint64_t shares) : line_(line) {
    text_ = "carbon " + line.command() + " --shard $I/" + std::to_string(shares);
    const std::vector<std::string>& words = line.words();
    for (size_t i = 1; i < words.size(); ++i) add(words, i);
    if (!line.given("output")) text_ += " > share.$I";
  }

  const std::string& text() const { return text_; }

 private:
  // The option that a word ends with, and where in the word its value begins.
  struct Found {
    const Option* option = nullptr;
    size_t value = std::string::npos;  // none: the value is the next word
  };

  Found find(const std::string& word) const {
    if (word.starts_with("--")) {
      const size_t equals = word.find('=');
      return {line_.find(word.substr(0, equals)), equals == std::string::npos ? equals : equals + 1};
    }
    for (size_t at = 1; word.starts_with('-') && at < word.size(); ++at) {
      const Option* const option = line_.find(std::string("-") + word[at]);
      if (option && !option->is_flag()) return {option, at + 1 < word.size() ? at + 1 : std::string::npos};
    }
    return {};
  }

  void add(const std::vector<std::string>& words, size_t& i) {
    const std::string& word = words[i];
    const auto [option, value] = find(word);
    if (option && (option->name == "estimate" || option->name == "dry-run")) return;
    if (!option || option->is_flag() || option->attached) {
      text_ += " " + shell_word(word);
      return;
    }
    const bool is_output = option->value.names == Names::output;
    const auto shown = [&](const std::string& text) {
      return is_output ? share_path(text) : shell_word(text);
    };
    if (value != std::string::npos)
      text_ += " " + word.substr(0, value) + shown(word.substr(value));
    else
      text_ += " " + word + " " + shown(words[++i]);
  }

  const CommandLine& line_;
  std::string text_;
};

// Seconds for 8h, 90m, 2d or 1h30m. Throws Error.
double parse_duration(const std::string& text) {
  constexpr std::pair<char, double> units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
  double seconds = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find_first_not_of("0123456789.", begin);
    const auto* const unit = std::find_if(std::begin(units), std::end(units), [&](const auto& one) {
      return end != std::string::npos && one.first == text[end];
    });
    double count = 0;
    if (unit == std::end(units) || !parse_number(std::string_view(text).substr(begin, end - begin), count)) {
      seconds = 0;
      break;
    }
    seconds += count * unit->second;
    begin = end + 1;
  }
  if (!(seconds > 0))
    throw Error("estimate", "--estimate=" + text +
                                ": expected a time with its unit, s, m, h or d, such as 8h, 90m or 1h30m");
  return seconds;
}

}  // namespace

void add_estimate_option(CommandLine& line, EstimateOptions& estimate) {
  line.options()
      .option({"estimate", "TIME",
               "print the expected work and run time, then exit; with TIME, such as 8h, also how many "
               "shares take that long each"},
              [&](const std::string& text) {
                estimate.wanted = true;
                if (text == kNoTime) return;
                estimate.limit = parse_duration(text);
                estimate.share_command = [&line](uint64_t shares) { return ShareWords(line, shares).text(); };
              })
      .only_attached(kNoTime);
  line.after_parsing([&] {
    if (estimate.limit > 0 && line.given("shard"))
      throw Error("main_" + line.command(),
                  "--estimate with a time proposes shares of the whole run; leave out --shard");
  });
}

void add_selection_options(CommandLine& line, VcfReaderOptions& selection) {
  OptionGroup group = line.group("Records to read");
  const auto overlap = [&](const std::string& name, VcfOverlap& value, const std::string& help,
                           const std::string& fallback) {
    group
        .option({name, "pos|record|variant|0|1|2", help},
                [name, &value](const std::string& text) { value = parse_vcf_overlap(text, "--" + name); })
        .offers({"pos", "record", "variant", "0", "1", "2"})
        .shows_default(fallback);
  };
  add_region_lists(group, "read only these regions: chr, chr:pos, chr:beg-end, chr:beg- (needs an index)",
                   selection);
  overlap("regions-overlap", selection.regions_overlap,
          "what must overlap a region: POS, any base of REF, or a changed base", "record");
  add_target_lists(group, "like -r, but without an index; ^LIST reads all records except these",
                   "like -R, but without an index; ^FILE reads all records except these", selection);
  overlap("targets-overlap", selection.targets_overlap,
          "what must overlap a target: POS, any base of REF, or a changed base", "pos");
}

void add_metadata_options(CommandLine& line, const std::string& heading, MetadataChoice& metadata) {
  OptionGroup group = line.group(heading);
  group.option(
      {"prefix", "TEXT", "metadata: text to put before <dna>, or tokens to put after <s>, e.g. <mam><cds>"},
      metadata.text);
  group
      .option({"species", "NAME",
               "species tag of the sequences, as in training, e.g. vertebrate_mammalian or fungi"},
              metadata.names.species)
      .excludes("prefix");
  group
      .option(
          {"gene-type", "NAME", "gene-type tag of the sequences, as in training, e.g. protein_coding_region"},
          metadata.names.gene)
      .excludes("prefix");
  group
      .option({"tag-grammar", "NAME", "spelling of the tags: corpus, card or eval"}, metadata.names.grammar,
              kTagGrammarWords)
      .shows_default("corpus");
  line.after_parsing([&] {
    if (line.given("tag-grammar") && !line.given("species") && !line.given("gene-type"))
      throw Error("main_metadata",
                  "--tag-grammar says how to write --species and --gene-type; give one of them");
    check_metadata_names(metadata.names);
  });
}

void add_draft_options(CommandLine& line, DraftChoice& draft, const std::string& what) {
  OptionGroup group = line.group("Speculative decoding");
  group.option({"draft", kModel, "faster model that proposes 6-mers; changes the speed, never " + what},
               draft.model);
  group
      .option({"draft-tokens", "INT|auto", "number of 6-mers proposed at a time, or auto (default)"},
              draft.tokens)
      .offers({"auto"})
      .needs("draft");
}

std::optional<size_t> draft_tokens(const DraftChoice& draft) {
  const std::string& text = draft.tokens;
  if (text == "auto") return std::nullopt;
  const bool digits =
      !text.empty() && text.size() <= 3 && text.find_first_not_of("0123456789") == std::string::npos;
  const size_t k = digits ? std::stoul(text) : 0;
  if (k < 1 || k > 64)
    throw Error("main_draft", "--draft-tokens " + text + ": expected auto or a number from 1 to 64");
  return k;
}

std::optional<LoadedModels> load_draft(const DraftChoice& draft, ModelOptions model) {
  if (draft.model.empty()) return std::nullopt;
  model.model = draft.model;
  // These speak of the model. A short draft just ends early.
  model.rope_scaling.reset();
  model.lora.clear();
  model.metadata = {};
  model.use = ModelUse::bases;
  return std::make_optional<LoadedModels>(model);
}

std::string default_input(const CommandLine& line) {
  if (!isatty(STDIN_FILENO)) {
    declare_input("-", InputUse::once, "main_" + line.command());
    return "-";
  }
  if (program_log().json()) {
    program_log().error("main", "no input is named and standard input is a terminal; see 'carbon " +
                                    line.command() + " --help'");
  } else {
    std::cerr << line.short_help();
  }
  return "";
}

bool default_inputs(const CommandLine& line, SequenceInputs& inputs) {
  if (!inputs.files.empty()) return true;
  inputs.files.push_back(default_input(line));
  return !inputs.files.front().empty();
}

}  // namespace carbon
