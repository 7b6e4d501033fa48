"""A run that fails late keeps what it has computed: the input is mended, and --resume gives the bytes of a run without an error."""

import os
import random

from harness import (bgzip, carbon, case, data, expect, expect_equal, expect_failure, fresh, main, model, ok, own_errors, read,
                     to_fasta, write)
from vep_support import MINI


def random_bases(length, seed):
    return "".join(random.Random(seed).choices("ACGT", k=length))


SEQUENCES = [("s%d" % i, random_bases(600 + i, 100 + i)) for i in range(6)]
VEP = ["vep", "--strand", "+", "--max-ref-mismatch", 1, "--no-version"]


def run(args, *more):
    return carbon(*args, "-m", model(), *more, timeout=120)


def continues(args, name, broken, mended, *words):
    """`broken` and `mended` are the input as files, or (FASTA, "") where the input is an option already in `args`."""
    whole = os.path.join(fresh(), name)
    expect_equal(run(args, "-o", whole, *mended).rc, 0, "status of a run without an error")
    directory = fresh()
    out = os.path.join(directory, name)
    for more in ((), ("--resume",)):
        failed = run(args, *more, "-o", out, *broken)
        expect_failure(failed, *words, "what was computed is kept", "continue with --resume, from %s.partial" % out)
        reason = failed.messages("E")[-1].split("; ")[0].split("] ")[-1]
        for text in (reason, " kept"):
            expect_equal(failed.err.count(text), 1, "how often standard error has %r" % text)
        expect(set(os.listdir(directory)) <= {name + ".partial", name + ".partial.state"}, "files: %r" % os.listdir(directory))
        expect(name + ".partial" in os.listdir(directory), "nothing is kept", failed)
    again = run(args, "--resume", "-o", out, *mended)
    expect(again.rc == 0 and "continuing: " in again.err, "--resume", again)
    beside = ["out.json"] * (args[0] == "generate")
    expect_equal(sorted(os.listdir(directory)), sorted([name, *beside]), "files at the end")
    expect(read(out) == read(whole), "%s differs from a run without an error" % name)


# ---- vep -----------------------------------------------------------------------------------------------------------


def records_of_mini():
    lines = read(MINI).splitlines(True)
    head = b"".join(line for line in lines if line.startswith(b"#"))
    return head, [line for line in lines if not line.startswith(b"#")]


for _name, _args in (("out.vcf", ()), ("out.vcf.gz", ("-Oz",)), ("out.bcf", ("-Ob",)), ("out.tsv", ("-Ot",)),
                     ("anchored.vcf", ("--recipe", "anchored"))):
    @case(name="vep: a malformed last line, " + _name)
    def vep_of_a_malformed_line(name=_name, args=_args):
        head, body = records_of_mini()
        broken = write(fresh(), "in.vcf", head + b"".join(body) + b"c1\tx\t.\tA\tC\t.\t.\t.\n")
        mended = write(fresh(), "in.vcf", head + b"".join(body + body[:1]))
        continues([*VEP, *(args if "--recipe" in args else ("-w", 12, *args)), "-f", data("mini.fa")], name, [broken], [mended], "c1:x")


@case
def vep_of_a_cut_compressed_file():
    head, body = records_of_mini()
    text = head + b"".join(line.replace(b"\t.\t.\t.\tGT", b"\t%d\t.\tDP=%d\tGT" % (i, i * 7919 % 10007))
                           for i in range(80) for line in body)
    whole = bgzip(write(fresh(), "in.vcf", text))
    cut = write(fresh(), "in.vcf.gz", read(whole)[:-1000])
    continues([*VEP, "-w", 12, "-f", data("mini.fa")], "out.vcf", [cut], [whole], "in.vcf.gz")


@case
def vep_of_an_early_error_leaves_nothing():
    head, body = records_of_mini()
    bad = write(fresh(), "in.vcf", head + b"c1\tx\t.\tA\tC\t.\t.\t.\n" + b"".join(body))
    directory = fresh()
    failed = run([*VEP, "-w", 12, "-f", data("mini.fa")], "-o", os.path.join(directory, "out.vcf"), bad)
    expect_failure(failed, "c1:x")
    expect("--resume" not in failed.err and "kept" not in failed.err, "it speaks of work", failed)
    expect_equal(os.listdir(directory), [], "files")


