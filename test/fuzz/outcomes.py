"""Runs of programs on hostile files, with limits of time and memory, and what each of them did."""

import os
import re
import signal
import sys

import harness
from harness import CARBON, command, fresh, read

SECONDS = 30
GIGABYTES = 4
TINY = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "models", "carbon-tiny")

# A small process starts the program, because the kernel counts for it what its parent had in use.
LAUNCHER = """
import resource, subprocess, sys, time
began = time.monotonic()
status = subprocess.run(sys.argv[2:]).returncode
with open(sys.argv[1], "w") as f:
    f.write("%d %.3f %d" % (status, time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
"""


class Outcome:
    """What one run did. `fault` says what is wrong with what it wrote, or what it left behind."""

    def __init__(self, args, status, seconds, kilobytes, out, err):
        self.args, self.seconds, self.megabytes, self.out = args, seconds, kilobytes / 1000, out
        self.text = err
        self.stopped = status in (124, 137) and seconds >= 1
        self.signal = -status if status < 0 else status - 128 if 128 < status < 160 else 0
        self.status, self.fault = status, ""

    @property
    def end(self):
        if self.stopped:
            end = "no end in %.0f s" % self.seconds
        elif self.signal:
            end = "killed by %s" % signal.Signals(self.signal).name
            end += ", after a message of its own" if "[E::plugin]" in self.text else ""
        else:
            end = "exit %d" % self.status
        return end + (", " + self.fault if self.fault else "")

    @property
    def kind(self):
        if self.stopped:
            return "did not end"
        if self.signal:
            return "killed by a signal, after a message" if "[E::plugin]" in self.text else "killed by a signal"
        if self.status:
            return "refused the file"
        return "exit 0, but the output is wrong or cannot be read again" if self.fault else "exit 0, and the output is right"

    @property
    def message(self):
        lines = [line for line in self.text.splitlines() if line.strip()]
        errors = [line for line in lines if re.match(r"\[E::|.*([Ee]rror|[Ff]ailed|[Cc]ould not)", line)]
        if self.args[0] == CARBON:
            return clean((errors or [""])[-1])  # what is before it is htslib's
        return clean((errors or lines or [""])[0])


def clean(text):
    """Without the folder of this run; no row of a table can be broken by it."""
    text = re.sub(re.escape(harness.ROOT) + r"/(tmp/)?[A-Za-z0-9_]+/", "", text)
    for path, name in ((os.path.realpath(TINY), "models/carbon-tiny"), (os.path.dirname(CARBON) + os.sep, "")):
        text = text.replace(path, name)
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    return text if len(text) <= 170 else text[:167] + "..."


def measured(args, stdin=b"", cwd=None, env=None, seconds=SECONDS, kilobytes_of_file=None, gigabytes=GIGABYTES):
    report = os.path.join(fresh(), "report")
    limits = "ulimit -v %d; %s" % (gigabytes << 20, "ulimit -f %d; " % kilobytes_of_file if kilobytes_of_file else "")
    given = [str(a) for a in args]
    run = command([sys.executable, "-ISc", LAUNCHER, report, "timeout", "-k", "2", str(seconds), "bash", "-c",
                   limits + 'exec "$@"', "-", *given], stdin, cwd=cwd, env=env, timeout=seconds + 60)
    if not os.path.exists(report):
        raise RuntimeError(run.err)
    status, wall, kilobytes = read(report).split()
    return Outcome(given, int(status), float(wall), int(kilobytes), run.out, run.err)
