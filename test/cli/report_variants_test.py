"""carbon report of VCF, BCF and the table of vep: every number against bcftools query and its definition."""

import json
import math
import os
import random
import struct

from harness import (bgzip, carbon, case, data, expect, expect_close, expect_equal, expect_failure, fresh, main, model, ok,
                     peak_memory, read, refused, tool, workplace, write)
from report_page import Page, number

HEAD = """##fileformat=VCFv4.2
##FILTER=<ID=q10,Description="low">
##FILTER=<ID=s50,Description="few">
##INFO=<ID=CARBON_LLR,Number=A,Type=Float,Description="Carbon log-likelihood ratio">
##INFO=<ID=CARBON_NT,Number=A,Type=Float,Description="Carbon ratio">
##INFO=<ID=CARBON_FLAG,Number=A,Type=String,Description="Why a Carbon score is missing">
##INFO=<ID=BCSQ,Number=.,Type=String,Description="Local consequence annotation from BCFtools/csq">
##INFO=<ID=SIG,Number=1,Type=Integer,Description="label">
##contig=<ID=1>
##contig=<ID=2>
##carbon_vepVersion=0.1.0+htslib-1.16
##carbon_vepCommand=carbon vep -f ref.fa in.vcf; Date=Mon Nov 23 00:00:00 2026
##carbon_vepModel=<ID=CARBON,Model="some/model",SHA256=0123abcd,Dtype=bf16,Device="cpu (avx2)",Recipe=centered,Window=8192,Strand=both>
#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO
"""
COLUMNS = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"


