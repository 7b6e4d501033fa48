"""carbon +concord: equal to scipy and scikit-learn, its matching of alleles, its strata, its bounds."""

import json
import os
import random

from harness import (carbon, case, expect, expect_close, expect_equal, expect_failure, fresh, main, ok, own_errors, tool,
                     write)
from plugin_concord_support import by_libraries, plain, plain_auroc, plain_overlap, plain_precision, quantile
from plugin_support import SplitMix64

HEAD = """##fileformat=VCFv4.2
##FILTER=<ID=q10,Description="x">
##FILTER=<ID=s50,Description="x">
##INFO=<ID=A,Number=A,Type=Float,Description="score">
##INFO=<ID=B,Number=A,Type=Float,Description="score">
##INFO=<ID=R,Number=R,Type=Float,Description="score of every allele">
##INFO=<ID=X,Number=1,Type=Integer,Description="a value of the record">
##INFO=<ID=V,Number=.,Type=Float,Description="values of who knows what">
##INFO=<ID=L,Number=A,Type=Integer,Description="label">
##INFO=<ID=C,Number=A,Type=String,Description="class of every ALT">
##INFO=<ID=W,Number=.,Type=String,Description="words">
##INFO=<ID=F,Number=0,Type=Flag,Description="flag">
##INFO=<ID=TYPE,Number=1,Type=String,Description="of this name">
##INFO=<ID=CARBON_LLR,Number=A,Type=Float,Description="score">
%s#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO
"""
COUNTS = ("alleles", "n", "only_a", "only_b", "missing_a", "missing_b", "missing_both")
METRICS = ("auroc", "auprc", "average_precision")


def vcf(lines, name="in.vcf"):
    """`lines` are (contig, pos, ref, alts, INFO) or with FILTER before INFO."""
    body = "".join("%s\t%d\t.\t%s\t%s\t.\t%s\t%s\n" % (line[0], line[1], line[2], line[3], line[4] if len(line) == 6 else ".", line[-1])
                   for line in lines)
    return write(fresh(), name, HEAD % "".join("##contig=<ID=%s>\n" % c for c in dict.fromkeys(line[0] for line in lines)) + body)


def text(values):
    return ",".join("." if v is None else "%.9g" % v for v in values)


def snvs(rows):
    """A record of one SNV for each row (a, b), or (a, b, label); None is missing."""
    return vcf([("c", 10 + i, "A", "C", "A=%s;B=%s" % (text(row[:1]), text(row[1:2])) + ("" if len(row) < 3 else ";L=%s" % text(row[2:])))
                for i, row in enumerate(rows)])


def concord(*args, rc=0):
    """The figures of each stratum as [{name: number or None}], those of the table checked against the JSON."""
    out = os.path.join(fresh(), "r.json")
    result = carbon("+concord", *args, "--json", out)
    expect(result.rc == rc, "expected rc %d" % rc, result)
    header, *rows = [line.split("\t") for line in result.lines()]
    expect_equal(header, ["#stratum", "metric", "value", "low", "high"], "header")
    with open(out) as f:
        document = json.load(f)
    lines = [document["all"]] + document.get("strata", [])
    shown = lambda value: "." if value is None else "%.10g" % value
    wanted = [[line["name"], name, shown(value), shown(line.get(name + "_low")), shown(line.get(name + "_high"))]
              for line in lines for name, value in line.items() if name != "name" and not name.endswith(("_diff_low", "_diff_high"))]
    expect_equal(rows, wanted, "a line for each figure")
    return lines, document, result


def pairs(rows, *options):
    return concord(snvs(rows), "--", "--tags", "A,B", *options)[0][0]


def rows_of(seed, count, step, noise, shift=0.0, missing=0.0):
    """Scores that are multiples of 1/step, which single precision holds exactly."""
    rng = random.Random(seed)
    rows = []
    for _ in range(count):
        label = int(rng.random() < 0.3)
        a = rng.gauss(label, 1)
        rows.append([None if rng.random() < missing else round((v + shift) * step) / step for v in (a, a + rng.gauss(0, noise))] + [label])
    return rows


