"""The fault table of docs/faults.md: each row is an experiment with carbon vep, and says what the experiment showed.

A row is a function with @row("what went wrong") that checks what must hold and returns the other columns: exit status,
last message, files afterwards, what was lost. `python3 test/cli/vep_faults_test.py --write` runs all of them and writes
the table (a row that cannot run here stays as it is); as a test, each row must be in the table as it was found.
"""

import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from harness import (CARBON, ENV, Result, Skip, case, command, data, expect, expect_equal, expect_failure, fresh, main,
                     model, own_errors, read, records, tool, write)
from vep_support import MINI

DOCUMENT = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "docs", "faults.md")
TRIES = 20
KEPT = "no output; FILE.partial if a score was computed before"
OPTIONS = ["-w", 12, "--strand", "+", "--max-ref-mismatch", 1, "--no-version", "-q"]
_rows = []


def row(title):
    """Registers an experiment: as a row of the table and as a case."""
    def register(f):
        def line():
            return "| " + " | ".join((title, *f())) + " |"

        def checked():
            found = line()
            expect(found in read(DOCUMENT).decode().splitlines(), "docs/faults.md has another row than\n" + found +
                   "\n(python3 test/cli/vep_faults_test.py --write writes it)")

        _rows.append((title, line))
        case(checked, name=title)
        return f
    return register


def write_table():
    lines = read(DOCUMENT).decode().splitlines()
    head = next(i for i, text in enumerate(lines) if text.startswith("|---"))
    end = next(i for i in range(head, len(lines) + 1) if i == len(lines) or not lines[i].startswith("|"))
    old = {text.split(" | ")[0][2:]: text for text in lines[head + 1:end]}
    found = []
    for title, line in _rows:
        try:
            found.append(line())
        except Skip as reason:
            print("SKIPPED %s: %s" % (title, reason))
            found += [old[title]] if title in old else []
    write(os.path.dirname(DOCUMENT), os.path.basename(DOCUMENT), "\n".join(lines[:head + 1] + found + lines[end:]) + "\n")


# ---- the runs ------------------------------------------------------------------------------------------------------

_inputs = {}


def inputs():
    """{format: bytes} of one file with samples, several BGZF blocks long, and "total": its number of records."""
    if not _inputs:
        lines = read(MINI).splitlines(True)
        body = [line for line in lines if line[:1] != b"#"]
        numbered = [line.replace(b"\t.\t.\t.\tGT", b"\t%d\t.\tDP=%d\tGT" % (i, i * 7919 % 10007)) for i in range(80) for line in body]
        path = write(fresh(), "in.vcf", b"".join([line for line in lines if line[:1] == b"#"] + numbered))
        _inputs.update({"vcf": read(path), "vcf.gz": tool("bgzip", "-c", path).out, "total": len(numbered), "path": path,
                        "bcf": tool("bcftools", "view", "--no-version", "-Ob", path).out})
    return _inputs


_reference = []


def arguments():
    """Of a run whose reference has its index; the input is still to come."""
    if not _reference:
        _reference.append(data("mini.fa"))
        tool("samtools", "faidx", _reference[0])
        command([CARBON, "vep", "-m", model(), "-f", _reference[0], *OPTIONS, MINI])  # the model's digest is remembered
    return [CARBON, "vep", "-m", model(), "-f", _reference[0], *OPTIONS]


_whole = []


def whole():
    """The records of a run in which nothing goes wrong."""
    if not _whole:
        done = command([*arguments(), inputs()["path"]])
        expect_equal((done.rc, len(records(done.text))), (0, inputs()["total"]), "exit status and records of a whole run")
        _whole.append(records(done.text))
    return _whole[0]


def damaged(kind, change):
    """Runs TRIES files that `change(bytes, random)` damaged. Each must fail with one message and only what this says is kept,
    or succeed with as many records as the whole file has. Returns [records of a run that succeeded, or None]."""
    rng, outcomes = random.Random(kind), []
    whole()
    for number in range(TRIES):
        directory = fresh()
        path = write(directory, "in." + kind, change(inputs()[kind], rng))
        out = os.path.join(directory, "out.vcf")
        done = command([*arguments(), "-o", out, path], timeout=20)
        what = "try %d" % number
        if done.rc == 0:
            lines = records(read(out).decode("latin-1"))
            expect_equal(len(lines), inputs()["total"], "records of " + what)
            outcomes.append(lines)
        else:
            expect(done.rc == 1 and len(own_errors(done)) == 1, what, done)
            kept = ["out.vcf.partial"] if "continue with --resume" in done.err else []
            expect_equal(sorted(os.listdir(directory)), sorted(["in." + kind] + kept), "files after " + what)
            outcomes.append(None)
        shutil.rmtree(directory)
    return outcomes


