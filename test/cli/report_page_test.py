"""The page of carbon report: its contents, the order and the columns of its tables, and what its script makes of them."""

import html
import json
import os
import re
import shutil

from harness import Skip, case, expect, expect_equal, fresh, main, ok, read, tool, write
from report_page import Page, browser

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
    links = [a["href"][1:] for n, a in page.elements if n == "a" and not re.match(r"#\w+-\d+-[A-Z]", a["href"])]
    places = [a["id"] for n, a in page.elements if "id" in a and n != "tr"]
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
def the_highest_distances_come_first():
    """In the table and in the genes; of equal ones the earlier."""
    head = HEAD.replace("CARBON_LLR", "CARBON_L2").replace("log-likelihood ratio", "distance of the hidden states")
    lines = ["1\t%d\t.\tA\tC\t.\t.\tCARBON_L2=%s\n" % (10 + i, s) for i, s in enumerate(["1", "3", "2", "3", "0", "."])]
    genes = write(fresh(), "g.gff3", "##gff-version 3\n1\tx\tgene\t10\t14\t.\t+\t.\tID=g;Name=G\n1\tx\tCDS\t10\t14\t.\t+\t0\tParent=g\n")
    text = page_of("--top", 3, "--genes", genes, write(fresh(), "in.vcf", head + "".join(lines)))
    page = Page(text)
    table, = [t for t, c in zip(page.tables, page.captions) if c.startswith("Highest scores: the 3 highest of 5 alleles with a score")]
    expect_equal([row[table[0].index("POS")] for row in table[1:]], ["11", "13", "12"], "positions of the table")
    expect_equal([a["aria-sort"] for _, a in page.elements if "aria-sort" in a], ["descending"], "how the table is sorted")
    expect("The highest score is 3 at 1:11." in text, "the words of the figure of the gene")
    expect("with the highest scores are drawn, the highest first" in text, "the genes")


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
      const head = row([cell("Name"), cell("Alleles", true), cell("Sequence"), cell("Links")]);
      const body = [row([cell("a\\tb\\nc"), cell("\\u22121,234.5", true), cell("picture"), cell("links")]), row([cell("hidden"), cell("1", true), cell("picture")], true),
                    row([cell("d-e,f"), cell(".", true), cell("picture"), cell("links")])];
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


@case
def points_of_a_scatter_say_which_allele_they_are():
    """In pixels of the picture, where its dots lie; without names there are more dots than can be told apart."""
    head = HEAD.replace("#CHROM", '##INFO=<ID=CARBON_NT,Number=A,Type=Float,Description="Carbon">\n#CHROM')
    lines = ["1\t%d\t.\tA\tC%s\t.\t.\tCARBON_LLR=%d;CARBON_NT=%g\n" % (1200 + i, "<"[:i == 2] and "A" * 40, i, i / 2) for i in range(3)]
    text = page_of(write(fresh(), "in.vcf", head + "".join(lines)))
    for figure in ("in_agreement_scatter", "in_agreement_bland_altman"):
        part = text.split('<figure id="%s">' % figure)[1].split("</figure>")[0]
        points = json.loads(html.unescape(re.search('data-points="([^"]*)"', part)[1]))
        expect_equal([p[2] for p in points], ["1:1,200 A>C\nCARBON_LLR: 0\nCARBON_NT: 0", "1:1,201 A>C\nCARBON_LLR: 1\nCARBON_NT: 0.5",
                                              "1:1,202 A>C%s\u2026\nCARBON_LLR: 2\nCARBON_NT: 1" % ("A" * 19)], "words of " + figure)
        dots = "".join("M%g %gh0" % tuple(p[:2]) for p in points)
        expect('d="%s"' % dots in part, "%s has no dots %s" % (figure, dots))


@case
def a_point_far_from_all_others_stands_at_the_edge():
    """It neither makes all others a line nor gets lost: its axis ends before it, and its words are those of its value."""
    head = HEAD.replace("#CHROM", '##INFO=<ID=OTHER,Number=A,Type=Float,Description="another score">\n#CHROM')
    for count, beyond in ((60, "1 point lies beyond the ends of the axes and is a triangle at the edge."), (15, "")):
        lines = ["1\t%d\t.\tA\tC\t.\t.\tCARBON_LLR=%d;OTHER=%d\n" % (10 + i, i % 7, 900 if i == 5 else i % 5) for i in range(count)]
        text = page_of("--tags", "CARBON_LLR,OTHER", write(fresh(), "in.vcf", head + "".join(lines)))
        caption = Page(text).figures["in_agreement_scatter"][0]
        expect(beyond in caption and ("beyond" in caption) == (beyond != ""), "caption of %d: %s" % (count, caption))
        part = text.split('<figure id="in_agreement_scatter"')[1].split("</figure>")[0]
        points = json.loads(html.unescape(re.search('data-points="([^"]*)"', part)[1]))
        x, y, words = points[5]
        expect_equal((len(points), words), (count, "1:15 A>C\nCARBON_LLR: 5\nOTHER: 900"), "the point")
        expect_equal("M%g %g" % (x, round(y - 1.3 * 3.7, 1)) in part, beyond != "", "a triangle of %d" % count)
        expect((min(p[1] for p in points if p != points[5]) - y < 300) == (beyond != ""), "others are a line")


