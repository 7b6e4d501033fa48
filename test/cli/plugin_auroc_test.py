"""carbon +auroc: equal to scikit-learn, its labels, its counts, its intervals."""

import json
import os
import random
import sys

from harness import Skip, carbon, case, expect, expect_close, expect_equal, expect_failure, fresh, main, ok, write
from plugin_support import SplitMix64

GOLDEN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "golden")
sys.path.insert(0, GOLDEN)
import auroc_cases  # noqa: E402

HEAD = """##fileformat=VCFv4.2
##INFO=<ID=S,Number=A,Type=Float,Description="score">
##INFO=<ID=R,Number=R,Type=Float,Description="score of every allele">
##INFO=<ID=L,Number=A,Type=Integer,Description="label">
##INFO=<ID=X,Number=1,Type=Float,Description="a value of the record">
##INFO=<ID=V,Number=.,Type=Float,Description="values of who knows what">
##INFO=<ID=SIG,Number=.,Type=String,Description="words">
##INFO=<ID=F,Number=0,Type=Flag,Description="flag">
%s#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO
"""
METRICS = ("auroc", "auprc", "average_precision", "auroc_by_chrom", "auprc_by_chrom", "average_precision_by_chrom",
           "spearman")


def vcf(lines):
    """`lines` are (chromosome, number of ALTs, INFO)."""
    contigs = dict.fromkeys(chromosome for chromosome, _, _ in lines)
    body = "".join("%s\t%d\t.\tA\t%s\t.\t.\t%s\n" % (chromosome, 10 + i, ",".join("CGT"[:alts]) or ".", info or ".")
                   for i, (chromosome, alts, info) in enumerate(lines))
    return write(fresh(), "in.vcf", HEAD % "".join("##contig=<ID=%s>\n" % c for c in contigs) + body)


def of_case(sites):
    def shown(values):
        return ",".join("." if v is None else "%g" % v for v in values)
    return vcf([(chromosome, len(alleles), "S=%s;L=%s" % (shown([s for s, _ in alleles]), shown([l for _, l in alleles])))
                for chromosome, alleles in sites])


def table(text):
    """{name: (value, low, high)}, None for a dot."""
    lines = text.splitlines()
    expect_equal(lines[0], "#metric\tvalue\tlow\thigh", "header")
    return {f[0]: tuple(None if x == "." else float(x) for x in f[1:]) for f in (line.split("\t") for line in lines[1:])}


def auroc(path, *options, bootstrap=0):
    return table(ok("+auroc", path, "--", "--score", "S", "--label", "L", "--bootstrap", bootstrap, *options).text)


def compare(found, wanted):
    for name in METRICS:
        if wanted[name] is None:
            expect_equal(found[name][0], None, name)
        else:
            expect_close(found[name][0], wanted[name], 1e-9, name)


for case_name, sites in auroc_cases.CASES.items():
    @case(name="as scikit-learn: " + case_name)
    def golden(case_name=case_name, sites=sites):
        with open(os.path.join(GOLDEN, "auroc.json")) as f:
            wanted = json.load(f)[case_name]
        found = auroc(of_case(sites))
        compare(found, wanted)
        alleles = [allele for _, alleles in sites for allele in alleles]
        expect_equal(found["alleles"][0], len(alleles), "alleles")
        expect_equal(found["used"][0], len(auroc_cases.rows(sites)), "used")
        expect_equal(found["missing_score"][0], sum(s is None for s, _ in alleles), "missing scores")
        expect_equal(found["missing_label"][0], sum(s is not None and l is None for s, l in alleles), "missing labels")


@case
def as_the_scikit_learn_at_hand():
    try:
        import scipy  # noqa: F401
        import sklearn  # noqa: F401
    except ImportError:
        raise Skip("no scikit-learn; compared with numbers of it only")
    for seed in range(100, 112):
        sites = auroc_cases.sites(seed, 250, 3, seed % 3, missing=0.1)
        compare(auroc(of_case(sites)), auroc_cases.with_sklearn(sites))


