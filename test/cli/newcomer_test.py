"""The README's Quick start, as a newcomer follows it: a fresh clone, its command as it stands, an annotated VCF.

Two things stand in for what takes long or needs the network: apt-get, which is asked and does nothing, and the compiler,
whose objects are put where `make` would have left them.
"""
# Left out while unchanged: build README.md test/demo.sh test/data

import os
import re
import shlex
import shutil
import time

from documentation_support import SOURCE
from harness import CARBON, ENV, Skip, case, command, expect, expect_equal, fresh, main, read, tool, write

BUILD = os.path.dirname(CARBON)
EXAMPLES = "/usr/share/doc/samtools/examples"
APT = '#!/bin/sh\necho "$0 $*" >> %s\n'
SUDO = '#!/bin/sh\nexec "$@"\n'


def quick_start():
    """The first block of shell below the heading."""
    section = read(os.path.join(SOURCE, "README.md")).decode().split("\n## Quick start\n")[1]
    return re.search(r"^```sh\n(.*?)^```", section, re.M | re.S).group(1)


def shown_scores():
    """[(CHROM, POS, REF, ALT, score)] of the demo's output in that section."""
    section = read(os.path.join(SOURCE, "README.md")).decode().split("\n## Quick start\n")[1]
    table = re.search(r"^CHROM .*CARBON_LLR\n((?:seq.*\n)+)", section, re.M).group(1)
    return [(*row[:4], float(row[-1])) for row in map(str.split, table.splitlines())]


def given_to_make():
    """Variables that were given to the make that runs these tests, such as CXX, without its jobs."""
    flags = os.environ.get("MAKEFLAGS", "")
    return "-- " + flags.partition("-- ")[2] if "-- " in flags else ""


def clone(env):
    """A clone of the last commit in which make has nothing to compile."""
    if not os.path.exists(os.path.join(SOURCE, ".git")):
        raise Skip("the sources are no git checkout")
    changed = tool("git", "-C", SOURCE, "-c", "safe.directory=*", "status", "--porcelain", "--untracked-files=no").text
    if changed:
        raise Skip("what was built differs from the last commit, which a clone has: " + changed.splitlines()[0])
    directory = os.path.join(fresh(), "carbon")
    tool("git", "clone", "-q", "--no-hardlinks", SOURCE, directory, timeout=120)
    build = os.path.join(directory, "build")
    shutil.copytree(BUILD, build, ignore=shutil.ignore_patterns("check", "check_*", "emulated", "portable", "test", "unit"))
    # The stamps of settings first, then one time for all: nothing is older than what it is made of.
    stamps = ["build/" + name for name in os.listdir(build) if name.endswith(".stamp")]
    made = command(["make", "-s", *stamps], cwd=directory, env=env, timeout=120)
    expect(made.rc == 0, "make fails", made)
    now = time.time()
    for where, _, names in os.walk(build):
        for name in names:
            os.utime(os.path.join(where, name), (now, now))
    return directory


@case
def from_clone_to_scored_variants():
    block = quick_start()
    expect_equal(block.strip(), "./install-deps.sh && make -j2 && make demo", "the first command of the README")
    if "sanitize" in os.path.basename(BUILD):
        raise Skip("a program with sanitizers is built by another command")
    for path in ("ex1.fa", "ex1.sam.gz"):
        if not os.path.exists(os.path.join(EXAMPLES, path)):
            raise Skip("no %s/%s: this system drops documentation" % (EXAMPLES, path))
    programs = fresh()
    asked = os.path.join(programs, "asked")
    for name, text in (("apt-get", APT % shlex.quote(asked)), ("sudo", SUDO)):
        os.chmod(write(programs, name, text), 0o755)
    env = {"PATH": programs + os.pathsep + ENV["PATH"], "MAKEFLAGS": given_to_make()}
    directory = clone(env)
    result = command(["bash", "-euo", "pipefail", "-c", block], cwd=directory, env=env, timeout=240)
    expect(result.rc == 0, "the Quick start fails", result)
    packages = read(asked).decode()
    for name in ("g++", "libhts-dev", "bcftools", "samtools"):
        expect(re.search(r"install .* %s( |$)" % re.escape(name), packages, re.M), "%s was not asked for: %s" % (name, packages))
    rows = [line.split() for line in result.lines()]
    head = next((i for i, row in enumerate(rows) if row[:4] == ["CHROM", "POS", "REF", "ALT"]), None)
    expect(head is not None and rows[head][-1] == "CARBON_LLR", "no table of variants", result)
    scores = [float(row[-1]) for row in rows[head + 1:rows.index([], head)]]
    expect(len(set(scores)) > 2 and any(score < 0 for score in scores), "scores are %r" % scores, result)
    # Of another CPU the scores have other last digits, and other versions of bcftools call other indels.
    made = {tuple(row[:4]): float(row[-1]) for row in rows[head + 1:rows.index([], head)]}
    for *variant, score in shown_scores():
        if len(variant[2]) == len(variant[3]) == 1:
            expect(abs(made.get(tuple(variant), 99) - score) < 0.05, "%r has not the score of the README" % variant, result)
    last = [line for line in result.lines() if not line.startswith("make")][-1]  # which says which folder it leaves
    expect(last.endswith(" build/demo.html"), "where the report is: %r" % last, result)
    expect(last + "\n```" in read(os.path.join(SOURCE, "README.md")).decode(), "the README has another last line than " + last)
    report = read(os.path.join(directory, "build", "demo.html")).decode()
    expect("CARBON_LLR" in report and "carbon-tiny" in report, "no scores in the report")
    expect_equal(tool("git", "-C", directory, "status", "--porcelain").text, "", "what it leaves in the clone")


if __name__ == "__main__":
    main()
