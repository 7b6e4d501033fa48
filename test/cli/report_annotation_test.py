"""carbon report of what carbon annotate writes: genes as GFF3, runs of coding bases, and the table of probabilities with genes beside it.
And what it says of bedGraph, bigWig and the GFF3 of others."""

import json
import os
import random

from annotate_support import features, fasta, tracks
from harness import carbon, case, expect, expect_close, expect_equal, expect_failure, fresh, main, model, ok, read, reverse_complement, write
from report_page import Page, number


def annotator():
    return model(preset="generanno", vocab=4128, dna_start=-1, hidden=64, heads=4, kv_heads=2, head_dim=16, max_positions=128, dtype="f32")


def small_genome():
    """The sequences and the probabilities of a contig with a gene of three exons on each strand, and of one without genes."""
    rng = random.Random(7)
    filler = lambda n: "".join(rng.choice("CT") for _ in range(n))
    exons = ["ATG" + "CCA" * 20, "ACC" * 12 + "A", "CA" + "CAC" * 20 + "TAA"]
    gene = ("GT" + filler(40) + "AG").join(exons)
    places, at = [], 0
    for exon in exons:
        places.append((at, at + len(exon)))
        at += len(exon) + 44
    first, second = 100, 180 + len(gene)
    contigs = [("c1", filler(first) + gene + filler(80) + reverse_complement(gene) + filler(60)), ("c2", "NN" + filler(118))]
    forward = [(first + a, first + b) for a, b in places]
    reverse = [(second + len(gene) - b, second + len(gene) - a) for a, b in places]
    values = [{name: [rng.uniform(0.97, 0.99) if name == "c1" and any(a <= i < b for a, b in strand) else rng.uniform(0.01, 0.02)
                      for i in range(len(bases))] for name, bases in contigs} for strand in (forward, reverse)]
    return contigs, values


def annotated(*options):
    """The path of the genes that annotate makes of the genome."""
    contigs, values = small_genome()
    out = os.path.join(fresh(), "genes.gff3")
    ok("annotate", "--no-version", "--from-tracks", tracks(contigs, *values), "-o", out, *options, fasta(contigs))
    return out


def coding_table():
    """The path of the table that annotate would write of a model with these probabilities."""
    contigs, (plus, minus) = small_genome()
    rows = ["%s\t%d\t%s\t%.7g\t%.7g\n" % (name, i + 1, base, plus[name][i], minus[name][i]) for name, bases in contigs for i, base in enumerate(bases)]
    return write(fresh(), "p.tsv", "#name\tpos\tbase\tplus\tminus\n" + "".join(rows))


def report(*args):
    folder = fresh()
    out, plots, svg = (os.path.join(folder, name) for name in ("r.html", "mqc", "svg"))
    run = ok("report", "--no-version", "--multiqc", plots, "--svg", svg, "-o", out, *args)
    expect_equal(run.err, "", "messages")
    return Page(read(out).decode()), {name: json.loads(read(os.path.join(plots, name))) for name in os.listdir(plots)}, svg


