"""carbon scan stopped by signals and continued with --resume: the bytes of a run without a break, or a clear refusal."""

import json
import os
import random
import signal
import subprocess
import time

from harness import (CARBON, ENV, carbon, case, expect, expect_equal, expect_failure, fresh, main, model, ok, read, refused,
                     to_fasta, tool, write)

SIZES = dict(layers=1, max_positions=128)
BLOCK = 65536
HISTOGRAM = "counts.txt"

_fasta = []


def fasta():
    """Three contigs with the ends of six blocks on them, one of which lies among Ns."""
    if not _fasta:
        rng = random.Random(11)
        contigs = {name: "".join(rng.choice("ACGT") for _ in range(length))
                   for name, length in (("c1", 3 * BLOCK + 1000), ("short", 700), ("c2", 2 * BLOCK + 10))}
        bases = contigs["c1"]
        contigs["c1"] = bases[:BLOCK - 300] + "N" * 600 + bases[BLOCK + 300:]
        _fasta.append(write(fresh(), "ref.fa", to_fasta(contigs.items())))
        tool("samtools", "faidx", _fasta[0])
    return _fasta[0]


def arguments(*args):
    return ["scan", "-m", model(**SIZES), "-f", fasta(), "--context", "252", "-@", "1", "-q", "--no-version", *map(str, args)]


def state_of(out):
    try:
        return json.loads(read(out + ".partial.state"))
    except FileNotFoundError:
        return None


def ended(process):
    err = process.stderr.read().decode()
    rc = process.wait(timeout=60)
    process.stderr.close()
    return (128 - rc if rc < 0 else rc), err


def interrupted(out, number, *args):
    """A run that gets a signal when it has marked more than an earlier one; its status and standard error."""
    before = (state_of(out) or {"bytes": 0})["bytes"]
    process = subprocess.Popen([CARBON, *arguments(*args), "-o", out], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=ENV)
    deadline = time.monotonic() + 60
    while (state_of(out) or {"bytes": 0})["bytes"] <= before:
        expect(process.poll() is None and time.monotonic() < deadline, "no mark came: rc %r" % process.poll())
        time.sleep(0.002)
    process.send_signal(number)
    return ended(process)


def begun(directory, *args, name="out.tsv.gz"):
    """Leaves the files of an interrupted run in the directory; the output's path."""
    out = os.path.join(directory, name)
    status, err = interrupted(out, signal.SIGTERM, *args)
    expect(status == 143, "rc %d: %s" % (status, err))
    return out


def left(name):
    return [name + ".partial", name + ".partial.state"]


def contents(directory):
    return {name: read(os.path.join(directory, name)) for name in sorted(os.listdir(directory))}


def expect_unchanged(directory, before, what):
    after = contents(directory)
    expect(after == before, "%s changed %r" % (what, [name for name in {**before, **after} if before.get(name) != after.get(name)]))


# ---- stopped and continued -----------------------------------------------------------------------------------------


def stopped_and_killed(name, *args):
    whole, directory = fresh(), fresh()
    ok(*arguments(*args), "--histogram", os.path.join(whole, HISTOGRAM), "-o", os.path.join(whole, name))
    args = (*args, "--histogram", os.path.join(directory, HISTOGRAM))
    out = os.path.join(directory, name)
    for number, status in ((signal.SIGKILL, 137), (signal.SIGTERM, 143), (signal.SIGKILL, 137)):
        found, err = interrupted(out, number, *args, "--resume")
        expect(found == status, "rc %d: %s" % (found, err))
        expect(set(left(name)) <= set(os.listdir(directory)), "files after the signal: %r" % os.listdir(directory))
        expect(name not in os.listdir(directory), "the output has its name before it is complete")
    ok(*arguments(*args), "--resume", "-o", out)
    expect_equal(sorted(os.listdir(directory)), sorted(os.listdir(whole)), "files at the end")
    for file, content in contents(whole).items():
        expect(read(os.path.join(directory, file)) == content, "%s differs from that of a run without a break" % file)


