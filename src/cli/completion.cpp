// carbon completion: what bash and zsh need to complete command lines, made from the options themselves.
//
// Each command is run with describe_options() in place of its parsing, so that an option that is added to a
// command is completed without a change here.
#include "src/cli/completion.hpp"

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "src/base/error.hpp"
#include "src/cli/options.hpp"
#include "version.h"

namespace carbon {
namespace {

struct OptionFacts {
  std::vector<std::string> names;  // with their dashes
  std::string help;
  bool takes_value = false, attached_only = false, repeats = false;
  bool models = false, files = false, directories = false;  // what the value names
  std::vector<std::string> words;                           // values that can be listed
};

struct CommandFacts {
  std::string name, help;
  std::vector<OptionFacts> options;
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

// The words in an option's help that its own check accepts, where that check is choosy.
std::vector<std::string> accepted_words(CLI::Option& option) {
  std::vector<CLI::Validator*> checks;
  try {
    for (int i = 0;; ++i) checks.push_back(option.get_validator(i));
  } catch (const CLI::OptionNotFound&) {
    // CLI11 says in this way that there are no more.
  }
  const auto accepts = [&](std::string word) {
    return std::all_of(checks.begin(), checks.end(),
                       [&](CLI::Validator* check) { return (*check)(word).empty(); });
  };
  std::vector<std::string> words;
  if (checks.empty() || accepts("no such value")) return words;
  for (std::string word : split(option.get_description(), ' ')) {
    word.erase(0, word.find_first_not_of('('));
    word.erase(word.find_last_not_of(",;:)") + 1);
    if (!word.empty() && accepts(word) && std::find(words.begin(), words.end(), word) == words.end())
      words.push_back(word);
  }
  // One word alone is a default in the help of a number.
  return words.size() > 1 ? words : std::vector<std::string>();
}

// The words of a type such as u|b|v|z[0-9]|t or INT|auto that stand for themselves.
std::vector<std::string> words_of_type(const std::string& type) {
  std::vector<std::string> words;
  for (std::string word : split(type, '|')) {
    if (word.find('[') != 0 && word.find('[') != std::string::npos) word.erase(word.find('['));
    if (!word.empty() && word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos)
      words.push_back(word);
  }
  return words;
}

OptionFacts facts_of(CLI::Option& option) {
  OptionFacts facts;
  for (const std::string& name : option.get_snames()) facts.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) facts.names.push_back("--" + name);
  facts.help = option.get_description();
  facts.takes_value = option.get_items_expected_max() > 0;
  facts.repeats = option.get_items_expected_max() > 1;
  if (!facts.takes_value) return facts;
  const std::string type = option.get_type_name();
  // [=csi|tbi]: the word that follows is no argument of this option.
  facts.attached_only = type.starts_with("[=");
  facts.words = facts.attached_only ? words_of_type(type.substr(2, type.find(']') - 2)) : words_of_type(type);
  if (facts.words.empty()) facts.words = accepted_words(option);
  facts.files = type.find("FILE") != std::string::npos || type.find("PATH") != std::string::npos;
  facts.directories = type.find("DIR") != std::string::npos;
  facts.models = type == "DIR|FILE|NAME";
  return facts;
}

std::string joined(const std::vector<std::string>& words, const char* separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

// In single quotes for a shell.
std::string in_quotes(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

constexpr const char* kUsage = R"END(Print a script that completes the commands, options and models of carbon
Usage: carbon completion bash | zsh

Examples:
  # for this bash
  source <(carbon completion bash)
  # for every zsh from now on, where ~/.zfunc is in fpath
  carbon completion zsh > ~/.zfunc/_carbon
)END";

// ---- bash

std::string bash_case(const OptionFacts& option) {
  const std::string action = !option.words.empty() ? "words=" + in_quotes(joined(option.words, " "))
                             : option.models       ? "kind=models"
                             : option.files        ? "kind=files"
                             : option.directories  ? "kind=directories"
                                                   : "kind=none";
  return "        " + joined(option.names, "|") + ") " + action + " ;;\n";
}

// Names of the models that are found: the first column of the table that `carbon models` prints.
constexpr const char* kModelNames =
    R"("$program" models -q 2> /dev/null | sed -e 1d -e '/^$/,$d' -e 's/  .*//')";

constexpr const char* kBashEnd = R"END(    +*)
      # Options of plugins are those that the installed plugin tells.
      local after= word
      for word in "${COMP_WORDS[@]:2:COMP_CWORD-2}"; do [[ $word == -- ]] && after=--; done
      options=$("$program" "$command" $after --help 2> /dev/null | sed '/^Plugin options/q' |
        grep -oE '^ +(-.,)?--[a-z][a-z0-9-]*' | grep -oE -e '--.*') ;;
  esac
  if ((COMP_CWORD == 1)); then
    kind=none
    words=$commands
    [[ $current == +* ]] && words=$("$program" plugin -l 2> /dev/null | sed -nE 's/^ +(\+[^ ]+) .*/\1/p')
  elif [[ $current == -* && -z $words && $kind != none ]]; then
    words=$options kind=none
  fi
  if [[ -n $words ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  elif [[ $kind == models ]]; then
    compopt -o filenames 2> /dev/null
    mapfile -t COMPREPLY < <(compgen -W "$(_carbon_models)" -- "$current"; compgen -f -- "$current")
  elif [[ $kind == directories ]]; then
    compopt -o filenames 2> /dev/null
    mapfile -t COMPREPLY < <(compgen -d -- "$current")
  elif [[ $kind == files ]]; then
    compopt -o filenames 2> /dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -F _carbon carbon
)END";

void print_bash(const std::vector<CommandFacts>& commands) {
  std::vector<std::string> names;
  for (const CommandFacts& command : commands) names.push_back(command.name);
  std::printf(
      "# bash completion of carbon %s, written by 'carbon completion bash'.\n"
      "_carbon_models() {\n"
      "  %s\n"
      "}\n"
      "_carbon() {\n"
      "  local program=$1 command=${COMP_WORDS[1]} current=${COMP_WORDS[COMP_CWORD]} options= words= "
      "kind=files\n"
      "  local previous=${COMP_WORDS[COMP_CWORD-1]} commands=%s\n"
      "  # bash makes three words of --option=value.\n"
      "  if [[ $current == = ]]; then\n"
      "    current=\n"
      "  elif [[ $previous == = ]]; then\n"
      "    previous=${COMP_WORDS[COMP_CWORD-2]}\n"
      "  fi\n"
      "  COMPREPLY=()\n"
      "  case $command in\n",
      CARBON_VERSION, kModelNames, in_quotes(joined(names, " ") + " help --help --version").c_str());
  for (const CommandFacts& command : commands) {
    std::string options, cases;
    for (const OptionFacts& option : command.options) {
      for (const std::string& name : option.names)
        if (name.starts_with("--")) options += (options.empty() ? "" : " ") + name;
      if (option.takes_value && !option.attached_only) cases += bash_case(option);
      // Attached arguments are completed only behind their =.
      if (option.attached_only)
        cases += "        " + option.names.back() + ") [[ ${COMP_WORDS[*]:COMP_CWORD-1} == *=* ]] && words=" +
                 in_quotes(joined(option.words, " ")) + " ;;\n";
    }
    std::printf("    %s)\n      options=%s\n      case $previous in\n%s      esac ;;\n", command.name.c_str(),
                in_quotes(options).c_str(), cases.c_str());
  }
  std::printf("    help) words=%s ;;\n%s", in_quotes(joined(names, " ")).c_str(), kBashEnd);
}

// ---- zsh

// For _arguments, which gives a meaning to brackets and colons.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) out += std::string(c == '[' || c == ']' || c == ':' ? "\\" : "") + c;
  return out;
}

std::string zsh_option(const OptionFacts& option, const std::string& name) {
  // A name shuts out the option's other names; a star lets it come again.
  const std::string shuts_out = option.repeats            ? "*"
                                : option.names.size() > 1 ? "(" + joined(option.names, " ") + ")"
                                                          : "";
  std::string text = shuts_out + name;
  const std::string words = joined(option.words, " ");
  if (option.attached_only) return in_quotes(text + "[" + zsh_text(option.help) + "]");
  if (option.takes_value && name.starts_with("--")) text += "=";
  if (option.takes_value && !name.starts_with("--")) text += "+";
  text += "[" + zsh_text(option.help) + "]";
  if (!option.takes_value) return in_quotes(text);
  return in_quotes(text + ":value:" +
                   (!words.empty()       ? "(" + words + ")"
                    : option.models      ? "_carbon_models"
                    : option.files       ? "_files"
                    : option.directories ? "_files -/"
                                         : ""));
}

constexpr const char* kZshEnd = R"END(  +*)
    # Options of plugins are those that the installed plugin tells.
    local after=
    ((${words[(I)--]} > 0 && ${words[(I)--]} < CURRENT)) && after=--
    if [[ $PREFIX == -* ]]; then
      compadd -- $("$program" "$words[2]" $after --help 2> /dev/null | sed '/^Plugin options/q' |
        grep -oE '^ +(-.,)?--[a-z][a-z0-9-]*' | grep -oE -e '--.*')
    else
      _files
    fi ;;
esac
)END";

void print_zsh(const std::vector<CommandFacts>& commands) {
  std::printf(
      "#compdef carbon\n"
      "# zsh completion of carbon %s, written by 'carbon completion zsh'.\n"
      "local program=$words[1]\n"
      "_carbon_models() {\n"
      "  compadd -- ${(f)\"$(%s)\"}\n"
      "  _files\n"
      "}\n"
      "local -a commands=(\n",
      CARBON_VERSION, kModelNames);
  for (const CommandFacts& command : commands)
    std::printf("  %s\n", in_quotes(command.name + ":" + zsh_text(command.help)).c_str());
  std::printf(
      ")\n"
      "if ((CURRENT == 2)); then\n"
      "  if [[ $PREFIX == +* ]]; then\n"
      "    compadd -- $(\"$program\" plugin -l 2> /dev/null | sed -nE 's/^ +(\\+[^ ]+) .*/\\1/p')\n"
      "  else\n"
      "    _describe command commands\n"
      "  fi\n"
      "  return\n"
      "fi\n"
      "case $words[2] in\n"
      "  help) _describe command commands ;;\n");
  for (const CommandFacts& command : commands) {
    std::printf("  %s)\n    shift words\n    ((CURRENT--))\n    _arguments -s -S", command.name.c_str());
    for (const OptionFacts& option : command.options)
      for (const std::string& name : option.names)
        std::printf(" \\\n      %s", zsh_option(option, name).c_str());
    std::printf(" \\\n      '*:input:_files' ;;\n");
  }
  std::fputs(kZshEnd, stdout);
}

}  // namespace

int cmd_completion(std::span<const Command> commands, int argc, char** argv) {
  const std::string shell = argc == 2 ? argv[1] : "";
  if (shell == "-h" || shell == "--help") {
    std::fputs(kUsage, stdout);
    return 0;
  }
  if (shell != "bash" && shell != "zsh")
    throw Error("main_completion", "expected a shell: 'carbon completion bash' or 'carbon completion zsh'");
  std::vector<CommandFacts> found;
  for (const Command& command : commands) {
    CommandFacts facts{command.name, command.help, {}};
    describe_options([&](CLI::App& app) {
      for (CLI::Option* option : app.get_options())
        if (!option->get_positional()) facts.options.push_back(facts_of(*option));
    });
    std::string name = command.name;
    char* words[] = {name.data(), nullptr};
    command.run(1, words);
    found.push_back(std::move(facts));
  }
  shell == "bash" ? print_bash(found) : print_zsh(found);
  return 0;
}

}  // namespace carbon
