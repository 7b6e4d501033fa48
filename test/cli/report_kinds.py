"""A file of every kind that carbon report draws. Not a test.

As a program it makes the reports of all kinds in a folder, for a comparison of two programs:
    CARBON=build/carbon python3 test/cli/report_kinds.py FOLDER            makes files, pages and *_mqc.json
    CARBON=other/carbon python3 test/cli/report_kinds.py FOLDER OTHER      draws the files of FOLDER into OTHER, and prints
                                                                           where numbers of tables and plots differ
"""

import json
import os
import random
import sys

import numpy as np

from harness import carbon, data, genome, model, ok, read, write
from report_page import Page, number

HEAD = """##fileformat=VCFv4.2
##contig=<ID=1>
##carbon_vepModel=<ID=CARBON_LLR,Model="m">
##INFO=<ID=CARBON_LLR,Number=A,Type=Float,Description="Carbon">
##INFO=<ID=OTHER,Number=A,Type=Float,Description="another score">
##INFO=<ID=CARBON_FLAG,Number=A,Type=String,Description="why not">
##INFO=<ID=SIG,Number=1,Type=String,Description="words">
##FILTER=<ID=low,Description="low">
#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO
"""


def scored(count, seed, plain=False):
    """Alleles of several types with two scores, a label, and some without a score; unless `plain`, some are named and some scores
    lie far from all others."""
    rng, lines = random.Random(seed), []
    for i in range(count):
        positive = rng.random() < 0.3
        score = rng.gauss(-3 if positive else 0, 1.5) * (40 if rng.random() < 0.002 and not plain else 1)
        ref, alt = rng.choice([("A", "C")] * 6 + [("AG", "A"), ("A", "ATT"), ("AC", "GT"), ("A", "*" if plain else "<DEL>")])
        missing = alt in ("*", "<DEL>") and rng.random() < 0.5
        info = "CARBON_FLAG=symbolic" if missing else "CARBON_LLR=%.4g;OTHER=%.4g" % (score, score + rng.gauss(0, 1))
        lines.append("1\t%d\tv%d\t%s\t%s\t.\t%s\t%s;SIG=%s\n" % (1000 + 3 * i, i, ref, alt, rng.choice(["PASS", "PASS", "low"]), info,
                                                                "PB"[not positive]))
    return HEAD + "".join(lines)


def embeddings(folder):
    rng = np.random.default_rng(3)
    groups = rng.integers(0, 3, 300)
    np.save(os.path.join(folder, "vectors.npy"), (rng.normal(size=(300, 12)) + 3 * np.eye(12)[groups]).astype("f4"))
    write(folder, "vectors.names.tsv", "#name\tfirst_row\trows\n" + "".join("s%d\t%d\t1\n" % (i, i) for i in range(300)))
    write(folder, "groups.tsv", "name\tkind\tsize\n" + "".join("s%d\t%s\t%d\n" % (i, ["exon", "intron", "promoter"][g], i) for i, g in enumerate(groups)))


def make_files(folder):
    """Writes the files; the other commands make what is theirs."""
    at = lambda name: os.path.join(folder, name)
    os.makedirs(folder, exist_ok=True)
    write(folder, "variants.vcf", scored(1500, 1))
    write(folder, "others.vcf", scored(6000, 2))
    write(folder, "plain.vcf", scored(1500, 5, plain=True))
    write(folder, "many.vcf", scored(6000, 6, plain=True))
    rng = random.Random(4)
    gene = lambda name, start, end: "1\tx\tgene\t%d\t%d\t.\t+\t.\tID=%s;Name=%s\n1\tx\tmRNA\t%d\t%d\t.\t+\t.\tID=t%s;Parent=%s\n" % (
        start, end, name, name, start, end, name, name)
    exon = lambda name, start, end: "".join("1\tx\t%s\t%d\t%d\t.\t+\t.\tParent=t%s\n" % (kind, start, end, name) for kind in ("exon", "CDS"))
    write(folder, "genes.gff3", "##gff-version 3\n" + "".join(gene("G%d" % i, 1000 + 500 * i, 1450 + 500 * i) +
                                                              exon("G%d" % i, 1100 + 500 * i, 1250 + 500 * i) for i in range(40)))
    sequence = "".join(rng.choice("ACGT") for _ in range(900))
    fasta = write(folder, "s.fa", ">s\n%s\n>t\n%s\n" % (sequence, sequence[:300][::-1]))
    many = write(folder, "many.fa", "".join(">q%d\n%s\n" % (i, "".join(rng.choice("ACGT") for _ in range(60 + i))) for i in range(80)))
    ok("score", "-m", model(), "-O", "tsv", "-o", at("bases.tsv"), fasta)
    ok("score", "-m", model(), "-o", at("sequences.tsv"), many)
    ok("scan", "-m", model(), "-f", fasta, "-r", "t", "-O", "t", "-o", at("scan.tsv"), "--histogram", at("scan.hist"))
    ok("+mutagenesis", "-m", model(), "-o", at("mut.vcf"), "--", "-f", fasta, "-r", "s:101-180", "--window", 96, "--matrix", at("matrix.tsv"))
    data("mini.fa", folder), data("mini.vcf", folder)
    ok("vep", "-m", model(), "-f", at("mini.fa"), "--window", 96, "--histogram", at("vep.hist"), "-o", at("mini.scored.vcf"), at("mini.vcf"))
    ok("+gene-summary", "-o", at("regions.tsv"), at("variants.vcf"), "--", "--genes", at("genes.gff3"), "--tag", "CARBON_LLR")
    label = ["--label", "SIG=P/B"]
    ok("+auroc", at("variants.vcf"), "--", "--score", "CARBON_LLR", *label, "--by", "type", "--bootstrap", 50, "--json", at("auroc.json"))
    ok("+concord", at("variants.vcf"), "--", "--tags", "CARBON_LLR,OTHER", "--by", "TYPE", *label, "--negate", "--bootstrap", 50,
       "--json", at("concord.json"))
    embeddings(folder)
    write(folder, "coding.tsv", "#name\tpos\tbase\tplus\tminus\n" + "".join(
        "s\t%d\t%s\t%.6g\t%.6g\n" % (i + 1, base, rng.random() * (100 < i < 300), rng.random() / 9) for i, base in enumerate(sequence)))
    write(folder, "annotation.gff3", "##gff-version 3\n#!carbon_annotateVersion=1\n##sequence-region s 1 900\n" + "".join(
        "s\tcarbon\tgene\t%d\t%d\t0.%d\t%s\t.\tID=gene:s_%06d;min_exon_p=0.%d\n" % (start, start + 50, 9 - i, "+-"[i % 2], i + 1, 9 - i) +
        "s\tcarbon\tmRNA\t%d\t%d\t0.%d\t%s\t.\tID=t%d;Parent=gene:s_%06d\n" % (start, start + 50, 9 - i, "+-"[i % 2], i, i + 1) +
        "".join("s\tcarbon\tCDS\t%d\t%d\t0.%d\t%s\t0\tParent=t%d\n" % (start + at, start + at + 10, 9 - i, "+-"[i % 2], i) for at in (0, 40))
        for i, start in enumerate((101, 301, 501))))


