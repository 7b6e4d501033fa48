"""carbon report of several files: the table of all of them, distributions on one axis, and the colours of labels in scatters."""

import html
import json
import os
import random
import re
import struct

from harness import carbon, case, expect, expect_equal, expect_failure, fresh, main, model, ok, read, write
from report_page import Page

HEAD = """##fileformat=VCFv4.2
##contig=<ID=1,length=100000000>
##carbon_vepModel=<ID=A,Model="%s",Recipe="centered",Dtype="%s">
##INFO=<ID=A,Number=A,Type=Float,Description="a score">
##INFO=<ID=B,Number=A,Type=Float,Description="another score">
##INFO=<ID=SIG,Number=.,Type=String,Description="words">
#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO
"""
REGIONS = "#contig\tstart\tend\tname\tstrand\tcount\tmissing\tmin\tmean\tmax\n"


def report(*args):
    out = os.path.join(fresh(), "r.html")
    ok("report", "--no-version", "-o", out, *args)
    return Page(read(out).decode())


def vcf(name, count, seed, model_name="m", dtype="f32"):
    """A file, and its alleles: (A, B, word)."""
    rng, rows = random.Random(seed), []
    for i in range(count):
        rows.append((round(rng.gauss(0, 2), 2), round(rng.gauss(0, 2), 2), rng.choice(["P", "B", "VUS", "."])))
    lines = ["1\t%d\t.\tA\tC\t.\t.\tA=%s;B=%s;SIG=%s\n" % (i + 1, *row) for i, row in enumerate(rows)]
    return write(fresh(), name, HEAD % (model_name, dtype) + "".join(lines)), rows


def in_bins(table, column):
    return {(float(row["From"]), float(row["To"])): int(row[column]) for row in table if "." not in (row["From"], row["To"])}


def check_bins(page, figure, values):
    """`values`: {column: numbers}. Every column has the same bins and counts its own numbers."""
    head, *rows = page.figures[figure][1]
    expect_equal(head[2:], list(values), "columns of " + figure)
    rows = [dict(zip(head, row)) for row in rows]
    single = lambda value: struct.unpack("f", struct.pack("f", value))[0]  # as tags and reports have it
    for name, own in values.items():
        expect_equal(sum(int(row[name]) for row in rows), len(own), name)
        for (low, high), count in in_bins(rows, name).items():
            last = float(rows[-1]["To"]) == high
            expect_equal(count, sum(low <= v < high or (last and v == high) for v in map(single, own)), "%s from %g" % (name, low))


@case
def what_differs_is_a_column_and_what_is_alike_a_sentence():
    one, rows = vcf("one.vcf", 30, 1, "first")
    two, others = vcf("two.vcf", 40, 2, "second")
    page = report("--tags", "A", one, two)
    table = page.table("All files: 2")
    expect_equal([(row["File"], row["Content"], row["Alleles"], row["Model"]) for row in table],
                 [("one.vcf", "scores of alleles", "30", "first"), ("two.vcf", "scores of alleles", "40", "second")], "rows")
    expect(not {"Recipe", "Data type"} & set(table[0]), "columns that are alike: %r" % table[0])
    expect("Alike in all files: Tags: A; Recipe: centered; Data type: f32." in page.paragraphs, "paragraphs %r" % page.paragraphs)
    expect_equal(page.headings[1], "All files side by side", "the first section")
    check_bins(page, "comparison_scores", {"one.vcf": [r[0] for r in rows], "two.vcf": [r[0] for r in others]})


@case
def files_of_different_kinds_have_one_table():
    """Numbers that only some files have are a point elsewhere; one sample of a kind is compared with nothing."""
    one, rows = vcf("one.vcf", 30, 1)
    regions = write(fresh(), "regions.tsv", REGIONS + "1\t0\t9\tg\t+\t1\t0\t-2\t-1.5\t-1\n1\t9\t19\th\t+\t1\t0\t-3\t-2\t-1\n")
    page = report("--tags", "A", one, regions)
    first, second = page.table("All files: 2")
    expect_equal((first["Alleles"], first["Regions"], second["Alleles"], second["Regions"], second["Minimum"]), ("30", ".", ".", "2", "-3"), "values")
    expect("comparison_scores" not in page.figures, "a comparison of one file")
    page = report("--tags", "A", one)
    expect(not any("All files" in c for c in page.captions), "a table of one file")


