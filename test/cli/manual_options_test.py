"""The options of each manual page are those of --help, which is made from the table that the parser reads: the headings of the page
have the letter, the name and the value of each option, and no other ones. Advice in messages names them, too."""

import os
import re

from harness import case, expect, expect_equal, main, ok

MAN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "man")
OPTION = re.compile(r"(?:-(.),)?--([a-z][a-z0-9-]*)(?: ?(\S+))?")


def help_of(command):
    """{option: (letter, value, what --help says of it)}"""
    own = ("--",) if command.startswith("+") else ()  # the options of carbon for all plugins are in carbon-plugin.1 alone
    found, name = {}, ""
    for line in ok(command, *own, "--help").lines():
        option = OPTION.fullmatch(re.split("  +", line[2:])[0]) if line.startswith("  -") else None
        if option:
            name = option[2]
            found[name] = option[1] or "", option[3] or "", ""
        if name and (option or line.startswith("   ")):
            found[name] = *found[name][:2], found[name][2] + line
    return found


def page_of(command):
    """{option: (letter, value)}. A heading of several options refers to another page."""
    found = {}
    with open(os.path.join(MAN, "carbon-%s.1" % command.lstrip("+")), encoding="utf-8") as page:
        text = page.read().split("\n.SS Options of carbon for plugins")[0]
        for heading in re.findall(r"^\.TP.*\n\.[BIR]+ (.*)", text, re.M):
            words = re.sub(" *, *", ",", re.sub(r'\\f.|\\&|"|\.\.\.$', "", heading).replace(r"\-", "-"))
            option = re.fullmatch(r"(?:-(.),)?--([a-z][a-z0-9-]*)(.*)", words)
            if option and not option[3].startswith(","):
                found.setdefault(option[2], (option[1] or "", option[3].replace(" ", "")))
    return found


def fits(shown, value, said):
    """Where --help has a name for a value, a page may have its words, which --help then explains."""
    return value == shown or (shown.isupper() and "|" in value and all(word in said for word in re.split(r"[|,]", value)))


def compare(command, options):
    page = page_of(command)
    expect_equal(sorted(page), sorted(options), "the options in the page of " + command)
    for name, (letter, shown, said) in options.items():
        expect_equal(page[name][0], letter, "the letter of --%s in the page of %s" % (name, command))
        expect(fits(shown, page[name][1], said), "--%s %s is --%s %s in the page of %s" % (name, shown, name, page[name][1], command))


@case
def pages_of_commands_have_their_options():
    commands = re.findall(r"^    ([a-z]+) ", ok("--help").text, re.M)
    expect(len(commands) > 9, "commands: %s" % commands)
    for command in commands:
        compare(command, help_of(command))


@case
def pages_of_plugins_have_their_options():
    plugins = re.findall(r"^    (\+\S+) ", ok("plugin", "-l").text, re.M)
    expect(len(plugins) > 5, "plugins: %s" % plugins)
    for plugin in plugins:
        compare(plugin, help_of(plugin))


@case
def advice_names_options_that_there_are():
    commands = re.findall(r"^    ([a-z]+) ", ok("--help").text, re.M)
    options = [(name, letter) for command in commands for name, (letter, _, _) in help_of(command).items()]
    known = {"--" + name for name, _ in options} | {"-" + letter for _, letter in options}
    named = set()
    for folder in ("src", "kernels", "tokenizer"):
        for top, _, files in os.walk(os.path.join(MAN, "..", folder)):
            for file in files:
                if file.endswith((".cpp", ".hpp")):
                    with open(os.path.join(top, file), encoding="utf-8") as f:
                        named |= {option for line in f if not line.lstrip().startswith("//") for option in re.findall(r"\{(--?[a-zA-Z][a-z0-9-]*)\}", line)}
    expect(len(named) > 30, "options in advice: %s" % named)
    expect_equal(sorted(named - known), [], "options that no command has")


if __name__ == "__main__":
    main()