@case
def blank_lines_of_a_vcf():
    """At the end they are read with one warning; one before a record is refused, and what comes before it is kept."""
    head, body = records_of_mini()
    args = [*VEP, "-w", 12, "-f", data("mini.fa")]
    plain = run(args, write(fresh(), "in.vcf", head + b"".join(body)))
    for end in (b"\n", b"\n\n\n", b"\r\n", b" \t\n", b"\n\n "):
        result = run(args, write(fresh(), "in.vcf", head + b"".join(body) + end))
        expect(result.rc == 0 and result.out == plain.out, "records before blank lines", result)
        said = [line for line in result.messages("W") if "blank" in line]
        expect(len(said) == 1 and "line %d" % (head.count(b"\n") + len(body) + 1) in said[0], "the warning", result)
    blank = write(fresh(), "in.vcf", head + b"".join(body[:-1]) + b"\n" + body[-1])
    mended = write(fresh(), "in.vcf", head + b"".join(body))
    continues(args, "out.vcf", [blank], [mended], "is blank, and records follow it")


# ---- sequences -----------------------------------------------------------------------------------------------------


RUNS = {"score": ["score", "-O", "tsv"], "embed": ["embed", "--pool", "none", "-O", "tsv"],
        "generate": ["generate", "-l", 120, "-n", 200, "--seed", 3]}
for _command, _suffix in (("score", "tsv"), ("score", "tsv.gz"), ("embed", "tsv"), ("generate", "fa")):
    @case(name="%s: a bad last sequence, .%s" % (_command, _suffix))
    def a_bad_last_sequence(command=_command, suffix=_suffix):
        good = to_fasta(SEQUENCES)
        broken = write(fresh(), "in.fa", good + ">\nACGT\n")
        mended = write(fresh(), "in.fa", good + ">last\nACGTACGTACGT\n")
        continues(RUNS[command], "out." + suffix, [broken], [mended], "in.fa")


@case
def a_matrix_leaves_nothing():
    directory = fresh()
    broken = write(fresh(), "in.fa", to_fasta(SEQUENCES) + ">\nACGT\n")
    failed = run(["embed"], "-o", os.path.join(directory, "x.npy"), broken)
    expect_failure(failed, "in.fa")
    expect("--resume" not in failed.err, "it speaks of --resume", failed)
    expect_equal(os.listdir(directory), [], "files")


# ---- scan ----------------------------------------------------------------------------------------------------------


for _name, _args in (("out.tsv", ()), ("out.tsv.gz", ()), ("out.vcf.gz", ("-Oz",)), ("out.bcf", ("-Ob",))):
    @case(name="scan: a FASTA that is damaged late, " + _name)
    def scan_of_a_damaged_fasta(name=_name, args=_args):
        text = to_fasta([("c1", random_bases(70000, 1)), ("c2", random_bases(3000, 2)), ("c3", random_bases(2000, 3))])
        directory = fresh()
        mended = write(directory, "good.fa", text)
        at = text.rindex("A")
        broken = write(directory, "bad.fa", text[:at] + "7" + text[at + 1:])
        ok("score", "-m", model(), "-q", "-r", "c1:1-10", mended)  # builds the index
        write(directory, "bad.fa.fai", read(mended + ".fai"))
        continues(["scan", "--context", 60, "--no-version", *args], name, ["-f", broken], ["-f", mended], "bad.fa")


@case
def an_unsorted_input_that_cannot_be_indexed():
    """The error comes first, and what its advice leads to: a sorted input to --restart, no index to --resume."""
    head, body = records_of_mini()
    given = write(fresh(), "in.vcf", head + b"".join(body + body[:1]))
    out = os.path.join(fresh(), "out.vcf.gz")
    failed = run([*VEP, "-w", 12, "-f", data("mini.fa"), "-W"], "-o", out, given)
    expect_failure(failed, "the records are not sorted", "bcftools sort", "or leave out --write-index", "what was computed is kept")
    told = failed.messages("E")[-1]
    expect(not any("kept" in line for line in failed.messages("W")), "a warning before the error", failed)
    order = [told.index(word) for word in ("not sorted", "leave out --write-index", "--restart", "--resume, from %s.partial" % out)]
    expect_equal(order, sorted(order), "the order of what is said")
    again = run([*VEP, "-w", 12, "-f", data("mini.fa"), "--resume"], "-o", out, given)
    expect(again.rc == 0 and "continuing: " in again.err, "--resume without an index", again)


@case
def an_error_of_the_output_keeps_the_work():
    """The index of the output cannot be written, which shows only when all is scored."""
    head, body = records_of_mini()
    given = write(fresh(), "in.vcf", head + b"".join(body))
    directory = fresh()
    out = os.path.join(directory, "out.vcf.gz")
    os.mkdir(out + ".csi")
    failed = run([*VEP, "-w", 12, "-f", data("mini.fa"), "-W"], "-o", out, given)
    expect(failed.rc == 1 and len(own_errors(failed)) == 1, "the run", failed)


main()
