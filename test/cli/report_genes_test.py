"""carbon report --genes of variants: which genes are drawn, with which alleles and exons."""

import html
import json
import os
import random
import re

from harness import bgzip, carbon, case, expect, expect_close, expect_equal, expect_failure, fresh, main, ok, read, write
from report_page import Page, number

HEAD = """##fileformat=VCFv4.2
##contig=<ID=1>
##contig=<ID=2>
##INFO=<ID=CARBON_LLR,Number=A,Type=Float,Description="Carbon log-likelihood ratio">
##INFO=<ID=SIG,Number=1,Type=String,Description="words">
#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO
"""


def vcf(alleles, name="in.vcf"):
    """(contig, position, score, word) of each."""
    lines = ["%s\t%d\t.\tA\tC\t.\t.\tCARBON_LLR=%s;SIG=%s\n" % a for a in alleles]
    return write(fresh(), name, HEAD + "".join(lines))


def gff(genes, contig=None):
    """{name: (contig, strand, exons, coding parts)}, each gene as far as its exons."""
    lines = ["##gff-version 3"]
    for name, (place, strand, exons, coding) in genes.items():
        line = lambda kind, start, end, more: lines.append("\t".join([contig or place, "x", kind, str(start), str(end), ".", strand, ".", more]))
        start, end = min(a for a, _ in exons), max(b for _, b in exons)
        line("gene", start, end, "ID=g%s;Name=%s" % (name, name))
        line("mRNA", start, end, "ID=t%s;Parent=g%s" % (name, name))
        for kind, parts in (("exon", exons), ("CDS", coding)):
            for a, b in parts:
                line(kind, a, b, "Parent=t" + name)
    return write(fresh(), "genes.gff3", "\n".join(lines) + "\n")


def report(*args):
    """The page, its text and the pictures."""
    folder = fresh()
    out, svg = os.path.join(folder, "r.html"), os.path.join(folder, "svg")
    ok("report", "--no-version", "--svg", svg, "-o", out, *args)
    text = read(out).decode()
    return Page(text), text, {n[:-4]: read(os.path.join(svg, n)).decode() for n in os.listdir(svg)}


GENES = {"LOW": ("1", "-", [(1000, 1200), (1500, 1999)], [(1050, 1200), (1500, 1600)]),
         "SECOND": ("2", "+", [(1000, 1999)], []), "EMPTY": ("1", "+", [(5000, 5100)], [])}


def heights(picture):
    """Of the frame's lines across, and of the boxes of exons, from the top."""
    lines = [float(y) for y in re.findall(r'stroke="#d9dee3"[^>]* d="M[\d.]+ ([\d.]+)H', picture)]
    boxes = [float(y) for path in re.findall(r'<path fill="#6b4fa0" d="([^"]*)"', picture) for y in re.findall(r"M[\d.]+ ([\d.]+)h", path)]
    return lines, [y for y in boxes if y > 100]   # that of the legend stands above


@case
def exons_lie_below_all_scores():
    for scores in ([-9, -3, 2], [1, 2, 5], [-121, -3, 2]):
        alleles = [("1", 1000 + 100 * i, score, "P") for i, score in enumerate(scores)]
        _, _, pictures = report("--genes", gff(GENES), vcf(alleles))
        lines, boxes = heights(pictures["in_gene_1"])
        expect(len(lines) > 2 and len(boxes) == 4, "lines %r, boxes %r" % (lines, boxes))
        expect(max(lines) <= min(boxes), "an exon at %g covers the line at %g" % (min(boxes), max(lines)))


def random_alleles(count, seed=1):
    rng = random.Random(seed)
    out = [(rng.choice("12"), rng.randrange(900, 2100), round(rng.gauss(-1, 1), 3), rng.choice("PBV")) for _ in range(count)]
    out += [("1", 1700, -9, "P"), ("2", 1300, -8, "B"), ("1", 2500, -20, "B"), ("1", 1000, ".", "P")]
    return sorted(out, key=lambda a: a[:2])


