"""carbon report --multiqc: files in the form of MultiQC's custom content. Their form is checked everywhere; where MultiQC is
installed (or MULTIQC names it), it reads them, its report has the same numbers, and names with HTML do no harm in it."""

import html.parser
import json
import math
import os
import re
import shutil

import numpy as np

from harness import Skip, case, command, expect, expect_close, expect_equal, fresh, main, model, ok, read, write
from report_kinds import draw, kinds, make_files

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>"
MARKDOWN = "**b** _i_ `c` [l](javascript:alert(3)) &lt;script&gt;alert(4)&lt;/script&gt;"
TYPES = ("bargraph", "linegraph", "scatter", "heatmap", "table", "box")


def concordance(strata):
    """The JSON of +concord, with bars for each stratum."""
    line = dict.fromkeys("alleles n only_a only_b missing_a missing_b missing_both".split(), 3)
    line.update(dict.fromkeys("pearson spearman mean_abs_diff max_abs_diff overlap_1 overlap_5".split(), 0.5), name="all")
    rows = [dict(line, name=name, pearson=0.1 * (i + 1)) for i, name in enumerate(strata)]
    return json.dumps({"a": {"file": "a.vcf", "tag": "A"}, "b": {"file": "a.vcf", "tag": "B"}, "all": line, "by": "type", "strata": rows,
                       "bounds": []})


def write_files(evil):
    """A folder with the files of MultiQC for embeddings with groups and a concordance with strata."""
    folder = fresh()
    # MultiQC would shorten these as if they were names of files.
    names, group, column, strata = ["sample%d.fa" % i for i in range(30)], "b/a.fastq.gz", "kind", ["snv", "b/a.fa"]
    if evil:
        names[0], names[1], group, column, strata = EVIL, MARKDOWN, MARKDOWN, EVIL, [EVIL, MARKDOWN]
    bars = write(folder, "c.json", concordance(strata))
    np.save(os.path.join(folder, "e.npy"), np.random.default_rng(1).normal(size=(30, 6)).astype("f4"))
    write(folder, "e.names.tsv", "#name\tfirst_row\trows\n" + "".join("%s\t%d\t1\n" % (n, i) for i, n in enumerate(names)))
    table = write(folder, "g.tsv", "name\t%s\n" % column + "".join("%s\t%s\n" % (n, group if i % 3 else "other one")
                                                                    for i, n in enumerate(names)))
    title = os.path.join(folder, "e.<b>bold<b>.npy")
    if evil:
        os.rename(os.path.join(folder, "e.npy"), title)
        os.rename(os.path.join(folder, "e.names.tsv"), title[:-4] + ".names.tsv")
    out = os.path.join(folder, "mqc")
    ok("report", bars, title if evil else os.path.join(folder, "e.npy"), "--groups", table, "--colour", column, "--multiqc", out,
       "-o", os.path.join(folder, "r.html"))
    return out


def write_lines():
    """A folder with the pictures of MultiQC that have lines: curves, distributions and a track of bases."""
    rng, folder = np.random.default_rng(2), fresh()
    head = ('##fileformat=VCFv4.2\n##carbon_vepModel=<ID=CARBON_LLR,Model="m">\n'
            '##INFO=<ID=CARBON_LLR,Number=A,Type=Float,Description="Carbon">\n##INFO=<ID=P,Number=1,Type=Integer,Description="x">\n'
            "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n")
    rows = "".join("c\t%d\t.\tA\tC\t.\t.\tCARBON_LLR=%.1f;P=%d\n" % (i + 1, rng.normal() - 3 * (i % 2), i % 2) for i in range(200))
    vcf = write(folder, "in.vcf", head + rows)
    bases = "".join(rng.choice(list("ACGT"), 120))
    table = os.path.join(folder, "bases.tsv")
    ok("score", "-m", model(), "-O", "tsv", "-o", table, write(folder, "s.fa", ">s\n%s\n" % bases))
    out = os.path.join(folder, "mqc")
    ok("report", vcf, table, "--label", "P", "--bootstrap", 0, "--multiqc", out, "-o", os.path.join(folder, "r.html"))
    return out


