"""carbon vep stopped by signals and continued with --resume: the bytes of a run without a break, or a clear refusal."""

import os
import signal
import subprocess
import threading
import time

from harness import (CARBON, ENV, bgzip, carbon, case, decompress, expect, expect_equal, expect_failure, fresh, genome,
                     is_bgzf, main, model, read, records, to_fasta, tool, write)
from vep_support import HEAD, OTHER, reference, vep

ARGS = ("-w", "24", "--context", "30", "--recipe", "centered,next-token", "--max-ref-mismatch", "1", "-@", "1", "-q",
        "--no-version")
PAD = "PAD=" + "x" * 1000  # so that a pipe hands on a part of the records while it is open
HEADER = "##INFO=<ID=PAD,Number=1,Type=String,Description=\"x\">\n##contig=<ID=c1>\n##contig=<ID=absent>\n"


def lines(count=400):
    """Records of every kind on c1, sorted, with every tenth REF wrong."""
    bases, out = genome()["c1"], []
    for i in range(count):
        pos = 40 + i
        ref = bases[pos - 1]
        alt = OTHER[ref]
        contig = "c1"
        if i % 10 == 3:
            ref, alt = OTHER[ref], ref
        elif i % 10 == 5:
            alt = alt + "," + OTHER[alt] + ",<DEL>"
        elif i % 10 == 7:
            ref = bases[pos - 1:pos + 2]
            alt = ref[0] + "," + ref + "A"
        out.append("%s\t%d\t.\t%s\t%s\t.\t.\t%s\n" % (contig, pos, ref, alt, PAD))
    return out + ["absent\t%d\t.\tA\tC\t.\t.\t%s\n" % (i + 1, PAD) for i in range(20)]


_input = []


def given():
    if not _input:
        _input.append(write(fresh(), "in.vcf", HEAD % HEADER + "".join(lines())))
    return _input[0]


def whole(name, *args):
    """The directory of a run without a break, and the bytes of its output."""
    directory = fresh()
    path = os.path.join(directory, name)
    vep(*ARGS, *args, "-o", path)
    return directory, read(path)


def same(got, wanted, what):
    """As expect_equal, for bytes too many to be printed."""
    at = next((i for i, (a, b) in enumerate(zip(got, wanted)) if a != b), min(len(got), len(wanted)))
    expect(got == wanted, "%s: %d and %d bytes, first different at byte %d" % (what, len(got), len(wanted), at))


def started(out, *args, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL):
    return subprocess.Popen([CARBON, "vep", "-m", model(), "-f", reference(), *ARGS, *map(str, args), "-o", out],
                            stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, env=ENV)


def feed(process, content):
    """Writes to its standard input without closing that."""
    def write_all():
        try:
            process.stdin.write(content)
            process.stdin.flush()
        except BrokenPipeError:
            pass
    thread = threading.Thread(target=write_all, daemon=True)
    thread.start()
    return thread


def wait_for(process, reached, what):
    deadline = time.monotonic() + 60
    while not reached():
        expect(process.poll() is None and time.monotonic() < deadline, "%s did not come: rc %r" % (what, process.poll()))
        time.sleep(0.002)


def size(path):
    return os.path.getsize(path) if os.path.exists(path) else -1


def first_line(path):
    return len(read(path).split(b"\n", 1)[0]) + 1 if os.path.exists(path) else 0


def ended(process):
    """Waits for a process without closing its standard input; the status as a shell sees it, and standard error."""
    err = process.stderr.read().decode()
    rc = process.wait(timeout=60)
    process.stderr.close()
    try:
        if process.stdin:
            process.stdin.close()
    except BrokenPipeError:
        pass
    return (128 - rc if rc < 0 else rc), err


def full_pipe():
    """A named pipe into which nothing more can be written, and its descriptor."""
    path = os.path.join(fresh(), "full")
    os.mkfifo(path)
    pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    try:
        while True:
            os.write(pipe, bytes(4096))
    except BlockingIOError:
        return path, pipe


def interrupted(out, number, entries, *args, path=None):
    """A run that gets a signal when FILE.partial has grown by `entries` records; its status and standard error.

    It reads a pipe that stays open, or `path` and writes a histogram into a pipe that is full, so that it cannot end by itself."""
    partial = out + ".partial"
    before = max(size(partial), 0)
    if path:
        blocked, pipe = full_pipe()
        process = started(out, *args, "--histogram", blocked, path)
    else:
        process = started(out, *args, "-", stdin=subprocess.PIPE)
        feed(process, read(given()))
    seen = [time.monotonic(), before]  # when the file had another size last, and that size

    def reached():
        if size(partial) != seen[1]:
            seen[:] = time.monotonic(), size(partial)
        # An entry has 44 bytes or more; the first line comes on top where there was none. Where an earlier run was
        # stopped so late that it had scored all the pipe holds, none will come.
        return (size(partial) >= max(before, first_line(partial)) + 44 * entries
                or (before > 0 and time.monotonic() > seen[0] + 10))

    try:
        wait_for(process, reached, "%d records" % entries)
        process.send_signal(number)
        return ended(process)
    finally:
        if path:
            os.close(pipe)


