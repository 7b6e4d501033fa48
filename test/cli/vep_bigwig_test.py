"""carbon vep -O bigwig: at each POS the lowest score of the table of the same run, in whatever order the records come.

The files are read with pyBigWig, and the table is searched by brute force."""

import math
import os
import random
import signal
import subprocess
import time

from harness import (CARBON, ENV, carbon, case, expect, expect_close, expect_equal, expect_failure, fresh, genome, main, model, ok,
                     open_bigwig, read, records, tool, write)
from vep_support import HEAD, MINI, OTHER, WINDOW, reference, vcf

BASES = {name: sequence.upper() for name, sequence in genome().items()}
ARGS = ("vep", "-m", model(), "-f", reference(), "-q", "--no-version")


def values_of(path):
    """{(contig, POS): value}, and the contigs with their lengths. Each value is that of one base."""
    bigwig = open_bigwig(path)
    found = {}
    for contig in bigwig.chroms():
        for begin, end, value in bigwig.intervals(contig) or ():
            expect_equal(end, begin + 1, "the end of a value at %s:%d" % (contig, end))
            found[contig, end] = value
    return found, bigwig.chroms()


def lowest_of(table):
    """{(contig, POS): the lowest score} of the lines of a table, whose column 6 has the score."""
    lowest = {}
    for line in records(table):
        contig, pos, _, _, _, score = line.split("\t")[:6]
        if score != ".":
            place = contig, int(pos)
            lowest[place] = min(float(score), lowest.get(place, math.inf))
    return lowest


def expect_lowest(path, table, what):
    got, contigs = values_of(path)
    wanted = lowest_of(table)
    expect_equal(sorted(got), sorted(wanted), "positions with a value, " + what)
    for place, value in got.items():
        # The table has six digits.
        last = 10.0 ** (math.floor(math.log10(max(abs(value), 1e-3))) - 5)
        expect_close(value, wanted[place], last / 2 + 2e-7 * abs(value), "%s, %s" % (place, what))
    return got, contigs


def track(*args, name="out.bw"):
    path = os.path.join(fresh(), name)
    result = ok(*ARGS, "-o", path, *args)
    expect_equal(result.out, b"", "standard output")
    expect_equal(os.listdir(os.path.dirname(path)), [name], "files")
    return path


def variants(count, seed):
    """SNVs, substitutions, insertions and deletions with one to three alternatives, several at a POS, in any order."""
    rng, rows = random.Random(seed), []
    while len(rows) < count:
        contig = rng.choice(sorted(BASES))
        at = rng.randrange(max(1, min(len(BASES[contig]) - 4, 700)))
        ref = BASES[contig][at:at + rng.choice((1, 1, 1, 3))]
        if not ref or set(ref) - set("ACGT"):
            continue
        alts = {OTHER[ref[0]] + ref[1:], ref[0] + "ACG" + ref[1:], ref[0], OTHER[OTHER[ref[0]]], "<DEL>"} - {ref}
        rows.append((contig, at + 1, ref, ",".join(rng.sample(sorted(alts), rng.randint(1, 3)))))
    return rows


# ---- the values ----------------------------------------------------------------------------------------------------


@case
def each_position_has_the_lowest_score_of_the_table():
    rows = variants(400, 1)
    for what, path, args in (("every kind of record", MINI, ("-w", WINDOW)), ("any order", vcf(rows), ("-w", WINDOW)),
                             ("sorted", vcf(sorted(rows)), ("-w", WINDOW)),
                             ("next-token", vcf(rows), ("--recipe", "next-token", "--context", 60)),
                             ("anchored", vcf(rows), ("--recipe", "anchored", "--horizon", 96, "--context", 60)),
                             ("level token", vcf(rows), ("-w", WINDOW, "--level", "token")),
                             ("a region", bgzip_indexed(sorted(rows)), ("-w", WINDOW, "-r", "c1:100-300"))):
        table = ok(*ARGS, "-O", "t", *args, path).text
        got, contigs = expect_lowest(track(*args, path), table, what)
        expect(len(got) > 20, "%d positions, %s" % (len(got), what))
        expect_equal({name: contigs[name] for name in BASES}, {name: len(BASES[name]) for name in BASES}, "contigs, " + what)


def bgzip_indexed(rows):
    path = vcf(rows)
    tool("bcftools", "sort", "-Oz", "-o", path + ".gz", path)
    tool("bcftools", "index", "-t", path + ".gz")
    return path + ".gz"


@case
def the_order_of_records_changes_no_byte():
    rows = variants(300, 2)
    wanted = read(track("-w", WINDOW, vcf(sorted(rows))))
    for seed in (3, 4):
        random.Random(seed).shuffle(rows)
        expect_equal(read(track("-w", WINDOW, vcf(rows))), wanted, "the file of records in another order")
    expect_equal(read(track("-w", WINDOW, "-O", "bigwig", vcf(rows), name="plain")), wanted, "the file by -O")
    expect_equal(read(track("-w", WINDOW, "-@", 1, "--batch-tokens", 64, vcf(rows))), wanted, "with one thread")


