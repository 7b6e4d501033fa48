"""score, embed, predict and generate stopped by signals and continued with --resume: the bytes of a run without a break, or a clear refusal."""

import json
import os
import signal
import subprocess
import time

from generate_support import random_bases
from harness import (CARBON, ENV, carbon, case, expect, expect_equal, expect_failure, fresh, main, model, ok, read, to_fasta, undated, write)

SEQUENCES = [("s%d" % i, random_bases(600 + i, 100 + i)) for i in range(12)]
# Enough text for each sequence that a block of compressed output ends after one or two.
RUNS = {
    "score": ["score", "-O", "tsv"],
    "embed": ["embed", "--pool", "none", "-O", "tsv"],
    "predict": ["predict", "--strand", "both"],
    "generate": ["generate", "-l", 120, "-n", 200, "--seed", 3, "--max-homopolymer", 5],
}
UNIT = {"score": "sequence", "embed": "sequence", "predict": "sequence", "generate": "sample"}


def model_of(command):
    """A fine-tuned one has enough labels that a block ends after few sequences."""
    return model(labels=4000, problem_type="regression", label_names=",".join(map(str, range(4000)))) if command == "predict" else model()


def arguments(command, *more):
    return undated([*map(str, RUNS[command]), "-m", model_of(command), "-q", *map(str, more)])


def fasta(sequences=SEQUENCES):
    return write(fresh(), "in.fa", to_fasta(sequences))


def state_of(out):
    try:
        return json.loads(read(out + ".partial.state"))
    except FileNotFoundError:
        return {"done": 0, "mark": None}


def sequences_in(out):
    """How many sequences the output has begun, according to its state."""
    mark = state_of(out)["mark"]
    return mark["sequences"] if mark else 0


def counted(count, unit):
    return "%d %s%s" % (count, unit, "" if count == 1 else "s")