def partial_of(directory, entries=20, *args):
    """Leaves out.vcf.partial of a stopped run in the empty directory; the output's path."""
    name = "out.vcf"
    out = os.path.join(directory, name)
    status, err = interrupted(out, signal.SIGTERM, entries, *args)
    expect(status == 143, "rc %d: %s" % (status, err))
    expect_equal(sorted(os.listdir(directory)), [name + ".partial"], "files after SIGTERM")
    return out


def resumed(out, *args, path=None, **options):
    return carbon("vep", "-m", model(), "-f", options.pop("fasta", reference()), *ARGS, "--resume", *args, "-o", out,
                  path or given(), **options)


# ---- stopped and continued -----------------------------------------------------------------------------------------


def stopped_and_killed(name, *args):
    """SIGTERM, kill -9 twice, SIGTERM, then to the end: equal to the byte, nothing else left."""
    reference_directory, wanted = whole(name, *args, given())
    directory = fresh()
    out = os.path.join(directory, name)
    for number, entries, status in ((signal.SIGTERM, 30, 143), (signal.SIGKILL, 5, 137), (signal.SIGKILL, 40, 137),
                                    (signal.SIGTERM, 1, 143)):
        found, err = interrupted(out, number, entries, "--resume", *args)
        expect(found == status, "rc %d: %s" % (found, err))
        expect(not os.path.exists(out), "the output has its name before it is complete")
        hidden = ["." + name + ".partial"] if number == signal.SIGKILL else []
        index = [n for n in os.listdir(directory) if n.endswith(("csi.partial", "tbi.partial"))]
        expect_equal(sorted(os.listdir(directory)), sorted(hidden + [name + ".partial"] + index), "files after the signal")
    result = resumed(out, *args, path=given())
    expect(result.rc == 0, "expected rc 0", result)
    same(read(out), wanted, "bytes of the resumed output")
    expect_equal(sorted(os.listdir(directory)), sorted(os.listdir(reference_directory)), "files at the end")
    for index in os.listdir(directory):
        same(read(os.path.join(directory, index)), read(os.path.join(reference_directory, index)), index)
    expect_equal(result.err, vep(*ARGS, *args, "-o", os.path.join(fresh(), name), given()).err, "the summary")


for kind, (name, args) in {"VCF": ("out.vcf", ("-c", "x")), "compressed VCF with an index": ("out.vcf.gz", ("-W=tbi",)),
                           "uncompressed BCF": ("out.bcf", ("-Ou",)), "BCF with an index": ("out.bcf", ("-Ob9", "-W")),
                           "table": ("out.tsv", ()), "compressed table": ("out.tsv.gz", ())}.items():
    @case(name="stopped and continued: " + kind)
    def all_types(name=name, args=args):
        stopped_and_killed(name, *args)


@case
def a_share_and_regions():
    path = bgzip(given())
    tool("bcftools", "index", path)
    for args in (("--shard", "2/2"), ("-r", "c1:60-500"), ("-t", "^c1:1-80")):
        _, wanted = whole("out.vcf.gz", *args, path)
        out = os.path.join(fresh(), "out.vcf.gz")
        status, err = interrupted(out, signal.SIGTERM, 5, *args, path=path)
        expect(status == 143, "rc %d: %s" % (status, err))
        result = resumed(out, *args, path=path)
        expect(result.rc == 0, "expected rc 0", result)
        same(read(out), wanted, "bytes with " + " ".join(args))