def cut(content, rng):
    while True:
        at = rng.randrange(len(content))
        # Nothing tells a text that ends with a whole line from a shorter one: a row of its own. A cut in the last column is
        # like a last line without its newline, which is a warning.
        line = content[content.rfind(b"\n", 0, at) + 1:at]
        columns = content[content.find(b"#CHROM"):].split(b"\n")[0].count(b"\t")
        in_last_column = content.startswith(b"##") and line.count(b"\t") == columns
        if content[at - 1:at] != b"\n" and not in_last_column:
            return content[:at]


def flip(content, rng):
    at = rng.randrange(len(content))
    return content[:at] + bytes([content[at] ^ rng.randrange(1, 256)]) + content[at + 1:]


# ---- rows: the input -----------------------------------------------------------------------------------------------


def row_of_cuts(kind):
    @row("`.%s` cut at %d random bytes" % (kind, TRIES))
    def cuts():
        expect_equal(damaged(kind, cut), [None] * TRIES, "a cut file was accepted")
        return "1", "what is damaged, and where", KEPT, "nothing: copy the input again, and continue with --resume"


def row_of_flips(kind):
    @row("`.%s`, %d random bytes changed" % (kind, TRIES))
    def flips():
        # The few bytes of a BGZF block's head that say nothing of its data, its time for one, may be anything.
        expect(all(lines in (None, whole()) for lines in damaged(kind, flip)), "other records than those of the whole file")
        return ("1", "what is damaged, and where", KEPT, "nothing: every block has a checksum; a byte that carries no "
                "data changes nothing (exit 0, the same records)")


for name in ("vcf.gz", "bcf", "vcf"):
    row_of_cuts(name)


