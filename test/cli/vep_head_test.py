"""carbon vep --recipe head: against a float64 reading of its definition, against carbon predict on hand-made windows, and its upkeep.

The windows of both strands, even and odd, at the ends of contigs; cache, resume, shares and estimates; header lines and tags of
earlier runs; what is refused.
"""

import os
import random
import re
import signal
import subprocess
import time

import numpy as np

from harness import (CARBON, ENV, carbon, case, expect, expect_close, expect_equal, expect_failure, fresh, info_of, main, model, ok,
                     read, records, to_fasta, tool, write)
from head_support import LABELS, TAGS, TOLERANCE, changed_model, head_model, head_reference, reference_head, table_of
from vep_reference_support import as_vcf, random_bases, with_runs
from vep_reference_support import vep_reference
from vep_support import OTHER

RNG = random.Random(71)
GENOME = {"long": with_runs(random_bases(RNG, 700), (300, "N" * 3), (420, "R")), "short": random_bases(RNG, 70), "tiny": "GATTACA"}


def variants():
    rows = []
    for contig, places in (("long", [1, 2, 17, 120, 121, 290, 305, 419, 500, 640, 695, 700]), ("short", [1, 20, 36, 66, 70]), ("tiny", [1, 4, 7])):
        for pos in places:
            at = lambda size: GENOME[contig][pos - 1:pos - 1 + size]
            if not set(at(3)) <= set("ACGT"):
                continue
            rows.append((contig, pos, at(1), ",".join([OTHER[at(1)], at(1) + "GA", at(1)])))
            rows.append((contig, pos, at(2), "CT" if at(2) != "CT" else "GG"))
            rows.append((contig, pos, at(3), at(1)))
    return rows


ROWS = variants()
_files = []


def files():
    """FASTA and VCF."""
    if not _files:
        d = fresh()
        _files.extend([write(d, "ref.fa", to_fasta(list(GENOME.items()))), write(d, "in.vcf", as_vcf(ROWS, GENOME))])
        tool("samtools", "faidx", _files[0])
    return _files


def run(*args, path=None, vcf=None, **options):
    fasta, own = files()
    return ok("vep", "--recipe", "head", "-m", path or head_model(), "-f", fasta, "--no-version", *args, vcf or own, **options)


def alleles(text):
    """(contig, p, REF, ALT in normal form) -> values of the labels, as the output has them."""
    found = {}
    for line in records(text):
        contig, pos, _, ref, alts = line.split("\t")[:5]
        info = info_of(line)
        columns = [info[tag].split(",") for tag in TAGS]
        for i, alt in enumerate(alts.split(",")):
            p, r, a = vep_reference.normalise(GENOME[contig], int(pos) - 1, ref, alt)
            found[contig, p, r, a] = [None if column[i] == "." else float(column[i]) for column in columns]
    return found