@case
def genes_are_drawn_at_their_scores():
    path = annotated()
    page, plots, svg = report(path)
    found = [f for f in features(read(path).decode()) if f["type"] == "gene"]
    coding = [f for f in features(read(path).decode()) if f["type"] == "CDS"]
    expect_equal(len(found), 2, "genes")
    head, *rows = page.figures["genes_genes"][1]
    expect_equal(head, ["Gene", "Sequence", "Start", "End", "Strand", "Status", "Exons", "Coding bases", "Score", "Lowest exon"], "columns")
    numbers = [attributes.get("class") == "number" for name, attributes in page.elements if name == "th"][:len(head)]
    expect_equal(numbers, [False, False, True, True, False, False, True, True, True, True], "columns that are aligned and sorted as numbers")
    for row, gene in zip(rows, found):
        inside = [c for c in coding if gene["begin"] <= c["begin"] and c["end"] <= gene["end"] and c["strand"] == gene["strand"]]
        expect_equal(row[:8], [gene["attributes"]["ID"], "c1", str(gene["begin"] + 1), str(gene["end"]), gene["strand"], "complete",
                               str(len(inside)), str(sum(c["end"] - c["begin"] for c in inside))], "a gene")
        expect_equal([number(row[8]), number(row[9])], [gene["score"], float(gene["attributes"]["min_exon_p"])], "its score")
    lowest = page.table("Lowest score")
    expect_equal([row["Score"] for row in lowest], sorted((row[8] for row in rows), key=float), "the table")
    expect(not any("the lowest first" in caption for caption in report("--top", 0, path)[0].captions), "a table of no genes")
    points = [p for series in plots["carbon_genes_genes_mqc.json"]["data"][0].values() for p in series]
    expect_equal(sorted(p["y"] for p in points), sorted(f["score"] for f in found), "the plot of MultiQC")
    statistics = plots["carbon_genes_statistics_mqc.json"]["data"]["genes"]
    expect_equal([statistics[key] for key in ("genes", "complete", "exons")], [2, 100, 3], "statistics")
    expect_close(statistics["mean_score"], sum(f["score"] for f in found) / 2, 1e-9, "mean score")
    expect(any("2 genes on 1 sequence: 2 complete and 0 partial, 1 on the forward strand" in p for p in page.paragraphs), page.paragraphs)
    expect("carbon_annotateDecoder" in [fact[0] for fact in page.facts], "how the genes were made is not said: %r" % page.facts)
    expect_equal(sorted(os.listdir(svg)), ["genes_genes.svg", "genes_scores.svg"], "figures")
    boxes = read(os.path.join(svg, "genes_genes.svg")).decode()
    expect(boxes.count("<path") > 8, "no genes are drawn")