CASES = {
    "no ties": rows_of(1, 150, 4096, 0.3),
    "ties": rows_of(2, 400, 4, 0.3),
    "heavy ties": rows_of(3, 300, 1, 0.7),
    "missing values": rows_of(4, 350, 64, 0.5, missing=0.15),
    "hardly different": rows_of(5, 200, 1 << 14, 0.0005),
    "far from zero": rows_of(6, 250, 8, 0.5, shift=100000),
    "opposite": [(a, -b, l) for a, b, l in rows_of(7, 120, 256, 0.1)],
    "two": [(1, 2, 0), (2, 1, 1)],
}


def compare(found, wanted):
    for name, value in wanted.items():
        expect_close(found[name], value, 1e-12 * max(1, abs(value)), name)


for case_name, rows in CASES.items():
    complete = [row for row in rows if None not in row]
    columns = [[row[i] for row in complete] for i in range(3)]

    @case(name="as defined: " + case_name)
    def defined(rows=rows, columns=columns):
        found = pairs(rows, "--label", "L")
        compare(found, plain(*columns))
        expect_equal([found[name] for name in COUNTS[2:]], [
            0, 0, sum(a is None and b is not None for a, b, _ in rows), sum(a is not None and b is None for a, b, _ in rows),
            sum(a is None and b is None for a, b, _ in rows)], "counts")
        expect_equal((found["positive"], found["negative"]), (sum(columns[2]), len(columns[2]) - sum(columns[2])), "classes")
        for metric in METRICS:
            expect_equal(found[metric + "_diff"], found[metric + "_b"] - found[metric + "_a"], metric)

    @case(name="as scipy and scikit-learn: " + case_name)
    def libraries(rows=rows, columns=columns):
        compare(pairs(rows, "--label", "L"), by_libraries(*columns))


@case
def the_number_of_the_lowest_is_rounded_up():
    for count in (1, 99, 100, 101, 700, 1400):  # 0.01 * 700 is more than 7 in floating point
        values = [float(i) for i in range(count)]
        found = pairs([(v, v + (5 if i == 0 else 0)) for i, v in enumerate(values)], "--min-n", 1)
        for percent in (1, 5):
            expect_equal(found["overlap_%d" % percent], plain_overlap(values, [5.0] + values[1:], percent), "%d of %d" % (percent, count))
    reverse = pairs([(0, 1 - (i == 99)) for i in range(100)])
    expect_equal((reverse["overlap_1"], reverse["overlap_5"]), (0, 0.8), "ties are taken in the order of the file")


@case
def constant_values_have_no_correlation():
    # The mean of equal values is rounded to a number that differs from them.
    for rows in ([(0.1, i) for i in range(30)], [(i, 1e-30) for i in range(30)], [(5, 5)] * 7, [(3, 4)]):
        found = pairs(rows)
        expect_equal((found["pearson"], found["spearman"]), (None, None), "correlations of %r" % rows[:2])
        expect(found["mean_abs_diff"] is not None and found["overlap_1"] is not None, "the rest is defined")


@case
def negate_turns_the_classes_round():
    rows = CASES["ties"]
    found, turned = pairs(rows, "--label", "L"), pairs(rows, "--label", "L", "--negate")
    for side in "ab":
        expect_close(found["auroc_" + side] + turned["auroc_" + side], 1, 1e-12, "AUROC")
    negated = pairs([(-a, -b, l) for a, b, l in rows], "--label", "L")
    for name in turned:
        if name.startswith(METRICS):
            expect_equal(turned[name], negated[name], name)
    expect_equal([turned[name] for name in ("pearson", "overlap_1", "overlap_5")],
                 [found[name] for name in ("pearson", "overlap_1", "overlap_5")], "what --negate leaves alone")


@case
def the_header_knows_the_direction_of_a_score_of_carbon():
    """Each of the two scores has a direction of its own."""
    path = snvs(CASES["ties"])
    with open(path) as f:
        of_carbon = write(fresh(), "in.vcf", f.read().replace("##INFO=<ID=A,", '##carbon_scanModel=<ID=A,Model="m">\n##INFO=<ID=A,', 1))
    options = ["--", "--tags", "A,B", "--label", "L", "--bootstrap", 0]
    plain, turned, found = (concord(*a)[0][0] for a in ((path, *options), (path, *options, "--negate"), (of_carbon, *options)))
    for metric in METRICS:
        expect_equal((found[metric + "_a"], found[metric + "_b"]), (turned[metric + "_a"], plain[metric + "_b"]), metric)