@row("`.vcf` cut between two lines")
def cut_between_lines():
    text = inputs()["vcf"]
    path = write(fresh(), "in.vcf", text[:text.index(b"\n", len(text) // 2) + 1])
    done = command([*arguments(), path])
    expect(done.rc == 0 and 0 < len(records(done.text)) < inputs()["total"], "the run", done)
    return "0", "the summary, with its count", "the records up to the cut", "the records after the cut: nothing marks such a file as damaged; use `.vcf.gz`"


for name in ("vcf.gz", "bcf"):
    row_of_flips(name)


@row("`.vcf`, %d random bytes changed" % TRIES)
def flips_of_text():
    outcomes = damaged("vcf", flip)
    refused = outcomes.count(None)
    expect(0 < refused < TRIES, "%d of %d refused" % (refused, TRIES))
    return ("1, or 0 if the text is still a VCF", "what is damaged, and where", KEPT + "; or every record",
            "no record; text has no checksum, so a changed letter or digit is not noticed")


# ---- rows: the output ----------------------------------------------------------------------------------------------


@row("disk full (a file system of 64 kB), `-o FILE`")
def full_disk():
    if os.geteuid() != 0:
        raise Skip("only root can mount a small file system")
    directory = fresh()
    mounted = command(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", directory])
    if mounted.rc != 0:
        raise Skip("no file system can be mounted here: " + mounted.err.strip())
    try:
        for name in ("out.vcf", "out.vcf.gz", "out.bcf"):
            older = write(directory, name, "an older output")
            write(directory, "filler", b"x" * (56 << 10))
            done = command([*arguments(), "-o", older, inputs()["path"]])
            expect_failure(done, older, "No space left", "continue with --resume")
            expect_equal(sorted(os.listdir(directory)), ["filler", name, name + ".partial"], "files after -o " + name)
            expect_equal(read(older), b"an older output", "the older file")
            os.remove(older)
            os.remove(older + ".partial")
    finally:
        expect_equal(command(["umount", directory]).rc, 0, "umount")
    return "1", "No space left on device", "no output; FILE.partial; an older FILE is unchanged", "nothing: make room and continue with --resume"


@row("`-o /dev/full`, `> /dev/full`")
def full_device():
    expect_failure(command([*arguments(), "-o", "/dev/full", inputs()["path"]]), "/dev/full", "No space left")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(list(map(str, [*arguments(), inputs()["path"]])), stdout=full, stderr=subprocess.PIPE, env=ENV)
    expect(done.returncode == 1 and done.stderr.count(b"[E::") == 1, "standard output: %r" % (done,))
    return "1", "No space left on device", "no output", "nothing"


@row("limit on the size of files (`ulimit -f`, SIGXFSZ ignored)")
def file_size_limit():
    def limited():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50000, 50000))

    whole()
    directory = fresh()
    args = [*arguments(), "-o", os.path.join(directory, "out.vcf"), inputs()["path"]]
    done = subprocess.run(list(map(str, args)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV, preexec_fn=limited)
    expect_failure(Result(args, done.returncode, done.stdout, done.stderr), "out.vcf", "File too large")
    expect_equal(os.listdir(directory), ["out.vcf.partial"], "files")
    return "1", "File too large", "no output; FILE.partial", "nothing: continue with --resume"


@row("closed pipe (`carbon vep ... \\| head`)")
def closed_pipe():
    # The shell's own account of the first command of the pipe.
    script = '"$@" | head -n 30; exit "${PIPESTATUS[0]}"'
    done = command(["bash", "-c", script, "bash", *arguments(), inputs()["path"]])
    expect_equal(done.rc, 128 + signal.SIGPIPE, "exit status")
    expect_equal((done.text.count("\n"), done.err), (30, ""), "lines and messages")
    expect_equal(records(done.text), whole()[:len(records(done.text))], "records")
    return "141 (SIGPIPE)", "none", "the lines that `head` took", "nothing"


# ---- rows: the run itself ------------------------------------------------------------------------------------------


def stopped(directory, number):
    """A run with -o in `directory` that gets the signal when a third of its records are scored: (exit status as a shell
    sees it, messages). Its input is a pipe that stays open, so that it cannot be at its end by then."""
    out = os.path.join(directory, "out.vcf.gz")
    args = [arg for arg in arguments() if arg != "-q"]
    process = subprocess.Popen(list(map(str, [*args, "-o", out, "-"])), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, env=ENV)

    def feed():
        try:
            process.stdin.write(inputs()["vcf"])
            process.stdin.flush()
        except BrokenPipeError:
            pass

    threading.Thread(target=feed, daemon=True).start()
    least = inputs()["total"] // 3 * 44  # bytes of so many entries of FILE.partial, at least
    deadline = time.monotonic() + 60
    while not os.path.exists(out + ".partial") or os.path.getsize(out + ".partial") < least:
        expect(process.poll() is None and time.monotonic() < deadline, "the run did not get so far: %r" % process.poll())
        time.sleep(0.002)
    process.send_signal(number)
    messages = process.stderr.read().decode()
    rc = process.wait(timeout=60)
    return (128 - rc if rc < 0 else rc), messages


def continued(directory):
    """The run that --resume continues: its output has the bytes of one that nothing stopped."""
    given, out = inputs()["path"], os.path.join(directory, "out.vcf.gz")
    done = command([*[arg for arg in arguments() if arg != "-q"], "--resume", "-o", out, given])
    expect(done.rc == 0 and "continuing: " in done.err, "--resume", done)
    expect_equal(os.listdir(directory), ["out.vcf.gz"], "files after --resume")
    expect(read(out) == undisturbed(), "the output is not that of a run without a break")


def undisturbed():
    path = os.path.join(fresh(), "out.vcf.gz")
    expect_equal(command([*arguments(), "-o", path, inputs()["path"]]).rc, 0, "exit status of a whole run")
    return read(path)


@row("SIGTERM, as sent by a scheduler")
def terminated():
    directory = fresh()
    rc, messages = stopped(directory, signal.SIGTERM)
    expect(rc == 128 + signal.SIGTERM and re.search("stopped by SIGTERM after .* continue with --resume", messages), "the run: %d %s" % (rc, messages))
    expect_equal(os.listdir(directory), ["out.vcf.gz.partial"], "files")
    return "143", "stopped by SIGTERM after N records; continue with --resume", "no output; FILE.partial", "nothing: FILE.partial has every score"


@row("SIGTERM, then `--resume`")
def terminated_and_continued():
    directory = fresh()
    stopped(directory, signal.SIGTERM)
    continued(directory)
    return "0", "continuing: FILE.partial has the scores of N records", "the output, with the same bytes as an uninterrupted run", "nothing"


@row("kill -9, then `--resume`")
def killed_and_continued():
    directory = fresh()
    rc, _ = stopped(directory, signal.SIGKILL)
    expect_equal(rc, 128 + signal.SIGKILL, "exit status of the killed run")
    expect("out.vcf.gz.partial" in os.listdir(directory) and "out.vcf.gz" not in os.listdir(directory), "files: %r" % os.listdir(directory))
    continued(directory)
    return "137, then 0", "continuing: FILE.partial has the scores of N records", "the output, with the same bytes as an uninterrupted run", "nothing; the batch under way is computed again"


# ---- rows: the surroundings ----------------------------------------------------------------------------------------


@row("no `.fai` beside a FASTA in a read-only folder")
def read_only_reference():
    # Permissions do not bind root, so root runs this as somebody else, whose files lie outside the tests' own folder.
    top = tempfile.mkdtemp(prefix="carbon-faults-")
    place = {name: os.path.join(top, name) for name in ("genome", "tmp", "cache", "out")}
    try:
        os.chmod(top, 0o755)
        for path in place.values():
            os.mkdir(path)
            os.chmod(path, 0o777)
        fasta = data("mini.fa", place["genome"])
        shutil.copytree(model(), os.path.join(top, "model"))
        given = write(top, "in.vcf", inputs()["vcf"])
        for path in (fasta, given):
            os.chmod(path, 0o444)
        os.chmod(place["genome"], 0o555)
        out = os.path.join(place["out"], "out.vcf")
        args = [CARBON, "vep", "-m", os.path.join(top, "model"), "-f", fasta, *OPTIONS, "-o", out, given]
        if os.geteuid() == 0:
            other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            if shutil.which(other[0]) is None or command([*other, CARBON, "--version"], cwd="/").rc != 0:
                raise Skip("carbon cannot be run as another user here")
            args = other + args
        args.remove("-q")
        env = {"TMPDIR": place["tmp"], "XDG_CACHE_HOME": place["cache"], "HOME": top}
        done = command(args, cwd="/", env=env)
        expect(done.rc == 0 and records(read(out).decode()) == whole(), "the run", done)
        expect(any(fasta in line and "in memory" in line for line in done.messages("W")), "no warning", done)
        expect_equal((os.listdir(place["genome"]), os.listdir(place["out"])), (["mini.fa"], ["out.vcf"]), "files")
        expect_equal(os.listdir(place["tmp"]), [], "files in TMPDIR afterwards")
    finally:
        os.chmod(place["genome"], 0o755)
        shutil.rmtree(top)
    return "0", "a warning: the index was built in memory", "the output; no index", "nothing; the next run builds the index again"


@row("two runs with one `--cache` at the same time")
def shared_cache():
    directory = fresh()
    cache = os.path.join(directory, "cache")
    given = list(map(str, [*arguments(), "--cache", cache, inputs()["path"]]))
    running = [subprocess.Popen(given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV) for _ in range(2)]
    done = [process.communicate(timeout=60) + (process.returncode,) for process in running]
    for out, err, rc in done:
        expect_equal((rc, records(out.decode())), (0, whole()), "a run beside another: " + err.decode())
    third = command([arg for arg in given if arg != "-q"] + ["-v", "4"])
    expect(third.rc == 0 and records(third.text) == whole(), "a third run", third)
    # Of runs that end in the same moment, none may be the last to close the file. The third tidies up.
    expect_equal(os.listdir(directory), ["cache"], "files")
    counts = next(line for line in third.messages("I") if "cache: " in line).split("cache: ")[1].split()
    expect(counts[0] == counts[2], "the third run did not find all scores", third)
    return "0, 0", "the summary", "both outputs, the same as without a cache; all scores in the cache", "nothing"


if __name__ == "__main__":
    write_table() if sys.argv[1:] == ["--write"] else main()
