"""carbon report: the JSON of carbon bench. The drawn numbers are those of the file; files that are wrong are refused."""

import html.parser
import json
import os
import xml.etree.ElementTree

from harness import carbon, case, expect, expect_close, expect_equal, expect_failure, fresh, main, model, ok, read, tree, write

SVG = "{http://www.w3.org/2000/svg}"
_bench = []


def bench():
    if not _bench:
        _bench.append(ok("bench", "-q", "-m", model(), "-p", "20", "-n", "3", "-b", "1,3", "--batch-tokens", "50", "--rounds", "2", "--json",
                         timeout=600).text)
    return _bench[0]


def report(text):
    folder = fresh()
    path = write(folder, "b.json", text)
    ok("report", path, "-o", os.path.join(folder, "r.html"), "--svg", os.path.join(folder, "svg"), "--multiqc", os.path.join(folder, "mqc"))
    plots = {name[len("carbon_b_"):-len("_mqc.json")]: json.loads(read(os.path.join(folder, "mqc", name)))
             for name in os.listdir(os.path.join(folder, "mqc"))}
    return read(os.path.join(folder, "r.html")).decode(), os.path.join(folder, "svg"), plots


class Tables(html.parser.HTMLParser):
    """The rows of the table in each figure."""

    def __init__(self, page):
        super().__init__()
        self.rows, self.figure, self.cell = {}, None, None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        if tag == "figure":
            self.figure = dict(attributes)["id"]
        elif tag == "tr":
            self.rows.setdefault(self.figure, []).append([])
        elif tag == "td":
            self.cell = ""

    def handle_data(self, text):
        if self.cell is not None:
            self.cell += text

    def handle_endtag(self, tag):
        if tag == "td":
            self.rows[self.figure][-1].append(self.cell)
            self.cell = None


@case
def numbers_are_those_of_the_file():
    wanted = json.loads(bench())
    page, _, plots = report(bench())
    rows = {figure: [row for row in rows if row] for figure, rows in Tables(page).rows.items()}
    expect_equal(len(rows["b_speed"]), len(wanted["tests"]), "tests")
    speeds = list(plots["speed"]["data"][0].values())
    for test, row, share, speed in zip(wanted["tests"], rows["b_speed"], rows["b_share"], speeds):
        expect(row[0].startswith(test["test"]), "name " + row[0])
        names = ("tokens_per_s", "bases_per_s", "variants_per_s", "seconds")
        values = [test[name][part] if name in test else None for name in names for part in ("median", "min", "max")]
        for got, value in zip(row[1:], values):
            expect_equal(got, "." if value is None else "%.6g" % value, row[0])
        for got, part in zip(share[1:4], ("median", "min", "max")):
            expect_close(float(got), 100 * test["of_limit"][part], 1e-5 * 100 * test["of_limit"][part], row[0] + " share")
        expect_equal(share[4], test["limit"], "limit of " + row[0])
        expect_equal(speed, {"tokens per second": test["tokens_per_s"]["median"]}, "plot of " + row[0])
    limits = {row[4]: row for figure in ("b_memory", "b_arithmetic") for row in rows[figure]}
    expect_equal(set(limits), set(wanted["limits"]), "limits")
    for name, row in limits.items():
        for got, part in zip(row[1:4], ("median", "min", "max")):
            expect_close(float(got) * 1e9, wanted["limits"][name][part], 1e-5 * wanted["limits"][name][part], name)
    for words in (wanted["model"], wanted["device"], wanted["dtype"], "carbon " + wanted["carbon"]):
        expect(words in page, "the page does not say " + words)


@case
def bars_are_as_long_as_their_numbers():
    wanted = json.loads(bench())
    _, svg, _ = report(bench())
    picture = xml.etree.ElementTree.parse(os.path.join(svg, "b_speed.svg")).getroot()
    bars = [float(p.get("d").split("h")[1].split("v")[0]) for p in picture.iter(SVG + "path") if p.get("fill") == "#0b5cad"]
    expect_equal(len(bars), len(wanted["tests"]), "bars")
    values = [t["tokens_per_s"]["median"] for t in wanted["tests"]]
    scale = max(bars) / max(values)
    for bar, value in zip(bars, values):
        expect_close(bar, scale * value, 0.11, "a bar for %g" % value)


@case
def names_are_text():
    document = json.loads(bench())
    document["model"] = document["cpu"] = "</dd><script>alert(1)</script>"
    document["tests"][0]["test"] = "<script>alert(2)</script>"
    document["limits"]["<img src=x>"] = dict(document["limits"]["read"])
    page, svg, _ = report(json.dumps(document))
    expect_equal(page.count("<script"), 1, "elements of script")
    expect("<img" not in page and "&lt;img" in page, "an element of a limit's name")
    for name in os.listdir(svg):
        xml.etree.ElementTree.parse(os.path.join(svg, name))


@case
def wrong_files_are_refused():
    document = json.loads(bench())

    def refused(text, *words):
        folder = fresh()
        path = write(folder, "b.json", text)
        before = tree(folder)
        expect_failure(carbon("report", path, "-o", os.path.join(folder, "r.html")), "b.json: ", *words)
        expect_equal(tree(folder), before, "files")
    refused(bench()[:-5], "not valid JSON")
    for key in document:
        if key != "limits":
            refused(json.dumps({k: v for k, v in document.items() if k != key}), "'%s'" % key)
    refused(json.dumps(dict(document, threads="2")), "threads: expected a whole number")
    refused(json.dumps(dict(document, tests=[])), "tests: expected an array of 1 to 200 tests")
    refused(json.dumps(dict(document, tests=[dict(document["tests"][0], seconds=None)])), "tests[0]: seconds: expected an object")
    refused('{"tests": 1, "tests": 2}', "appears twice")
    refused('{"tests": ' + "[" * 100 + "]" * 100 + "}", "nested too deeply")
    refused('{"a": 1}', "this JSON is of none of the known commands")


if __name__ == "__main__":
    main()