def of_strata(text):
    """{stratum: {column: value or None}} in the order of the lines."""
    names, *lines = [line.split("\t") for line in text.splitlines()]
    expect_equal(names, ["#stratum", "positive", "negative"] + [m + end for m in METRICS[:3] for end in ("", "_low", "_high")], "columns")
    return {line[0]: {n: None if x == "." else float(x) for n, x in zip(names[1:], line[1:])} for line in lines}


def stratified(count, seed):
    """(stratum, score, label) with fewer of the last strata, and other shares of positives in each."""
    rng = random.Random(seed)
    rows = []
    for _ in range(count):
        stratum = rng.choice("aaaabbbccd")
        label = int(rng.random() < {"a": 0.1, "b": 0.5, "c": 0.9, "d": 0.5}[stratum])
        rows.append((stratum, round(rng.gauss(label + 2 * "abcd".index(stratum), 1.5), 1), label))
    return rows


def with_strata(rows, extra=""):
    return vcf([("c", 1, "S=%g;L=%d;SIG=%s" % (score, label, stratum)) for stratum, score, label in rows])


@case
def strata_have_the_metrics_of_their_alleles_alone():
    rows = stratified(400, 1)
    path = with_strata(rows)
    result = ok("+auroc", path, "--", "--score", "S", "--label", "L", "--by", "SIG", "--min-class", "10", "--bootstrap", "50")
    found = of_strata(result.text)
    first = list(dict.fromkeys(stratum for stratum, _, _ in rows))
    expect_equal(list(found), first + ["macro", "pooled"], "lines")
    kept = []
    for stratum in first:
        own = [row for row in rows if row[0] == stratum]
        classes = [sum(label == l for _, _, label in own) for l in (1, 0)]
        expect_equal([found[stratum]["positive"], found[stratum]["negative"]], classes, stratum)
        if min(classes) < 10:
            expect_equal({found[stratum][m] for m in METRICS[:3]}, {None}, stratum)
            continue
        kept.append(stratum)
        alone = auroc(with_strata(own))
        for metric in METRICS[:3]:
            expect_close(found[stratum][metric], alone[metric][0], 1e-9, stratum + " " + metric)
            expect(found[stratum][metric + "_low"] <= found[stratum][metric] <= found[stratum][metric + "_high"], "interval of " + stratum)
    expect(0 < len(kept) < len(first), "strata that have metrics: %s" % kept)
    together = auroc(with_strata([row for row in rows if row[0] in kept]))
    for metric in METRICS[:3]:
        expect_close(found["macro"][metric], sum(found[s][metric] for s in kept) / len(kept), 1e-9, "mean of " + metric)
        expect_close(found["pooled"][metric], together[metric][0], 1e-9, "pooled " + metric)
    expect(found["pooled"]["auroc"] > found["macro"]["auroc"] + 0.05, found)
    expect_equal(sum("above the mean of the strata" in line for line in result.messages("W")), 1, "warnings")


@case
def an_interval_draws_within_strata():
    rows = stratified(120, 2)
    found = of_strata(ok("+auroc", with_strata(rows), "--", "--score", "S", "--label", "L", "--by", "SIG", "--min-class", "5", "--bootstrap", "40", "--seed", "7").text)
    order = {stratum: sorted((i for i, row in enumerate(rows) if row[0] == stratum), key=lambda i: -rows[i][1])
             for stratum in dict.fromkeys(row[0] for row in rows) if found[stratum]["auroc"] is not None}
    draws, samples = SplitMix64(7), []
    for _ in range(40):
        one = []
        for members in order.values():
            drawn = [rows[members[draws.below(len(members))]] for _ in members]
            positive, negative = [r[1] for r in drawn if r[2]], [r[1] for r in drawn if not r[2]]
            pairs = [(p > n) + (p == n) / 2 for p in positive for n in negative]
            one.append(sum(pairs) / len(pairs) if pairs else None)
        if None not in one:
            samples.append(sum(one) / len(one))
    samples.sort()
    for name, share in (("auroc_low", 0.025), ("auroc_high", 0.975)):
        at = share * (len(samples) - 1)
        below = samples[int(at)]
        expect_close(found["macro"][name], below + (at - int(at)) * (samples[min(int(at) + 1, len(samples) - 1)] - below), 1e-9, name)


