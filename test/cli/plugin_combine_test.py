"""carbon +combine: the mean of average ranks of several scores in each stratum, against a count by hand (and pandas, where it is)."""

import math
import random

from harness import carbon, case, expect, expect_close, expect_equal, expect_failure, fresh, info_of, main, ok, records, tool, write

MODEL = '##carbon_vepModel=<ID=CARBON_LLR,Model="some/model",SHA256=%s,Dtype=f32>\n' % ("0123456789abcdef" * 4)
HEAD = """##fileformat=VCFv4.2
%s##INFO=<ID=CARBON_LLR,Number=A,Type=Float,Description="Carbon log-likelihood ratio">
##INFO=<ID=UP,Number=A,Type=Float,Description="large is harmful">
##INFO=<ID=N,Number=A,Type=Integer,Description="of both signs">
##INFO=<ID=CLASS,Number=1,Type=String,Description="words">
##INFO=<ID=W,Number=1,Type=String,Description="a word">
##contig=<ID=c>
#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO
"""
TAGS = ("CARBON_LLR", "UP", "N")
HARM = {"CARBON_LLR": lambda x: -x, "UP": lambda x: x, "N": abs}


def made(count, seed):
    """Sites: (REF, [ALT], {tag: [value or None]}, class)."""
    rng = random.Random(seed)
    sites = []
    for _ in range(count):
        alts = rng.choice((["C"], ["G"], ["C", "T"], ["AT"], ["ACCGT", "C"], ["*"], ["<DEL>"]))
        values = {"CARBON_LLR": lambda: round(rng.gauss(-1, 2), 1), "UP": lambda: round(rng.random(), 2), "N": lambda: rng.randint(-9, 9)}
        sites.append(("A", alts, {tag: [None if rng.random() < 0.15 else values[tag]() for _ in alts] for tag in TAGS}, rng.choice((None, "x", "y", "y"))))
    return sites


def vcf(sites, model=MODEL):
    def info(values, name):
        parts = ["%s=%s" % (tag, ",".join("." if v is None else "%g" % v for v in row)) for tag, row in values.items()]
        return ";".join(parts + (["CLASS=" + name] if name else []))
    return write(fresh(), "in.vcf", HEAD % model + "".join("c\t%d\t.\t%s\t%s\t.\t.\t%s\n" % (10 + i, ref, ",".join(alts), info(values, name))
                                                          for i, (ref, alts, values, name) in enumerate(sites)))


def type_of(ref, alt):
    if alt in ("*", "<DEL>"):
        return "."
    change = len(alt) - len(ref)
    if change == 0:
        return "snv"
    return "ins:%d" % change if change < 4 else "ins:4-6"


def average_ranks(values):
    """From 1, None where there is no value."""
    present = sorted(v for v in values if v is not None)
    places = {}
    for i, value in enumerate(present):
        places.setdefault(value, []).append(i + 1)
    return [None if v is None else sum(places[v]) / len(places[v]) for v in values]


def wanted(sites, by):
    alleles = [(by(ref, alt, name), {tag: values[tag][i] for tag in TAGS}) for ref, alts, values, name in sites for i, alt in enumerate(alts)]
    shares = [[] for _ in alleles]
    for stratum in {s for s, _ in alleles}:
        members = [i for i, (s, _) in enumerate(alleles) if s == stratum]
        for tag in TAGS:
            column = [None if alleles[i][1][tag] is None else HARM[tag](alleles[i][1][tag]) for i in members]
            count = sum(v is not None for v in column)
            for i, rank in zip(members, average_ranks(column)):
                if rank is not None:
                    shares[i].append((rank - 0.5) / count)
    return [(sum(s) / len(s) if s else None, len(s)) for s in shares]


def combined(path, *options, name="CARBON_RANKMEAN"):
    result = ok("+combine", path, "--", "--scores", "CARBON_LLR,UP:high,N:abs", *options)
    found = []
    for line in records(result.text):
        info = info_of(line)
        found += [(None if a == "." else float(a), int(b)) for a, b in zip(info[name].split(","), info[name + "_N"].split(","))]
    return found, result.text


@case
def ranks_are_those_of_a_count():
    sites = made(6_000, 1)
    path = vcf(sites)
    alleles = sum(len(alts) for _, alts, _, _ in sites)
    for options, by in (((), lambda ref, alt, name: type_of(ref, alt)), (("--by", "none"), lambda *_: "all"),
                        (("--by", "CLASS"), lambda ref, alt, name: name or ".")):
        found, text = combined(path, *options)
        expected = wanted(sites, by)
        expect_equal(len(found), alleles, "alleles")
        for (mean, count), (a, b) in zip(found, expected):
            expect_equal((mean is None, count), (a is None, b), options)
            expect(mean is None or abs(mean - a) <= 1e-6, "%s: %s is not %s" % (options, mean, a))
        lines = [line for line in text.splitlines() if line.startswith("##carbon_combine")]
        expect_equal(lines[0], '##carbon_combine=<ID=CARBON_RANKMEAN,Scores="CARBON_LLR:low,UP:high,N:abs",By="%s">' % (options[1] if options else "type"), "line")
        ids = [line.split(",")[0] for line in lines]
        expect_equal(len(set(ids)), len(ids), "IDs of header lines, of which newer releases of htslib keep the first of a name")
        shown = sum(int(line.split("Alleles=")[1][:-1]) for line in lines[1:] if "Score=UP" in line)
        expect_equal(shown, sum(v is not None for _, _, values, _ in sites for v in values["UP"]), "alleles of the header")
    whole = [mean for mean, count in combined(vcf(made(3_000, 2)), "--by", "none")[0] if mean is not None]
    expect_close(sum(whole) / len(whole), 0.5, 0.01, "the mean of all")