@case
def genes_with_the_lowest_scores_are_drawn():
    alleles = random_alleles(300)
    page, text, pictures = report("--label", "SIG=P/B", "--bootstrap", 0, "--genes", bgzip(gff(GENES)), vcf(alleles))
    expect_equal(sorted(n for n in page.figures if "_gene_" in n), ["in_gene_1", "in_gene_2"], "figures")
    for figure, name in (("in_gene_1", "LOW"), ("in_gene_2", "SECOND")):
        contig, strand, exons, coding = GENES[name]
        expect("CARBON_LLR along %s</text>" % name in pictures[figure], "the title of " + figure)
        inside = sorted([a for a in alleles if a[0] == contig and 1000 <= a[1] <= 1999 and a[2] != "."], key=lambda a: a[2])
        rows = page.figures[figure][1][1:]
        expect_equal([(float(r[1]), r[-1]) for r in rows], [(a[2], {"P": "P", "B": "B", "V": "neither"}[a[3]]) for a in inside], "alleles of " + name)
        expect_equal(sorted(int(r[0]) for r in rows), sorted(a[1] for a in inside), "positions of " + name)
        for word in "PB":
            expect(">%s, n = %d</text>" % (word, sum(a[3] == word for a in inside)) in pictures[figure], "legend of " + word)
        points = json.loads(html.unescape(re.search('<figure id="%s">\\s*<div class="picture" data-points="([^"]*)"' % figure, text)[1]))
        expect_equal(points[0][2].split("\n"), ["%s:1,%03d A>C" % (contig, inside[0][1] - 1000), "CARBON_LLR: \u2212%g" % -inside[0][2],
                                                {"P": "P", "B": "B", "V": "neither"}[inside[0][3]]], "what the lowest point says")
        # Exons are boxes of height 8 and coding parts of height 16; positions and pixels are a line through two points.
        (x0, p0), (x1, p1) = ((points[i][0], int(points[i][2].split()[0].split(":")[1].replace(",", ""))) for i in
                              (min(range(len(points)), key=lambda i: points[i][0]), max(range(len(points)), key=lambda i: points[i][0])))
        for parts, high in ((exons, 8), (coding, 16)):
            boxes = [tuple(map(float, b)) for b in re.findall(r"M([\d.]+) [\d.]+h([\d.]+)v%dh" % high, pictures[figure])]
            expect_equal(len(boxes), len(parts), "boxes of height %d of %s" % (high, name))
            for (left, wide), (start, end) in zip(boxes, parts):
                pixels = lambda at: x0 + (at - p0) * (x1 - x0) / (p1 - p0)
                expect_close(left, pixels(start - 0.5), 0.8, "left end of %d" % start)
                expect_close(left + wide, pixels(end + 0.5), 0.8, "right end of %d" % end)
        expect(("strand \u2212" if strand == "-" else "strand +") in page.figures[figure][0], "the strand")


@case
def many_alleles_are_bars_and_at_most_six_genes_are_drawn():
    genes = {"G%d" % i: ("1", "+", [(1000 * i, 1000 * i + 99)], []) for i in range(1, 10)}
    alleles = [("1", 1000 * (1 + i % 9) + i % 100, -10 + i % 9 if i < 9 else 1, "P") for i in range(900)]
    alleles += [("1", 1000 + i % 100, 2, "P") for i in range(5001)]
    page, text, pictures = report("--genes", gff(genes), vcf(alleles))
    names = [re.search("along (G[0-9])</text>", pictures["in_gene_%d" % i])[1] for i in range(1, 7)]
    expect_equal(names, ["G%d" % i for i in range(1, 7)], "the genes, the lowest score first")
    expect("in_gene_7" not in pictures, "a seventh gene")
    expect("lowest to highest score, n = 5,1" in pictures["in_gene_1"] and "data-points" not in text.split('id="in_gene_1">')[1].split("</figure>")[0],
           "many alleles")
    expect_equal(len(page.figures["in_gene_1"][1]), 501, "rows of numbers and their head")


@case
def genes_elsewhere():
    path = vcf(random_alleles(20))
    out = os.path.join(fresh(), "r.html")
    result = carbon("report", "--genes", gff(GENES, "chr1"), "-o", out, path)
    expect(result.rc == 0 and any("such as 1 (called chr1 there); rename them in one file" in m for m in result.messages("W")), "a warning", result)
    expect("The names must be equal." in read(out).decode(), "the page does not say it")
    page, _, _ = report("--genes", gff({"EMPTY": GENES["EMPTY"]}), path)
    expect(any("No gene of genes.gff3 has one of the" in p for p in page.paragraphs), "paragraphs %r" % page.paragraphs)
    broken = write(fresh(), "bad.gff3", "1\tx\tgene\n")
    expect_failure(carbon("report", "--genes", broken, "-o", os.path.join(fresh(), "o.html"), path), "bad.gff3:1")


@case
def genes_of_gtf_and_names_in_another_spelling():
    alleles = random_alleles(60)
    path, text = vcf(alleles), read(gff(GENES)).decode()
    _, wanted, pictures = report("--genes", write(fresh(), "genes.gff3", text), path)
    rows = [line.split("\t") for line in text.splitlines()[1:]]
    name = lambda row: re.search(r"=[gt](\w+)", row[8]).group(1)
    gtf = "".join("\t".join([*row[:2], row[2].replace("mRNA", "transcript"), *row[3:8],
                            'gene_id "g%s"; transcript_id "t"; gene_name "%s";' % (name(row), name(row))]) + "\n" for row in rows)
    _, page, drawn = report("--genes", write(fresh(), "genes.gff3", gtf), path)
    expect_equal(drawn, pictures, "pictures of GTF")
    expect(len(drawn) > 1 and page == wanted, "the pages differ")
    result = carbon("report", "-o", os.path.join(fresh(), "r.html"), "--genes", write(fresh(), "g.gff3", text.replace("\n1\t", "\nchr1\t")), path)
    told = [line for line in result.messages("W") if "1 (called chr1 there)" in line and "--rename-chrs" in line]
    expect_equal(len(told), 1, "warnings of another spelling")


if __name__ == "__main__":
    main()
