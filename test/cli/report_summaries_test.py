"""carbon report of what commands write in sum: tables of sequences and regions, the JSON of +auroc, and histograms. And what it says
of the files that it does not draw."""

import json
import math
import os
import random

from harness import carbon, case, expect, expect_close, expect_equal, expect_failure, fresh, main, model, ok, read, write
from report_kinds import scored
from report_page import Page, number

SUMMARY = "#name\tstart\tend\tstrand\tn_scored\tsum_logp\tmean_logp\tperplexity\n"
REGIONS = "#contig\tstart\tend\tname\tstrand\tcount\tmissing\tmin\tmean\tmax\n"


def report(*args):
    """The page, and the files of MultiQC by their names."""
    folder = fresh()
    out, plots = os.path.join(folder, "r.html"), os.path.join(folder, "mqc")
    ok("report", "--no-version", "--multiqc", plots, "-o", out, *args)
    return Page(read(out).decode()), {name: json.loads(read(os.path.join(plots, name))) for name in os.listdir(plots)}


def numbers(page, figure):
    """The rows of a figure's numbers: {column: values}."""
    name, = [n for n in page.figures if n.endswith(figure)]
    head, *rows = page.figures[name][1]
    return {column: [row[i] for row in rows] for i, column in enumerate(head)}


@case
def sequences_of_score_are_drawn():
    rng = random.Random(1)
    fasta = write(fresh(), "in.fa", "".join(">s%d\n%s\n" % (i, "".join(rng.choice("ACGT") for _ in range(30 + i))) for i in range(60)))
    table = os.path.join(fresh(), "scores.tsv")
    ok("score", "-m", model(), "-o", table, fasta)
    rows = [line.split("\t") for line in read(table).decode().splitlines() if not line.startswith("#")]
    page, plots = report("--top", 20, table)
    lowest = sorted(rows, key=lambda row: float(row[6]))[:20]
    expect_equal([list(row.values()) for row in page.table("Lowest mean_logp")], lowest, "the lowest sequences")
    expect_equal(sum(map(int, numbers(page, "_scores")["Sequences"])), len(rows), "sequences in bins")
    statistics = plots["carbon_scores_statistics_mqc.json"]
    expect_equal(statistics["plot_type"], "generalstats", "plot")
    bases, total = sum(int(row[4]) for row in rows), sum(float(row[5]) for row in rows)
    expect_close(statistics["data"]["scores"]["mean_logp"], total / bases, 1e-6, "mean")
    expect_close(statistics["data"]["scores"]["perplexity"], math.exp(-total / bases), 1e-5, "perplexity")
    expect_equal(statistics["data"]["scores"]["bases"], bases, "bases")


@case
def regions_of_gene_summary_are_drawn():
    rng, rows = random.Random(2), []
    for i in range(80):
        values = sorted(rng.gauss(-2, 3) for _ in range(3))
        text = ["%.6g" % v for v in values] if i % 10 else [".", ".", "."]
        rows.append(["chr%d" % (i % 3), str(i), str(i + 9), "g%d" % i, "+", "3" if i % 10 else "0", str(i % 10), *text])
    page, plots = report(write(fresh(), "genes.tsv", REGIONS + "".join("\t".join(row) + "\n" for row in rows)))
    lowest = sorted((row for row in rows if row[7] != "."), key=lambda row: float(row[7]))
    expect_equal([list(row.values()) for row in page.table("Lowest minimum")], lowest, "regions")
    drawn = numbers(page, "_lowest")
    for column, name in ((7, "Minimum"), (8, "Mean"), (9, "Maximum")):
        expect_equal([float(v) for v in drawn[name]], [float(row[column]) for row in lowest[:30]], name)
    expect_equal(sum(map(int, numbers(page, "_minima")["Regions"])), 72, "regions in bins")
    expect_equal(plots["carbon_genes_statistics_mqc.json"]["data"]["genes"]["minimum"], float(lowest[0][7]), "statistic")
    expect(any("because they have none: 8." in p for p in page.paragraphs), "paragraphs %r" % page.paragraphs)


