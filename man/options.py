#!/usr/bin/env python3
"""man/options.py [--write]: compares the options in the manual pages with their declarations; --write renews the pages.

An option has one paragraph: .TP, a heading, and a line with what `carbon COMMAND --help` says of the option. These come from the
declarations; the lines after them are written in the page. In a new paragraph, --write completes a heading that has the name alone.

COMMON OPTIONS of carbon(1) has the options that several commands share in the same words. The paragraph "Common options" of another page
lists those that the command has and the page does not explain. "Options of carbon-NAME(1)" in a page lists options that NAME's page
explains, and which must be the same there.

What differs is printed, and the exit status is then 1. The program is $CARBON, else build/carbon.
"""

import glob
import os
import re
import subprocess
import sys

MAN = os.path.dirname(os.path.abspath(__file__))
CARBON = os.path.abspath(os.environ.get("CARBON") or os.path.join(MAN, "..", "build", "carbon"))
OPTION = re.compile(r"(?:-(.),)?--([a-z][a-z0-9-]*)(?: ?(\S+))?")
PARAGRAPH = re.compile(r"^\.TP.*\n(\..*\n)((?:(?!\.TP|\.S[HS] |\.PP|\.\\\").*\n)*)", re.M)
COMMON = '.BR "Common options" ", see " carbon (1)\n'
ELSEWHERE = re.compile(r'\.BR "Options of " (carbon\\-\S+) \(1\)\n')


class Option:
    """An option of a command, as its --help has it."""

    def __init__(self, letter, name, value):
        self.letter, self.name, self.value, self.words = letter or "", name, value or "", []

    def known(self):
        """What is equal where the option is the same."""
        return self.letter, self.value, self.words

    def heading(self):
        names = (r"\-%s, " % self.letter if self.letter else "") + r"\-\-" + self.name.replace("-", r"\-")
        if not self.value:
            return ".B %s\n" % names
        value = self.value.replace("-", r"\-")
        return '.BR "%s" %s\n' % (names, value) if value.startswith("[=") else '.BI "%s " %s\n' % (names, value)

    def sentence(self):
        """What --help says, as a sentence of roff on one line."""
        text = " ".join(self.words).replace("\\", "\\e").replace("'", r"\(aq")
        text = re.sub(r"(?<![\w\\-])--?[a-zA-Z][\w-]*", lambda m: r"\fB%s\fR" % m.group().replace("-", r"\-"), text)
        text = re.sub(r"(?<!\w)-(?=[ ,\d])", r"\\-", text)
        if re.fullmatch(r"[A-Z]+", self.value):
            text = re.sub(r"\b%s\b" % self.value, r"\\fI%s\\fR" % self.value, text)
        text = text[0].upper() + text[1:] if re.match("[a-z]+[ ,:;-]", text) else r"\&" + text if text[0] in ".'" else text
        return text + ("" if text.endswith(".") else ".") + "\n"


def said(*words):
    """What the program prints, without plugins of other folders."""
    environment = {key: value for key, value in os.environ.items() if key != "CARBON_PLUGINS"}
    return subprocess.run([CARBON, *words], stdout=subprocess.PIPE, env=environment, check=True).stdout.decode()


def help_of(command):
    """{name: Option} of a command or +plugin."""
    own = ["--"] if command.startswith("+") else []  # carbon-plugin(1) has the options of carbon for all plugins
    options, last = {}, None
    for line in said(command, *own, "--help").splitlines():
        head = OPTION.fullmatch(re.split("  +", line[2:])[0]) if line.startswith("  -") else None
        if head:
            last = options[head[2]] = Option(*head.groups())
            line = (re.split("  +", line[2:], maxsplit=1) + [""])[1]
        elif not line.startswith("      "):
            last = None
        if last:
            last.words += line.split()
    return options


def commands():
    """{page: command or +plugin} of all pages with options."""
    names = re.findall(r"^    (\+?[a-z-]+) ", said("--help") + said("plugin", "-l"), re.M)
    return {"carbon-%s.1" % name.lstrip("+"): name for name in names}


def named(heading):
    """The option in whose heading stands only one, or None."""
    words = re.sub(r'\\f.|\\&|"', "", heading).replace(r"\-", "-")
    found = re.findall(r"--([a-z][a-z0-9-]*)", words)
    return found[0] if len(found) == 1 and re.match(r"\.[BIR]+ (-., )?--", words) else None