@case
def other_kinds_stand_on_one_axis_too():
    rng = random.Random(3)
    paths, values = [], {}
    for name in ("x.tsv", "y.tsv"):
        minima = [round(rng.gauss(-5, 2), 3) for _ in range(50)]
        values[name] = minima
        paths.append(write(fresh(), name, REGIONS + "".join("1\t%d\t%d\tg%d\t+\t1\t0\t%g\t0\t0\n" % (i, i + 1, i, v) for i, v in enumerate(minima))))
    page = report(*paths)
    check_bins(page, "comparison_scores", values)
    folder = fresh()
    fasta = write(folder, "in.fa", "".join(">s%d\n%s\n" % (i, "".join(rng.choice("ACGT") for _ in range(60))) for i in range(12)))
    bases, sequences = [], []
    for strand in "+-":
        for out, more in ((bases, ["-O", "tsv"]), (sequences, [])):
            out.append(os.path.join(folder, "%s%d.tsv" % ("forward" if strand == "+" else "reverse", len(more))))
            ok("score", "-m", model(), "--strand", strand, *more, "-o", out[-1], fasta)
    columns = lambda path, column: [float(line.split("\t")[column]) for line in read(path).decode().splitlines()
                                    if not line.startswith("#") and line.split("\t")[column] != "."]
    page = report(*sequences)
    check_bins(page, "comparison_scores", {os.path.basename(path): columns(path, 6) for path in sequences})
    head = next(line for line in read(bases[0]).decode().splitlines() if line.startswith("#name")).split("\t")
    page = report(*bases)
    drawn = page.figures["comparison_scores"][1]
    for path in bases:
        name = os.path.basename(path)
        expect_equal(sum(int(row[drawn[0].index(name)]) for row in drawn[1:]), len(columns(path, head.index("logp"))), name)
    expect("Bases without a score" in read_titles(page), "the table calls them something else")


def read_titles(page):
    return {attributes["title"] for name, attributes in page.elements if name == "th" and "title" in attributes}


@case
def scatters_have_the_colours_of_labels():
    """Of one file and of two: as many dots of a colour as the class has alleles, and the legend says how many."""
    one, rows = vcf("one.vcf", 200, 4)
    two, others = vcf("two.vcf", 200, 5)
    folder = fresh()
    ok("report", "--tags", "A,B", "--label", "SIG=P/B", "--bootstrap", 0, "--svg", folder, "-o", os.path.join(folder, "r.html"), one, two)
    count = lambda words: {"P": words.count("P"), "B": words.count("B"), "neither": words.count("VUS") + words.count(".")}
    of_one = count([r[2] for r in rows])
    of_both = count([r[2] if r[2] != "." else other[2] for r, other in zip(rows, others)])
    points = json.loads(html.unescape(re.search('id="one_agreement_scatter">.*?data-points="([^"]*)"', read(os.path.join(folder, "r.html")).decode(), re.S)[1]))
    expect_equal(len(points), len(rows), "points that say what they are")
    for name in ("one_agreement_scatter", "one_agreement_bland_altman", "comparison_agreement_scatter"):
        svg = read(os.path.join(folder, name + ".svg")).decode()
        texts = Page(svg).svg_texts
        wanted = of_both if name.startswith("comparison") else of_one
        expect({"%s (%d)" % one for one in wanted.items()} <= set(texts), "%s: %r" % (name, texts))
        colours = {"P": "#c7640c", "B": "#0b5cad"}
        for word, colour in colours.items():
            dots = sum(path.count("h0") + path.count("Z") for path in re.findall('<path [^>]*="%s"[^>]* d="([^"]*)"' % colour, svg))
            expect(wanted[word] <= dots <= wanted[word] + 1, "%s: %d dots of %s, not %d and one of the legend" % (name, dots, word, wanted[word]))
    page = report("--tags", "A,B", one)
    expect(not any("neither" in text for text in page.svg_texts), "classes without a label")