@case
def lines_are_pairs_of_numbers():
    """Names of values would be sorted as text."""
    lines = {name: plot for name, plot in plots_of(write_lines()).items() if plot["plot_type"] == "linegraph"}
    expect(any("roc" in name for name in lines) and len(lines) >= 4, "pictures: %r" % list(lines))
    for name, plot in lines.items():
        for line, points in plot["data"][0].items():
            expect(isinstance(points, list) and all(len(p) == 2 and all(isinstance(v, (int, float)) for v in p) for p in points),
                   "%s: %s is no list of pairs" % (name, line))
            expect_equal([p[0] for p in points], sorted(p[0] for p in points), "%s: x of %s" % (name, line))
    points, = next(plot for name, plot in lines.items() if "roc" in name)["data"][0].values()
    expect_equal([round(100 * p[0]) for p in points], list(range(101)), "rates of the ROC curve")


@case
def multiqc_draws_the_same_lines():
    folder = write_lines()
    _, document = multiqc(folder)
    for name, plot in plots_of(folder).items():
        if plot["plot_type"] != "linegraph":
            continue
        dataset, = document["report_plot_data"][plot["pconfig"]["id"]]["datasets"]
        expect_equal({line["name"]: [tuple(map(float, pair)) for pair in line["pairs"]] for line in dataset["lines"]},
                     {line: sorted({float(x): float(y) for x, y in points}.items()) for line, points in plot["data"][0].items()}, "lines of " + name)


def files_of(folder):
    expect(all(re.fullmatch(r"carbon_[A-Za-z0-9_]+_mqc\.json", name) for name in os.listdir(folder)), "names of files")
    return {name: json.loads(read(os.path.join(folder, name))) for name in sorted(os.listdir(folder))}


def plots_of(folder):
    """Those of figures; the others are rows of the General Statistics."""
    return {name: plot for name, plot in files_of(folder).items() if plot["plot_type"] != "generalstats"}


