// carbon completion: what bash and zsh need to complete command lines, made from the options themselves.
//
// An option that is added to a command's table is completed without a change here.

#include <cstdio>
#include <deque>

#include "src/base/error.hpp"
#include "src/base/help_lines.hpp"
#include "src/base/words.hpp"
#include "src/cli/commands.hpp"
#include "version.h"

namespace carbon {
namespace {

// A command with its table.
struct Declared {
  explicit Declared(const Command& command) : name(command.name), help(command.help), line(name) {
    command.declare(line);
    for (const Option& row : line.rows())
      if (!row.heading.empty()) options.push_back(&row);
  }
  std::string name, help;
  CommandLine line;
  std::vector<const Option*> options;
};
using Commands = std::deque<Declared>;

// -o and --output.
std::vector<std::string> names_with_dashes(const Option& option) {
  std::vector<std::string> names;
  if (option.letter != '\0') names.push_back(std::string("-") + option.letter);
  names.push_back("--" + option.name);
  return names;
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

std::string bash_case(const Option& option) {
  const auto kind = [&]() -> std::string {
    if (!option.words.empty()) return "words=" + shell_quoted(joined(option.words, " "));
    switch (option.value.names) {
      case Names::model:
        return "kind=models";
      case Names::input:
      case Names::output:
        return "kind=files";
      case Names::directory:
      case Names::adapter:
        return "kind=directories";
      case Names::nothing:
        break;
    }
    return "kind=none";
  };
  return "        " + joined(names_with_dashes(option), "|") + ") " + kind() + " ;;\n";
}

// Names of the models that are found: the first column of the table that `carbon models` prints.
constexpr const char* kModelNames =
    R"("$program" models -q 2> /dev/null | sed -e 1d -e '/^$/,$d' -e 's/  .*//')";

// The words that the option $1 of a plugin takes, of its line in the help.
constexpr const char* kChoices =
    R"(awk -v name="$1" '$2 ~ /^[a-z0-9_]+(\|[a-z0-9_]+)+$/ {
    for (i = split($1, names, ","); i > 0; i--) if (names[i] == name) { gsub(/\|/, " ", $2); print $2 }
  }')";

constexpr const char* kBashEnd = R"END(    +*)
      # Options of plugins and the words of their values are those that the help of the installed plugin has.
      local after= word help
      for word in "${COMP_WORDS[@]:2:COMP_CWORD-2}"; do [[ $word == -- ]] && after=--; done
      help=$("$program" "$command" $after --help 2> /dev/null)
      [[ -z $after ]] && help=${help%%Plugin options*}
      options=$(grep -oE '^ +(-.,)?--[a-z][a-z0-9-]*' <<< "$help" | grep -oE -e '--.*')
      words=$(_carbon_choices "$previous" <<< "$help") ;;
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

void print_bash(const Commands& commands) {
  std::vector<std::string> names;
  for (const Declared& command : commands) names.push_back(command.name);
  std::printf(
      "# bash completion of carbon %s, written by 'carbon completion bash'.\n"
      "_carbon_models() {\n"
      "  %s\n"
      "}\n"
      "_carbon_choices() {\n"
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
      CARBON_VERSION, kModelNames, kChoices,
      shell_quoted(joined(names, " ") + " help --help --version").c_str());
  for (const Declared& command : commands) {
    std::string options, cases;
    for (const Option* option : command.options) {
      options += (options.empty() ? "--" : " --") + option->name;
      // Attached arguments are completed only behind their =.
      if (option->attached && option->words.empty()) continue;
      if (option->attached)
        cases += "        --" + option->name + ") [[ ${COMP_WORDS[*]:COMP_CWORD-1} == *=* ]] && words=" +
                 shell_quoted(joined(option->words, " ")) + " ;;\n";
      else if (!option->is_flag())
        cases += bash_case(*option);
    }
    std::printf("    %s)\n      options=%s\n      case $previous in\n%s      esac ;;\n", command.name.c_str(),
                shell_quoted(options).c_str(), cases.c_str());
  }
  std::printf("    help) words=%s ;;\n%s", shell_quoted(joined(names, " ")).c_str(), kBashEnd);
}

// ---- zsh

// For _arguments, which gives a meaning to brackets and colons.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) out += std::string(c == '[' || c == ']' || c == ':' ? "\\" : "") + c;
  return out;
}

std::string zsh_values(const Option& option) {
  if (!option.words.empty()) return "(" + joined(option.words, " ") + ")";
  switch (option.value.names) {
    case Names::model:
      return "_carbon_models";
    case Names::input:
    case Names::output:
      return "_files";
    case Names::directory:
    case Names::adapter:
      return "_files -/";
    case Names::nothing:
      break;
  }
  return "";
}

std::string zsh_option(const Option& option, const std::string& name) {
  // A name shuts out the option's other names; a star lets it come again.
  const std::vector<std::string> names = names_with_dashes(option);
  const std::string shuts_out = option.repeats ? "*" : names.size() > 1 ? "(" + joined(names, " ") + ")" : "";
  const bool takes_value = !option.is_flag() && !option.attached;
  const std::string before_value = !takes_value ? "" : name.starts_with("--") ? "=" : "+";
  const std::string text = shuts_out + name + before_value + "[" + zsh_text(option.full_help()) + "]";
  return shell_quoted(takes_value ? text + ":value:" + zsh_values(option) : text);
}

constexpr const char* kZshEnd = R"END(  +*)
    # Options of plugins and the words of their values are those that the help of the installed plugin has.
    local after=
    ((${words[(I)--]} > 0 && ${words[(I)--]} < CURRENT)) && after=--
    local help=$("$program" "$words[2]" $after --help 2> /dev/null)
    [[ -z $after ]] && help=${help%%Plugin options*}
    local -a choices=($(_carbon_choices "$words[CURRENT-1]" <<< "$help"))
    if (($#choices)); then
      compadd -a choices
    elif [[ $PREFIX == -* ]]; then
      compadd -- $(grep -oE '^ +(-.,)?--[a-z][a-z0-9-]*' <<< "$help" | grep -oE -e '--.*')
    else
      _files
    fi ;;
esac
)END";

void print_zsh(const Commands& commands) {
  std::printf(
      "#compdef carbon\n"
      "# zsh completion of carbon %s, written by 'carbon completion zsh'.\n"
      "local program=$words[1]\n"
      "_carbon_models() {\n"
      "  compadd -- ${(f)\"$(%s)\"}\n"
      "  _files\n"
      "}\n"
      "_carbon_choices() {\n"
      "  %s\n"
      "}\n"
      "local -a commands=(\n",
      CARBON_VERSION, kModelNames, kChoices);
  for (const Declared& command : commands)
    std::printf("  %s\n", shell_quoted(command.name + ":" + zsh_text(command.help)).c_str());
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
  for (const Declared& command : commands) {
    std::printf("  %s)\n    shift words\n    ((CURRENT--))\n    _arguments -s -S", command.name.c_str());
    for (const Option* option : command.options)
      for (const std::string& name : names_with_dashes(*option))
        std::printf(" \\\n      %s", zsh_option(*option, name).c_str());
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
  Commands found;
  for (const Command& command : commands) found.emplace_back(command);
  shell == "bash" ? print_bash(found) : print_zsh(found);
  return 0;
}

}  // namespace carbon