def interrupted(command, out, number, *more):
    """A run that gets a signal when some of its sequences, which come through a pipe, are marked. Returns what is done."""
    before, units = sequences_in(out), state_of(out)["done"]
    process = subprocess.Popen([CARBON, *arguments(command, *more), "-o", out, "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=ENV)
    # The reader takes blocks from the pipe; long descriptions fill them.
    process.stdin.write(to_fasta([(name + " " + "x" * 70000, bases) for name, bases in SEQUENCES[:before + 5]]).encode())
    process.stdin.flush()
    deadline = time.monotonic() + 60
    while state_of(out)["done"] <= units:
        expect(process.poll() is None and time.monotonic() < deadline, "no mark came: rc %r" % process.poll())
        time.sleep(0.005)
    process.send_signal(number)
    err = process.communicate(timeout=60)[1].decode()
    expect(process.returncode in (-number, 128 + number), "status %d: %s" % (process.returncode, err))
    return state_of(out)["done"]


def complete(command, name):
    """The files of a run that is complete: a FASTA has beside it what made it."""
    return sorted([name] + ["out.json"] * (command == "generate"))


def contents(directory):
    return {name: read(os.path.join(directory, name)) for name in sorted(os.listdir(directory))}


def continues(command, name):
    """Killed, then stopped, then continued to the end."""
    whole = os.path.join(fresh(), name)
    ok(*arguments(command), "-o", whole, fasta())
    directory = fresh()
    out = os.path.join(directory, name)
    first = interrupted(command, out, signal.SIGKILL)
    second = interrupted(command, out, signal.SIGTERM, "--resume")
    expect(0 < first < second and sequences_in(out) < len(SEQUENCES), "done: %d, then %d" % (first, second))
    expect_equal(sorted(os.listdir(directory)), [name + ".partial", name + ".partial.state"], "files that are left")
    result = ok(*[a for a in arguments(command) if a != "-q"], "--resume", "-o", out, fasta())
    expect("continuing: %s.partial has the values of %s" % (out, counted(second, UNIT[command])) in result.err, "what it says", result)
    expect_equal(sorted(os.listdir(directory)), complete(command, name), "files")
    expect(read(out) == read(whole), "%s differs from a run without a break" % name)


for _command, _suffix in (("score", "tsv"), ("embed", "tsv"), ("predict", "tsv"), ("generate", "fa")):
    for _name in ("out." + _suffix, "out.%s.gz" % _suffix):
        case(name="%s_continues_%s" % (_command, _name.replace(".", "_")))(lambda a=_command, b=_name: continues(a, b))


@case
def what_is_left_is_neither_lost_nor_mixed_with_another_run():
    for command, other, words in (("score", ["--strand", "-"], "strand +, now -"), ("embed", ["--layer", 1], "layer -1, now 1"),
                                  ("predict", ["--pool", "last"], "pool separator, now last"),
                                  ("generate", ["-T", 0.5], "temperature 1, now 0.5")):
        directory = fresh()
        out = os.path.join(directory, "out")
        done = interrupted(command, out, signal.SIGTERM)
        kept = contents(directory)
        expect_failure(carbon(*arguments(command), "-o", out, fasta()), "holds %s of an interrupted run" % counted(done, UNIT[command]),
                       "--resume", "--restart")
        expect_failure(carbon(*arguments(command, *other), "--resume", "-o", out, fasta()), "different model or options", words)
        (name, bases), *others = SEQUENCES
        changed = [(name, ("C" if bases[0] == "A" else "A") + bases[1:]), *others]
        expect_failure(carbon(*arguments(command), "--resume", "-o", out, fasta(changed)), "that the interrupted run had read", "--restart")
        another = {"score": "embed", "embed": "generate", "predict": "score", "generate": "predict"}[command]
        expect_failure(carbon(*arguments(another), "--resume", "-o", out, fasta()),
                       "begun by carbon %s, not by carbon %s" % (command, another))
        # What was written after the last mark may be gone.
        expect(contents(directory)["out.partial"].startswith(kept["out.partial"][:state_of(out)["bytes"]]), "the output after refusals")
        expect(contents(directory)["out.partial.state"] == kept["out.partial.state"], "the state after refusals")
        ok(*arguments(command), "--restart", "-o", out, fasta())
        expect_equal(sorted(os.listdir(directory)), complete(command, "out"), "files after --restart")


@case
def a_stopped_run_says_so():
    """On a file, and on a stream, which gets what is done."""
    for command in RUNS:
        said = "stopped by SIGTERM after "
        for output in (["-o", os.path.join(fresh(), "out")], []):
            words = [a for a in arguments(command) if a != "-q"]
            pipe = subprocess.PIPE
            process = subprocess.Popen([CARBON, *words, *output, "-"], stdin=pipe, stdout=pipe, stderr=pipe, env=ENV)
            process.stdin.write(to_fasta([(name + " " + "x" * 70000, bases) for name, bases in SEQUENCES[:4]]).encode())
            process.stdin.flush()
            if output:
                while state_of(output[1])["done"] == 0:
                    time.sleep(0.005)
            else:
                expect(process.stdout.read(1) != b"", "no output")
            process.send_signal(signal.SIGTERM)
            err = process.communicate(timeout=60)[1].decode()
            expect_equal(process.returncode, 143, "status of " + command)
            last = err.splitlines()[-1]
            expect(said in last and ("--resume" if output else "the output is not complete") in last, "it says %r" % last)


@case
def shorter_input_is_refused():
    directory = fresh()
    out = os.path.join(directory, "out")
    interrupted("score", out, signal.SIGTERM)
    interrupted("score", out, signal.SIGTERM, "--resume")
    expect_failure(carbon(*arguments("score"), "--resume", "-o", out, fasta(SEQUENCES[:1])), "the input has 1 sequence,", "--restart")


@case
def outputs_that_cannot_be_continued():
    for command in RUNS:
        expect_failure(carbon(*arguments(command), "--resume", fasta()), "cannot be resumed", "-o")
    matrix = os.path.join(fresh(), "x.npy")
    expect_failure(carbon("embed", "-m", model(), "--resume", "-o", matrix, fasta()), "a matrix cannot be continued", "-O tsv")
    directory = fresh()
    bad = write(fresh(), "bad.fa", ">\nACGT\n>a\nACGT\n")
    expect_failure(carbon(*arguments("score"), "-o", os.path.join(directory, "out"), bad), "bad.fa")
    expect_equal(os.listdir(directory), [], "files after an error")


if __name__ == "__main__":
    main()
