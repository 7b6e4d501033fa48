"""Pictures of carbon report that are stretched along their positions: the views, the axis, and where the points lie."""

import html
import json
import os
import re
import shutil

from harness import Skip, case, expect, expect_close, expect_equal, fresh, main, ok, read, tool, write
from report_page import browser

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/report/page")
HEAD = """##fileformat=VCFv4.2
##contig=<ID=1>
##INFO=<ID=CARBON_LLR,Number=A,Type=Float,Description="Carbon log-likelihood ratio">
#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO
"""
GENE = "##gff-version 3\n1\tx\tgene\t1000\t1999\t.\t+\t.\tID=g;Name=G\n1\tx\texon\t1000\t1999\t.\t+\t.\tParent=g\n"


def page():
    folder = fresh()
    lines = ["1\t%d\t.\tA\tC\t.\t.\tCARBON_LLR=%d\n" % (p, -i) for i, p in enumerate((1000, 1100, 1500, 1550, 1999))]
    out = os.path.join(folder, "r.html")
    ok("report", "--no-version", "-o", out, "--genes", write(folder, "g.gff3", GENE), write(folder, "in.vcf", HEAD + "".join(lines)))
    return read(out).decode()


def in_node(expression):
    if not shutil.which("node"):
        raise Skip("no node")
    folder = fresh()
    stub = "globalThis.document = {querySelectorAll: () => [], querySelector: () => null}; globalThis.matchMedia = () => ({matches: false});\n"
    script = "".join(read(os.path.join(SCRIPTS, name)).decode() for name in ("report.js", "zoom.js"))
    write(folder, "call.js", stub + script + "\nconsole.log(JSON.stringify(%s));\n" % expression)
    return json.loads(tool("node", os.path.join(folder, "call.js")).out)


@case
def views_stay_within_the_axis():
    for start, factor, move, wanted in (((0, 1), 0.5, 0, (0.25, 0.75)), ((0, 1), 2, 0, (0, 1)), ((0.25, 0.75), 1, 0.5, (0.5, 1)), ((0.5, 1), 1, 0.5, (0.5, 1)),
                                        ((0, 0.5), 2, 0, (0, 1)), ((0.8, 1), 2, 0, (0.6, 1)), ((0.2, 0.3), "Infinity", 0, (0, 1))):
        view = in_node("nextView({from: %g, to: %g}, %s, %g)" % (*start, factor, move))
        expect_close(view["from"], wanted[0], 1e-12, "from"), expect_close(view["to"], wanted[1], 1e-12, "to")
    deep = in_node("[...Array(50)].reduce((view) => nextView(view, 0.5, 0), {from: 0, to: 1})")
    expect_close(deep["to"] - deep["from"], 1 / 4096, 1e-12, "the closest view")


@case
def ticks_are_round_positions():
    axis = "{left: 100, right: 1000, least: 0, most: 1000, bottom: 300, ticks: %s}"
    expect_equal(in_node("ticksOf(%s, {from: 0, to: 1})" % (axis % "[]"))[:3], [[100, "0"], [190, "100"], [280, "200"]], "all")
    expect_equal(in_node("ticksOf(%s, {from: 0.5, to: 0.6}).map(([x, t]) => [Math.round(x), t])" % (axis % "[]"))[::5], [[100, "500"], [550, "550"], [1000, "600"]], "a tenth")
    expect_equal(in_node("ticksOf(%s, {from: 0, to: 0.5})" % (axis % '[[0, "7"], [250, "8"], [501, "9"]]')), [[100, "7"], [550, "8"]], "ticks of exons")
    expect_equal(in_node("roundTicks(43044295, 43044305, 1)").__len__(), 11, "positions next to one another")


LOOK = """<script type="module">
const picture = document.querySelector("figure .picture"), svg = picture.querySelector("svg");
const figure = picture.closest("figure");
const press = (name) => figure.querySelector(`button[aria-label="${name}"]`).click();
const state = () => ({box: [...svg.querySelectorAll("svg")].at(-1).getAttribute("viewBox"), ticks: [...svg.querySelectorAll(".ticks text")].map((e) => e.textContent)});
const tip = (x, y) => {
  const frame = svg.getBoundingClientRect(), scale = frame.width / svg.viewBox.baseVal.width;
  svg.dispatchEvent(new PointerEvent("pointermove", {clientX: frame.left + x * scale, clientY: frame.top + y * scale}));
  return figure.querySelector(".tip").hidden ? "" : figure.querySelector(".tip").textContent.split("\\n")[0];
};
const points = JSON.parse(picture.dataset.points), axis = JSON.parse(picture.dataset.axis);
const all = state();
press("Zoom in");
const near = state();
const at = (x) => axis.left + ((x - axis.left) / (axis.right - axis.left) - 0.25) * 2 * (axis.right - axis.left);
const tips = points.map(([x, y]) => tip(at(x), y));
press("Show all positions");
document.title = JSON.stringify({all, near, tips, again: state()});
</script>"""


def said(text, script):
    """What a script at the end of the page has written into the title."""
    path = write(fresh(), "r.html", text.replace("</body>", script + "</body>"))
    run = browser("--dump-dom", "--window-size=1200,900", "file://" + path)
    title = html.unescape(re.search("<title>(.*?)</title>", run.out.decode(errors="replace"))[1])
    expect(title[0] in "[{", "the script has not run: " + title, run)
    return json.loads(title)


@case
def a_stretched_picture_has_its_ticks_and_points():
    """In the middle half of the gene, 1,250 to 1,749, lie two of five alleles."""
    found = said(page(), LOOK)
    expect_equal(sorted(found["tips"]), ["", "", "", "1:1,500 A>C", "1:1,550 A>C"], "tips")
    (left, _, wide, _), (inner, _, half, _) = ([float(x) for x in found[name]["box"].split()] for name in ("all", "near"))
    expect_close(half, wide / 2, 1e-6, "the width that is seen"), expect_close(inner, left + wide / 4, 1e-6, "where it begins")
    positions = [int(t.replace(",", "")) for t in found["near"]["ticks"]]
    expect(len(positions) > 4 and all(1249 <= p <= 1750 and p % 50 == 0 for p in positions), "ticks %r" % positions)
    expect_equal(found["again"]["box"].split()[2], found["all"]["box"].split()[2], "the whole again")


FRAMES = """<script type="module">
document.querySelector('button[aria-label="Zoom in"]').click();
document.title = JSON.stringify([...document.querySelectorAll("figure .picture svg svg")].map((e) => e.getAttribute("viewBox").split(" ")));
</script>"""


@case
def genes_above_the_frame_follow():
    folder = fresh()
    rows = "".join("1\t%d\tA\t0.5\t0.1\n" % i for i in range(1000, 1900))
    out = os.path.join(folder, "r.html")
    ok("report", "-o", out, "--genes", write(folder, "g.gff3", GENE), write(folder, "coding.tsv", "#name\tpos\tbase\tplus\tminus\n" + rows))
    genes, marks = said(read(out).decode(), FRAMES)
    expect_equal((genes[0], genes[2]), (marks[0], marks[2]), "where both frames begin, and their widths")


if __name__ == "__main__":
    main()