@case
def names_of_contigs_are_those_of_the_records():
    """The FASTA calls them otherwise, and the header has no lines of contigs."""
    rows = [("chr" + contig, *rest) for contig, *rest in variants(60, 5) if contig != "tiny"]
    path = write(fresh(), "in.vcf", HEAD % "" + "".join("%s\t%d\t.\t%s\t%s\t.\t.\t.\n" % row for row in rows))
    args = ("-w", WINDOW, "--unify-chr-names", "chr,-", path)
    _, contigs = expect_lowest(track(*args), ok(*ARGS, "-O", "t", *args).text, "chr")
    expect_equal(contigs, {"chr" + name: len(BASES[name]) for name in {row[0][3:] for row in rows}}, "contigs")


@case
def no_scored_record_gives_a_file_without_values():
    path = vcf([("c1", 1, BASES["c1"][0], "*")])
    got, contigs = values_of(track("-w", WINDOW, path))
    expect_equal(got, {}, "values")
    expect_equal(contigs, {name: len(bases) for name, bases in BASES.items() if name in ("c1", "c2", "tiny")}, "contigs")


@case
def tables_of_scan_give_a_track():
    scan = os.path.join(fresh(), "scan.tsv.gz")
    ok("scan", "-m", model(), "-f", reference(), "--no-version", "-o", scan, "-W")
    rows = [row for row in variants(200, 6) if "<" not in row[3]]
    lengths = "".join("##contig=<ID=%s,length=%d>\n" % (name, len(bases)) for name, bases in BASES.items())
    body = "".join("%s\t%d\t.\t%s\t%s\t.\t.\t.\n" % row for row in rows)
    path = write(fresh(), "in.vcf", HEAD % lengths + body)
    args = ("vep", "--no-version", "--table", scan)
    out = os.path.join(fresh(), "x.bigWig")
    ok(*args, "-o", out, path)
    expect_lowest(out, ok(*args, "-O", "t", path).text, "tables")
    for header, words in (("", ("length", "reheader")), (lengths.replace("length=", "length=1 %").split("1 %")[0] + "3>\n", ("beyond",))):
        bad = write(fresh(), "in.vcf", HEAD % header + body)
        expect_failure(carbon(*args, "-o", os.path.join(fresh(), "x.bw"), bad), *words)


@case
def a_stopped_run_is_continued():
    path = vcf(variants(300, 8))
    wanted = read(track("-w", WINDOW, path))
    folder = fresh()
    out = os.path.join(folder, "out.bw")
    # The pipe stays open, so that the run cannot end by itself.
    process = subprocess.Popen([CARBON, *ARGS, "-w", str(WINDOW), "-@", "1", "-o", out, "-"], stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENV)
    process.stdin.write(read(path))
    process.stdin.flush()
    deadline = time.monotonic() + 60
    while not os.path.exists(out + ".partial") or len(read(out + ".partial").partition(b"\n")[2]) < 500:
        expect(process.poll() is None and time.monotonic() < deadline, "no scores came: rc %r" % process.poll())
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    expect_equal(process.wait(timeout=60), 128 + signal.SIGTERM, "exit")
    process.stdin.close()
    expect_equal(os.listdir(folder), ["out.bw.partial"], "files after the signal")
    expect_failure(carbon(*ARGS, "-w", WINDOW, "-o", out, path), "interrupted", "--resume")
    result = ok(*[arg for arg in ARGS if arg != "-q"], "-w", WINDOW, "--resume", "-o", out, path)
    expect("continuing" in result.err, "it says nothing of an earlier run", result)
    expect_equal(read(out), wanted, "the file of the continued run")
    expect_equal(os.listdir(folder), ["out.bw"], "files at the end")


# ---- what it cannot be ---------------------------------------------------------------------------------------------


@case
def what_does_not_fit_a_track_is_refused():
    path = vcf(variants(20, 7))
    for args, words in (
            (("-O", "bigwig"), ("regular file", "-o")), (("-O", "bigwig", "-o", "/dev/null"), ("regular file",)),
            (("-o", "x.bw", "-W"), ("index", "--write-index")), (("-o", "x.bw", "--shard", "1/2"), ("shares", "--shard")),
            (("-o", "x.bw", "--estimate=8h"), ("shares", "--estimate")), (("-o", "x.bw", "--header", "plain"), ("plain header",)),
            (("-O", "bigwig", "-o", "x.vcf.gz"), ("x.vcf.gz", ".bw")), (("-O", "z", "-o", "x.bw"), ("x.bw", ".tsv.gz")),
            (("-o", "x.bw", "--recipe", "centered,next-token"), ("CARBON_LLR and CARBON_NT", "--recipe")),
            (("-o", "x.bw", "--level", "bp,token"), ("CARBON_LLR and CARBON_LLR_TOKEN",)),
            (("-o", "x.bw", "--measure", "l2"), ("CARBON_L2", "not a log-likelihood ratio"))):
        folder = fresh()
        expect_failure(carbon(*ARGS, *args, path, cwd=folder), *words)
        expect_equal(os.listdir(folder), [], "files after %s" % (args,))


@case
def a_temporary_folder_that_is_not_there_matters_only_for_many_positions():
    ok(*ARGS, "-w", WINDOW, "-o", os.path.join(fresh(), "x.bw"), MINI, env={"TMPDIR": "/nonexistent"})


if __name__ == "__main__":
    main()