@case
def files_and_settings_are_told_apart_where_they_differ():
    """Equal names get their folder, and a number if that is equal, too; of long values both ends are shown; a setting that only some
    models of a file have is no setting of its own."""
    folder = "/data/projects/very/long/folder/of/models/carbon-500m-finetuned/checkpoint-"
    one, _ = vcf("x.vcf", 5, 1, folder + "1000")
    two, _ = vcf("x.vcf", 5, 2, folder + "2000")
    page = report("--tags", "A", one, two, one)
    table = page.table("All files: 3")
    base = lambda path: os.path.basename(os.path.dirname(path)) + "/x.vcf"
    expect_equal([row["File"] for row in table], [base(one), base(two), base(one) + " (2)"], "names")
    folder = os.path.dirname(one)
    write(folder, "x.vcf (2)", read(one))
    ok("report", "--tags", "A", "-o", os.path.join(folder, "r.html"), "x.vcf", "x.vcf (2)", "x.vcf", cwd=folder)
    names = [row["File"] for row in Page(read(os.path.join(folder, "r.html")).decode()).table("All files: 3")]
    expect_equal(names, ["x.vcf", "x.vcf (2)", "x.vcf (3)"], "a file that is called like a copy")
    expect_equal([row["Model"][-15:] for row in table], ["checkpoint-1000", "checkpoint-2000", "checkpoint-1000"], "models")
    expect_equal(page.figures["comparison_scores"][1][0][2:], [row["File"] for row in table], "columns")
    expect(not any("Model" in p for p in page.paragraphs if p.startswith("Alike")), "models are called alike")
    line = '##carbon_vepModel=<ID=B,Model="%s",Recipe="%s",Dtype="f32">\n#CHROM'
    for model_name, recipe, wanted in (("m", "centered", None), ("m", "next-token", "A: centered; B: next-token")):
        one, _ = vcf("one.vcf", 5, 1)
        path, _ = vcf("two.vcf", 5, 2)
        two = write(fresh(), "two.vcf", read(path).decode().replace("#CHROM", line % (model_name, recipe)))
        page = report("--tags", "A", one, two)
        first, second = page.table("All files: 2")
        expect_equal((first["Tags"], second["Tags"]), ("A", "A; B"), "tags")
        expect_equal((first.get("Recipe"), second.get("Recipe")), ("centered" if wanted else None, wanted), "recipes")
        expect(any("Model: m" in p for p in page.paragraphs), "paragraphs %r" % page.paragraphs)


@case
def numbers_of_any_size():
    paths = []
    for name, size in (("large.vcf", "e30"), ("small.vcf", "e-30")):
        paths.append(write(fresh(), name, HEAD % ("m", "f32") + "".join("1\t%d\t.\tA\tC\t.\t.\tA=%d%s\n" % (i, i, size) for i in (1, 2, 3))))
    paths.append(write(fresh(), "none.vcf", HEAD % ("m", "f32") + "1\t1\t.\tA\tC\t.\t.\tA=.\n"))
    page = report("--tags", "A", *paths)
    large, small, none = page.table("All files: 3")
    expect_equal([float(large["Median"]), float(small["Median"]), none["Median"]], [2e30, 2e-30, "."], "medians")
    expect_equal([row["Scored"] for row in (large, small, none)], ["3", "3", "0"], "scored")
    expect_equal(page.figures["comparison_scores"][1][0][2:], ["large.vcf", "small.vcf"], "columns")
    expect("comparison_scores" not in report("--tags", "A", paths[0], paths[2]).figures, "a file beside nothing")


@case
def shared_alleles_do_not_depend_on_the_order_of_files():
    """Neither their number, with repeated alleles, nor what is known of them: names while they are few, and labels of either file."""
    few, rows = vcf("few.vcf", 100, 6)
    blanked = lambda path: re.sub(rb"SIG=\w+", b"SIG=.", read(path))
    many = write(fresh(), "many.vcf", blanked(vcf("m.vcf", 6000, 7)[0]))
    twice = write(fresh(), "twice.vcf", read(few) + b"1\t1\t.\tA\tC\t.\t.\tA=1;B=1;SIG=P\n" * 2)
    blank = write(fresh(), "blank.vcf", blanked(few))
    label = ["--label", "SIG=P/B", "--bootstrap", 0]
    wanted = {"P (%d)" % sum(r[2] == "P" for r in rows), "B (%d)" % sum(r[2] == "B" for r in rows)}
    for a, b in ((few, many), (many, few), (few, blank), (blank, few), (few, twice), (twice, few)):
        name = os.path.join(fresh(), "r.html")
        ok("report", "--no-version", "--tags", "A", *label, "-o", name, a, b)
        page, text = Page(read(name).decode()), read(name).decode()
        part = re.search('<figure id="comparison_agreement_scatter">.*?</figure>', text, re.S)[0]
        expect_equal(len(json.loads(html.unescape(re.search('data-points="([^"]*)"', part)[1]))), 100, "%s and %s" % (a, b))
        expect(wanted <= set(Page(part).svg_texts), "%s and %s: %r" % (a, b, Page(part).svg_texts))
        expect(any(p.startswith("100 alleles have a score in both") for p in page.paragraphs), "paragraphs %r" % page.paragraphs)


@case
def a_missing_label_names_the_file():
    one, _ = vcf("one.vcf", 5, 1)
    two = write(fresh(), "two.vcf", read(vcf("x.vcf", 5, 2)[0]).replace(b"ID=SIG", b"ID=OTHER").replace(b";SIG=", b";OTHER="))
    expect_failure(carbon("report", "-o", os.path.join(fresh(), "r.html"), "--tags", "A", "--label", "SIG=P/B", one, two),
                   "two.vcf: the label SIG=P/B: the header has no INFO tag SIG")


if __name__ == "__main__":
    main()