@case
def the_histogram_is_that_of_an_uninterrupted_run():
    """Scores from FILE.partial are counted like new ones, and a stopped run leaves no histogram."""
    first, directory = fresh(), fresh()
    vep(*ARGS, "--histogram", os.path.join(first, "h"), "-o", os.path.join(first, "out.vcf"), given())
    out = os.path.join(directory, "out.vcf")
    for number, status in ((signal.SIGTERM, 143), (signal.SIGKILL, 137), (signal.SIGTERM, 143)):
        found, err = interrupted(out, number, 20, "--resume", "--histogram", os.path.join(directory, "h"))
        expect(found == status, "rc %d: %s" % (found, err))
        hidden = [".h.partial", ".out.vcf.partial"] if number == signal.SIGKILL else []
        expect_equal(sorted(os.listdir(directory)), sorted(hidden + ["out.vcf.partial"]), "files after the signal")
    result = resumed(out, "--histogram", os.path.join(directory, "h"))
    expect(result.rc == 0, "expected rc 0", result)
    expect_equal(sorted(os.listdir(directory)), ["h", "out.vcf"], "files at the end")
    for name in ("h", "out.vcf"):
        same(read(os.path.join(directory, name)), read(os.path.join(first, name)), name)
    # A run that had no histogram can be continued with one.
    out = partial_of(fresh(), 40)
    result = resumed(out, "--histogram", os.path.join(directory, "later"))
    expect(result.rc == 0, "expected rc 0", result)
    same(read(os.path.join(directory, "later")), read(os.path.join(first, "h")), "a histogram that began later")


@case
def with_a_cache():
    directory, cache = fresh(), os.path.join(fresh(), "cache")
    _, wanted = whole("out.vcf", given())
    out = partial_of(directory, 40, "--cache", cache)
    again = vep("-v", "4", *[a for a in ARGS if a != "-q"], "--cache", cache, given())
    found = [line for line in again.messages("I") if "cache: " in line][0].split("cache: ")[1].split()[0]
    expect(int(found) >= 40, "the cache was not written when the run was stopped", again)
    result = resumed(out, "--cache", cache)
    expect(result.rc == 0 and read(out) == wanted, "output with a cache", result)


@case
def other_signals():
    for number, returncode in ((signal.SIGHUP, 129), (signal.SIGINT, -signal.SIGINT)):
        directory = fresh()
        process = started(os.path.join(directory, "out.bcf"), "-", stdin=subprocess.PIPE)
        feed(process, read(given()))
        wait_for(process, lambda: size(os.path.join(directory, "out.bcf.partial")) > 1000, "a record")
        process.send_signal(number)
        ended(process)
        expect_equal(process.returncode, returncode, "status after %s" % number.name)
        expect_equal(os.listdir(directory), ["out.bcf.partial"], "files")


@case
def a_run_that_waits_for_its_input():
    directory = fresh()
    out = os.path.join(directory, "out.vcf.gz")
    process = started(out, "-", stdin=subprocess.PIPE)
    feed(process, (HEAD % HEADER).encode())
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)  # while the header is read, or later
    begin = time.monotonic()
    ended(process)
    expect(time.monotonic() - begin < 10, "a run that waits for its input does not end")
    expect(process.returncode in (143, -signal.SIGTERM), "rc %d" % process.returncode)
    expect(set(os.listdir(directory)) <= {"out.vcf.gz.partial"}, "files: %r" % os.listdir(directory))
    result = resumed(out)
    expect(result.rc == 0 and read(out) == whole("out.vcf.gz", given())[1], "from the beginning", result)