@case
def the_nearest_point_is_found():
    points = '[[0, 0, "a"], [10, 0, "b"], [11, 1, "c"]]'
    for x, y, wanted in ((1, 1, "a"), (10, -3, "b"), (12, 2, "c"), (30, 0, None), (0, 10.5, None)):
        expect_equal(in_node("(nearestPoint(%s, %g, %g, 10) ?? [])[2] ?? null" % (points, x, y)), wanted, "at %g, %g" % (x, y))


@case
def pictures_have_fonts_of_other_programs():
    """Those of the page, and those that its script saves."""
    rows = "".join("s\t%d\tA\t-0.693147\t1.2\t0.5\t0.25\t0.125\t0.125\n" % i for i in range(1, 40))
    text = page_of(write(fresh(), "bases.tsv", "#name\tpos\tbase\tlogp\tentropy\tA\tC\tG\tT\n" + rows))
    expect_equal(set(re.findall(r'font-family="([^"]*)"', text)), {"Helvetica, Arial, 'Liberation Sans', sans-serif"}, "fonts")
    expect_equal(len(re.findall("font-family=", text)), 3, "two pictures, and the script's")


# What the page says of itself, in its title.
LOOK = """<script type="module">
const figure = document.querySelector("figure");
const svg = new XMLSerializer().serializeToString(figure.querySelector(".picture svg"));
const image = new Image();
image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg);
await image.decode();
document.title = JSON.stringify({paper: getComputedStyle(document.body).backgroundColor, size: [image.naturalWidth, image.naturalHeight],
  filter: getComputedStyle(figure.querySelector(".picture svg")).filter, saves: [...figure.querySelectorAll(".saves button")].map((e) => e.textContent)});
</script>"""
PNG = """<script type="module">%s
const blob = await pngOf(new XMLSerializer().serializeToString(document.querySelector("figure .picture svg")));
const head = new DataView(await blob.arrayBuffer());
document.title = JSON.stringify([blob.type, head.getUint32(0), head.getUint32(16), head.getUint32(20)]);
</script>"""


def said(page, *options):
    """What a script at the end of the page has written into the title."""
    run = browser("--dump-dom", *options, "file://" + page)
    title = html.unescape(re.search("<title>(.*?)</title>", run.out.decode(errors="replace"))[1])
    expect(title[0] in "[{", "the script has not run: " + title, run)
    return json.loads(title)


@case
def the_page_is_dark_where_the_reader_wants_it():
    """Its pictures, too, and the files that are saved are not."""
    page = write(fresh(), "r.html", page_of(vcf([-1, 2, 3])).replace("</body>", LOOK + "</body>"))
    light, dark = said(page, "--blink-settings=preferredColorScheme=1"), said(page, "--blink-settings=preferredColorScheme=0")
    expect_equal((light["paper"], light["filter"]), ("rgb(255, 255, 255)", "none"), "light")
    expect_equal((dark["paper"], dark["filter"]), ("rgb(21, 25, 30)", "invert(1) hue-rotate(180deg)"), "dark")
    expect_equal(light["saves"], ["Save as SVG", "Save as PNG"], "buttons")


@case
def pictures_are_saved_as_png():
    """Three pixels for each of the picture."""
    functions = read(SCRIPT).decode().split("for (const box of document")[0]
    text = page_of(vcf([-1, 2, 3]))
    wide, high = map(float, re.search(r'<svg xmlns="[^"]*" width="([\d.]+)" height="([\d.]+)"', text.split("<figure")[1]).groups())
    page = write(fresh(), "r.html", text.replace("</body>", PNG % functions + "</body>"))
    expect_equal(said(page), ["image/png", 0x89504E47, 3 * wide, 3 * high], "type, signature and size")


if __name__ == "__main__":
    main()