@case
def the_definition_in_every_window_pool_tail_and_strand():
    path = head_model(dtype="f32")
    worst = seen = 0
    for w, pool, pad, strand in ((60, "separator", False, "both"), (61, "separator", True, "both"), (49, "separator", False, "+"),
                                 (47, "last", True, "-"), (96, "last", True, "both"), (13, "separator", True, "both")):
        text = run("--window", w, "--pool", pool, "--strand", strand, "--dtype", "f32", *(["--pad-tail"] if pad else []), path=path).text
        for (contig, p, ref, alt), values in alleles(text).items():
            if max(len(ref), len(alt)) > w // 2:
                expect_equal(values, [None] * 3, "an allele that is too long")
                continue
            strands = {"+": "+", "-": "-", "both": "+-"}[strand]
            want = np.zeros(3)
            for s in strands:
                r, a = head_reference.windows(GENOME[contig], p, ref, alt, w, s)
                if not pad:
                    r, a = r[:len(r) // 6 * 6], a[:len(a) // 6 * 6]
                if r != a:
                    head = reference_head(path)
                    want += (head.of_strand(a, pool=pool, pad=pad) - head.of_strand(r, pool=pool, pad=pad)) / len(strands)
            error = np.abs(np.array(values) - want).max()
            worst, seen = max(worst, error), seen + 1
            expect(error <= TOLERANCE, "%s, w %d, %s: off by %.2e" % ((contig, p, ref, alt), w, (pool, pad, strand), error))
    expect(seen > 200, "only %d alleles" % seen)
    print("largest error of %d alleles: %.2e" % (seen, worst))


@case
def two_predictions_of_hand_made_windows_are_the_tag():
    path = head_model()
    for w, how in ((60, ["--strand", "both"]), (61, ["--pad-tail", "--strand", "both"]), (60, ["--pool", "last", "--strand", "+"])):
        text = run("--window", w, *how, path=path).text
        pairs = {key: head_reference.windows(GENOME[key[0]], key[1], key[2], key[3], w, "+") for key in alleles(text)
                 if len(key[2]) == len(key[3]) == 1 and key[0] == "long" and w <= key[1] < 700 - w}
        expect(len(pairs) > 5, "%d SNVs away from the ends" % len(pairs))
        # Of an SNV the reverse window is the reverse complement of the forward one.
        names = ["%d_%s" % (i, kind) for i in range(len(pairs)) for kind in "ra"]
        fasta = write(fresh(), "w.fa", to_fasta(list(zip(names, [window for pair in pairs.values() for window in pair]))))
        _, rows = table_of(ok("predict", "-m", path, *how, fasta).text)
        for i, key in enumerate(pairs):
            for got, want in zip(alleles(text)[key], rows["%d_a" % i] - rows["%d_r" % i]):
                # Six digits of the difference, nine of each value.
                expect_close(got, want, 5e-6 * abs(want) + 2e-8 * np.abs(rows["%d_r" % i]).max(), str(key))


@case
def activation_and_scale_come_before_the_difference():
    path = head_model()
    plain = alleles(run("-w", 60, path=path).text)
    scale = write(fresh(), "s.json", '{"label_stats": {%s}}' % ", ".join(
        '"%s_mean": %d, "%s_std": %d' % (name, i, name, 2 ** i) for i, name in enumerate(("K562", "Hep-G2", "SK N.SH"))))
    scaled = alleles(run("-w", 60, "--label-scale", scale, path=path).text)
    for key, values in plain.items():
        for i, value in enumerate(values):
            expect((value is None) == (scaled[key][i] is None), "a missing value")
            if value is not None:
                expect_close(scaled[key][i], value * 2 ** i, 1e-5 * (1 + abs(value) * 2 ** i), "a scaled value")
    sums = [sum(values) for values in alleles(run("-w", 60, "--activation", "softmax", path=path).text).values() if values[0] is not None]
    expect(len(sums) > 30 and max(map(abs, sums)) < 1e-5, "differences of shares add up to 0: %r" % max(map(abs, sums)))
    six = run("-w", 60, "--phases", 6, path=path).text
    expect("Phases=6" in six and alleles(six) != plain, "six phases")


@case
def the_same_bytes_however_it_runs():
    for more in ((), ("--dtype", "f32", "--pad-tail")):
        whole = run("-w", 61, *more, "-@", 1).text
        for how in (("-@", 2), ("-@", 2, "--batch-tokens", 1), ("-@", 1, "--batch-tokens", 64)):
            expect_equal(run("-w", 61, *more, *how).text, whole, str(how))
        shares = [run("-w", 61, *more, "--shard", "%d/3" % (i + 1)).text for i in range(3)]
        expect_equal([line for share in shares for line in records(share)], records(whole), "shares")
        cache = os.path.join(fresh(), "cache")
        for state in ("cold", "warm", "warm"):
            result = run("-w", 61, *more, "-v", 4, "--cache", cache)
            expect_equal(result.text, whole, state + " cache")
            found, looked_up = map(int, re.search(r"cache: (\d+) of (\d+)", result.err).groups())
            expect((found == looked_up) == (state == "warm") and looked_up % 3 == 0, "found %d of %d" % (found, looked_up))
        # What the values depend on is part of the key.
        others = [("--pool", "last"), ("--activation", "sigmoid"), ("--strand", "-")] + ([] if more else [("--pad-tail",)])
        for other in others:
            expect_equal(run("-w", 61, *more, *other, "--cache", cache).text, run("-w", 61, *more, *other).text, "with the cache, %s" % (other,))
    alone = {line for i in range(len(ROWS)) if i % 4 == 0
             for line in records(run("-w", 61, vcf=write(fresh(), "one.vcf", as_vcf([ROWS[i]], GENOME))).text)}
    expect(alone <= set(records(run("-w", 61).text)), "records alone")


@case
def continues_what_was_interrupted():
    fasta, _ = files()
    rows = [row for row in ROWS for _ in range(30)]
    vcf = write(fresh(), "many.vcf", as_vcf(rows, GENOME))
    path = head_model()
    whole = os.path.join(fresh(), "out.vcf.gz")
    ok("vep", "--recipe", "head", "-w", 61, "-m", path, "-f", fasta, "--no-version", "-o", whole, vcf)
    out = os.path.join(fresh(), "out.vcf.gz")
    args = [str(a) for a in ("vep", "--recipe", "head", "-w", 61, "-m", path, "-f", fasta, "--no-version", "-@", 1, "-o", out)]
    process = subprocess.Popen([CARBON, *args, "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV)
    process.stdin.write(read(vcf)[:len(read(vcf)) // 2])
    process.stdin.flush()
    deadline = time.monotonic() + 60
    while not (os.path.exists(out + ".partial") and os.path.getsize(out + ".partial") > 2000):
        expect(process.poll() is None and time.monotonic() < deadline, "no journal came: rc %r" % process.poll())
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    expect(os.path.exists(out + ".partial"), "nothing was kept")
    for other in (("--pool", "last"), ("--activation", "sigmoid"), ("--labels", "a,b,c"), ("--pad-tail",)):
        expect_failure(carbon(*args, *other, "--resume", vcf), "different model or options")
    result = ok(*args, "--resume", vcf)
    expect("continuing" in result.err, "what it says", result)
    expect_equal(read(out), read(whole), "bytes")


@case
def header_lines_and_tags_of_earlier_runs():
    path = head_model()
    text = run("-w", 61, "--strand", "+", path=path).text
    lines = [line for line in text.splitlines() if line.startswith("##carbon_vepModel=<ID=CARBON_HEAD_")]
    expect_equal([re.search("ID=([^,]*)", line).group(1) for line in lines], TAGS, "model lines")
    for line in lines:
        expect(line.endswith(",Recipe=head,Window=61,Phases=1,Pool=separator,Tail=cut,Activation=none,Scale=none,Strand=+>"), line)
    expect_equal([line for line in text.splitlines() if line.startswith("##INFO=<ID=CARBON_HEAD") and "less likely" in line], [],
                 "a direction in a description")
    scale = write(fresh(), "s.json", '{"a": {"mean": 1, "std": 2}, "b": {"mean": 1, "std": 2}, "c": {"mean": 0, "std": 1}}')
    named = run("-w", 61, "--labels", "a,b,c", "--label-scale", scale, "--pad-tail", path=path).text
    expect(re.search("Tail=pad,Activation=none,Scale=[0-9a-f]{64},", named), "the scale in the model line")
    expect("CARBON_HEAD_a=" in named, "the chosen names")
    # A run of the same model keeps other labels, and one of another model removes them.
    first = write(fresh(), "first.vcf", named)
    both = run("-w", 61, path=path, vcf=first)
    expect("CARBON_HEAD_a=" in both.text and TAGS[0] + "=" in both.text, "tags of the same model")
    other = run("-w", 61, path=head_model(seed=9), vcf=first)
    expect("CARBON_HEAD_a" not in other.text and "CARBON_HEAD_a" in other.err, "tags of another model", other)
    fasta, _ = files()
    centered = ok("vep", "-m", model(), "-f", fasta, "-w", 60, "--no-version", first)
    expect("CARBON_HEAD_a" not in centered.text and "CARBON_LLR=" in centered.text, "tags of a head before a causal model", centered)
    table = run("-w", 61, "-O", "t", path=path).lines()
    expect("\t".join(["#CHROM", "POS", "ID", "REF", "ALT", *TAGS, "CARBON_FLAG"]) in table, "a table")


@case
def one_warning_of_what_is_cut():
    for w, more, lost in ((249, (), 3), (60, (), 0), (249, ("--pad-tail",), 0), (61, ("--pool", "last"), 1)):
        warnings = [line for line in run("-w", w, *more).messages("W") if "are not read" in line]
        expect_equal(len(warnings), 1 if lost else 0, "warnings")
        if lost:
            expect("last %d of the %d bases" % (lost, w) in warnings[0] and "--pad-tail" in warnings[0], warnings[0])
    estimate = run("-w", 61, "--estimate")
    expect("get scores" in estimate.text and "get scores" not in estimate.err, "an estimate", estimate)


@case
def what_is_refused():
    fasta, vcf = files()
    args = ["vep", "--recipe", "head", "-m", head_model(), "-f", fasta]
    expect_failure(carbon(*args, vcf), "needs a window", "--window")
    expect_failure(carbon(*args, "-w", 11, vcf), "window of 11 bp", "12")
    expect_failure(carbon(*args, "-w", 6 * 4096, vcf), "does not fit", str(6 * 4094))
    for pair in ("head,centered", "next-token,head"):
        expect_failure(carbon("vep", "--recipe", pair, "-m", head_model(), "-f", fasta, "-w", 60, vcf), "--recipe head cannot be combined")
    expect_failure(carbon("vep", "--recipe", "head", "-w", 60, "-m", model(), "-f", fasta, vcf), "has no classification head")
    expect_failure(carbon("vep", "-m", head_model(), "-f", fasta, vcf), "has a classification head", "--recipe head")
    for option in ("--pool=last", "--pad-tail", "--labels=a", "--activation=none"):
        expect_failure(carbon("vep", "-m", model(), "-f", fasta, option, vcf), option.split("=")[0], "belongs to recipe head")
    same = changed_model(lambda config: config.update(id2label={"0": "a-b", "1": "a b", "2": "c"}))
    expect_failure(carbon("vep", "--recipe", "head", "-w", 60, "-m", same, "-f", fasta, vcf), "labels a-b and a b", "a_b", "--labels")
    ok("predict", "-m", same, fasta)
    ok("vep", "--recipe", "head", "-w", 60, "-m", same, "-f", fasta, "--labels", "a-b,b,c", vcf)


@case
def plugins_and_reports_know_no_direction():
    rows = "".join("c\t%d\t.\tA\tC\t.\t.\tCARBON_HEAD_x_LLR=%d;LABEL=%d\n" % (i, i, i % 2) for i in range(1, 21))
    vcf = write(fresh(), "in.vcf", "##fileformat=VCFv4.2\n##carbon_vepModel=<ID=CARBON_HEAD_x_LLR,Model=\"m\",Recipe=head>\n"
                '##INFO=<ID=CARBON_HEAD_x_LLR,Number=A,Type=Float,Description="x">\n##INFO=<ID=LABEL,Number=1,Type=Integer,Description="x">\n'
                "##contig=<ID=c>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" + rows)
    values = {}
    for more in ((), ("--negate",)):
        result = ok("+auroc", vcf, "--", "--score", "CARBON_HEAD_x_LLR", "--label", "LABEL", *more)
        values[more] = result.text
    expect(values[()] != values["--negate",], "a direction was assumed: %s" % values)


if __name__ == "__main__":
    main()
