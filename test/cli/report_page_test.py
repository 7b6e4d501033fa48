"""The page of carbon report: its contents, the order and the columns of its tables, and what its script makes of them."""

import json
import os
import re
import shutil

from harness import Skip, case, expect, expect_equal, fresh, main, ok, read, tool, write
from report_page import Page

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = os.path.join(HERE, "../../src/report/page/report.js")

HEAD = """##fileformat=VCFv4.2
##contig=<ID=1>
##INFO=<ID=CARBON_LLR,Number=A,Type=Float,Description="Carbon log-likelihood ratio">
#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO
"""


def vcf(scores, name="in.vcf"):
    lines = ["1\t%d\t.\tA\tC\t.\t.\tCARBON_LLR=%s\n" % (10 + i, s) for i, s in enumerate(scores)]
    return write(fresh(), name, HEAD + "".join(lines))


def page_of(*args):
    return ok("report", "--no-version", *args).text


@case
def contents_lead_to_every_part():
    """Each link has a place on the page, and each figure and table outside of figures has a link."""
    text = page_of(vcf([-1, 2, "."]), vcf([1, 2, 3], "other.vcf"))
    page = Page(text)
    links = [a["href"][1:] for n, a in page.elements if n == "a"]
    places = [a["id"] for _, a in page.elements if "id" in a]
    expect_equal(len(places), len(set(places)), "places of one name")
    expect_equal(len(links), len(set(links)), "links to one place")
    expect(set(links) <= set(places), "links to nothing: %r" % (set(links) - set(places)))
    parts = [p for p in places if not p.endswith("-numbers")]
    expect_equal(sorted(links), sorted(parts), "what the contents have")
    expect(text.index("<nav") < text.index("<main>"), "the contents stand behind the sections")
    expect(">Lowest scores: CARBON_LLR</a>" in text, "the short name of the table")


@case
def the_lowest_variants_come_first():
    text = page_of(vcf([-1, 2]))
    expect(text.index("Lowest scores: all 2 alleles with a score, by CARBON_LLR, the lowest first</caption>") < text.index("<figure"),
           "the table of the lowest scores stands behind a figure")


@case
def a_table_says_that_rows_are_left_out():
    for scores, top, words in (([3, 1, 2, "."], 2, "the 2 lowest of 3 alleles with a score (--top shows more)"),
                               ([3, 1, 2, "."], 3, "all 3 alleles with a score,"), ([5, "."], 9, "the only allele with a score,")):
        caption, = [c for c in Page(page_of("--top", top, vcf(scores))).captions if c.startswith("Lowest")]
        expect(words in caption, "%r in %r" % (words, caption))


@case
def points_of_a_column_stand_below_one_another():
    """A number with fewer digits behind the point than another of its column is moved left by as many, and half one for the point."""
    text = page_of(vcf([-1.25, 7, -0.5, 1e-30]))
    cells = re.findall(r'<td class="number"( style="--more:[^"]*")?>(-1\.25|7|-0\.5|1e-30)</td>', text.split("</table>")[0])
    expect_equal(cells, [("", "-1.25"), (' style="--more:1"', "-0.5"), (' style="--more:2.5"', "1e-30"), (' style="--more:2.5"', "7")], "cells")
    heads = re.findall(r"<th [^>]*>", text.split("</thead>")[0])
    expect_equal([("aria-sort" in h, 'class="number"' in h) for h in heads][-1], (True, True), "the column of the scores says that it is sorted")
    expect_equal(sum("aria-sort" in h for h in heads), 1, "columns that say that they are sorted")


STUB = """
globalThis.document = {querySelectorAll: () => [], querySelector: () => null};
globalThis.matchMedia = () => ({matches: false});
const cell = (text, number) => ({textContent: text, classList: {contains: (name) => number ? name === "number" : name === text}});
"""


def in_node(expression):
    if not shutil.which("node"):
        raise Skip("no node")
    folder = fresh()
    write(folder, "call.js", STUB + read(SCRIPT).decode() + "\nconsole.log(JSON.stringify(%s));\n" % expression)
    return json.loads(tool("node", os.path.join(folder, "call.js")).out)


@case
def tsv_has_plain_numbers():
    """Commas and minus signs are for people; hidden rows and pictures are left out; no text breaks a row."""
    rows = """(() => {
      const row = (cells, hidden) => ({cells, hidden});
      const head = row([cell("Name"), cell("Alleles", true), cell("Sequence")]);
      const body = [row([cell("a\\tb\\nc"), cell("\\u22121,234.5", true), cell("picture")]), row([cell("hidden"), cell("1", true), cell("picture")], true),
                    row([cell("d-e,f"), cell(".", true), cell("picture")])];
      return shownText({tHead: {rows: [head]}, tBodies: [{rows: body}], rows: [head, ...body]});
    })()"""
    expect_equal(in_node(rows), "Name\tAlleles\na b c\t-1234.5\nd-e,f\t.\n", "the text")


@case
def rows_without_a_value_are_last():
    values = '[".", "1,000", "\\u22122", "3e-05", ""].map((t) => sortValue(cell(t, true), true))'
    for down, wanted in (("false", [-2, 3e-05, 1000, None, None]), ("true", [1000, 3e-05, -2, None, None])):
        expect_equal(in_node("%s.sort((a, b) => compareValues(a, b, %s))" % (values, down)), wanted, "numbers, down " + down)
    words = '["chr10", ".", "chr2"].map((t) => sortValue(cell(t), false)).sort((a, b) => compareValues(a, b, false))'
    expect_equal(in_node(words), ["chr2", "chr10", None], "words")


if __name__ == "__main__":
    main()