@case
def thresholds_are_counts_of_the_file():
    for options, sign in (((), 1), (("--negate",), -1)):
        rows = [(s, score, label) for s, score, label in stratified(333, 3)]
        file = os.path.join(fresh(), "thresholds.tsv")
        ok("+auroc", with_strata(rows), "--", "--score", "S", "--label", "L", "--bootstrap", "0", "--thresholds", file, *options)
        with open(file) as f:
            note, names, *lines = f.read().splitlines()
        expect(note.startswith("## ") and "no calibration" in note, note)
        expect_equal(names, "#threshold\tsensitivity\tspecificity\tppv\ttp\tfp\ttn\tfn", "columns")
        harm = sorted(sign * score for _, score, _ in rows)
        wanted = list(dict.fromkeys(harm[-(-i * len(harm) // 100) - 1] for i in range(1, 100)))
        expect_equal([sign * float(line.split("\t")[0]) for line in lines], wanted, "thresholds")
        for line, threshold in zip(lines, wanted):
            called = [label for _, score, label in rows if sign * score >= threshold]
            positives = sum(label for _, _, label in rows)
            tp, fp = sum(called), len(called) - sum(called)
            fn, tn = positives - tp, len(rows) - positives - fp
            expect_equal([int(x) for x in line.split("\t")[4:]], [tp, fp, tn, fn], line)
            for shown, share in zip(line.split("\t")[1:4], (tp / positives, tn / (len(rows) - positives), tp / (tp + fp))):
                expect_close(float(shown), share, 1e-9, line)
    path = vcf([("c", 1, "S=%d;X=%g" % (i, i / 7)) for i in range(9)])
    expect_failure(carbon("+auroc", path, "--", "--score", "S", "--label", "X", "--thresholds", file), "no classes", "X>0.5")
    expect_failure(carbon("+auroc", path, "--", "--score", "S", "--label", "X", "--by", "type"), "no classes")


@case
def one_class_is_undefined_and_said():
    for label, word in ((1, "positive"), (0, "negative")):
        path = vcf([("c", 1, "S=%d;L=%d" % (i % 5, label)) for i in range(20)])
        result = ok("+auroc", path, "--", "--score", "S", "--label", "L", "--bootstrap", "20")
        found = table(result.text)
        for name in METRICS:
            expect_equal(found[name], (None, None, None), name)
        expect_equal(result.messages("W"), ["[W::auroc] all 20 labelled alleles are %s: AUROC and AUPRC are undefined" % word],
                     "warnings")


@case
def nothing_to_judge_is_an_error():
    path = vcf([("c", 1, "S=.;L=1"), ("c", 1, "S=1;L=."), ("c", 2, "X=1")])
    expect_failure(carbon("+auroc", path, "--", "--score", "S", "--label", "L"), "of 4", "3 lack")


@case
def negate_turns_the_score_round():
    sites = auroc_cases.CASES["ties"]
    plain, turned = auroc(of_case(sites)), auroc(of_case(sites), "--negate")
    expect_close(plain["auroc"][0] + turned["auroc"][0], 1, 1e-9, "AUROC")
    expect_close(plain["spearman"][0], -turned["spearman"][0], 1e-12, "Spearman")
    opposite = [(c, [(None if s is None else -s, l) for s, l in alleles]) for c, alleles in sites]
    expect_equal(auroc(of_case(opposite)), turned, "negated scores")


@case
def the_header_knows_the_direction_of_a_score_of_carbon():
    path = of_case(auroc_cases.CASES["ties"])
    with open(path) as f:
        text = f.read()
    model = '##carbon_scanModel=<ID=S,Model="m">\n'
    of_carbon = write(fresh(), "in.vcf", text.replace("##INFO=<ID=S", model + "##INFO=<ID=S", 1))
    turned = auroc(path, "--negate")
    expect_equal(auroc(of_carbon), turned, "minus the score")
    expect_failure(carbon("+auroc", of_carbon, "--", "--score", "S", "--label", "L", "--negate", "--bootstrap", 0),
                   "--negate is for tags whose direction is not known")
    # A number without classes has a correlation, which keeps its sign.
    numbers = [write(fresh(), "in.vcf", t.replace("##INFO=<ID=L,Number=A,Type=Integer", "##INFO=<ID=L,Number=A,Type=Float").replace("L=1", "L=1.5"))
               for t in (text, text.replace("##INFO=<ID=S", model + "##INFO=<ID=S", 1))]
    expect_equal(auroc(numbers[1]), auroc(numbers[0]), "a correlation")


@case
def an_auroc_below_a_half_is_one_warning():
    rows = [("c", 1, "S=%d;L=%d" % (i, i < 5)) for i in range(10)]
    for options, words in (([], "do low scores speak for the label?"), (["--negate"], None)):
        result = carbon("+auroc", vcf(rows), "--", "--score", "S", "--label", "L", "--bootstrap", 0, *options)
        lines = result.messages("W")
        expect(result.rc == 0 and len(lines) == (words is not None) and (words or "") in "".join(lines), "warnings", result)


@case
def the_words_of_clinvar():
    """Each value of CLNSIG as ClinVar writes it, with its class: positive, negative, or neither."""
    classes = {
        "Pathogenic": 1, "Likely_pathogenic": 1, "Pathogenic/Likely_pathogenic": 1, "Pathogenic,_low_penetrance": 1,
        "Pathogenic/Likely_pathogenic/Pathogenic,_low_penetrance": 1, "Pathogenic|drug_response": 1, "Likely_pathogenic|risk_factor": 1,
        "Benign": 0, "Likely_benign": 0, "Benign/Likely_benign": 0, "Benign|confers_sensitivity": 0, "Benign,Likely_benign": 0,
        "Uncertain_significance": None, "Conflicting_classifications_of_pathogenicity": None, "Benign|Pathogenic": None,
        "Conflicting_interpretations_of_pathogenicity|other": None, "drug_response": None, "not_provided": None, "_low_penetrance": None,
        "Pathogenic/Uncertain_significance": None, "Likely_benign|Conflicting_data": None, "Pathogenic_looking": None,
    }
    head = '##fileformat=VCFv4.2\n##INFO=<ID=S,Number=A,Type=Float,Description="s">\n##INFO=<ID=CLNSIG,Number=.,Type=String,Description="x">\n'
    rows = "".join("c\t%d\t.\tA\tC\t.\t.\tS=%d;CLNSIG=%s\n" % (i + 1, i, value) for i, value in enumerate(classes))
    rows += "c\t99\t.\tA\tC\t.\t.\tS=1\n"
    path = write(fresh(), "in.vcf", head + "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" + rows)
    result = ok("+auroc", path, "--", "--score", "S", "--label", "clinvar", "--bootstrap", 0)
    found = {line.split("\t")[0]: line.split("\t")[1] for line in result.lines()[1:]}
    values = list(classes.values())
    expect_equal([int(found[name]) for name in ("positive", "negative", "missing_label", "other_label")],
                 [values.count(1), values.count(0), 1, values.count(None)], "classes")
    told, = (line for line in result.err.splitlines() if "words of the label" in line)
    expect("positive 6 Pathogenic, 4 Likely_pathogenic; negative 4 Benign, 3 Likely_benign; in neither class " in told, told)
    expect("2 _low_penetrance" not in told.split("neither")[0] and "3 _low_penetrance" in told, told)
    expect_failure(carbon("+auroc", vcf([("c", 1, "S=1")]), "--", "--score", "S", "--label", "clinvar"), "CLNSIG")


@case
def the_demonstration_model_is_named():
    path = vcf([("c", 1, "S=%d;L=%d" % (i, i % 2)) for i in range(6)])
    with open(path) as f:
        text = f.read()
    bed = write(fresh(), "r.bed", "c\t0\t9\tr\n")
    for model, warned in (("carbon-tiny", True), ("some/where/carbon-tiny", True), ("HuggingFaceBio/Carbon-500M", False)):
        head = '##carbon_vepModel=<ID=S_LLR,Model="%s",SHA256=1>\n##INFO=<ID=S,' % model
        scored = write(fresh(), "in.vcf", text.replace("##INFO=<ID=S,", head, 1))
        for args in (("+auroc", scored, "--", "--score", "S", "--label", "L", "--bootstrap", 0),
                     ("+concord", scored, "--", "--tags", "S,R"), ("+gene-summary", scored, "--", "--regions", bed, "--tag", "S")):
            told = [line for line in carbon(*args).messages("W") if "demonstration model: not meaningful for variants" in line]
            expect_equal(len(told), int(warned), "warnings of %s with %s" % (args[0], model))


def counts(lines, label, score="S"):
    found = table(ok("+auroc", vcf(lines), "--", "--score", score, "--label", label, "--bootstrap", 0).text)
    return tuple(int(found[name][0]) for name in ("positive", "negative", "missing_label", "other_label"))


@case
def labels():
    words = [("c", 1, "S=1;SIG=Pathogenic"), ("c", 1, "S=2;SIG=Benign"), ("c", 1, "S=3;SIG=Uncertain"), ("c", 1, "S=4"),
             ("c", 1, "S=5;SIG=Pathogenic/Likely_pathogenic"), ("c", 2, "S=6,7;SIG=Benign,other"),
             ("c", 1, "S=8;SIG=Pathogenic,Benign"), ("c", 1, "S=9;SIG=.")]
    expect_equal(counts(words, "SIG=Pathogenic/Benign"), (1, 3, 2, 3), "two lists")
    expect_equal(counts(words, "SIG=Pathogenic,Pathogenic\\/Likely_pathogenic/Benign"), (2, 3, 2, 2), "a slash in a word")
    expect_equal(counts(words, "SIG=Pathogenic"), (2, 5, 2, 0), "one list: all else is negative")
    low = [("c", 1, "S=1;SIG=Pathogenic"), ("c", 1, "S=2;SIG=Pathogenic,_low_penetrance"), ("c", 1, "S=3;SIG=Benign"),
           ("c", 1, "S=4;SIG=a,b"), ("c", 1, "S=5;SIG=b,a,_c,x")]
    expect_equal(counts(low, "SIG=Pathogenic/Benign"), (1, 1, 0, 3), "a comma before _ is part of a value")
    expect_equal(counts(low, "SIG=Pathogenic\\,_low_penetrance/Benign"), (1, 1, 0, 3), "a comma in a word")
    expect_equal(counts(low, "SIG=Pathogenic,_low_penetrance,Pathogenic/Benign"), (2, 1, 0, 2), "also without a backslash")
    expect_equal(counts(low, "SIG=a\\,b/a,b"), (1, 1, 0, 3), "several values as one word count for no other")
    expect_equal(counts(low, "SIG=b\\,a\\,_c/Benign"), (1, 1, 0, 3), "some of the values as one word")
    numbers = [("c", 1, "S=1;X=0.5"), ("c", 2, "S=2,3;X=1"), ("c", 1, "S=4;X=2"), ("c", 1, "S=5")]
    for label, wanted in (("X>1", 1), ("X>=1", 3), ("X<1", 1), ("X<=1", 3), ("X==1", 2), ("X!=1", 2), ("X=1,2", 3)):
        expect_equal(counts(numbers, label)[:3], (wanted, 4 - wanted, 1), label)
    expect_equal(counts(numbers, "X=1/0.5"), (2, 1, 1, 1), "numbers in lists")
    tenths = [("c", 1, "S=1;X=0.1"), ("c", 1, "S=2;X=0.3")]
    expect_equal(counts(tenths, "X<=0.1")[:2], (1, 1), "a float compared in its own precision")
    expect_equal(counts(tenths, "X=0.1/0.3")[:2], (1, 1), "and in lists")
    alone = [("c", 1, "S=1;L=1"), ("c", 1, "S;L=1"), ("c", 2, "S=1,2;L"), ("c", 1, "S=0;L=0")]
    expect_equal(counts(alone, "L"), (1, 1, 2, 0), "a tag without a value is a missing one")
    flags = [("c", 1, "S=1;F"), ("c", 3, "S=2,3,4"), ("c", 2, "S=5,6;F")]
    expect_equal(counts(flags, "F"), (3, 3, 0, 0), "a flag")
    expect_equal(counts([("c", 2, "R=9,1,2;L=1,0"), ("c", 0, "R=3")], "L", score="R"), (1, 1, 0, 0), "Number=R")


@case
def a_number_that_is_no_class_has_a_rank_correlation():
    lines = [("c", 1, "S=%d;X=%g" % (i, i * i / 10)) for i in range(30)]
    result = ok("+auroc", vcf(lines), "--", "--score", "S", "--label", "X", "--bootstrap", 0)
    found = table(result.text)
    expect_equal((found["auroc"][0], found["spearman"][0]), (None, 1.0), "AUROC, Spearman")
    expect(any("no classes" in line for line in result.messages("W")), "expected a warning", result)
    # With a threshold there are classes, and the ranks are still those of the number.
    found = table(ok("+auroc", vcf(lines), "--", "--score", "S", "--label", "X>20", "--bootstrap", 0).text)
    expect_equal((found["auroc"][0], found["spearman"][0]), (1.0, 1.0), "AUROC, Spearman")


def plain_auroc(rows):
    positive, negative = [s for s, l in rows if l], [s for s, l in rows if not l]
    if not positive or not negative:
        return None
    return sum((p > n) + (p == n) / 2 for p in positive for n in negative) / (len(positive) * len(negative))


@case
def intervals_are_those_of_the_same_draws():
    rng = random.Random(11)
    rows = [(rng.randrange(6), int(rng.random() < 0.2)) for _ in range(25)]
    path = vcf([("c", 1, "S=%d;L=%d" % row) for row in rows])
    found = auroc(path, "--seed", 5, "--confidence", 0.9, bootstrap=200)
    draw, values = SplitMix64(5), []
    for _ in range(200):
        values.append(plain_auroc([rows[draw.below(len(rows))] for _ in rows]))
    values = sorted(v for v in values if v is not None)

    def quantile(share):
        at = share * (len(values) - 1)
        low = int(at)
        return values[low] + (at - low) * (values[min(low + 1, len(values) - 1)] - values[low])
    expect_close(found["auroc"][1], quantile(0.05), 1e-9, "low")
    expect_close(found["auroc"][2], quantile(0.95), 1e-9, "high")
    expect_equal(auroc(path, "--seed", 5, "--confidence", 0.9, bootstrap=200), found, "again with the same seed")
    expect(auroc(path, "--seed", 6, "--confidence", 0.9, bootstrap=200) != found, "the seed changes nothing")


@case
def json_has_the_same_numbers():
    path, out = of_case(auroc_cases.CASES["one class on some chromosomes"]), os.path.join(fresh(), "r.json")
    found = auroc(path, "--json", out, bootstrap=50)
    with open(out) as f:
        document = json.load(f)
    for name in METRICS:
        metric = document["metrics"][name]
        for part, value in zip(("value", "low", "high"), found[name]):
            expect_close(metric[part], value, 1e-9, name + " " + part)
    expect_equal([c["name"] for c in document["chromosomes"]], ["chr%d" % i for i in range(1, 6)], "chromosomes")
    expect_equal([c["auroc"] is None for c in document["chromosomes"]], [False, True, False, True, False], "undefined")
    expect_equal(document["counts"]["used"], int(found["used"][0]), "used")


for words, message in (([], "--label is missing"), (["--label", "NOPE"], "tag NOPE"),
                       (["--label", "SIG"], "is text"), (["--label", "F=1"], "is a flag"), (["--label", "X>two"], "not a number"),
                       (["--label", "SIG=a/b/c"], "a second /"), (["--label", "=a"], "expected TAG"),
                       (["--label", "L", "--score", "SIG"], "is a number"), (["--label", "L", "--confidence", "2"], "from 0 to 1"),
                       (["--label", "L", "--by", "none"], "tag none"),
                       (["--label", "L", "--nonsense"], "'--nonsense'"), (["--label"], "--label needs a value")):
    @case(name="refused: -- " + " ".join(words))
    def refused(words=words, message=message):
        path = vcf([("c", 1, "S=1;L=1")])
        out = os.path.join(fresh(), "out")
        score = () if "--score" in words else ("--score", "S")
        expect_failure(carbon("+auroc", "-o", out, path, "--", *score, *words), ("[E::auroc] ", "[E::main_+auroc] "), message)
        expect(not os.path.exists(out), "an output file appeared")


@case
def values_of_no_known_allele_are_refused():
    path = vcf([("c", 2, "V=1,2;L=1,0")])
    expect_failure(carbon("+auroc", path, "--", "--score", "V", "--label", "L"), "c:10", "Number=A or R")


@case
def words_that_no_allele_has():
    """An error where a class would be empty, else a warning; both list the values with their counts."""
    lines = [("c", 1, "S=1;SIG=good")] * 3 + [("c", 1, "S=2;SIG=bad")] * 2 + [("c", 1, "S=3;SIG=odd")]
    run = ["+auroc", vcf(lines), "--", "--score", "S", "--bootstrap", 0, "--label"]
    for label in ("SIG=badd/good", "SIG=badd", "SIG=bad/goodd"):
        expect_failure(carbon(*run, label), "value %s of SIG" % ("goodd" if "goodd" in label else "badd"),
                       "3 good, 2 bad, 1 odd")
    result = ok(*run, "SIG=bad,worse/good")
    expect_equal([line for line in result.messages("W") if "no allele" in line],
                 ["[W::auroc] --label: no allele has the value worse of SIG; its values are 3 good, 2 bad, 1 odd"], "warnings")
    expect(not any("no allele" in line for line in ok(*run, "SIG=bad/good").messages("W")), "a warning of words that are there")
    numbers = ["+auroc", vcf([("c", 1, "S=1;L=0"), ("c", 1, "S=2;L=2")]), "--", "--score", "S", "--bootstrap", 0, "--label"]
    expect_failure(carbon(*numbers, "L=3/0"), "value 3 of L", "1 0, 1 2")
    many = vcf([("c", 1, "S=%d;SIG=w%d" % (i, i)) for i in range(50)])
    expect_failure(carbon("+auroc", many, "--", "--score", "S", "--label", "SIG=x"), "w0", "and more")


@case
def the_tags_of_the_file():
    """Without --score the only score of carbon, without --label ClinVar's; where that is not clear, what there is."""
    def file(*infos, values="CARBON_LLR=%d;CLNSIG=%s"):
        head = "".join('##INFO=<ID=%s,Number=%s,Type=%s,Description="%s">\n' % info for info in infos)
        body = "".join("c\t%d\t.\tA\tC\t.\t.\t%s\n" % (10 + i, values % (i - 3, "Benign" if i % 2 else "Pathogenic")) for i in range(6))
        return write(fresh(), "in.vcf", "##fileformat=VCFv4.2\n##contig=<ID=c>\n" + head + "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" + body)

    score, other = ("CARBON_LLR", "A", "Float", "Carbon x"), ("CARBON_NT", "A", "Float", "Carbon y")
    signs, number = ("CLNSIG", ".", "String", "signs"), ("AF", "A", "Float", "frequency")
    path = file(score, signs, number)
    expect_equal(ok("+auroc", path, "--", "--bootstrap", 0).text,
                 ok("+auroc", path, "--", "--bootstrap", 0, "--score", "CARBON_LLR", "--label", "clinvar").text, "the tags of the file")
    expect_failure(carbon("+auroc", file(score, other, signs)), "--score is missing", "CARBON_LLR, CARBON_NT")
    expect_failure(carbon("+auroc", file(signs, number, values="AF=%d;CLNSIG=%s")), "--score is missing", "no scores of carbon", "AF")
    expect_failure(carbon("+auroc", file(score, number, ("SIG", ".", "String", "s"), values="CARBON_LLR=%d;SIG=%s")), "--label is missing", "AF, SIG")


if __name__ == "__main__":
    main()