for kind, (name, args) in {"table": ("out.tsv", ()), "compressed table with an index": ("out.tsv.gz", ("-W=tbi",)),
                           "compressed VCF": ("out.vcf.gz", ("-W",)), "uncompressed BCF": ("out.bcf", ("-Ou",)), "compressed bedGraph": ("out.bg.gz", ("-O", "bedgraph"))}.items():
    @case(name="stopped and continued: " + kind)
    def all_types(name=name, args=args):
        stopped_and_killed(name, *args)


@case
def regions_and_shares():
    for args in (("-r", "c1:1001-150000,c2:65530-66000", "-t", "^c1:2000-3000"), ("--shard", "2/2")):
        wanted = ok(*arguments(*args)).out
        out = begun(fresh(), *args, name="out.tsv")
        ok(*arguments(*args), "--resume", "-o", out)
        expect(read(out) == wanted, "bytes with " + " ".join(args))


@case
def another_number_of_threads_and_another_path_of_the_genome():
    wanted = ok(*arguments()).out
    out = begun(fresh(), name="out.tsv")
    copy = write(fresh(), "copy.fa", read(fasta()).lower().replace(b">short", b">short").replace(b"\nn", b"\nN"))
    ok("scan", "-m", model(**SIZES), "-f", copy, "--context", 252, "-@", 2, "--batch-tokens", 300, "-q", "--no-version",
       "--resume", "-o", out)
    expect(read(out) == wanted, "bytes of a run that another one has continued")


@case
def the_messages_say_how_to_go_on():
    out = begun(fresh())
    refusal = carbon(*arguments(), "-o", out)
    expect_failure(refusal, out + ".partial", "--resume", "--restart")
    out = os.path.join(fresh(), "out.tsv")
    last = interrupted(out, signal.SIGTERM, "-v", "3")[1].splitlines()[-1]
    expect(last.startswith("[W::scan] stopped by SIGTERM after ") and "--resume" in last and out + ".partial" in last, last)
    scored = state_of(out)["done"]
    again = ok(*arguments("-v", "3", "--resume", "-o", out))
    expect(any("continuing: %s.partial has the values of %d bases" % (out, scored) in line for line in again.messages("W")),
           "no word of it", again)


@case
def a_run_that_is_stopped_too_early_says_why_nothing_is_kept():
    directory = fresh()
    out = os.path.join(directory, "out.tsv")
    process = subprocess.Popen([CARBON, *arguments("-r", "c1:1-60000", "--frames", 6), "-v", "3", "-o", out],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=ENV)
    deadline = time.monotonic() + 60
    while not (os.path.exists(out + ".partial") and os.path.getsize(out + ".partial")):
        expect(process.poll() is None and time.monotonic() < deadline, "no line came: rc %r" % process.poll())
        time.sleep(0.002)
    process.send_signal(signal.SIGTERM)
    status, err = ended(process)
    expect(status == 143 and "nothing is kept, because a run can be continued only from every 65,536th base" in err, err)


# ---- what is not continued -----------------------------------------------------------------------------------------


@case
def another_run_is_refused_and_the_files_kept():
    directory = fresh()
    out = begun(directory)
    kept = contents(directory)
    for words, *args in (("context 252, now 246", "--context", 246), ("level marginal, now chain", "--level", "chain"),
                         ("frames 1, now 2", "--frames", 2), ("strand both, now +", "--strand", "+"),
                         ("dtype bf16, now f32", "--dtype", "f32"),
                         ("bases 329", "-r", "c1"), ("bases 329", "--shard", "1/2"),
                         ("histogram none, now yes", "--histogram", os.path.join(directory, HISTOGRAM))):
        given = [a for a in arguments() if not (words.startswith("context") and a in ("--context", "252"))]
        expect_failure(carbon(*given, "--resume", *args, "-o", out), out + ".partial", words, "--restart")
        expect_unchanged(directory, kept, words)
    # The name says which format it is, so that another one needs a name that says nothing.
    plain = fresh()
    expect_failure(carbon(*arguments(), "--resume", "-O", "bedgraph", "-o", begun(plain, name="scan.out")), "output-type t, now bedgraph")
    other = [model(**SIZES, seed=9) if a == model(**SIZES) else a for a in arguments()]
    expect_failure(carbon(*other, "--resume", "-o", out), "model ", ", now ")
    changed = bytearray(read(fasta()))
    at = changed.index(b"\n", 1000) + 5
    changed[at:at + 1] = b"A" if changed[at:at + 1] != b"A" else b"C"
    other = [write(fresh(), "changed.fa", bytes(changed)) if a == fasta() else a for a in arguments()]
    expect_failure(carbon(*other, "--resume", "-o", out), "changed.fa", "other bases", "--restart")
    state = "out.tsv.gz.partial.state"
    expect(contents(directory)[state] == kept[state], "the state after other bases")