def float32(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def page_of(*args, **options):
    return Page(ok("report", *args, **options).text)


def quantile(values, share):
    """numpy.quantile, whose default is linear between neighbours."""
    values = sorted(values)
    place = (len(values) - 1) * share
    low = math.floor(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


def random_vcf(count, seed=1):
    """Records of all types, some with two alternatives, without a score, or without an alternative."""
    rng, lines = random.Random(seed), []
    for i in range(count):
        ref = rng.choice(["A", "C", "AT", "GATT", "c"])
        alts = list(dict.fromkeys(rng.choice(["G", "T", "A", "ATT", "GT", "<DEL>", "*"]) for _ in range(rng.choice([1, 1, 2]))))
        alts = [a for a in alts if a != ref] or ["G"]
        if i % 97 == 0:
            lines.append("1\t%d\t.\t%s\t.\t.\tPASS\t." % (i + 1, ref))
            continue
        scores = ["." if rng.random() < 0.1 else "%.6g" % rng.gauss(-0.2, 0.5 if rng.random() < 0.99 else 20) for _ in alts]
        info = ["CARBON_LLR=" + ",".join(scores)]
        if "." in scores and rng.random() < 0.8:
            info.append("CARBON_FLAG=" + ",".join("." if s != "." else rng.choice(["edge", "ref_mismatch", "symbolic"]) for s in scores))
        if rng.random() < 0.7:
            info.append("BCSQ=" + ",".join("%s|G%d|T|protein_coding|+|1A>1B|%d%s>%s" % (
                rng.choice(["missense", "synonymous", "stop_gained", "splice_region&missense"]), i % 7, i + 1, ref, a) for a in alts))
        elif rng.random() < 0.5:
            info.append("BCSQ=intron|G1|T|protein_coding")
        lines.append("%d\t%d\t%s\t%s\t%s\t.\t%s\t%s" % (
            1 + (i > count // 2), i + 1, rng.choice([".", "rs%d" % i]), ref, ",".join(alts),
            rng.choice(["PASS", "PASS", ".", "q10", "q10;s50"]), ";".join(info)))
    return write(fresh(), "in.vcf", HEAD + "\n".join(lines) + "\n")


def alleles_of(path):
    """What bcftools query gives for each alternative: a dictionary."""
    out = []
    fields = "%CHROM\t%POS\t%ID\t%REF\t%ALT\t%FILTER\t%INFO/CARBON_LLR\t%INFO/CARBON_FLAG\t%INFO/BCSQ\n"
    for line in tool("bcftools", "query", "-f", fields, path).lines():
        chrom, pos, name, ref, alts, filters, scores, flags, csq = line.split("\t")
        for i, alt in enumerate(alts.split(",") if alts != "." else []):
            score = scores.split(",")[i] if scores != "." else "."
            flag = flags.split(",")[i] if flags != "." else "."
            entries = [e.split("|") for e in csq.split(",")] if csq != "." else []
            mine = [e for e in entries if len(e) < 7 or e[6] == pos + ref + ">" + alt]
            out.append({"CHROM": chrom, "POS": pos, "ID": name, "REF": ref, "ALT": alt, "FILTER": filters, "text": score,
                        "score": None if score == "." else float32(float(score)), "flag": flag,
                        "csq": mine[0][0].split("&")[-1] if mine else "none given", "gene": mine[0][1] if mine else "."})
            out[-1]["type"] = type_of(ref, alt)
    return out


def type_of(ref, alt):
    """By the definition in carbon-auroc(1), but that <DEL> is a deletion."""
    ref, alt = ref.upper(), alt.upper()
    if alt == "<DEL>":
        return "DEL"
    if not (ref + alt).isalpha():
        return "other"
    while ref and alt and ref[-1] == alt[-1]:
        ref, alt = ref[:-1], alt[:-1]
    while ref and alt and ref[0] == alt[0]:
        ref, alt = ref[1:], alt[1:]
    if len(ref) == len(alt):
        return {0: "other", 1: "SNV"}.get(len(ref), "MNV")
    return "INS" if not ref else "DEL" if not alt else "complex"


def compare_bins(rows, groups):
    """A figure's table of bins: `groups` are the scores of each column. Edges are as numpy.histogram has them."""
    width = None
    inside = [r for r in rows[1:] if "." not in (r[0], r[1])]
    last = float(inside[-1][1])
    for row in rows[1:]:
        low = -math.inf if row[0] == "." else float(row[0])
        high = math.inf if row[1] == "." else float(row[1])
        if math.inf not in (high, -low):
            width = width or high - low
            expect_close(high - low, width, 1e-9 * abs(width), "width of a bin")
        for column, scores in enumerate(groups):
            if low == last:
                count = sum(last < s for s in scores)
            else:
                count = sum(low <= s < high or s == high == last for s in scores)
            expect_equal(int(row[2 + column]), count, "count of %s to %s in column %d" % (row[0], row[1], column))
    for column, scores in enumerate(groups):
        expect_equal(sum(int(r[2 + column]) for r in rows[1:]), len(scores), "sum of column %d" % column)


def compare_numbers(row, alleles, what):
    scores = [a["score"] for a in alleles if a["score"] is not None]
    expect_equal(number(row["Scores"]), len(scores), what + ": scores")
    expect_equal(number(row["Missing"]), len(alleles) - len(scores), what + ": missing")
    if not scores:
        return
    wanted = {"Mean": math.fsum(scores) / len(scores), "Minimum": min(scores), "Maximum": max(scores),
              "Quartile 1": quantile(scores, 0.25), "Median": quantile(scores, 0.5), "Quartile 3": quantile(scores, 0.75)}
    for name, value in wanted.items():
        expect_close(float(row[name]), value, max(5.1e-6 * abs(value), 1e-12), "%s: %s" % (what, name))


ORDER = ["stop_gained", "missense", "synonymous", "intron", "none given"]


@case
def every_number_of_the_distributions():
    path = random_vcf(3000)
    alleles = alleles_of(path)
    page = page_of(path)
    numbers = page.table("Scores in numbers: CARBON_LLR (nats)")
    scored = [a for a in alleles if a["score"] is not None]
    compare_numbers(numbers[0], alleles, "all")
    compare_bins(page.figures["in_CARBON_LLR_scores"][1], [[a["score"] for a in scored]])
    for key, by, figure in (("type", "type", "by_type"), ("FILTER", "FILTER", "by_filter"),
                            ("csq", "consequence (BCSQ)", "by_consequence")):
        rows = [r for r in numbers if r["By"] == by]
        expect_equal(sorted(r["Group"] for r in rows), sorted({a[key] for a in alleles}), by)
        for row in rows:
            compare_numbers(row, [a for a in alleles if a[key] == row["Group"]], by + " " + row["Group"])
        drawn = page.figures["in_CARBON_LLR_" + figure][1]
        expect_equal(drawn[0][2:], [r["Group"] for r in rows if r["Scores"] != "0"], by + ": columns")
        compare_bins(drawn, [[a["score"] for a in scored if a[key] == name] for name in drawn[0][2:]])
        for row in rows:
            expect(row["Scores"] == "0" or "%s, n = %s" % (row["Group"], row["Scores"]) in page.svg_texts,
                   "the label of " + row["Group"])
    expect_equal([r["Group"] for r in numbers if r["By"].startswith("cons")], ORDER, "order of severity")
    filters = [number(r["Scores"]) for r in numbers if r["By"] == "FILTER"]
    expect_equal(filters, sorted(filters, reverse=True), "FILTER: the largest first")


@case
def counts_and_flags():
    path = random_vcf(2000, seed=2)
    alleles = alleles_of(path)
    page = page_of(path)
    records = len(tool("bcftools", "view", "-H", path).lines())
    missing = [a for a in alleles if a["score"] is None]
    unflagged = sum(a["flag"] == "." for a in missing)
    counts = {flag: sum(a["flag"] == flag for a in alleles) for flag in ("edge", "symbolic", "ref_mismatch")}
    types = {t: sum(a["type"] == t for a in alleles) for t in ("SNV", "MNV", "INS", "DEL", "complex", "other")}
    expect_equal(page.paragraphs[0], "The file has %s records with %s alternative alleles: %s. %d records have no alternative "
                 "allele. CARBON_LLR has a score for %s alleles; %d have none: %s, %d without a flag. "
                 "CARBON_NT has a score for 0 alleles; %s have none: %s, %s without a flag." % (
                     format(records, ","), format(len(alleles), ","),
                     ", ".join("%s %s" % (format(n, ","), t) for t, n in types.items() if n),
                     (records + 96) // 97, format(len(alleles) - len(missing), ","), len(missing),
                     ", ".join("%d %s" % (n, f) for f, n in counts.items()), unflagged, format(len(alleles), ","),
                     ", ".join("%d %s" % (n, f) for f, n in counts.items()),
                     format(len(alleles) - sum(counts.values()), ",")), "counts")
    expect_equal(page.figures["in_CARBON_FLAG_reasons"][1][1:], [[f, str(n)] for f, n in counts.items()], "flags")
    table = page.table("What the flags of CARBON_FLAG mean")
    expect_equal([r["Flag"] for r in table], list(counts), "explained flags")
    expect("in_CARBON_NT_scores" not in page.figures, "a tag without a value is drawn")


@case
def ranked_table():
    path = random_vcf(1500, seed=3)
    alleles = [a for a in alleles_of(path) if a["score"] is not None]
    alleles.sort(key=lambda a: a["score"])  # stable: ties in the order of the file
    for top in (0, 1, 40, 10000):
        page = page_of("--top", top, "--tags", "CARBON_LLR", path)
        if top == 0:
            expect(not any("Lowest" in c for c in page.captions), "a table of no rows")
            continue
        rows = page.table("Lowest scores")
        expect_equal(len(rows), min(top, len(alleles)), "rows")
        for row, allele in zip(rows, alleles):
            wanted = {"CHROM": allele["CHROM"], "POS": allele["POS"], "ID": allele["ID"], "REF": allele["REF"],
                      "ALT": allele["ALT"], "Type": allele["type"], "FILTER": allele["FILTER"],
                      "Consequence": allele["csq"].replace("none given", "."), "Gene": allele["gene"], "CARBON_LLR": allele["text"]}
            expect_equal(row, wanted, "row")


@case
def ties_and_long_alleles():
    long = "ACGT" * 100
    lines = ["1\t%d\t.\tA\tG\t.\t.\tCARBON_LLR=-1" % (i + 1) for i in range(30)]
    lines.append("1\t90\t.\tA\tA%s\t.\t.\tCARBON_LLR=-2" % long)
    rows = page_of("--top", 10, write(fresh(), "t.vcf", HEAD + "\n".join(lines) + "\n")).table("Lowest scores")
    expect_equal([r["POS"] for r in rows], ["90"] + [str(i + 1) for i in range(9)], "ties are in the order of the file")
    expect_equal(rows[0]["ALT"], ("A" + long)[:16] + "\u2026 (401 letters)", "a long allele")


@case
def formats_agree():
    path = random_vcf(500, seed=4)
    folder = os.path.dirname(path)
    texts = []
    for suffix, kind in (("vcf.gz", "z"), ("bcf", "b")):
        other = os.path.join(folder, "in." + suffix)
        tool("bcftools", "view", "--no-version", "-O", kind, "-o", other, path)
        texts.append(ok("report", "--no-version", "--title", "T", other).text.replace("in." + suffix, "in.vcf"))
    plain = ok("report", "--no-version", "--title", "T", path).text
    expect_equal(texts, [plain, plain], "the pages of three formats")
    expect_equal(ok("report", "--no-version", "--title", "T", path).text, plain, "the page of another run")


@case
def real_runs():
    """VCF and table of carbon vep, two models in one file, and carbon scan: tags by themselves, and provenance."""
    where = workplace()
    fasta, vcf = os.path.join(where, "mini.fa"), data("mini.vcf", where)
    first, both, table, scan = (os.path.join(where, n) for n in ("one.vcf", "both.vcf", "table.tsv", "scan.vcf"))
    ok("vep", "-m", model(), "-w", 600, "--recipe", "centered,anchored", "--context", 60, "--horizon", "12,24", "-f", fasta, "-o", first, vcf)
    ok("vep", "-m", model(), "-w", 300, "--tag-prefix", "BIG", "-f", fasta, "-o", both, first)
    ok("vep", "-m", model(), "-w", 600, "--recipe", "centered,anchored", "--context", 60, "--horizon", "12,24", "-O", "t", "-f", fasta, "-o", table, vcf)
    ok("scan", "-m", model(), "-f", fasta, "--context", 60, "-O", "v", "-o", scan)
    page = page_of(both)
    tags = ["CARBON_LLR", "CARBON_ALLR_12", "CARBON_ALLR_24", "BIG_LLR"]
    expect_equal([c.split(": ")[1] for c in page.captions if "in numbers" in c], [t + " (nats)" for t in tags], "tags")
    for tag in tags:
        texts = tool("bcftools", "query", "-f", "%%INFO/%s\n" % tag, both).text.replace("\n", ",").split(",")
        scores = [float32(float(t)) for t in texts if t not in ("", ".")]
        row = page.table("in numbers: %s (" % tag)[0]
        compare_numbers(row, [{"score": s} for s in scores] + [{"score": None}] * int(row["Missing"]), tag)
    facts = dict(page.facts)
    expect_equal(facts["CARBON_ALLR_12: Recipe"], "anchored", "recipe of a tag of the first model")
    expect_equal(facts["BIG_LLR: Window"], "300", "window of the second model")
    expect(len(facts["BIG_LLR: SHA-256 of the model"]) == 64, "digest")
    expect_equal(facts["File"], "both.vcf", "file")
    expect_equal([f[0] for f in page.facts].count("Command"), 3, "two commands, and that of the report")

    of_table, of_vcf = page_of(table), page_of("--tags", "CARBON_LLR,CARBON_ALLR_12,CARBON_ALLR_24", first)
    for tag in tags[:3]:
        rows = [[r for r in p.table("in numbers: %s (" % tag) if r["By"] in ("", "type")] for p in (of_table, of_vcf)]
        expect_equal(rows[0], rows[1], tag + " in table and VCF")
    ranked = [[{k: v for k, v in r.items() if k != "FILTER"} for r in p.table("Lowest scores")] for p in (of_table, of_vcf)]
    expect_equal(ranked[0], ranked[1], "ranking in table and VCF")
    expect_equal(dict(of_table.facts)["CARBON_LLR: Recipe"], "centered", "provenance of a table")
    compressed = page_of(bgzip(table))
    expect_equal(compressed.tables, of_table.tables, "a compressed table")
    expect_equal(dict(page_of(scan).facts)["Tags"], "CARBON_SCAN", "scan")


@case
def the_ranks_of_combine():
    """Whatever their tag is called, they are drawn without --tags, and high ones are those of damaging alleles, as for +concord."""
    for name in ("CARBON_RANKMEAN", "BOTH"):
        out, agreement = os.path.join(fresh(), "ranked.vcf"), os.path.join(fresh(), "agreement.json")
        ok("+combine", "-o", out, random_vcf(600, seed=12), "--", "--scores", "CARBON_LLR", "--by", "none", "--tag", name)
        page = page_of(out)
        expect_equal([c.split(": ")[1] for c in page.captions if "in numbers" in c], ["CARBON_LLR (nats)", name], "tags")
        expect('Scores="CARBON_LLR:low"' in dict(page.facts)["carbon_combine"], "what the ranks are made of")
        # Of one score alone the ranks have its order, turned round.
        ranked = [[(r["POS"], r["ALT"]) for r in page_of("--tags", tag, out).table(words + " scores")]
                  for tag, words in ((name, "Highest"), ("CARBON_LLR", "Lowest"))]
        expect(len(ranked[0]) == 200 and ranked[0] == ranked[1], "the first alleles: %r" % (ranked,))
        ok("+concord", out, "--", "--tags", "CARBON_LLR," + name, "--json", agreement)
        page = page_of("--tags", "CARBON_LLR," + name, out)
        measures = {row[0]: row[1] for table in page.tables for row in table if len(row) == 2}
        for percent in (1, 5):
            expect_equal(json.loads(read(agreement))["all"]["overlap_%d" % percent], 1, "overlap of +concord")
            expect_equal(measures["Overlap of the lowest and highest %d %%" % percent], "1", "overlap")


@case
def tags_of_a_header_without_model_lines():
    head = ('##fileformat=VCFv4.2\n##contig=<ID=1>\n##INFO=<ID=AF,Number=A,Type=Float,Description="f">\n'
            '##INFO=<ID=BIG_LLR,Number=A,Type=Float,Description="Carbon log-likelihood ratio of the 8192 bp window">\n'
            '##INFO=<ID=CARBON_X,Number=A,Type=Float,Description="x">\n##INFO=<ID=CARBON_ONE,Number=1,Type=Float,Description="x">\n'
            '##INFO=<ID=R,Number=R,Type=Float,Description="x">\n') + COLUMNS
    path = write(fresh(), "a.vcf", head + "1\t1\t.\tA\tC,G\t.\t.\tAF=0.5,0.25;BIG_LLR=1,2;CARBON_X=3,.;CARBON_ONE=7;R=9,10,11\n"
                 "1\t2\t.\tA\tC\t.\t.\t.\n1\t3\t.\tA\tC,T\t.\t.\tBIG_LLR=.;CARBON_X=.,.\n")
    def numbers(*args):
        page = page_of(*args, path)
        return [(c.split(": ")[1], page.table(c)[0]["Scores"], page.table(c)[0]["Mean"]) for c in page.captions if "in numbers" in c]
    expect_equal(numbers(), [("BIG_LLR (nats)", "2", "1.5"), ("CARBON_X", "1", "3")], "tags that tell by themselves")
    expect_equal(numbers("--tags", "R,AF,CARBON_ONE,AF"), [("R", "2", "10.5"), ("AF", "2", "0.375"), ("CARBON_ONE", "2", "7")],
                 "named tags, also of other numbers")


@case
def axes_have_units():
    """The log ratios of carbon are in nats, wherever they stand on an axis."""
    rng = random.Random(3)
    lines = ["1\t%d\t.\tA\tC\t.\t.\tCARBON_LLR=%.3f;CARBON_NT=%.3f;SIG=%d\n" % (i + 1, rng.gauss(0, 1), rng.gauss(0, 1), i % 2) for i in range(40)]
    svg, one, two = fresh(), write(fresh(), "one.vcf", HEAD + "".join(lines)), write(fresh(), "two.vcf", HEAD + "".join(lines))
    page_of("--svg", svg, "--label", "SIG", "--bootstrap", 0, one, two)
    wanted = {"one_CARBON_LLR_scores": ["CARBON_LLR (nats)"], "one_CARBON_LLR_label_classes": ["CARBON_LLR (nats)"],
              "one_agreement_scatter": ["CARBON_LLR (nats)", "CARBON_NT (nats)"], "comparison_scores": ["CARBON_LLR (nats)"],
              "one_agreement_bland_altman": ["Mean of CARBON_LLR and CARBON_NT (nats)", "CARBON_NT \u2212 CARBON_LLR (nats)"],
              "comparison_agreement_scatter": ["CARBON_LLR in one.vcf (nats)", "CARBON_LLR in two.vcf (nats)"]}
    for name, labels in wanted.items():
        texts = Page(read(os.path.join(svg, name + ".svg")).decode()).svg_texts
        expect(set(labels) <= set(texts), "%s: %r are not all in %r" % (name, labels, texts))
    rows = "".join("1\t%d\t.\tA\tC\t%.3f\t.\n" % (i + 1, rng.gauss(0, 1)) for i in range(40))
    for column, nats in (("CARBON_LLR", True), ("CARBON_HEAD_activity", False), ("CARBON_L2", False)):
        page = page_of(write(fresh(), "t.tsv", "#CHROM\tPOS\tID\tREF\tALT\t%s\tCARBON_FLAG\n" % column + rows))
        expect_equal(any("nats" in words for words in page.captions + page.paragraphs), nats, "nats of column " + column)


@case
def few_and_equal_scores():
    for count, value in ((1, "-1.5"), (3, "0"), (2, "1e30"), (2, "-1e-40")):
        lines = "".join("1\t%d\t.\tA\tC\t.\t.\tCARBON_LLR=%s\n" % (i + 1, value) for i in range(count))
        page = page_of(write(fresh(), "few.vcf", HEAD + lines))
        row = page.table("in numbers")[0]
        expect_equal((row["Scores"], row["Minimum"], row["Median"]), (str(count), row["Maximum"], row["Maximum"]), value)
        expect_close(float(row["Median"]), float32(float(value)), 1e-5 * abs(float(value)), value)
        bins = page.figures["few_CARBON_LLR_scores"][1][1:]
        expect_equal(sum(int(r[2]) for r in bins), count, "bins")
    page = page_of(write(fresh(), "none.vcf", HEAD))
    expect_equal(page.paragraphs[0], "The file has 0 records with 0 alternative alleles. CARBON_LLR has a score for 0 alleles. "
                 "CARBON_NT has a score for 0 alleles.", "an empty file")


@case
def many_filters():
    filters = ["f%d" % i for i in range(300)]
    head = HEAD.replace("#CHROM", "".join('##FILTER=<ID=%s,Description="x">\n' % f for f in filters) + "#CHROM", 1)
    lines, scores, pos = [], {}, 0
    for i, name in enumerate(filters):
        for j in range(40 - i if i < 30 else 1):
            pos += 1
            lines.append("1\t%d\t.\tA\tC\t.\t%s\tCARBON_LLR=%d" % (pos, name, i - j))
            scores.setdefault(name, []).append(i - j)
    def rows(some):
        page = page_of(write(fresh(), "f.vcf", head + "\n".join(x for x in lines if x.split("\t")[6] in some) + "\n"))
        return [r for r in page.table("in numbers") if r["By"] == "FILTER"]
    few = rows(set(filters[:12]))
    expect_equal([r["Group"] for r in few], filters[:12], "twelve groups")
    for count, name in ((14, "the 3 others"), (300, "all others")):
        some = rows(set(filters[:count]))
        expect_equal([r["Group"] for r in some], filters[:11] + [name], "groups")
        rest = [{"score": s} for f in filters[11:count] for s in scores[f]]
        compare_numbers(some[-1], rest, name)


CSQ = 'Format: Allele|Consequence|SYMBOL|Gene|Feature">'


def consequences(tag, description, line, top=9):
    head = HEAD.replace("ID=BCSQ", "ID=" + tag).replace('Local consequence annotation from BCFtools/csq">', description)
    page = page_of(write(fresh(), "c.vcf", head + line + "\n"))
    return {r["ALT"]: (r["Consequence"], r["Gene"]) for r in page.table("Lowest")}


@case
def consequences_of_each_allele():
    site = "1\t100\t.\t%s\t%s\t.\t.\tCARBON_LLR=%s;%s"
    # As bcftools csq 1.16 writes them: with changes of one haplotype together, and a reference to another record.
    got = consequences("BCSQ", 'x">', site % ("A", "C,G,T", "1,2,3", "BCSQ=missense|G1|T|pc|+|2K>2Q|100A>C+103G>C,"
                                              "*stop_gained&inframe_altering|G2|T|pc|+|2K>2E|100A>G,@95"))
    expect_equal(got, {"C": ("missense", "G1"), "G": ("*stop_gained", "G2"), "T": ("compound, in another record", ".")}, "BCSQ")
    entries = "CSQ=CC|intron_variant|G1|E1|x,-|frameshift_variant&splice_region_variant|G2|E2|x,CC|stop_gained||E3|x"
    got = consequences("CSQ", CSQ, site % ("TC", "TCC,T", "1,2", entries))
    expect_equal(got, {"TCC": ("stop_gained", "E3"), "T": ("frameshift_variant", "G2")}, "CSQ names alleles as VEP trims them")
    got = consequences("CSQ", 'Format: Allele|Consequence|SYMBOL|ALLELE_NUM">', site % ("AT", "A,ATT", "1,2", "CSQ=-|intron_variant|G|2,-|stop_lost|H|1"))
    expect_equal(got, {"A": ("stop_lost", "H"), "ATT": ("intron_variant", "G")}, "ALLELE_NUM comes first")
    got = consequences("CSQ", CSQ, site % ("A", "<DEL>", "1", "CSQ=deletion|feature_truncation|G|E|x"))
    expect_equal(got, {"<DEL>": ("feature_truncation", "G")}, "a named allele")
    entries = "ANN=G|synonymous_variant|LOW|G1|E1,T|disruptive_inframe_deletion|HIGH|G2|E2,G|what_is_this|LOW|G3|E3"
    got = consequences("ANN", "Functional annotations: 'Allele | Annotation | ... '\">", site % ("A", "T,G,C", "1,2,3", entries))
    expect_equal(got, {"T": ("disruptive_inframe_deletion", "G2"), "G": ("synonymous_variant", "G1"), "C": (".", ".")}, "ANN")
    head = HEAD.replace("ID=BCSQ", "ID=CSQ").replace("Local consequence", "something")
    page = page_of(write(fresh(), "c.vcf", head + site % ("A", "C", "1", "CSQ=C|missense_variant") + "\n"))
    expect("does not say which fields CSQ has" in page.paragraphs[1], "a CSQ without format")


@case
def consequences_of_a_tag_that_is_named():
    def files(description, value):
        head = HEAD.replace("ID=BCSQ", "ID=vep").replace("Local consequence annotation from BCFtools/csq", description)
        line = "1\t100\t.\tA\tC\t.\t.\tCARBON_LLR=1;vep=" + value
        return write(fresh(), "c.vcf", head + line + "\n")

    for description, value in (("Consequences from VEP. Format: Allele|Consequence|SYMBOL", "C|missense_variant|G1"),
                               ("Functional annotations: 'Allele | Annotation'", "C|missense_variant|LOW|G1|E1"),
                               ("Local consequence annotation from BCFtools/csq", "missense_variant|G1|T|pc|+|1A>1B|100A>C")):
        path = files(description, value)
        row, = page_of("--consequence-tag", "vep", path).table("Lowest")
        expect_equal((row["Consequence"], row["Gene"]), ("missense_variant", "G1"), description)
        expect("none of BCSQ" in page_of(path).paragraphs[1], "what a page without consequences says")
    expect_failure(carbon("report", "--consequence-tag", "CSQ", path), "CSQ", "--consequence-tag")
    expect_failure(carbon("report", "--consequence-tag", "vep", files("of unknown fields", "x")), "which fields vep",
                   "--consequence-tag")


EVIL = ['<script>alert(1)</script>', '"><img src=x>']


def expect_only_text(page, allowed):
    found = {name for name, _ in page.elements}
    expect(found <= allowed, "elements %r" % (found - allowed))
    expect_equal(sum(name == "script" for name, _ in page.elements), 1, "scripts")
    for _, attributes in page.elements:
        for key, value in attributes.items():
            expect(not key.startswith("on") and (key not in ("src", "href") or value.startswith("#")), "%s=%s" % (key, value))


@case
def hostile_texts_are_texts():
    allowed = {name for name, _ in page_of(random_vcf(50)).elements}
    for evil in EVIL:
        word = evil.replace(" ", "_")
        # htslib takes the first as a contig and a FILTER, and refuses the second; in a table, below, both are contigs.
        place, mark = (word, word) if evil == EVIL[0] else ("1", ".")
        head = HEAD.replace("some/model", evil.replace('"', '\\"')).replace("vep -f", "vep " + evil).replace(
            "QUAL\tFILTER\tINFO", "QUAL\tFILTER\tINFO\tFORMAT\t" + evil)
        lines = "%s\t5\t%s\tA\tC\t.\t%s\tCARBON_LLR=-3;CARBON_FLAG=%s;BCSQ=%s|%s|T|x\tGT\t0/1\n" % (
            place, word, mark, word, word, word)
        lines += "1\t9\t.\tA\tC\t.\tPASS\tCARBON_LLR=1\tGT\t0/1\n"
        path = write(fresh(), evil.replace("/", "_") + ".vcf", head + lines)
        svg = fresh()
        page = page_of("--svg", svg, path)
        row = page.table("Lowest")[0]
        for column in ("ID", "Consequence", "Gene"):
            expect_equal(row[column], word, column)
        expect_equal((row["CHROM"], row["FILTER"]), (place, mark), "contig and FILTER")
        expect(os.path.basename(path) in page.headings[0], "the file name in the heading")
        expect(any(word in text for text in page.svg_texts), "the group in a figure")
        expect_equal(page.table("What the flags")[0]["Flag"], word, "flag")
        expect_equal(dict(page.facts)["Model"], evil, "model")
        expect(evil in page.facts[2][1], "command")
        expect_only_text(page, allowed)
        for name in os.listdir(svg):
            drawn = {n for n, _ in Page(read(os.path.join(svg, name)).decode()).elements}
            expect(drawn <= allowed, "elements of " + name)

        table = "##carbon_vepModel=<ID=%s>\n#CHROM\tPOS\tID\tREF\tALT\t%s\tX_FLAG\n%s\t7\t%s\t%s\t%s\t-2\t%s\n" % ((evil,) * 7)
        page = page_of(write(fresh(), "t.tsv", table))
        row = page.table("Lowest")[0]
        expect_equal([row[c] for c in ("CHROM", "ID", evil)], [evil, evil, "-2"], "a table")
        expect_only_text(page, allowed)


@case
def multiqc_files():
    path, folder = random_vcf(300, seed=6), fresh()
    page = page_of("--multiqc", folder, path)
    found = sorted(os.listdir(folder))
    expect_equal(found, sorted("carbon_%s_mqc.json" % f for f in [*page.figures, "in_statistics"]), "a file for each figure, and one of the file")
    statistics = json.loads(read(os.path.join(folder, "carbon_in_statistics_mqc.json")))["data"]["in"]
    table = [row for row in page.table("Scores in numbers: CARBON_LLR") if row["By"] == ""][0]
    expect_equal((statistics["scored"], "%.6g" % statistics["median"]), (number(table["Scores"]), table["Median"]), "statistics")
    flags = json.loads(read(os.path.join(folder, "carbon_in_CARBON_FLAG_reasons_mqc.json")))
    rows = page.figures["in_CARBON_FLAG_reasons"][1][1:]
    expect_equal((flags["plot_type"], flags["data"]), ("bargraph", [{"in.vcf": {f: int(n) for f, n in rows}}]), "flags")
    bins = json.loads(read(os.path.join(folder, "carbon_in_CARBON_LLR_scores_mqc.json")))
    rows = [r for r in page.figures["in_CARBON_LLR_scores"][1][1:] if "." not in r[:2]]
    expect_equal([y for _, y in bins["data"][0]["in.vcf"]], [int(r[2]) for r in rows], "bins")


@case
def errors():
    where = workplace()
    good = HEAD + "1\t1\t.\tA\tC\t.\t.\tCARBON_LLR=1\n"
    no_score = '##fileformat=VCFv4.2\n##INFO=<ID=AF,Number=A,Type=Float,Description="x">\n##INFO=<ID=DP,Number=1,Type=Integer,Description="x">\n' + COLUMNS
    table = "##carbon_vepModel=<ID=CARBON>\n#CHROM\tPOS\tID\tREF\tALT\tCARBON_LLR\tCARBON_FLAG\n"
    cases = [
        ("n.vcf", no_score, [], ["n.vcf", "no scores of carbon", "AF"]),
        ("a.vcf", no_score, ["--tags", "AF,ZZ"], ["no INFO tag ZZ", "AF"]),
        ("a.vcf", no_score, ["--tags", "DP"], ["DP is of Type Integer", "AF"]),
        ("a.vcf", good, ["--tags", "BCSQ"], ["BCSQ is of Type String", "CARBON_LLR"]),
        ("a.vcf", HEAD + "1\t1\t.\tA\tC\t.\t.\tCARBON_LLR=1,2,3\n", [], ["1:1", "3 values for 1"]),
        ("a.vcf", HEAD + "1\t1\t.\tA\tC,G\t.\t.\tCARBON_LLR=1\n", [], ["1:1", "1 value for 2"]),
        ("a.vcf", HEAD + "1\t1\t.\tA\tC\t.\t.\tCARBON_LLR=-inf\n", [], ["1:1", "infinite"]),
        ("t.tsv", table + "1\t5\t.\tA\tC\t-1\t.\n", ["--label", "SIG"], ["t.tsv", "labels are INFO tags"]),
        ("t.tsv", table, ["--tags", "CARBON_NT"], ["no column CARBON_NT"]),
        ("t.tsv", table, ["--tags", "CARBON_FLAG"], ["CARBON_FLAG is of Type String"]),
        ("t.tsv", table.replace("\tCARBON_LLR", ""), [], ["no column of scores"]),
        ("t.tsv", table + "1\t5\t.\tA\tC\t-1\n", [], ["t.tsv:3", "6 columns"]),
        ("t.tsv", table + "1\tx\t.\tA\tC\t-1\t.\n", [], ["t.tsv:3", "POS 'x'"]),
        ("t.tsv", table + "1\t5\t.\tA\tC\t-1x\t.\n", [], ["t.tsv:3", "'-1x'"]),
        ("t.tsv", table + "1\t5\t.\tA\tC\tinf\t.\n", [], ["t.tsv:3", "'inf'"]),
        ("t.tsv", table + "1\t5\t.\tA\tC\t-1\t.", [], ["t.tsv:3", "no newline"]),
        ("t.tsv", table.replace("_FLAG", "_LLR") + "1\t5\t.\tA\tC\t-1\t-2\n", [], ["t.tsv:2", "two columns are named 'CARBON_LLR'"]),
        ("a.vcf", good, ["--negate"], ["of a label alone", "--negate"]),
        ("b.json", '{"a": 1}', [], ["b.json: this JSON is of none of the known commands; a report draws VCF", "the JSON of +concord"]),
        ("g.gff3", "##gff-version 3\n1\thavana\tgene\t1\t9\t0.9\t+\t.\tID=gene:1_000001\n", [],
         ["g.gff3: this is GFF3; genes are drawn beside scores, by --genes"]),
        ("g.tsv", "#measure\tprecision\trecall\tf1\tpredicted\tright\ttrue\tfound\nbases\t1\t1\t1\t9\t9\t9\t9\n", [],
         ["g.tsv: this is the table of +genes"]),
        ("g.json", '{"truth": "t.gff3", "measures": [{"measure": "bases", "precision": 1}]}', [], ["g.json: this is the JSON of +genes"]),
        # That of carbon bench, which is not drawn.
        ("b.json", '{"carbon": "1", "limits": {"read": {"unit": "bytes/s"}}, "tests": [{"test": "vep"}]}', [],
         ["b.json: this JSON is of none of the known commands; a report draws VCF", "the JSON of +concord"]),
    ]
    for name, text, options, words in cases:
        path = write(where, name, text)
        refused(["report", *options, path], *words, directory=where, output="out.html")
        os.remove(path)
    for kind in ("z", "b"):
        whole = os.path.join(where, "whole")
        tool("bcftools", "view", "-O", kind, "-o", whole, random_vcf(3000))
        cut = write(where, "cut", read(whole)[:-2000])
        refused(["report", cut], "cut", directory=where, output="out.html")
        os.remove(cut)
    missing = carbon("report", os.path.join(where, "nothing.vcf"))
    expect_failure(missing, "nothing.vcf")


@case
def the_head_names_the_model():
    record = "1\t1\t.\tA\tC\t.\t.\tCARBON_LLR=1\n"
    head = lambda *files: ok("report", *files).text.split("</header>")[0].split("</h1>")[1]
    warning = "This is a demonstration model: not meaningful for variants."
    sentence = "Model some/model, recipe centered, data type bf16, device cpu."
    expect_equal(head(write(fresh(), "in.vcf", HEAD + record)), "\n<p>CARBON: %s</p>\n" % sentence, "the head")
    for name in ("carbon-tiny", "/usr/share/carbon/models/carbon-tiny"):
        tiny = write(fresh(), "tiny.vcf", HEAD.replace("some/model", name) + record)
        expect_equal(head(tiny), "\n<p>CARBON: %s %s</p>\n" % (sentence.replace("some/model", name), warning), "the head")
    both = head(write(fresh(), "in.vcf", HEAD + record), tiny)
    expect(both.startswith("\n<p>in.vcf: scores of alleles. CARBON: Model some/model, ") and both.count(warning) == 1, "a sentence for each file", both)
    without = write(fresh(), "in.vcf", "".join(line for line in HEAD.splitlines(True) if "Model" not in line) + record)
    expect("<p>" not in head(without), "nothing is said without a line of a model")


@case
def standard_input():
    """A VCF or BCF from a pipe, which can be read once, gives the page of the file."""
    path = write(fresh(), "qqq.vcf", read(random_vcf(400, seed=8)))
    packed, bcf = os.path.join(fresh(), "in.vcf.gz"), os.path.join(fresh(), "in.bcf")
    tool("bcftools", "view", "-Oz", "-o", packed, path)
    tool("bcftools", "view", "-Ou", "-o", bcf, path)
    options = ["report", "--no-version", "--label", "SIG"]
    page = ok(*options, path).text.replace("qqq.vcf", "standard input").replace("qqq", "standard_input")
    for source in (path, packed, bcf):
        expect(ok(*options, "-", stdin=read(source)).text == page, "the page of %s differs from that of the file" % source)
    for arguments, words in (((), "standard input"), (("-",), "named twice")):
        result = carbon("report", "-", *arguments, stdin=b"#name\tpos\n")
        expect_failure(result, words)


@case
def an_output_that_cannot_be_written_is_noticed_before_the_input_is_read():
    directory = fresh()
    path = write(directory, "in.vcf", read(random_vcf(5, seed=8)) + b"no record\n")
    page, folder = os.path.join(directory, "none", "x.html"), os.path.join(path, "pictures")
    expect_failure(carbon("report", "-o", page, path), page)
    expect_failure(carbon("report", "-o", os.path.join(directory, "x.html"), "--svg", folder, path), folder)
    expect_equal(os.listdir(directory), ["in.vcf"], "files")


@case
def memory_is_a_few_bytes_an_allele():
    sizes = [peak_memory("report", "-o", os.path.join(fresh(), "o.html"), random_vcf(count, seed=7)) for count in (4000, 40000)]
    expect(sizes[1] < sizes[0] + 4096, "KiB for 4,000 and 40,000 records: %r" % sizes)


if __name__ == "__main__":
    main()
