"""The dispatcher and what every command shares: help, version, exit codes, signals."""

import os
import re
import signal
import stat
import subprocess
import time

from harness import (CARBON, DATA, ENV, carbon, case, command, data, expect, expect_equal, expect_failure, fresh, main,
                     model, ok, read, to_fasta, tool, tree, write)

COMMANDS = ("score", "vep", "embed", "serve", "tokenize", "models", "bench", "plugin")


@case
def no_arguments_is_usage_on_stderr():
    result = carbon()
    expect(result.rc == 1 and result.out == b"", "expected rc 1 and nothing on stdout", result)
    for command in COMMANDS:
        expect(re.search(r"^ +%s " % command, result.err, re.M), "usage does not list " + command, result)


@case
def help_is_on_stdout():
    texts = []
    for flag in ("--help", "help", "-h"):
        result = ok(flag)
        expect(result.err == "" and "Usage:" in result.text and "Version:" in result.text, "expected usage on stdout", result)
        texts.append(result.text)
    expect_equal(set(texts), {texts[0]}, "the same text")


@case
def version_begins_with_one_exact_line():
    for flag in ("--version", "version"):
        lines = ok(flag).lines()
        expect(re.fullmatch(r"carbon \d+\.\d+\.\d+", lines[0]), "first line is %r" % lines[0])
        for part in ("htslib", "Boost", "CUDA", "CPU"):
            expect(any(line.startswith(part + " ") for line in lines[1:]), "no line on " + part)
    with open("VERSION") as f:
        expect_equal(lines[0], "carbon " + f.read().strip(), "the version of the source")


@case
def help_of_commands():
    for command in COMMANDS:
        direct, helped = ok(command, "--help"), ok("help", command)
        expect(direct.err == "" and "Usage: carbon %s" % command in direct.text, "expected usage on stdout", direct)
        expect_equal(helped.text, direct.text, "'help %s' and '%s --help'" % (command, command))


@case
def unknown_command():
    for args in (["nonsense"], ["help", "nonsense"], [""], ["--nonsense"]):
        result = carbon(*args)
        expect_failure(result, args[-1])
        expect(result.out == b"" and result.err.count("\n") == 1, "expected one line on stderr", result)


def unknown_option(args):
    def run():
        result = carbon(*args, stdin=b"")
        expect_failure(result, "--help")
        expect(result.out == b"" and result.err.count("\n") == 1, "expected one line on stderr", result)
    return run


for bad in (["score", "--nonsense", "x.fa"], ["vep", "-f", "x.fa", "--nonsense", "x.vcf"], ["tokenize", "--nonsense"],
            ["score", "-O", "xml", "x.fa"], ["score", "--strand", "x", "x.fa"], ["score", "--window", "ten", "x.fa"],
            ["score", "-@", "0", "x.fa"], ["score", "--batch-tokens", "0", "x.fa"], ["score", "--dtype", "int4", "x.fa"],
            ["vep", "x.vcf"], ["vep", "-f", "x.fa", "-c", "q", "x.vcf"], ["vep", "-f", "x.fa", "a.vcf", "b.vcf"],
            ["vep", "-f", "x.fa", "--max-ref-mismatch", "2", "x.vcf"], ["tokenize", "--skip-special"],
            ["tokenize", "--decode", "--auto-dna-tags"], ["score", "-m"], ["serve", "--nonsense"], ["serve", "--port", "65536"],
            ["serve", "x.fa"], ["serve", "--max-queue", "0"],
            ["embed", "-O", "csv", "x.fa"], ["embed", "--pool", "max", "x.fa"], ["embed", "--dtype-out", "bf16", "x.fa"],
            ["embed", "--layer", "x", "x.fa"], ["embed", "--window", "60", "x.fa"]):
    case(unknown_option(bad), name="refused: carbon " + " ".join(bad))