@case
def metrics_are_those_of_auroc():
    path = snvs(CASES["ties"])
    found = concord(path, "--", "--tags", "A,B", "--label", "L", "--negate", "--bootstrap", 0)[0][0]
    for side, tag in (("a", "A"), ("b", "B")):
        lines = ok("+auroc", path, "--", "--score", tag, "--label", "L", "--negate", "--bootstrap", 0).lines()
        for line in lines[1:4]:
            name, value = line.split("\t")[:2]
            expect_equal("%.10g" % found[name + "_" + side], value, name)


# ---- intervals


@case
def intervals_are_those_of_paired_draws():
    rng = random.Random(11)
    rows = [(rng.randrange(6), rng.randrange(6), int(rng.random() < 0.2)) for _ in range(25)]
    path = vcf([("c", 10 + i, "A", "C", "A=%d;B=%d;L=%d;X=%d" % (*row, i % 2)) for i, row in enumerate(rows)])
    options = ("--", "--tags", "A,B", "--label", "L", "--by", "X", "--bootstrap", 200, "--seed", 5)
    lines = concord(path, *options, "--confidence", 0.9)[0]
    for line, part in zip(lines, (rows, rows[::2], rows[1::2]), strict=True):
        draw, found = SplitMix64(5), {name: [] for name in METRICS}
        for _ in range(200):
            a, b, labels = zip(*[part[draw.below(len(part))] for _ in part])
            if 0 < sum(labels) < len(labels):
                of_a = (plain_auroc(a, labels), *plain_precision(a, labels))
                of_b = (plain_auroc(b, labels), *plain_precision(b, labels))
                for name, x, y in zip(METRICS, of_a, of_b):
                    found[name].append(y - x)
        for name in METRICS:
            expect_close(line[name + "_diff_low"], quantile(sorted(found[name]), 0.05), 1e-12, name + " low of " + line["name"])
            expect_close(line[name + "_diff_high"], quantile(sorted(found[name]), 0.95), 1e-12, name + " high of " + line["name"])
    expect_equal(concord(path, *options, "--confidence", 0.9)[0], lines, "again with the same seed")
    expect(concord(path, *options[:-1], 6, "--confidence", 0.9)[0] != lines, "the seed changes nothing")
    same = concord(snvs([(a, a, l) for a, _, l in rows]), "--", "--tags", "A,B", "--label", "L")[0][0]
    expect_equal([same["auroc_diff" + end] for end in ("", "_low", "_high")], [0, 0, 0], "a score and itself")
    none = pairs(rows, "--label", "L", "--bootstrap", 0)
    expect_equal((none["auroc_diff_low"], none["auroc_diff_high"]), (None, None), "without a bootstrap")


# ---- two files


def counts(line):
    return tuple(line[name] for name in COUNTS)