@case
def probabilities_are_drawn_below_genes():
    table, path = coding_table(), annotated()
    page, plots, svg = report("--genes", path, table)
    rows = [line.split("\t") for line in read(table).decode().splitlines() if not line.startswith("#")]
    contigs = [[row for row in rows if row[0] == name] for name in ("c1", "c2")]
    for i, of_contig in enumerate(contigs):
        head, *drawn = page.figures["p_%d_coding" % (i + 1)][1]
        expect_equal(head, ["Position", "Forward", "Reverse"], "columns")
        taken = [of_contig[k * len(of_contig) // len(drawn)] for k in range(len(drawn))]
        expect_equal(len(drawn), min(500, len(of_contig)), "rows")
        for row, wanted in zip(drawn, taken):
            expect_equal(row[0], wanted[1], "position")
            for text, value in zip(row[1:], wanted[3:]):
                expect_close(number(text), float(value), 1e-5, "probability")
    lines = plots["carbon_p_1_coding_mqc.json"]["data"][0]
    for column, strand in ((3, "forward strand"), (4, "reverse strand")):
        expect_equal([x for x, _ in lines[strand]], [int(row[1]) for row in contigs[0]], "positions of " + strand)
        expect(all(abs(y - float(row[column])) < 1e-7 for (_, y), row in zip(lines[strand], contigs[0])), "values of " + strand)
        share = 100 * sum(float(row[column]) > 0.5 for row in rows) / len(rows)
        expect_close(plots["carbon_p_statistics_mqc.json"]["data"]["p"]["coding_" + strand.split()[0]], share, 1e-9, "share")
    scores = {f["attributes"]["ID"]: "%.4g" % f["score"] for f in features(read(path).decode()) if f["type"] == "gene"}
    for name, score in scores.items():
        expect("%s, %s" % (name, score) in page.svg_texts, "the gene is not named with its score: %r" % page.svg_texts)
    expect_equal(len(os.listdir(svg)), 2, "figures")


@case
def tables_of_a_model_are_drawn():
    contigs, _ = small_genome()
    table = os.path.join(fresh(), "p.tsv")
    ok("annotate", "-m", annotator(), "-q", "-O", "tsv", "-o", table, fasta(contigs))
    page, plots, _ = report(table)
    rows = [line.split("\t") for line in read(table).decode().splitlines() if line.startswith("c2\t")]
    expect_equal([row[0] for row in page.figures["p_2_coding"][1][1:]], [row[1] for row in rows], "positions")
    lines = plots["carbon_p_2_coding_mqc.json"]["data"][0]
    for column, strand in ((3, "forward strand"), (4, "reverse strand")):
        expect(all(abs(y - float(row[column])) < 1e-7 for (_, y), row in zip(lines[strand], rows)), "values of " + strand)
    expect(any("Model " in words and "data type f32" in words for words in page.models), "the head does not name the model: %r" % page.models)
    expect("Command" in [fact[0] for fact in page.facts], "how the table was made is not said: %r" % page.facts)


@case
def long_tables_are_drawn_as_means_and_regions_choose():
    rows = [(i + 1, "ACGTN"[i % 5], (i % 100) / 100, 1 - (i % 7) / 8) for i in range(5000)]
    table = write(fresh(), "p.tsv", "#name\tpos\tbase\tplus\tminus\n" + "".join("s\t%d\t%s\t%.6g\t%.6g\n" % row for row in rows))
    page, plots, _ = report(table)
    lines = plots["carbon_p_coding_mqc.json"]["data"][0]
    step = 6   # 5,000 bases in at most 900 windows
    for column, strand in ((2, "forward strand"), (3, "reverse strand")):
        wanted = [sum(row[column] for row in rows[i:i + step]) / len(rows[i:i + step]) for i in range(0, len(rows), step)]
        expect(len(wanted) == len(lines[strand]) and all(abs(a - y) < 1e-5 for a, (_, y) in zip(wanted, lines[strand])), "means of " + strand)
    expect("as means of 6 bases" in page.figures["p_coding"][0], page.figures["p_coding"][0])
    page, _, _ = report("-r", "s:11-40", table)
    expect_equal([row[0] for row in page.figures["p_coding"][1][1:]], [str(i) for i in range(11, 41)], "bases of a region")


@case
def runs_are_drawn():
    path = annotated("--genes", "runs")
    found = features(read(path).decode())
    expect(len(found) > 1 and {f["type"] for f in found} == {"coding_region_of_exon"}, "no runs")
    page, plots, _ = report(path)
    rows = page.figures["genes_genes"][1][1:]
    expect_equal([(row[2], row[3], row[5], number(row[8])) for row in rows],
                 [(str(f["begin"] + 1), str(f["end"]), "run", f["score"]) for f in found], "runs")
    expect_equal(plots["carbon_genes_statistics_mqc.json"]["data"]["genes"]["runs"], len(found), "statistics")
    page, _, _ = report("--genes", path, coding_table())
    expect(not any("No gene" in p for p in page.paragraphs), page.paragraphs)


@case
def files_without_genes_are_drawn():
    page, _, _ = report(write(fresh(), "none.gff3", "##gff-version 3\n#!carbon_annotateVersion=1\n##sequence-region s 1 9\n"))
    expect("The file has no gene." in page.paragraphs, page.paragraphs)


@case
def genes_of_very_many_parts_are_counted_and_not_drawn():
    gene = "s\tcarbon\tgene\t%d\t%d\t0.%d\t+\t.\tID=gene:s_%d;min_exon_p=0.8\n"
    parts = "".join("s\tcarbon\tCDS\t%d\t%d\t0.9\t+\t0\tID=c;Parent=t\n" % (i, i) for i in range(1, 200003, 2))
    few = "s\tcarbon\tCDS\t300001\t300090\t0.8\t+\t0\tID=c;Parent=t\n"
    page, _, _ = report(write(fresh(), "g.gff3", "##gff-version 3\n#!carbon_annotateVersion=1\n" + gene % (1, 200001, 9, 1) + parts +
                              gene % (300001, 300090, 8, 2) + few))
    expect_equal([row[0] for row in page.figures["g_genes"][1][1:]], ["gene:s_2"], "genes that are drawn")
    expect("1 more is not drawn" in page.figures["g_genes"][0], page.figures["g_genes"][0])
    expect_equal([row["Exons"] for row in page.table("Lowest score")], ["1", "100001"], "exons in the table")


GENE = "s\tcarbon\tgene\t1\t9\t0.9\t+\t.\tID=gene:s_000001;min_exon_p=0.9\n"
CDS = "s\tcarbon\tCDS\t1\t9\t0.9\t+\t0\tID=CDS:s_000001.1;Parent=x\n"


@case
def damaged_files_are_refused():
    head = "##gff-version 3\n#!carbon_annotateVersion=1\n##sequence-region s 1 9\n"
    ok("report", write(fresh(), "good.gff3", head + GENE + CDS))
    for line, words in ((GENE.replace("0.9\t+", "1.5\t+"), "'1.5' is not a probability"), (GENE.replace("min_exon_p=0.9", "a=b"), "no min_exon_p"),
                        (GENE.replace("\t9\t", "\t10\t"), "ends after its sequence"), (GENE + CDS.replace("\t9\t", "\t12\t"), "does not lie in the gene"),
                        (CDS, "does not lie in the gene"), (GENE + GENE, "no coding part"), (GENE, "no coding part"),
                        ("s\tcarbon\tgene\n", "nine columns"), (GENE.replace("\t1\t", "\t-1\t"), "not a position"),
                        ("##sequence-region s 1 x\n", "not a line of a sequence")):
        expect_failure(carbon("report", "-o", os.path.join(fresh(), "r.html"), write(fresh(), "bad.gff3", head + line)), "bad.gff3:", words)
    head = "#name\tpos\tbase\tplus\tminus\n"
    for line, words in (("s\t1\tA\t0.5\n", "5 columns"), ("s\t1\tA\t0.5\t1.5\n", "'1.5' is not a probability"), ("s\t1\tA\tnan\t0\n", "'nan'"),
                        ("s\t0\tA\t0.5\t0\n", "'0' is not a position"), ("s\t1\tAC\t0.5\t0\n", "'AC'"), ("s\t1\tA\t.\t0\n", "'.' is not a probability")):
        expect_failure(carbon("report", write(fresh(), "bad.tsv", head + line)), "bad.tsv:2", words)
    table = write(fresh(), "p.tsv", head + "s\t1\tA\t0.5\t0\n")
    expect_failure(carbon("report", "--tags", "X", table), "tags of scores are named")


@case
def what_is_not_drawn_is_named():
    contigs, values = small_genome()
    prefix = tracks(contigs, *values)
    bedgraph = os.path.join(fresh(), "p.bedgraph")
    ok("annotate", "-m", annotator(), "-q", "-O", "bedgraph", "--strand", "+", "-o", bedgraph, fasta(contigs))
    for path in (bedgraph, prefix + ".plus.bw"):
        run = carbon("report", path)
        expect_failure(run, ("this is bedGraph", "this is a bigWig"), "annotate -O tsv")
        expect("none of the known commands" not in run.err, "a file of carbon is called a stranger's", run)
    expect_failure(carbon("report", write(fresh(), "g.gff3", "##gff-version 3\n##x\ns\thavana\tgene\t1\t9\t.\t+\t.\tID=g\n")),
                   "this is GFF3", "--genes")
    proteins = os.path.join(fresh(), "p.fa")
    ok("annotate", "--from-tracks", prefix, "--proteins", proteins, fasta(contigs))
    expect_failure(carbon("report", proteins), "FASTA")


if __name__ == "__main__":
    main()