def list_of(options):
    names = ", ".join(r"\fB%s\fR" % (r"\-%s" % o.letter if o.letter else r"\-\-" + o.name.replace("-", r"\-")) for o in options)
    return names + ".\n"


class Pages:
    def __init__(self):
        self.wrong, self.text, self.command = [], {}, commands()
        self.options = {page: help_of(command) for page, command in self.command.items()}
        for path in sorted(glob.glob(os.path.join(MAN, "carbon*.1"))):
            with open(path, encoding="utf-8") as file:
                self.text[os.path.basename(path)] = file.read()
        self.wrong += ["there is no page man/" + page for page in self.command if page not in self.text]
        self.common = {}
        for heading, _ in PARAGRAPH.findall(self.text["carbon.1"].split(".SH COMMON OPTIONS")[1]):
            have = [options[named(heading)] for options in self.options.values() if named(heading) in options]
            if not have:
                continue
            same = max(([other for other in have if other.known() == option.known()] for option in have), key=len)
            self.common[named(heading)] = same[0]
            if len(same) < 2:
                self.wrong.append("man/carbon.1: --%s is not an option that commands share" % same[0].name)

    def paragraph(self, option, found):
        """With the heading and the sentence of the declaration."""
        top, rest = found.group().split("\n", 1)[0], found.group(2).split("\n", 1)
        return top + "\n" + option.heading() + option.sentence() + (rest[1] if len(rest) > 1 else "")

    def page(self, page):
        """The text as the declarations want it."""
        options, explained, elsewhere = self.options[page], [], []

        def renewed(found):
            heading, name = found.group(1), named(found.group(1))
            other = ELSEWHERE.fullmatch(heading)
            if other:
                names = re.findall(r"[a-z](?:[a-z0-9-]|(?<=[a-z])-)+", re.sub(r"\\f.", "", found.group(2)).replace(r"\-", "-"))
                home = other[1].replace("\\", "") + ".1"
                for each in names:
                    if each not in options or each not in self.options[home] or options[each].known() != self.options[home][each].known():
                        self.wrong.append("man/%s: --%s is not the one of man/%s" % (page, each, home))
                elsewhere.extend(names)
            elif heading == COMMON:
                return found.group()
            elif name is None:
                return found.group()
            elif name not in options:
                self.wrong.append("man/%s: carbon %s has no option --%s" % (page, self.command[page], name))
            elif name in explained:
                self.wrong.append("man/%s: --%s stands there twice" % (page, name))
            else:
                explained.append(name)
                return self.paragraph(options[name], found)
            return found.group()

        own, mark, plugins = self.text[page].partition(".SS Options of carbon for plugins")
        text = PARAGRAPH.sub(renewed, own)
        shared = [o for o in options.values() if o.name not in explained + elsewhere and o.name in self.common
                  and o.known() == self.common[o.name].known()]
        there = explained + elsewhere + [o.name for o in shared]
        self.wrong += ["man/%s: no paragraph explains --%s" % (page, name) for name in options if name not in there]
        if (COMMON in text) != bool(shared):
            self.wrong.append("man/%s: %s paragraph \"Common options\"" % (page, "no" if shared else "an empty"))
        text = re.sub(re.escape(COMMON) + r"(.*\n)", lambda found: COMMON + list_of(shared), text)
        return text + mark + plugins

    def front(self):
        """carbon(1), with the common options."""
        before, mark, after = self.text["carbon.1"].partition(".SH COMMON OPTIONS")
        common, end, rest = after.partition("\n.SH ")
        def renewed(found):
            option = self.common.get(named(found.group(1)))
            if option is None and named(found.group(1)):
                self.wrong.append("man/carbon.1: no command has the option --%s" % named(found.group(1)))
            return self.paragraph(option, found) if option else found.group()
        return before + mark + PARAGRAPH.sub(renewed, common + "\n")[:-1] + end + rest


def main(write):
    pages = Pages()
    for page in sorted(pages.text):
        text = pages.front() if page == "carbon.1" else pages.page(page) if page in pages.options else pages.text[page]
        if text != pages.text[page] and write:
            with open(os.path.join(MAN, page), "w", encoding="utf-8") as file:
                file.write(text)
        elif text != pages.text[page]:
            pages.wrong.append("man/%s differs from the declarations; man/options.py --write renews it" % page)
    print("\n".join(pages.wrong), end="\n" if pages.wrong else "")
    return 1 if pages.wrong else 0


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--write"]):
        sys.exit(__doc__)
    sys.exit(main(write=len(sys.argv) > 1))