@case
def pandas_has_the_same_ranks():
    try:
        import pandas
    except ImportError:
        from harness import Skip
        raise Skip("pandas is not installed")
    sites = made(5_000, 3)
    frame = pandas.DataFrame([{"stratum": type_of(ref, alt), **{tag: values[tag][i] for tag in TAGS}}
                              for ref, alts, values, _ in sites for i, alt in enumerate(alts)])
    groups = frame.assign(CARBON_LLR=-frame.CARBON_LLR.astype(float), N=frame.N.astype(float).abs()).groupby("stratum")[list(TAGS)]
    shares = (groups.rank(method="average") - 0.5) / groups.transform("count")
    for (mean, count), one, number in zip(combined(vcf(sites))[0], shares.mean(axis=1), shares.count(axis=1)):
        expect_equal(count, number, "scores")
        expect(math.isnan(one) if mean is None else abs(mean - one) <= 1e-6, "%s is not %s" % (mean, one))


@case
def other_programs_and_plugins_read_them():
    path = vcf(made(300, 4))
    out = path.replace("in.vcf", "out.bcf")
    ok("+combine", "-o", out, path, "--", "--scores", "CARBON_LLR,UP:high", "--tag", "BOTH")
    header = tool("bcftools", "view", "-h", out).text
    expect('##INFO=<ID=BOTH,Number=A,Type=Float,' in header and '##INFO=<ID=BOTH_N,Number=A,Type=Integer,' in header, header)
    numbers = tool("bcftools", "query", "-f", "%BOTH_N\n", out).text.replace(",", "\n").split()
    expect_equal(set(numbers), {"0", "1", "2"}, "counts")
    found = ok("+auroc", out, "--", "--score", "BOTH", "--label", "CLASS=x/y", "--bootstrap", "0").table()
    raw = {line.split("\t")[0]: line.split("\t")[1] for line in found}
    expect(0.3 < float(raw["auroc"]) < 0.7, found)
    expect_failure(carbon("+auroc", out, "--", "--score", "BOTH", "--label", "CLASS=x/y", "--negate"), "BOTH", "leave it out")
    expect_failure(carbon("+combine", out, "--", "--scores", "CARBON_LLR,UP:high", "--tag", "BOTH"), "BOTH", "bcftools annotate -x")
    again = ok("+combine", out, "--", "--scores", "BOTH,CARBON_LLR", "--tag", "TWICE").text
    expect('Scores="BOTH:high,CARBON_LLR:low"' in again, "direction of a rank")


@case
def what_cannot_be_ranked_is_refused():
    path = vcf(made(20, 5))
    for options, words in (((), ("--scores is missing",)), (("--scores", "UP"), ("UP:high",)),
                           (("--scores", "CARBON_LLR:high"), ("CARBON_LLR", "leave out :high")), (("--scores", "UP:up"), ("UP:up", "abs")),
                           (("--scores", "NONE:high"), ("tag NONE",)), (("--scores", "CLASS:high"), ("CLASS", "number")),
                           (("--scores", "UP:high,UP:low"), ("named twice",)), (("--scores", "UP:high,"), ("no name",)),
                           (("--scores", "UP:high", "--by", "NONE"), ("tag NONE", "type, none, TYPE, FILTER")),
                           (("--scores", "UP:high", "--tag", "1x"), ("letters, digits",)), (("--scores", "UP:high", "--tag", "UP"), ("--tag UP",))):
        expect_failure(carbon("+combine", path, "--", *options), *words)
    with open(path, "rb") as file:
        expect_failure(carbon("+combine", "-", "--", "--scores", "UP:high", stdin=file.read()), "read twice")
    many = HEAD % MODEL + "c\t5\t.\tA\tC,G\t.\t.\tUP=1,2,3\n"
    expect_failure(carbon("+combine", write(fresh(), "in.vcf", many), "--", "--scores", "UP:high"), "c:5", "3 values")
    warned = carbon("+combine", path, "--", "--scores", "UP:high", "--by", "none")
    expect(warned.rc == 0 and "insertions and deletions" in warned.err, "no warning", warned)


if __name__ == "__main__":
    main()