@case
def a_table_of_no_rows_is_left_out():
    for text in (SUMMARY + "a\t0\t9\t+\t3\t-4\t-1.3\t3.7\n", REGIONS + "1\t0\t9\tg\t+\t1\t0\t-1\t-1\t-1\n"):
        path = write(fresh(), "t.tsv", text)
        for top in (0, 1):
            page, _ = report("--top", top, path)
            expect_equal(sum("the lowest first" in caption for caption in page.captions), top, "tables with --top %d" % top)


@case
def the_json_of_auroc_is_drawn():
    vcf = write(fresh(), "in.vcf", scored(800, 3))
    for more in ([], ["--by", "FILTER"]):
        out = os.path.join(fresh(), "separation.json")
        ok("+auroc", vcf, "--", "--score", "CARBON_LLR", "--label", "SIG=P/B", "--bootstrap", 30, "--json", out, *more)
        document = json.loads(read(out))
        page, plots = report(out)
        table = {row["Measure"]: row for row in page.table("How well CARBON_LLR separates")}
        for key, name in (("auroc", "AUROC"), ("auprc", "AUPRC (trapezoidal)"), ("average_precision", "Average precision")):
            for end, column in (("value", "Value"), ("low", "Low"), ("high", "High")):
                if document["metrics"][key][end] is None:
                    expect_equal(table[name][column], ".", name)
                else:
                    expect_close(number(table[name][column]), document["metrics"][key][end], 1e-5, name)
        expect_equal(table["Positive alleles"]["Value"], str(document["counts"]["positive"]), "counts")
        expect_close(plots["carbon_separation_statistics_mqc.json"]["data"]["separation"]["auroc"], document["metrics"]["auroc"]["value"],
                     1e-12, "statistic")
        expect_equal(any(name.endswith("_strata") for name in page.figures), bool(more), "a figure of strata")
        if more:
            drawn = numbers(page, "_strata")
            known = [one for one in document["strata"] if one["auroc"]["value"] is not None]
            expect_equal(drawn[document["by"]], [one["name"] for one in known], "strata")
            for column, end in (("AUROC", "value"), ("AUROC low", "low"), ("AUROC high", "high")):
                for text, one in zip(drawn[column], known):
                    expect_close(number(text), one["auroc"][end], 1e-5, column)
            document["strata"] = [dict(known[0], name="s%d" % i) for i in range(40)] + known[-2:]
            page, _ = report(write(fresh(), "many.json", json.dumps(document)))
            expect_equal(numbers(page, "_strata")[document["by"]], ["s%d" % i for i in range(28)] + ["macro", "pooled"], "many strata")


@case
def histograms_are_drawn():
    counts = {("CARBON_LLR", "snv"): {-250: 3, -100: 7, 0: 20, 40: 1}, ("CARBON_LLR", "del:1"): {-30: 4},
              ("CARBON_NT", "snv"): {5: 2, 6: 1}}
    text = "#TAG\tTYPE\tBIN\tCOUNT\n" + "".join("%s\t%s\t%d\t%d\n" % (*key, b, n) for key, bins in counts.items() for b, n in bins.items())
    page, _ = report(write(fresh(), "h.tsv", text + text))   # shares of a run are joined by cat
    all_alleles = numbers(page, "CARBON_LLR_scores")
    expect_equal({float(f): int(n) for f, n in zip(all_alleles["From"], all_alleles["Alleles"]) if n != "0"},
                 {-2.5: 6, -1.0: 14, 0.0: 40, 0.4: 2, -0.3: 8}, "bins")
    rows = numbers(page, "CARBON_LLR_by_type")
    expect_equal([sum(map(int, rows[name])) for name in ("snv", "del:1")], [62, 8], "types")
    table = [row for row in page.tables if row[0][0] == "By"][0]
    expect_equal([row[2] for row in table[1:]], ["70", "62", "8"], "scores")
    scan = "#TRI\tALT\tBIN\tCOUNT\nACA\tT\t-12\t5\nGCG\tT\t-12\t2\nAAA\tG\t3\t4\n.\tA\t-1\t3\n"
    page, _ = report(write(fresh(), "s.tsv", scan))
    rows = numbers(page, "CARBON_SCAN_by_substitution")
    expect_equal([sum(map(int, rows[name])) for name in ("C>T", "A>G", "at an end")], [7, 4, 3], "substitutions")