@case
def the_message_says_how_to_go_on():
    out = os.path.join(fresh(), "out.vcf")
    process = subprocess.Popen([CARBON, "vep", "-m", model(), "-f", reference(), *[a for a in ARGS if a != "-q"], "-o", out,
                                "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV)
    feed(process, read(given()))
    wait_for(process, lambda: size(out + ".partial") > 2000, "records")
    process.send_signal(signal.SIGTERM)
    last = ended(process)[1].splitlines()[-1]
    expect(last.startswith("[W::vep] stopped by SIGTERM after ") and "--resume" in last and out + ".partial" in last, last)


# ---- standard output -----------------------------------------------------------------------------------------------


@case
def what_goes_to_a_pipe_is_flushed():
    for args in ((), ("-O", "z"), ("-O", "t")):
        wanted = decompress(vep(*ARGS, *args, given()).out)
        # What is less than a buffer does not show that records are there; a busy machine needs more time.
        for seconds in (2, 10, 40) if args else (0,):
            process = started("-", *args, "-", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            feed(process, read(given()))
            time.sleep(seconds)
            out = b"" if args else process.stdout.read(20000)
            process.send_signal(signal.SIGTERM)
            out += process.stdout.read()
            ended(process)
            process.stdout.close()
            expect(process.returncode in (143, -signal.SIGTERM), "rc %d" % process.returncode)
            if out:
                break
        expect(not is_bgzf(out), "a stream that was cut off looks complete")
        if args == ("-O", "z"):
            out = tool("bash", "-c", "gzip -dc 2> /dev/null; true", stdin=out).out
        expect(wanted.startswith(out) and out.endswith(b"\n"), "not the beginning of the output: %r" % out[-100:])


@case
def a_second_signal_ends_at_once():
    process = started("-", "-", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    feed(process, read(given()))
    process.stdout.read(1)
    time.sleep(1)  # the pipe is full
    process.send_signal(signal.SIGTERM)
    time.sleep(0.5)
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    process.wait(timeout=20)
    expect(process.returncode in (-signal.SIGTERM, 143), "rc %d" % process.returncode)
    process.stdout.close()
    ended(process)


@case
def only_a_file_can_be_resumed():
    fifo = os.path.join(fresh(), "fifo")
    os.mkfifo(fifo)
    for out in ("-", "/dev/null", fifo):
        expect_failure(resumed(out), "--resume", "-o")
    expect_failure(carbon("vep", "-m", model(), "-f", reference(), "--resume", given()), "--resume", "-o")


# ---- what is not continued -----------------------------------------------------------------------------------------


@case
def another_run_is_refused_and_the_partial_file_kept():
    directory = fresh()
    out = partial_of(directory)
    kept = read(out + ".partial")
    other = (("window 24, now 48", "-w", 48), ("centered strand both, now +", "--strand", "+"),
             ("recipe centered+next-token, now centered", "--recipe", "centered"), ("context 30, now 36", "--context", 36),
             ("dtype bf16, now f32", "--dtype", "f32"), ("dtype bf16, now int8", "--dtype", "int8"), ("check-ref w, now x", "-c", "x"), ("tag-prefix", "--tag-prefix", "X"),
             ("shard none, now 1/2", "--shard", "1/2"), ("targets none, now c1", "-t", "c1"))
    for words, *args in other:
        without = [*args, "--context"] if "centered" in args else args  # which belongs to the other recipe
        skipped = [a for i, a in enumerate(ARGS) if a not in without and (i == 0 or ARGS[i - 1] not in without)]
        result = carbon("vep", "-m", model(), "-f", reference(), *skipped, "--resume", *args, "-o", out, given())
        expect_failure(result, out + ".partial", words)
        same(read(out + ".partial"), kept, "FILE.partial after " + words)
    result = carbon("vep", "-m", model(seed=9), "-f", reference(), *ARGS, "--resume", "-o", out, given())
    expect_failure(result, "model ", ", now ")
    expect_equal(os.listdir(directory), ["out.vcf.partial"], "files")
    result = carbon("vep", "-m", model(shards=2), "-f", reference(), *ARGS, "--resume", "--batch-tokens", 90,
                    "-o", out, given())
    expect(result.rc == 0, "the same model in two files", result)
    expect(records(read(out).decode()) == records(whole("out.vcf", given())[1].decode()), "other records", result)


@case
def another_input_or_reference_is_refused():
    directory = fresh()
    out = partial_of(directory)
    kept = read(out + ".partial")
    bases = genome()
    changed = bases["c1"][:51] + OTHER[bases["c1"][51]] + bases["c1"][52:]
    edited = write(fresh(), "edited.fa", to_fasta([("c1", changed)]))
    expect_failure(resumed(out, fasta=edited), out + ".partial", "c1:40", "FASTA")
    body = lines()
    moved = write(fresh(), "moved.vcf", HEAD % HEADER + "".join(body[:4] + body[5:]))
    expect_failure(resumed(out, path=moved), out + ".partial", "c1:45", "input")
    short = write(fresh(), "short.vcf", HEAD % HEADER + "".join(body[:10]))
    expect_failure(resumed(out, path=short), out + ".partial", "this input only 9")
    expect_failure(resumed(out, path=short + ".absent"), "absent")
    expect_equal(os.listdir(directory), ["out.vcf.partial"], "files")
    same(read(out + ".partial"), kept, "FILE.partial after refusals")
    # What no score depends on may have changed: the output is that of the present input.
    renamed = write(fresh(), "renamed.vcf", HEAD % HEADER + "".join(line.replace("\t.\t", "\trs1\t", 1) for line in body))
    result = resumed(out, path=renamed)
    expect(result.rc == 0, "expected rc 0", result)
    same(read(out), whole("out.vcf", renamed)[1], "output of the present input")


@case
def two_runs_on_one_output():
    directory = fresh()
    out = os.path.join(directory, "out.vcf")
    process = started(out, "-", stdin=subprocess.PIPE)
    thread = feed(process, read(given()))
    wait_for(process, lambda: size(out + ".partial") > 1000, "records")
    before = read(out + ".partial")[:1000]
    for resume in ((), ("--resume",)):
        expect_failure(carbon("vep", "-m", model(), "-f", reference(), *ARGS, *resume, "-o", out, given()), "another run",
                       out + ".partial")
    link = os.path.join(fresh(), "link.vcf")
    os.symlink(out, link)
    expect_failure(carbon("vep", "-m", model(), "-f", reference(), *ARGS, "-o", link, given()), "another run")
    same(read(out + ".partial")[:1000], before, "FILE.partial of the first")
    thread.join()
    process.stdin.close()
    process.wait(timeout=60)
    process.stderr.close()
    expect(process.returncode == 0 and read(out) == whole("out.vcf", given())[1], "the first run, rc %d" % process.returncode)
    expect_equal(os.listdir(directory), ["out.vcf"], "files")


@case
def without_resume_a_run_is_refused_and_restart_starts_afresh():
    directory = fresh()
    out = partial_of(directory)
    kept = read(out + ".partial")
    again = ("vep", "-m", model(), "-f", reference(), *ARGS, "-o", out)
    expect_failure(carbon(*again, given()), out + ".partial", "--resume", "--restart")
    same(read(out + ".partial"), kept, "FILE.partial after a refusal")
    result = carbon(*again, "--restart", given())
    expect(result.rc == 0, "expected rc 0", result)
    same(read(out), whole("out.vcf", given())[1], "output")
    expect_equal(os.listdir(directory), ["out.vcf"], "files")
    result = resumed(out)
    expect(result.rc == 0 and os.listdir(directory) == ["out.vcf"], "--resume with nothing to resume", result)


@case
def an_error_keeps_the_partial_file():
    directory = fresh()
    out = partial_of(directory)
    bad = write(fresh(), "bad.vcf", HEAD % HEADER + "".join(lines()) + "c1\tx\t.\tA\tC\t.\t.\t.\n")
    # In such small batches, records are scored before the last line is read.
    expect_failure(resumed(out, "--batch-tokens", 1, path=bad), "c1:x")
    expect_equal(os.listdir(directory), ["out.vcf.partial"], "files after an error of a run that went on")
    result = resumed(out)
    expect(result.rc == 0 and read(out) == whole("out.vcf", given())[1], "the mended input", result)
    os.remove(out)
    expect_failure(carbon("vep", "-m", model(), "-f", reference(), *ARGS, "-o", out, bad), "c1:x", "--resume", out + ".partial")
    expect_equal(os.listdir(directory), ["out.vcf.partial"], "files after an error")
    early = write(fresh(), "early.vcf", HEAD % HEADER + "".join(lines()[:3]) + "c1\tx\t.\tA\tC\t.\t.\t.\n")
    expect_failure(resumed(out, path=early), "c1:x")
    expect_equal(os.listdir(directory), ["out.vcf.partial"], "files after an error before anything was added")


# ---- damaged files -------------------------------------------------------------------------------------------------


@case
def damage_is_dropped_or_refused():
    directory = fresh()
    out = partial_of(directory, 30)
    good, (_, wanted) = read(out + ".partial"), whole("out.vcf", given())
    line = good.index(b"\n") + 1
    flipped = lambda at: good[:at] + bytes([good[at] ^ 1]) + good[at + 1:]
    for what, content in (("cut", good[:-1]), ("cut", good[:line + 200]), ("cut", good[:line + 3]),
                          ("flipped", flipped(line + 500)), ("flipped", flipped(len(good) - 1)), ("zeros", good + b"\0" * 500),
                          ("the first line alone", good[:line]), ("cut in the first line", good[:line - 10]), ("empty", b"")):
        write(directory, "out.vcf.partial", content)
        result = resumed(out)
        expect(result.rc == 0, what, result)
        same(read(out), wanted, "output after damage: " + what)
        expect_equal(os.listdir(directory), ["out.vcf"], "files")
        os.remove(out)
    for content in (b"something else\n" * 100, good.replace(b"Partial2", b"Partial9", 1), b"\0" * 100,
                    good.replace(b"{", b"[", 1)):
        write(directory, "out.vcf.partial", content)
        expect_failure(resumed(out), out + ".partial")
        same(read(out + ".partial"), content, "the refused file")
        if not content.startswith(b"##carbon_vepPartial2"):
            expect_failure(carbon("vep", "-m", model(), "-f", reference(), *ARGS, "-o", out, given()), out + ".partial")
            same(read(out + ".partial"), content, "the refused file")
    os.remove(out + ".partial")
    os.mkdir(out + ".partial")
    expect_failure(resumed(out), out + ".partial")


if __name__ == "__main__":
    main()