def numbers_in(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [n for v in value for n in numbers_in(v)]
    return [value] if isinstance(value, (int, float)) else []


@case
def files_have_the_form_of_custom_content():
    for evil in (False, True):
        plots = plots_of(write_files(evil))
        expect_equal(sorted(plots), ["carbon_%s_mqc.json" % n for n in ("c_correlations", "e_pc1_pc2", "e_pc3_pc4", "e_scree")], "files")
        ids = []
        for name, plot in plots.items():
            expect_equal(name, plot["id"] + "_mqc.json", "id")
            ids += [plot["id"], plot["pconfig"]["id"]]
            expect(plot["plot_type"] in TYPES, "type of " + name)
            expect(plot["parent_id"].startswith("carbon_") and plot["parent_name"] and plot["section_name"] and plot["description"], name)
            expect(plot["pconfig"]["title"], "title of " + name)
            numbers = numbers_in(plot["data"])
            expect(numbers and all(math.isfinite(n) for n in numbers), "numbers of " + name)
            for key in ("parent_name", "section_name", "description"):
                expect(not set("\"'") & set(plot[key]), "%s of %s: %s" % (key, name, plot[key]))
            expect("<" not in json.dumps(plot), "a tag in " + name)
            expect(isinstance(plot["data"], list) and len(plot["data"]) == 1, "names are kept in an array")
        expect_equal(len(set(ids)), len(ids), "ids")


@case
def every_kind_of_file_has_a_row_of_statistics():
    folder = fresh()
    make_files(os.path.join(folder, "files"))
    expect_equal(draw(os.path.join(folder, "files"), os.path.join(folder, "pages")), [], "kinds that are not drawn")
    for kind, args in kinds(os.path.join(folder, "files")).items():
        files = next((i for i, word in enumerate(args) if word.startswith("--")), len(args))
        rows = [plot for plot in files_of(os.path.join(folder, "pages", kind + ".mqc")).values() if plot["plot_type"] == "generalstats"]
        expect_equal(len(rows), files, "rows of statistics of " + kind)
        expect(all(math.isfinite(n) for row in rows for n in numbers_in(row["data"])), "numbers of " + kind)
        for column in (column for row in rows for column in row["pconfig"]):
            (key, head), = column.items()
            expect(head["title"][0].isupper() and "_" not in head["title"].split(" of ")[0], "head of %s of %s" % (key, kind))
            expect(len(head["description"]) > len(head["title"]), "description of %s of %s" % (key, kind))


@case
def each_file_has_a_row_of_statistics():
    rows = {name: plot for name, plot in files_of(write_files(False)).items() if plot["plot_type"] == "generalstats"}
    expect_equal(sorted(rows), ["carbon_c_statistics_mqc.json", "carbon_e_statistics_mqc.json"], "files")
    expect_equal(rows["carbon_e_statistics_mqc.json"]["data"], {"e": {"sequences": 30, "rows": 30}}, "embeddings")
    expect_equal(rows["carbon_c_statistics_mqc.json"]["data"], {"c": {"n": 3, "pearson": 0.5, "spearman": 0.5}}, "agreement")
    for name, plot in rows.items():
        row, = plot["data"].values()
        expect_equal([key for column in plot["pconfig"] for key in column], list(row), "columns of " + name)


class Page(html.parser.HTMLParser):
    """Elements and their attributes of a page."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.scripts = []
        self.inside = False
        self.text = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.inside = tag in ("script", "style")
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside and self.scripts:
            self.scripts[-1] += data
        elif not self.inside:
            self.text.append(data)


def multiqc(folder):
    program = os.environ.get("MULTIQC") or shutil.which("multiqc")
    if not program:
        raise Skip("no MultiQC; the form of the files is checked without it")
    out = fresh()
    result = command([program, folder, "-o", out, "--no-ansi", "--no-version-check", "--data-format", "json"], cwd=out, timeout=300)
    expect(result.rc == 0, "MultiQC failed", result)
    expect("rror" not in result.err and "arning" not in result.err, "MultiQC complains", result)
    return read(os.path.join(out, "multiqc_report.html")).decode(), json.loads(read(os.path.join(out, "multiqc_data", "multiqc_data.json")))


@case
def multiqc_shows_the_same_numbers():
    folder = write_files(False)
    _, document = multiqc(folder)
    shown = document["report_plot_data"]
    for name, plot in plots_of(folder).items():
        expect(plot["pconfig"]["id"] in shown, "%s is not in the report, which has %r" % (name, list(shown)))
        dataset = shown[plot["pconfig"]["id"]]["datasets"][0]
        if plot["plot_type"] == "bargraph":
            wanted = {(sample, key): value for sample, values in plot["data"][0].items() for key, value in values.items()}
            got = {(sample, cat["name"]): value for cat in dataset["cats"] for sample, value in zip(dataset["samples"], cat["data"])
                   if value is not None and not math.isnan(value)}
            expect_equal(set(got), set(wanted), "bars of " + name)
        else:
            wanted = {(p["name"], a): p[a] for points in plot["data"][0].values() for p in points for a in "xy"}
            got = {(p["name"], a): p[a] for p in dataset["points"] for a in "xy"}
            expect_equal(set(got), set(wanted), "points of " + name)
        for key, value in wanted.items():
            expect_close(got[key], value, 1e-9 * abs(value), "%s: %r" % (name, key))


@case
def names_do_no_harm_in_multiqc():
    plain, _ = multiqc(write_files(False))
    evil, document = multiqc(write_files(True))
    expect_equal(len([name for name in document["report_plot_data"] if name.startswith("carbon_")]), 4, "plots")
    before, after = Page(plain), Page(evil)
    expect_equal(len(after.scripts), len(before.scripts), "elements of script")
    for tag, attributes in after.elements:
        expect("onerror" not in attributes, "an attribute onerror")
        expect(not attributes.get("href", "").startswith("javascript:alert"), "a link with a script")
        expect(not (tag == "img" and attributes.get("src") == "x"), "an image of a name")
    count = [sum(tag in ("strong", "em", "code", "b") for tag, _ in page.elements) for page in (before, after)]
    expect_equal(count[1], count[0], "emphasis from Markdown")
    expect("\u2039b\u203abold" in "".join(after.text), "the name of the file is not shown")


if __name__ == "__main__":
    main()