def kinds(folder):
    """{name of the kind: arguments of report}."""
    at = lambda name: os.path.join(folder, name)
    label = ["--label", "SIG=P/B", "--bootstrap", "50"]
    return {"variants": [at("variants.vcf"), "--tags", "CARBON_LLR,OTHER", "--genes", at("genes.gff3"), *label],
            "plain": [at("plain.vcf"), "--tags", "CARBON_LLR,OTHER", "--genes", at("genes.gff3"), *label],
            "many": [at("many.vcf"), at("plain.vcf"), *label],
            "comparison": [at("variants.vcf"), at("others.vcf"), *label],
            "bases": [at("bases.tsv")], "scan": [at("scan.tsv")], "mutagenesis": [at("matrix.tsv")],
            "embeddings": [at("vectors.npy"), "--groups", at("groups.tsv"), "--colour", "kind"],
            "numbers": [at("vectors.npy"), "--groups", at("groups.tsv"), "--colour", "size"],
            "concordance": [at("concord.json")], "sequences": [at("sequences.tsv")], "regions": [at("regions.tsv")],
            "separation": [at("auroc.json")], "vep_histogram": [at("vep.hist")], "scan_histogram": [at("scan.hist")], "genes": [at("annotation.gff3")],
            "coding": [at("coding.tsv"), "--genes", at("annotation.gff3")]}


def draw(folder, out):
    """A page NAME.html and a folder NAME.mqc for each kind; returns those that the program does not draw."""
    os.makedirs(out, exist_ok=True)
    not_drawn = []
    for name, args in kinds(folder).items():
        run = carbon("report", "--no-version", "-o", os.path.join(out, name + ".html"), "--multiqc", os.path.join(out, name + ".mqc"), *args)
        if run.rc != 0:
            not_drawn.append("%s: %s" % (name, run.err.strip()))
    return not_drawn


# ---- The comparison of two programs


def numbers_of_page(path):
    """{table: columns of its numbers}: the figure's name or the table's caption, without words that were changed."""
    page, out = Page(read(path).decode()), {}
    tables = {id(table): name for name, (_, table) in page.figures.items() if table}
    for table, caption in zip(page.tables, page.captions):
        rows = []
        for row in table[1:]:
            values = []
            for cell in row:
                try:
                    values.append(number(cell))
                except ValueError:
                    values.append(cell.replace(" without sign", "").replace(" absolute", ""))
            rows.append(values)
        out[tables.get(id(table), caption)] = rows
    return out


def flat(value):
    if isinstance(value, dict):
        return [n for v in value.values() for n in flat(v)]
    if isinstance(value, list):
        return [n for v in value for n in flat(v)]
    return [float("%.10g" % value)] if isinstance(value, (int, float)) else []   # the order of a division changes the last digit


def differences(a, b):
    found = []
    for name in sorted(n for n in os.listdir(a) if n.endswith(".html")):
        if not os.path.exists(os.path.join(b, name)):
            found.append(name + ": is missing")
            continue
        old, new = numbers_of_page(os.path.join(a, name)), numbers_of_page(os.path.join(b, name))
        found += ["%s: %s: %s" % (name, table, "is missing" if table not in new else "differs in %d of %d rows" % (
            sum(x != y for x, y in zip(rows, new[table])) + abs(len(rows) - len(new[table])), len(rows)))
            for table, rows in old.items() if rows != new.get(table)]
        plots = os.path.join(a, name[:-5] + ".mqc")
        for plot in sorted(os.listdir(plots)):
            other = os.path.join(b, name[:-5] + ".mqc", plot)
            if not os.path.exists(other):
                found.append("%s: %s is missing" % (name, plot))
            elif sorted(flat(json.loads(read(os.path.join(plots, plot)))["data"])) != sorted(flat(json.loads(read(other))["data"])):
                found.append("%s: %s has other numbers" % (name, plot))
    return found


if __name__ == "__main__":
    first = sys.argv[1]
    if len(sys.argv) == 2:
        make_files(os.path.join(first, "files"))
    out = sys.argv[2] if len(sys.argv) > 2 else first
    for line in draw(os.path.join(first, "files"), os.path.join(out, "pages")):
        print("not drawn: " + line)
    if out != first:
        print("\n".join(differences(os.path.join(first, "pages"), os.path.join(out, "pages"))) or "no number differs")