@case
def damaged_files_are_refused():
    for damage, words in ((lambda d, out: os.truncate(out + ".partial", 1000), "lost bytes"),
                          (lambda d, out: write(d, "out.tsv.gz.partial", b"\0" * len(read(out + ".partial"))), "lost bytes"),
                          (lambda d, out: os.remove(out + ".partial.state"), "not the output of an interrupted"),
                          (lambda d, out: write(d, "out.tsv.gz.partial.state", b""), ".state"),
                          (lambda d, out: write(d, "out.tsv.gz.partial.state", b"[1]"), "damaged"),
                          (lambda d, out: write(d, "out.tsv.gz.partial.state",
                                                read(out + ".partial.state").replace(b'"bytes":', b'"bytes":-')), "damaged"),
                          (lambda d, out: write(d, "out.tsv.gz.partial.state", read(out + ".partial.state").replace(
                              b'"end_check":', b'"end_check":1e20,"x":')), "damaged")):
        directory = fresh()
        out = begun(directory)
        damage(directory, out)
        kept = contents(directory)
        expect_failure(carbon(*arguments(), "--resume", "-o", out), out + ".partial", words)
        expect_unchanged(directory, kept, "a refusal")
        if words != "not the output of an interrupted":
            expect_failure(carbon(*arguments(), "-o", out), out + ".partial")
        ok(*arguments(), "--restart", "-o", out)
        expect_equal(os.listdir(directory), ["out.tsv.gz"], "files after --restart")


@case
def a_second_run_of_the_same_output_is_refused():
    directory = fresh()
    out = begun(directory)
    first = subprocess.Popen([CARBON, *arguments("--resume", "-o", out)], stderr=subprocess.DEVNULL, env=ENV)
    try:
        os.kill(first.pid, signal.SIGSTOP)
        for option in ("--resume", "--restart", "-W"):
            result = carbon(*arguments(), option, "-o", out)
            # The first run may have been stopped before it had the lock, or when it had ended.
            if result.rc != 1:
                break
            expect_failure(result, "another run" if "another run" in result.err else out)
    finally:
        os.kill(first.pid, signal.SIGCONT)
        first.wait(timeout=60)


@case
def only_a_file_can_be_resumed():
    for out in ("-", "/dev/null"):
        expect_failure(carbon(*arguments("--resume", "-o", out)), "--resume", "-o")
    refused(arguments("--resume", "-O", "bigwig"), "bigWig", "--resume", directory=fresh())
    expect_failure(carbon(*arguments("--resume", "--restart", "-o", "x")), "--resume", "--restart")


@case
def an_error_keeps_what_was_scanned():
    """The end of the FASTA is a hole, as a copy that was stopped leaves it, so that the last window cannot be read."""
    directory = fresh()
    cut = write(directory, "cut.fa", read(fasta())[:-20000] + bytes(20000))
    write(directory, "cut.fa.fai", read(fasta() + ".fai"))
    given = [cut if a == fasta() else a for a in arguments()]
    refused(given, "cut.fa", directory=directory, output="out.tsv")
    for more in ((), ("--resume",)):
        expect_failure(carbon(*given, *more, "-o", os.path.join(directory, "out.tsv")), "cut.fa", "continue with --resume")
    expect_equal(sorted(os.listdir(directory)), ["cut.fa", "cut.fa.fai", *left("out.tsv")], "files after --resume")
    write(directory, "cut.fa", read(fasta()))
    ok(*given, "--resume", "-o", os.path.join(directory, "out.tsv"))
    expect(read(os.path.join(directory, "out.tsv")) == ok(*arguments()).out, "bytes after the error was mended")


main()