@case
def two_files_are_matched_by_allele():
    rng = random.Random(3)
    alleles = [("c%d" % (i % 3), 10 + i // 3, "A", alt, rng.randrange(-99, 99), rng.randrange(-99, 99)) for i in range(300) for alt in "CG"]
    first = [(*x[:4], "A=%d" % x[4]) for x in alleles]
    # The second file has other alleles between, both ALTs in one record, and is sorted otherwise.
    second = [("c%d" % (i % 3), 10 + i // 3, "A", "G,T,C", "A=%d,7,%d;B=0,0,0" % (alleles[2 * i + 1][5], alleles[2 * i][5])) for i in range(300)]
    rng.shuffle(second)
    wanted = plain([x[4] for x in alleles], [x[5] for x in alleles])
    one, other = vcf(first), vcf(second)
    lines, document, _ = concord(one, other, "--", "--tags", "A")
    expect_equal(counts(lines[0]), (600, 600, 0, 300, 0, 0, 0), "counts")
    compare(lines[0], wanted)
    expect_equal([document[side] for side in "ab"], [{"file": one, "tag": "A"}, {"file": other, "tag": "A"}], "what is compared")
    turned = concord(other, one, "--", "--tags", "A")[0][0]
    expect_equal(counts(turned), (900, 600, 300, 0, 0, 0, 0), "the other way")
    for name in ("pearson", "spearman", "mean_abs_diff"):
        expect_close(turned[name], wanted[name], 1e-12, name)
    binary = os.path.join(fresh(), "b.bcf")
    tool("bcftools", "view", "-Ob", "-o", binary, other)
    expect_equal(concord(one, binary, "--", "--tags", "A")[0], lines, "BCF")
    with open(one, "rb") as f:
        piped = carbon("+concord", "-", binary, "--", "--tags", "A", stdin=f)
    with open(other, "rb") as f:
        expect_equal(ok("+concord", one, "-", "--", "--tags", "A", stdin=f).text, piped.text, "standard input")
    chosen = concord("-t", "c1", one, other, "--", "--tags", "A")[0][0]
    expect_equal(counts(chosen), (200, 200, 0, 100, 0, 0, 0), "-t selects records of both")


@case
def each_file_has_its_tag():
    one = vcf([("c", 10, "A", "C", "A=1;B=9"), ("c", 11, "A", "C", "A=2;B=8"), ("c", 12, "A", "C", "A=.;B=8"), ("c", 13, "A", "C", "B=8")])
    other = vcf([("c", 10, "A", "C", "A=7;X=1"), ("c", 11, "A", "C", "A=7;X=4"), ("c", 12, "A", "C", "A=7"), ("c", 14, "A", "C", "X=2")])
    line = concord(one, other, "--", "--tags", "A,X")[0][0]
    expect_equal((*counts(line), line["mean_abs_diff"]), (4, 2, 1, 1, 0, 0, 1, 1.0), "A and X")
    llr = vcf([("c", 10, "A", "C", "CARBON_LLR=1"), ("c", 11, "A", "C", "CARBON_LLR=3")])
    expect_equal(concord(llr, llr, "--")[0][0]["max_abs_diff"], 0, "CARBON_LLR without --tags")


@case
def an_allele_listed_several_times():
    """The k-th is compared with the k-th; what is left over is counted."""
    def listed(values):
        return vcf([("c", 10, "A", "C", "A=%g" % v) for v in values] + [("c", 20, "A", "G", "A=0")])
    line = concord(listed([1, 2, 3]), listed([1.5, 2.5]), "--", "--tags", "A")[0][0]
    expect_equal((*counts(line), line["mean_abs_diff"]), (4, 3, 1, 0, 0, 0, 0, 1 / 3), "more in the first")
    line = concord(listed([4]), listed([5, 2, 3]), "--", "--tags", "A")[0][0]
    expect_equal((*counts(line), line["mean_abs_diff"]), (2, 2, 0, 2, 0, 0, 0, 0.5), "more in the second")
    many = list(range(20000))
    line = concord(listed(many), listed([v + 1 for v in many]), "--", "--tags", "A")[0][0]
    expect_equal((line["n"], line["max_abs_diff"], line["only_b"]), (20001, 1, 0), "very often")


@case
def how_alleles_are_spelled():
    one = vcf([("c", 10, "a", "cT", "A=1"), ("c", 11, "A", "<DEL>", "A=2"), ("c", 12, "A", "A]chr1:5]", "A=3"), ("c", 13, "AC", "A", "A=4")])
    other = vcf([("c", 10, "A", "Ct", "A=1"), ("c", 11, "a", "<DEL>", "A=2"), ("c", 12, "A", "A]CHR1:5]", "A=3"), ("c", 12, "AA", "A", "A=4")])
    expect_equal(counts(concord(one, other, "--", "--tags", "A")[0][0]), (4, 2, 2, 2, 0, 0, 0), "counts")


@case
def scores_of_every_kind():
    path = vcf([("c", 10, "A", "C,G", "R=9,1,2;A=1,2;X=4"), ("c", 11, "A", "C", "R=9,5;A=5;X=5"), ("c", 12, "A", ".", "X=3"),
                ("c", 13, "A", "C,G", "R=.;A=.,3;X=5")])
    line = concord(path, "--", "--tags", "R,A")[0][0]
    expect_equal((*counts(line), line["max_abs_diff"]), (5, 3, 0, 0, 1, 0, 1, 0), "Number=R and A")
    line = concord(path, "--", "--tags", "A,X")[0][0]
    expect_equal((*counts(line), line["max_abs_diff"]), (5, 4, 0, 0, 1, 0, 0, 3), "one number of the record")


# ---- strata


TYPES = [("SNV", "A", "C"), ("MNV", "AC", "GT"), ("INS", "A", "AT"), ("DEL", "ATT", "A"), ("complex", "ACG", "TT"), ("other", "A", "<DEL>"),
         ("SNV", "ACG", "ATG"), ("MNV", "ACGT", "TCGA"), ("INS", "AC", "AAC"), ("DEL", "ACC", "AC"), ("other", "A", "*"), ("SNV", "a", "g"),
         ("other", "A", "A[c:7["), ("complex", "A", "CGT"), ("other", "AC", "ac")]


@case
def strata_by_type():
    lines = concord(vcf([("c", 10 + i, ref, alt, "A=%d;B=%d" % (i, i + 1)) for i, (_, ref, alt) in enumerate(TYPES)]),
                    "--", "--tags", "A,B", "--by", "TYPE")[0]
    names = list(dict.fromkeys(name for name, _, _ in TYPES))
    expect_equal([(line["name"], line["n"]) for line in lines[1:]], [(name, sum(t[0] == name for t in TYPES)) for name in names], "types")


def strata(by, lines):
    return [(line["name"], line["alleles"], line["n"]) for line in concord(vcf(lines), "--", "--tags", "A,B", "--by", by)[0]]


@case
def strata_by_filter_and_tags():
    lines = [("c", 10, "A", "C,G", "PASS", "A=1,2;B=1,2;C=x,y;X=3;F"), ("c", 11, "A", "C", "q10;s50", "A=1;B=.;C=x;W=u,v"),
             ("c", 12, "A", "C", ".", "A=1;B=2;C=.;V=0.1,2,.;X=3"), ("c", 13, "A", "C", "q10", "A=2;B=2;TYPE=mine;R=7,0.5")]
    expect_equal(strata("FILTER", lines), [("all", 5, 4), ("PASS", 2, 2), ("q10;s50", 1, 0), (".", 1, 1), ("q10", 1, 1)], "FILTER")
    expect_equal(strata("C", lines), [("all", 5, 4), ("x", 2, 1), ("y", 1, 1), (".", 2, 2)], "a word for every ALT")
    expect_equal(strata("X", lines), [("all", 5, 4), ("3", 3, 3), (".", 2, 1)], "a number of the record")
    expect_equal(strata("W", lines), [("all", 5, 4), (".", 4, 4), ("u,v", 1, 0)], "several words")
    expect_equal(strata("V", lines), [("all", 5, 4), (".", 4, 3), ("0.1,2,.", 1, 1)], "several numbers")
    expect_equal(strata("R", lines), [("all", 5, 4), (".", 4, 3), ("0.5", 1, 1)], "Number=R")
    expect_equal(strata("F", lines), [("all", 5, 4), ("1", 2, 2), (".", 3, 2)], "a flag")
    expect_equal(strata("INFO/TYPE", lines), [("all", 5, 4), (".", 4, 3), ("mine", 1, 1)], "a tag called TYPE")
    binary = os.path.join(fresh(), "b.bcf")
    tool("bcftools", "view", "-Ob", "-o", binary, vcf(lines))
    expect_equal([line["name"] for line in concord(binary, "--", "--tags", "A,B", "--by", "FILTER")[0]],
                 ["all", "PASS", "q10;s50", ".", "q10"], "FILTER of BCF")


@case
def a_stratum_is_measured_like_a_file():
    rows = CASES["missing values"]
    path = vcf([("c", 10 + i, "A", "C", "A=%s;B=%s;L=%s;X=%d" % (text([a]), text([b]), l, i % 3)) for i, (a, b, l) in enumerate(rows)])
    lines = concord(path, "--", "--tags", "A,B", "--label", "L", "--by", "X")[0]
    for i, line in enumerate(lines[1:]):
        alone = pairs(rows[i::3], "--label", "L")
        expect_equal({**line, "name": "all", "only_b": 0}, alone, "stratum %d" % i)
    for name in COUNTS[:3] + COUNTS[4:]:
        expect_equal(sum(line[name] for line in lines[1:]), lines[0][name], name)


@case
def too_many_strata():
    path = vcf([("c", 10 + i, "A", "C", "A=1;B=%d;X=%d" % (i, i)) for i in range(1001)])
    expect_failure(carbon("+concord", path, "--", "--tags", "A,B", "--by", "X"), "--by X", "more than 1000", "few values")


# ---- labels


@case
def labels_of_pairs_are_counted():
    path = vcf([("c", 10, "A", "C,G", "A=1,2;B=2,1;L=1,0"), ("c", 11, "A", "C", "A=1;B=3"), ("c", 12, "A", "C", "A=.;B=3;L=1"),
                ("c", 13, "A", "C", "A=1;B=3;W=good"), ("c", 14, "A", "C", "A=1;B=3;W=bad"), ("c", 15, "A", "C", "A=1;B=3;W=unsure")])

    def found(label):
        line = concord(path, "--", "--tags", "A,B", "--label", label)[0][0]
        return tuple(line[name] for name in ("n", "positive", "negative", "missing_label", "other_label"))
    expect_equal(found("L"), (6, 1, 1, 4, 0), "numbers")
    expect_equal(found("W=bad/good"), (6, 1, 1, 3, 1), "words")
    other = vcf([("c", 10, "A", "C", "B=1;L=0"), ("c", 10, "A", "G", "B=2;L=0"), ("c", 11, "A", "C", "B=1;L=0")])
    line = concord(path, other, "--", "--tags", "A,B", "--label", "L")[0][0]
    expect_equal((line["n"], line["positive"], line["negative"], line["missing_label"]), (3, 1, 1, 1), "labels of the first file")


@case
def one_class_is_undefined_and_said():
    for label, word in ((1, "positive"), (0, "negative")):
        path = snvs([(i, i * i, label) for i in range(20)])
        lines, _, result = concord(path, "--", "--tags", "A,B", "--label", "L")
        expect_equal([lines[0][m + end] for m in METRICS for end in ("_a", "_b", "_diff", "_diff_low", "_diff_high")], [None] * 15, "metrics")
        expect_equal(lines[0]["spearman"], 1, "Spearman")
        expect_equal(result.messages("W"), ["[W::concord] all 20 labelled alleles are %s: AUROC and AUPRC are undefined" % word], "warning")
        result = concord(path, "--", "--tags", "A,B", "--label", "L", "--max-auroc-loss", 1, rc=1)[2]
        expect_equal(result.messages("E"), ["[E::concord] --max-auroc-loss 1 is not met: the loss of AUROC is undefined, as all 20 labelled "
                                            "alleles are %s" % word], "error")
    lines, _, result = concord(snvs([(i, i * i, i) for i in range(20)]), "--", "--tags", "A,B", "--label", "L", "--max-auprc-loss", 1, rc=1)
    expect_equal([lines[0][name] for name in ("positive", "negative", "auroc_a")], [None] * 3, "no classes")
    expect("undefined, as L has other values than 0 and 1" in result.messages("E")[0], "no reason", result)


# ---- bounds


BOUND_ROWS = rows_of(21, 200, 64, 0.4)
MEASURED = {"min-n": "n", "min-pearson": "pearson", "min-spearman": "spearman", "max-mean-diff": "mean_abs_diff", "max-diff": "max_abs_diff",
            "min-overlap-1": "overlap_1", "min-overlap-5": "overlap_5", "max-auroc-loss": "auroc", "max-auprc-loss": "auprc",
            "max-average-precision-loss": "average_precision"}

for option, column in MEASURED.items():
    @case(name="--" + option)
    def bound(option=option, column=column):
        path = snvs(BOUND_ROWS)
        line = pairs(BOUND_ROWS, "--label", "L")
        value = line[column + "_a"] - line[column + "_b"] if column in METRICS else line[column]
        step = (1 if column == "n" else 1e-6) * (-1 if option.startswith("max") else 1)
        for given, rc in ((value, 0), (value - step, 0), (value + step, 1)):
            if option.startswith("min-overlap") and not 0 <= given <= 1:
                continue
            out = os.path.join(fresh(), "out.tsv")
            # repr() has the digits that give the same number back.
            words = ("-o", out, path, "--", "--tags", "A,B", "--label", "L", "--bootstrap", 0, "--%s=%s" % (option, repr(given)))
            document = os.path.join(fresh(), "r.json")
            result = carbon("+concord", *words, "--json", document)
            expect(result.rc == rc, "expected rc %d for a bound of %r" % (rc, given), result)
            with open(out) as f:
                expect_equal(f.read().splitlines()[1].split("\t")[2], "200", "the table is complete")
            with open(document) as f:
                expect_equal(json.load(f)["bounds"], [{"option": "--" + option, "bound": given, "value": value, "met": rc == 0}], "bounds")
            if rc == 0:
                expect_equal(result.err, "", "messages")
            else:
                errors = own_errors(result)
                expect(len(errors) == 1 and errors[0].startswith("[E::concord] --%s %.10g is not met: the " % (option, given)) and
                       errors[0].endswith(" is %.10g" % value), "the message", result)


@case
def every_bound_that_is_not_met_has_its_line():
    lines, document, result = concord(snvs(BOUND_ROWS), "--", "--tags", "A,B", "--by", "TYPE", "--min-spearman", 1, "--max-diff", 0,
                                      "--min-n", 10, rc=1)
    expect_equal(len(lines), 2, "lines of the table")
    expect_equal([line.split()[1] for line in result.messages("E")], ["--min-spearman", "--max-diff"], "errors")
    expect_equal([b["met"] for b in document["bounds"]], [True, False, False], "met")
    json_log = carbon("+concord", "--log-json", snvs(BOUND_ROWS), "--", "--tags", "A,B", "--max-diff", 0)
    expect(json_log.rc == 1 and json.loads(json_log.err.splitlines()[-1])["level"] == "error", "--log-json", json_log)
    constant = concord(snvs([(1, i) for i in range(9)]), "--", "--tags", "A,B", "--min-pearson", -1, rc=1)[2]
    expect_equal(constant.messages("E"), ["[E::concord] --min-pearson -1 is not met: the Pearson correlation is undefined, as A has the same "
                                          "value for all 9 alleles"], "a constant score")
    single = concord(snvs([(1, 2)]), "--", "--tags", "A,B", "--min-spearman", 0, rc=1)[2]
    expect("undefined, as only one allele has both scores" in single.err, "one pair", single)


# ---- refusals


for words, message in (([], "--tags is missing"), (["--tags", "A"], "two different tags"), (["--tags", "A,A"], "two different tags"),
                       (["--tags", "A,B,R"], "two INFO tags"), (["--tags", "A,"], "two INFO tags"),
                       (["--tags", "A,NOPE"], "tag NOPE"), (["--tags", "W,A"], "tag W"),
                       (["--tags", "A,B", "--label", "NOPE"], "tag NOPE"), (["--tags", "A,B", "--label", "W"], "is text"),
                       (["--tags", "A,B", "--negate"], "--negate"),
                       (["--tags", "A,B", "--max-auroc-loss", "0"], "--max-auroc-loss needs --label"),
                       (["--tags", "A,B", "--by", "NOPE"], "--by NOPE"), (["--tags", "A,B", "--by", "none"], "tag none"), (["--tags", "A,B", "--by", "INFO/NOPE"], "tag NOPE"),
                       (["--tags", "A,B", "--min-spearman", "2"], "from -1 to 1"), (["--tags", "A,B", "--max-diff", "-1"], "at least 0"),
                       (["--tags", "A,B", "--min-pearson", "nan"], "from -1 to 1"), (["--tags", "A,B", "--min-n", "0"], "from 1 to"),
                       (["--tags", "A,B", "--nonsense"], "'--nonsense'"), (["--tags"], "--tags needs a value")):
    @case(name="refused: -- " + " ".join(words))
    def refused(words=words, message=message):
        path, out = snvs([(1, 2, 0), (2, 1, 1)]), os.path.join(fresh(), "out")
        expect_failure(carbon("+concord", "-o", out, path, "--", *words), ("[E::concord] ", "[E::main_+concord] "), message)
        expect(not os.path.exists(out), "an output file appeared")


@case
def files_that_cannot_be_compared():
    path, out = snvs([(1, 2, 0), (2, 1, 1)]), os.path.join(fresh(), "out")

    def fails(*args, tags="A,B", words=()):
        with open(path, "rb") as f:
            expect_failure(carbon("+concord", "-o", out, *args, "--", "--tags", tags, stdin=f), *words)
        expect(not os.path.exists(out), "an output file appeared")
    fails(path, path, path, words=("one or two input files",))
    fails("-", "-", words=("standard input is named twice",))
    fails(path, "nowhere.vcf", words=("nowhere.vcf",))
    fails(path, write(fresh(), "cut.vcf", HEAD % "##contig=<ID=c>\n" + "c\t10\t.\tA\tC\t.\t."), words=("cut.vcf",))
    renamed = vcf([("chrc", 10, "A", "C", "B=1")])
    fails(path, renamed, words=("no allele of %s is in %s" % (path, renamed), "c:10 A>C and chrc:10 A>C", "--rename-chrs"))
    fails(path, vcf([("c", 10, "A", "C", "A=1")]), tags="A,NOPE", words=("in.vcf has no INFO tag NOPE",))
    fails(path, vcf([("c", 10, "A", "C", "A=1")]), words=("no allele has both A of", "1 are not in", "0 lack the first and 1 the second"))
    fails(snvs([(None, 1), (2, None), (None, None)]), words=("no allele has both A and B: of 3, 2 lack the first and 2 the second",))
    fails(vcf([("c", 10, "A", ".", "X=1")]), words=("no alternative allele",))
    bad = vcf([("c", 10, "A", "C,G", "V=1,2;A=1,2")])
    fails(bad, tags="A,V", words=("c:10: V has 2 values", "Number=A or R"))
    fails(path, bad, tags="A,V", words=(bad + ": c:10: V has 2 values",))
    fails(vcf([("c", 10, "A", "C", "A=inf;B=1")]), words=("c:10: A is infinite",))
    fails(path, vcf([("c", 10, "A", "C,G", "B=1,2,3")]), words=("c:10: 3 values of B for 2 alternative alleles",))
    expect_failure(carbon("+concord", snvs([(1, 2), (2, 1)]), "--", "--tags", "A,B", "--label", "L"), "has a label", "of 2")


@case
def the_scores_of_the_files():
    """Without --tags: two scores of one file, or the one that both of two files have; else what there is."""
    def file(*tags):
        head = "".join('##INFO=<ID=%s,Number=A,Type=Float,Description="Carbon x">\n' % tag for tag in tags)
        body = "".join("c\t%d\t.\tA\tC\t.\t.\t%s\n" % (10 + i, ";".join("%s=%d" % (tag, (i * i) % (5 + n)) for n, tag in enumerate(tags)))
                       for i in range(9))
        return write(fresh(), "in.vcf", "##fileformat=VCFv4.2\n##contig=<ID=c>\n" + head + "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" + body)

    two, one, three = file("CARBON_LLR", "CARBON_NT"), file("CARBON_NT"), file("CARBON_LLR", "CARBON_NT", "CARBON_ALLR")
    expect_equal(concord(two, "--")[0], concord(two, "--", "--tags", "CARBON_LLR,CARBON_NT")[0], "two scores of one file")
    expect_equal(concord(two, one, "--")[0], concord(two, one, "--", "--tags", "CARBON_NT")[0], "the score of both files")
    expect_failure(carbon("+concord", three), "--tags is missing", "CARBON_LLR, CARBON_NT, CARBON_ALLR")
    expect_failure(carbon("+concord", three, two), "--tags is missing", "CARBON_LLR, CARBON_NT")
    expect_failure(carbon("+concord", one), "--tags is missing", "give a second file")


@case
def words_that_no_allele_has():
    path = vcf([("c", 10 + i, "A", "C", "A=%d;B=%d;W=%s" % (i, i, "good" if i % 2 else "bad")) for i in range(6)])
    expect_failure(carbon("+concord", path, "--", "--tags", "A,B", "--label", "W=badd/good"), "value badd of W",
                   "3 bad, 3 good")


if __name__ == "__main__":
    main()