@case
def quiet_and_verbosity():
    fasta = write(fresh(), "a.fa", ">a\nACGTAC\n")
    loud = ok("score", "-m", model(), "-v", "4", fasta)
    expect(loud.messages("I"), "expected [I::...] lines", loud)
    expect_equal(ok("score", "-m", model(), "-q", fasta).err, "", "stderr of a quiet run")
    expect_failure(carbon("score", "-q", "-m", model(), fasta + ".absent"), "a.fa.absent")


@case
def a_closed_pipe_ends_the_writer_by_signal():
    fasta = write(fresh(), "long.fa", to_fasta([("long", "ACGTTGCAAGTC" * 600)]))
    script = '"$0" score --no-version -m "$1" -O tsv "$2" | sed -n "2{p;q}"; echo "${PIPESTATUS[0]}"'
    done = subprocess.run(["bash", "-c", script, CARBON, model(), fasta], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=ENV, timeout=60)
    expect_equal(done.stdout.decode().splitlines(), ["#name\tpos\tbase\tlogp\tentropy\tA\tC\tG\tT", "141"], "line and status")


def terminated(number, *args, given):
    """Ends a run that waits for its input; returns (status as a shell sees it, files left beside the output)."""
    directory = fresh()
    out = os.path.join(directory, "out.gz")
    before = tree(directory)
    process = subprocess.Popen([CARBON, *args, "-o", out, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=ENV)
    process.stdin.write(given)
    process.stdin.flush()
    deadline = time.monotonic() + 30
    while not os.listdir(directory):
        expect(process.poll() is None and time.monotonic() < deadline, "no temporary file appeared beside the output")
        time.sleep(0.02)
    expect(not os.path.exists(out), "the output has its name before it is complete")
    process.send_signal(number)
    process.communicate(timeout=30)
    rc = process.returncode
    return (128 - rc if rc < 0 else rc), [p for p in tree(directory) if p not in before]


for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    @case(name="stopped by " + number.name)
    def stopped(number=number):
        status, left = terminated(number, "score", "-m", model(), given=b">a\nACGTACGTAC\n>b\nACG")
        expect_equal(status, 128 + number, "exit status")
        expect_equal(left, [], "files left behind")


@case
def a_signal_before_the_temporary_file_is_in_use_leaves_none():
    tool("strace", "-qq", "true")
    directory = fresh()
    # The lock is the first thing that happens to the file after it was created.
    result = command(["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=flock:signal=SIGINT:when=1",
                      CARBON, "score", "-m", model(), "-o", os.path.join(directory, "out.gz"), data("mini.fa")])
    expect_equal(result.rc, -signal.SIGINT, "exit status")  # strace ends as the program does
    expect_equal(os.listdir(directory), [], "files left behind")


@case
def a_stopped_annotation_leaves_no_output_under_its_name():
    fasta = data("mini.fa")
    ok("vep", "-m", model(), "-f", fasta, "-w", "48", os.path.join(DATA, "mini.vcf"))  # builds the index
    given = read(os.path.join(DATA, "mini.vcf"))
    status, left = terminated(signal.SIGTERM, "vep", "-m", model(), "-f", fasta, "-w", "48", given=given)
    expect_equal(status, 128 + signal.SIGTERM, "exit status")
    # What --resume would go on from may stay.
    expect(all(path.endswith("/out.gz.partial") for path in left), "files left behind: %r" % left)


@case
def a_fifo_is_written_not_replaced():
    path = os.path.join(fresh(), "fifo")
    os.mkfifo(path)
    reader = subprocess.Popen(["cat", path], stdout=subprocess.PIPE)
    fasta = data("mini.fa")
    ok("score", "-m", model(), "-o", path, fasta)
    out, _ = reader.communicate(timeout=30)
    expect(stat.S_ISFIFO(os.stat(path).st_mode), "the FIFO was replaced")
    expect_equal(out, ok("score", "-m", model(), fasta).out, "what came through")
    expect_equal(ok("score", "-m", model(), "-o", "/dev/stdout", fasta).out, out, "/dev/stdout")


if __name__ == "__main__":
    main()