@case
def damaged_files_are_refused():
    good = {"#TRI\tALT\tBIN\tCOUNT\n": "ACA\tT\t1\t2\n", SUMMARY: "a\t0\t9\t+\t3\t-4\t-1.3\t3.7\n", REGIONS: "1\t0\t9\tg\t+\t1\t0\t-1\t-1\t-1\n"}
    for head, line in good.items():
        columns = line.rstrip("\n").split("\t")
        for bad in ("\t".join(columns[:-1]), "\t".join(columns + ["x"]), "\t".join(columns[:-2] + ["nan", "inf"])):
            path = write(fresh(), "bad.tsv", head + line + bad + "\n")
            expect_failure(carbon("report", "-o", os.path.join(fresh(), "r.html"), path), "bad.tsv:3")
    ok("report", write(fresh(), "empty.tsv", SUMMARY))
    document = {"score": "S", "label": "L", "metrics": {}, "counts": {}}
    expect_failure(carbon("report", write(fresh(), "bad.json", json.dumps(document))), "bad.json", "negated is missing", "+auroc")


@case
def a_last_line_without_its_end_is_refused():
    """Its number may be cut: 12 of 1234. So it is in every table that a command has written."""
    tables = {"#TAG\tTYPE\tBIN\tCOUNT\n": "CARBON_LLR\tSNV\t-50\t12", SUMMARY: "a\t0\t9\t+\t3\t-4\t-1.3\t3.7",
              REGIONS: "1\t0\t9\tg\t+\t1\t0\t-1\t-1\t-1", "#name\tpos\tbase\tplus\tminus\n": "s\t1\tA\t0.1\t0.2",
              "#CHROM\tPOS\tREF\tA\tC\tG\tT\n": "s\t1\tA\t0\t-1\t-2\t-3", "#name\te0\te1\n": "a\t1\t2\nb\t3\t0."}
    for head, line in tables.items():
        expect_failure(carbon("report", "-o", os.path.join(fresh(), "r.html"), write(fresh(), "cut.tsv", head + line)), "cut.tsv:", "no newline")
        ok("report", "-o", os.path.join(fresh(), "r.html"), write(fresh(), "whole.tsv", head + line + "\n"))


@case
def counts_of_nothing_are_no_histogram():
    for lines in ("", "CARBON_LLR\tSNV\t0\t0\nCARBON_LLR\tINS\t0\t0\n"):
        page, _ = report(write(fresh(), "h.tsv", "#TAG\tTYPE\tBIN\tCOUNT\n" + lines))
        expect("The histogram counts no allele." in page.paragraphs and not page.figures, "paragraphs %r" % page.paragraphs)


@case
def regions_of_one_name_have_a_bar_each():
    rows = ["1\t%d\t%d\tBRCA1\t+\t3\t0\t%d\t%d\t-1\n" % (i, i + 9, -i, -i) for i in (2, 4)]
    _, plots = report(write(fresh(), "genes.tsv", REGIONS + "".join(rows)))
    bars, = [plot["data"] for name, plot in plots.items() if name.endswith("_lowest_mqc.json")]
    expect_equal(sorted(value["mean"] for value in bars[0].values()), [-4, -2], "bars")


@case
def other_files_of_carbon_are_named():
    for text, words in (("#metric\tvalue\tlow\thigh\nauroc\t1\t1\t1\n", "the table of +auroc; draw its --json"),
                        ("##gff-version 3\n", "GFF3"), (">s\nACGT\n", "FASTA"), ("#name\tfirst_row\trows\ns\t0\t1\n", "the names of a matrix"),
                        ('{"tag":"X","regions":[]}', "the JSON of +gene-summary; draw its table"),
                        ("##carbon_predictCommand=carbon predict\n#name\tLABEL\ns\t1\n", "a file of carbon predict that a report does not draw")):
        run = carbon("report", write(fresh(), "x", text))
        expect_failure(run, words)
        expect("none of the known commands" not in run.err, "a file of carbon is called a stranger's", run)
    for text in ("a\tb\n1\t2\n", "{}", "#x\ty\n"):
        expect_failure(carbon("report", write(fresh(), "x", text)), "none of the known commands")


if __name__ == "__main__":
    main()
