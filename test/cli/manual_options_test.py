"""The options in the manual pages, --help and advice are the same: man/options.py compares the pages with --help, which is made from the
table that the parser reads. A page explains every option of its command once, or says which page does, and no other option."""

import os
import re
import shutil
import sys

from harness import CARBON, case, command, expect, expect_equal, fresh, main, ok, read, write

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def options(man, *words):
    return command([sys.executable, os.path.join(man, "options.py"), *words], env={"CARBON": os.path.abspath(CARBON)}, timeout=240)


@case
def pages_have_the_options_of_their_commands():
    said = options(os.path.join(SOURCE, "man"))
    expect(said.rc == 0 and said.text == "", "what differs from the declarations", said)


@case
def what_differs_is_named_and_renewed():
    man = os.path.join(fresh(), "man")
    shutil.copytree(os.path.join(SOURCE, "man"), man)
    page = os.path.join(man, "carbon-score.1")
    before = read(page).decode()

    def changed(old, new, name="carbon-score.1"):
        text = read(os.path.join(SOURCE, "man", name)).decode()
        expect(old in text, "%s has no %r" % (name, old))
        write(man, name, text.replace(old, new, 1))

    # Headings, sentences and the list of common options are renewed.
    strand, common = r'.BI "\-\-strand " STRAND', r"\fB\-\-rope\-scaling\fR, "
    for old, new in ((strand, r".B \-\-strand"), ("Strand to read: ", "The strand: "), (common, "")):
        changed(old, new)
        said = options(man)
        expect(said.rc == 1 and said.text == "man/carbon-score.1 differs from the declarations; man/options.py --write renews it\n", old, said)
        said = options(man, "--write")
        expect(said.rc == 0, "--write", said)
        expect_equal(read(page).decode(), before, "the page")
    # What only a person can decide is named.
    paragraph = re.search(r'\.TP\n\.BI "\\-\\-strand .*\n.*\n', before).group()
    for old, new, wanted in ((paragraph, "", "no paragraph explains --strand"), (paragraph, 2 * paragraph, "--strand stands there twice"),
                             (paragraph, paragraph + paragraph.replace("strand", "nosuch"), "carbon score has no option --nosuch")):
        changed(old, new)
        said = options(man)
        expect(said.rc == 1 and "man/carbon-score.1: " + wanted in said.text, wanted, said)
    write(man, "carbon-score.1", before)
    changed(r".B \-\-log\-json", r".B \-\-nosuch", "carbon.1")
    said = options(man)
    expect(said.rc == 1 and "man/carbon.1: no command has the option --nosuch" in said.text and
           "man/carbon-score.1: no paragraph explains --log-json" in said.text, "a common option", said)
    shutil.copy(os.path.join(SOURCE, "man", "carbon.1"), man)
    changed(r"\fB\-\-label\-scale\fR", r"\fB\-\-strand\fR", "carbon-vep.1")
    said = options(man)
    expect(said.rc == 1 and "man/carbon-vep.1: --strand is not the one of man/carbon-predict.1" in said.text, "an option of another page", said)


@case
def common_options_stand_once():
    """Every paragraph of carbon(1), COMMON OPTIONS, is of an option that commands share, and no page has another copy of it."""
    def found(page):
        text = read(os.path.join(SOURCE, "man", page)).decode()
        return re.findall(r'^\.TP.*\n(\.B.* ?\\-\\-\S.*\n.*\n(?!\.\\"))', text, re.M)
    shared = found("carbon.1")
    expect(len(shared) > 15, "%d common options" % len(shared))
    for page in sorted(os.listdir(os.path.join(SOURCE, "man"))):
        if page.endswith(".1") and page != "carbon.1":
            text = read(os.path.join(SOURCE, "man", page)).decode()
            for name in (r"\-\-model", r"\-\-dtype", r"\-\-log\-json", r"\-\-restart"):
                copy = [paragraph for paragraph in shared if name in paragraph]
                expect(len(copy) == 1 and copy[0] not in text, "%s repeats %s" % (page, name))


def names_of_options():
    """The long options and letters of all commands."""
    commands = re.findall(r"^    ([a-z]+) ", ok("--help").text, re.M)
    expect(len(commands) > 9, "commands: %s" % commands)
    names = set()
    for each in commands:
        for letter, name in re.findall(r"^  (?:-(.),)?(--[a-z][a-z0-9-]*)", ok(each, "--help").text, re.M):
            names |= {name, "-" + letter}
    return names


@case
def advice_names_options_that_there_are():
    known, named = names_of_options(), set()
    for folder in ("src", "kernels", "tokenizer"):
        for top, _, files in os.walk(os.path.join(SOURCE, folder)):
            for file in files:
                if file.endswith((".cpp", ".hpp")):
                    with open(os.path.join(top, file), encoding="utf-8") as f:
                        named |= {option for line in f if not line.lstrip().startswith("//") for option in re.findall(r"\{(--?[a-zA-Z][a-z0-9-]*)\}", line)}
    expect(len(named) > 30, "options in advice: %s" % named)
    expect_equal(sorted(named - known), [], "options that no command has")


if __name__ == "__main__":
    main()
