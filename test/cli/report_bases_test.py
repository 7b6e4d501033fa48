"""carbon report of tables of bases: what is drawn is what score, scan and +mutagenesis wrote, whatever the names in them."""

import html
import json
import math
import os
import random
import re
import shutil
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

from harness import (bgzip, carbon, case, command, expect, expect_close, expect_equal, expect_failure, fresh, main, model,
                     ok, read, to_fasta, tool, write)

SCORE = "#name\tpos\tbase\tlogp\tentropy\tA\tC\tG\tT"
SCAN = "#CHROM\tPOS\tREF\tALT\tCARBON_SCAN"
MATRIX = "#CHROM\tPOS\tREF\tA\tC\tG\tT"
HOSTILE = "<script>alert(1)</script>&\"'"
FULL = 100  # pixels of a logo for a probability of one: 150 without axis (24), letters (18) and margin (8)


class Tables(HTMLParser):
    """The tables of a page by caption: {caption: rows of texts, the first of which are the columns}."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.rows, self.cell, self.caption = {}, None, None, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag == "table":
            self.rows, self.caption = [], ""
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th", "caption"):
            self.cell = ""

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data

    def handle_endtag(self, tag):
        if tag == "caption":
            self.caption, self.cell = self.cell, None
        elif tag in ("td", "th"):
            self.rows[-1].append(self.cell)
            self.cell = None
        elif tag == "table":
            self.tables[self.caption] = self.rows


def report(*args, name="report.html"):
    """The text of a report, and the folder of its figures."""
    folder = fresh()
    ok("report", "-o", os.path.join(folder, name), "--svg", os.path.join(folder, "svg"), "--no-version", *args)
    return read(os.path.join(folder, name)).decode(), os.path.join(folder, "svg")


def table_of(page, beginning):
    found = [rows for caption, rows in Tables(page).tables.items() if caption.startswith(beginning)]
    expect_equal(len(found), 1, "tables that begin with " + beginning)
    return found[0][1:]


def sequence(length, seed=1):
    return "".join(random.Random(seed).choices("ACGT", k=length))


def fasta(*records):
    return write(fresh(), "in.fa", to_fasta(records))


def run_score(bases, *options):
    return ok("score", "-m", model(), "-O", "tsv", *options, fasta(("seq", bases))).text


def run_scan(bases, name="seq"):
    return ok("scan", "-m", model(), "-f", fasta((name, bases)), "-O", "t").text


def fields(text, columns):
    lines = [line for line in text.splitlines() if not line.startswith("##")]
    expect_equal(lines[0], columns, "columns")
    return [line.split("\t") for line in lines[1:]]


def made_score(rows):
    """A score table of (name, position, base, probabilities)."""
    lines = [SCORE]
    for name, pos, base, p in rows:
        logp = math.log(p["ACGT".index(base)])
        lines.append("\t".join([name, str(pos), base, "%.6g" % logp, "1", *("%.6g" % v for v in p)]))
    return "\n".join(lines) + "\n"


def random_rows(name, count, first=1, seed=3):
    generator = random.Random(seed)
    for pos in range(first, first + count):
        weights = [generator.random() ** 3 + 0.01 for _ in range(4)]
        yield name, pos, generator.choice("ACGT"), [w / sum(weights) for w in weights]


@case
def numbers_are_those_of_score():
    text = run_score(sequence(300))
    page, _ = report(write(fresh(), "a.tsv", text))
    wanted = fields(text, SCORE)
    shown = table_of(page, "Values of seq:")
    expect_equal([r[:2] for r in shown], [r[1:3] for r in wanted], "positions and bases")
    for mine, theirs in zip(shown, wanted):
        expect_equal(mine[2], theirs[3], "ln P at " + mine[0])
        for got, value in zip(mine[3:], theirs[4:]):
            expect_close(float(got), float(value), 2e-5 * max(1, float(value)), "value at " + mine[0])


@case
def both_strands_are_drawn():
    """logp is the mean of two logarithms, and the probabilities are scaled: what is drawn are the probabilities."""
    text = run_score(sequence(300), "--strand", "both")
    page, _ = report(write(fresh(), "a.tsv", text))
    wanted = fields(text, SCORE)
    shown = table_of(page, "Values of seq:")
    expect_equal([r[:2] for r in shown], [r[1:3] for r in wanted], "positions and bases")
    for mine, theirs in zip(shown, wanted):
        p = float(theirs[5 + "ACGT".index(theirs[2])])
        expect(float(theirs[3]) <= math.log(p) + 1e-4, "logp above ln P at " + mine[0])
        expect_close(float(mine[2]), math.log(p), 1e-4 * max(1, abs(math.log(p))), "ln P at " + mine[0])
        expect_close(sum(float(v) for v in mine[4:]), 1, 1e-4, "the sum at " + mine[0])
    expect("The table is of both strands" in page, "no word of the strands")
    bare = "".join(line + "\n" for line in text.splitlines() if not line.startswith("##"))
    expect_equal(len(table_of(report(write(fresh(), "a.tsv", bare))[0], "Values of seq:")), len(wanted), "bases without a header")
    changed = text.replace("Strand=both", "Strand=+")
    expect_failure(carbon("report", "-o", os.path.join(fresh(), "o.html"), write(fresh(), "a.tsv", changed)), "is not the logarithm")
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("seq\t"))
    lines[at] = "\t".join(lines[at].split("\t")[:3] + ["-0.01"] + lines[at].split("\t")[4:])
    expect_failure(carbon("report", "-o", os.path.join(fresh(), "o.html"), write(fresh(), "a.tsv", "\n".join(lines) + "\n")), "is not the logarithm")


@case
def numbers_are_those_of_scan():
    text = run_scan(sequence(250))
    page, _ = report(write(fresh(), "a.tsv", text))
    changes = {}
    for _, pos, ref, alt, value in fields(text, SCAN):
        changes.setdefault((pos, ref), {})[alt] = float(value)
    shown = {tuple(r[:2]): r[2:] for r in table_of(page, "Changes of seq:")}
    values = {tuple(r[:2]): r[2:] for r in table_of(page, "Values of seq:")}
    expect_equal(sorted(shown), sorted(changes), "positions")
    for place, alts in changes.items():
        total = 1 + sum(math.exp(v) for v in alts.values())
        for letter, got, p in zip("ACGT", shown[place], values[place][2:]):
            if letter == place[1]:
                expect_equal(got, "", "the reference at %s" % (place,))
            else:
                expect_close(float(got), alts[letter], 2e-5 * max(1, abs(alts[letter])), "change at %s" % (place,))
            expect_close(float(p), math.exp(alts.get(letter, 0)) / total, 2e-6, "probability at %s" % (place,))
        expect_close(float(values[place][0]), -math.log(total), 2e-5, "ln P at %s" % (place,))
    expect("carbon scan " in page, "the foot does not say which program made the table")
    expect("SHA-256" in page and re.search(r"[0-9a-f]{64}", page), "the foot does not have the model's digest")


@case
def numbers_are_those_of_mutagenesis():
    folder = fresh()
    bases = sequence(1200)
    for kind, columns in (("snv", MATRIX), ("indel", "#CHROM\tPOS\tREF\tdel\tA\tC\tG\tT")):
        path = os.path.join(folder, kind + ".tsv")
        ok("+mutagenesis", "-m", model(), "-o", os.path.join(folder, kind + ".vcf"), "--", "-f", fasta(("seq", bases)), "-r",
           "seq:600-660", "--matrix", path, "--type", kind, "--window", "600", timeout=300)
        page, folder_svg = report(path)
        wanted = fields(read(path).decode(), columns)
        shown = table_of(page, "Changes of seq:600-660")
        expect_equal(len(shown), 61, "rows")
        for mine, theirs in zip(shown, wanted):
            expect_equal(mine[:2], theirs[1:3], "place")
            values = [None if kind == "snv" and letter == theirs[2] else float(v)
                      for letter, v in zip(columns.split("\t")[3:], theirs[3:])]
            for got, value in zip(mine[3:], values):
                if value is None:
                    expect_equal(got, "", "the reference at " + mine[0])
                else:
                    expect_close(float(got), value, 1e-5 * max(1, abs(value)), "change at " + mine[0])
            present = [v for v in values if v is not None]
            expect_close(float(mine[2]), sum(present) / len(present), 1e-5, "mean at " + mine[0])
        expect_equal(os.listdir(folder_svg), [kind + "_effects.svg"], "figures")


@case
def a_letter_counts_where_it_is_more_likely_than_each_other():
    """Not where others are as likely, as far as the six digits of a table tell."""
    scan = SCAN + "\n" + "".join("c\t%d\tA\t%s\t%d\n" % (p, alt, -(p > 3)) for p in range(1, 13) for alt in "CGT")
    score = made_score(("c", p, "A", [0.25] * 4 if p > 3 else [0.4, 0.3, 0.2, 0.1]) for p in range(1, 13))
    for text, share in ((scan, 75), (score, 25)):
        page, _ = report(write(fresh(), "a.tsv", text))
        expect("The most likely letter is the actual base at %d %% of the bases." % share in page, "not %d %%" % share)


@case
def heights_are_probabilities():
    """500 bases are drawn as bars, whose heights are written in the path: A..T stand as high as their probabilities."""
    rows = list(random_rows("seq", 500))
    _, svg = report(write(fresh(), "a.tsv", made_score(rows)))
    text = read(os.path.join(svg, "a_logo.svg")).decode()
    heights = {}
    for opacity, path in re.findall(r'<path fill="#[0-9a-f]{6}"( fill-opacity="[\d.]+")? fill-rule="evenodd" d="([^"]*)"', text):
        for x, y, height in re.findall(r"M([\d.]+) ([\d.]+)h[\d.]+v([\d.]+)h-[\d.]+Z", path):
            if y != "113":  # the row of letters below
                heights.setdefault(float(x), []).append((opacity == "", float(height)))
    expect_equal(len(heights), 500, "columns")
    for x, (_, _, base, p) in zip(sorted(heights), rows):
        actual = [height for here, height in heights[x] if here]
        others = sorted(height for here, height in heights[x] if not here)
        wanted = sorted(FULL * v for i, v in enumerate(p) if "ACGT"[i] != base and FULL * v >= 0.4)
        if FULL * p["ACGT".index(base)] >= 0.4:
            expect_close(actual[0], FULL * p["ACGT".index(base)], 0.06, "height of the base at x %g" % x)
        expect_equal(len(others), len(wanted), "letters at x %g" % x)
        for got, value in zip(others, wanted):
            expect_close(got, value, 0.06, "height at x %g" % x)


@case
def bars_are_mean_effects():
    generator = random.Random(5)
    rows = [("c", pos, ref, ["0" if letter == ref else "%.4f" % generator.uniform(-4, 1) for letter in "ACGT"])
            for pos in range(11, 71) for ref in generator.choice("ACGT")]
    text = MATRIX + "\n" + "".join("%s\t%d\t%s\t%s\n" % (*row[:3], "\t".join(row[3])) for row in rows)
    _, svg = report(write(fresh(), "m.tsv", text))
    bars = []
    for colour, sign in (("#c7640c", -1), ("#2f78bd", 1)):
        paths = re.findall(r'<path fill="%s" d="([^"]*)"' % colour, read(os.path.join(svg, "m_effects.svg")).decode())
        bars += [(float(x), sign * float(v)) for x, v in re.findall(r"M([\d.]+) [\d.]+h[\d.]+v([\d.]+)h", max(paths, key=len))]  # not the legend's
    bars = [height for _, height in sorted(bars)]
    expect_equal(len(bars), len(rows), "bars")
    means = [sum(float(v) for v in row[3]) / 3 for row in rows]
    scale = max(abs(b) for b in bars) / max(abs(m) for m in means)
    for bar, mean in zip(bars, means):
        expect_close(bar, scale * mean, 0.15, "bar of %g" % mean)


@case
def names_are_text_wherever_they_stand():
    folder = fresh()
    score = write(folder, "a.tsv", made_score(random_rows(HOSTILE, 120)))
    matrix = write(folder, "m.tsv", MATRIX + "\n" + "".join("%s\t%d\tA\t0\t-1\t.\t2\n" % (HOSTILE, p) for p in range(1, 30)))
    scan = write(folder, "s.tsv", "##carbon_scanCommand=" + HOSTILE + "\n" + SCAN + "\n" + "".join(
        "%s\t%d\tA\t%s\t-1\n" % (HOSTILE, p, alt) for p in range(1, 30) for alt in "CGT"))
    escaped = HOSTILE.replace("%", "%25").replace(";", "%3B").replace("&", "%26")
    gff = write(folder, "g.gff3", "##gff-version 3\n%s\tx\tgene\t10\t60\t.\t+\t.\tID=g;Name=%s\n%s\tx\texon\t10\t60\t.\t+\t.\tParent=g\n"
                % (HOSTILE.replace("&", "%26"), escaped, HOSTILE.replace("&", "%26")))
    page, svg = report("--genes", gff, score, matrix, scan)
    expect_equal(page.count("<script>alert"), 0, "elements from a name")
    expect(html.escape(HOSTILE, quote=False).split("&amp;")[0] in page, "the name is not shown")
    expect_equal(len(re.findall(r"<script\b", page)), 3, "script elements: two of data, one of the page")
    for data in re.findall(r'<script type="application/json">(.*?)</script>', page, re.S):
        parsed = json.loads(data)
        expect_equal(parsed["name"], HOSTILE, "the name in the viewer's data")
        expect_equal(parsed["marks"][0]["name"], HOSTILE, "the gene in the viewer's data")
    for file in os.listdir(svg):
        root = ElementTree.parse(os.path.join(svg, file)).getroot()
        expect(not root.findall(".//{http://www.w3.org/2000/svg}script"), "a script in " + file)
        if not file.startswith("comparison"):  # which has names of files
            expect(HOSTILE in "".join(root.itertext()), "the name is not in " + file)
    if shutil.which("tidy"):
        path = write(folder, "page.html", page)
        result = command(["tidy", "-q", "-e", path])
        expect("Error:" not in result.err and result.rc < 2, "tidy finds errors", result)


@case
def regions_choose_what_is_drawn():
    text = made_score(random_rows("chr1", 3000)) + "".join(
        line + "\n" for line in made_score(random_rows("chr2", 50, first=900)).splitlines()[1:])
    path = write(fresh(), "a.tsv", text)
    page, svg = report("-r", "chr1:1,001-1,100", "-r", "chr2", path)
    expect_equal(sorted(os.listdir(svg)), ["a_1_logo.svg", "a_1_map.svg", "a_2_logo.svg", "a_2_map.svg"], "figures")
    expect_equal([r[0] for r in table_of(page, "Values of chr1:1,001-1,100")], [str(p) for p in range(1001, 1101)], "positions")
    expect_equal(len(table_of(page, "Values of chr2:900-949")), 50, "bases of chr2")
    for one in ("{chr2}:1-900", "chr2:9e2-900", "chr2:0,900-0,900"):
        expect_equal(len(table_of(report("-r", one, path)[0], "Values of chr2:900")), 1, "bases of " + one)
    result = carbon("report", "-r", "chr9", "-o", os.path.join(fresh(), "o.html"), path)
    expect(result.rc == 0 and result.messages("W"), "a region without bases is a warning", result)
    for bad in ("chr1:9-3", "chr1:x-", ":5"):
        folder = fresh()
        result = carbon("report", "-r", bad, "-o", os.path.join(folder, "o.html"), path)
        if bad == "chr1:x-":  # the name of a sequence that the table lacks
            expect(result.rc == 0, "rc", result)
            continue
        expect_failure(result, bad.split(":")[1])
        expect_equal(os.listdir(folder), [], "files of a failed run")


@case
def regions_without_bases_are_named():
    """Also where others have some, and in a table that is not sorted."""
    table = "#name\tpos\tbase\tplus\tminus\n" + "".join("%s\t%d\tA\t0.5\t0.1\n" % at for at in (("a", 1), ("b", 1), ("a", 2)))
    page, _ = report("-r", "a:2-5", "-r", "c:1-9", "-r", "b:7", write(fresh(), "t.tsv", table))
    expect("The table t.tsv has no base in c:1-9 and b:7-." in page, "no note")
    expect("a:2-2" in page, "the base of a")


@case
def no_table_of_bases_is_too_large():
    """200,000 bases, of which gaps are a part, and values of any size that is not a number of usual size."""
    rows = "".join("a\t%d\tA\t0.5\t0.1\n" % position for position in range(1, 330000, 11))
    page, _ = report(write(fresh(), "t.tsv", "#name\tpos\tbase\tplus\tminus\n" + rows))
    expect("The table goes on at a:" in page, "all is drawn")
    for text in (SCORE + "\ns\t1\tA\t-1e308\t0\t0\t1\t0\t0\n", SCAN + "\ns\t1\tA\tC\t-1e308\ns\t1\tA\tG\t1e308\ns\t1\tA\tT\t-inf\n",
                 "#CHROM\tPOS\tREF\tA\tC\tG\tT\n1\t1\tA\t0\t-1e308\t1\t-inf\n"):
        expect_failure(carbon("report", "-o", os.path.join(fresh(), "o.html"), write(fresh(), "x.tsv", text)), "x.tsv:2", "usual size")


@case
def an_unknown_base_of_a_saturation_has_no_value():
    folder = fresh()
    bases = write(folder, "ref.fa", to_fasta([("s", sequence(60) + "N" + sequence(60, 2))]))
    matrix = os.path.join(folder, "matrix.tsv")
    ok("+mutagenesis", "-m", model(), "-o", os.path.join(folder, "m.vcf"), "--", "-f", bases, "--window", 60, "-r", "s:55-67",
       "--matrix", matrix)
    expect("s\t61\tN\t.\t.\t.\t.\n" in read(matrix).decode(), "the line of N")
    report(matrix)


@case
def an_index_finds_the_same_bases():
    text = SCAN + "\n" + "".join("c%d\t%d\tA\t%s\t%g\n" % (n, p, alt, -p / 1000) for n in (1, 2) for p in range(1, 3001)
                                 for alt in "CGT")
    packed = bgzip(write(fresh(), "a.tsv", text))
    plain, _ = report("-r", "c2:2000-2100", packed)
    tool("tabix", "-s", "1", "-b", "2", "-e", "2", packed)
    indexed, _ = report("-r", "c2:2000-2100", packed)
    expect(plain == indexed, "the pages differ")
    expect_equal(len(table_of(indexed, "Values of c2:2,000-2,100")), 101, "bases")
    damaged = write(fresh(), "a.tsv.gz", read(packed)[:-200])
    shutil.copy(packed + ".tbi", damaged + ".tbi")
    expect_failure(carbon("report", "-r", "c2:2000-2100", "-o", os.path.join(fresh(), "o.html"), damaged), "cut")


@case
def exons_stand_where_they_lie():
    path = write(fresh(), "a.tsv", made_score(random_rows("c", 1000, first=5001)))
    gff = write(fresh(), "g.gff3", "##gff-version 3\n"
                "c\tx\tgene\t5101\t5600\t.\t-\t.\tID=g1;Name=BRCA%231\nc\tx\tmRNA\t5101\t5600\t.\t-\t.\tID=t1;Parent=g1\n"
                "c\tx\texon\t5101\t5200\t.\t-\t.\tParent=t1\nc\tx\texon\t5501\t5600\t.\t-\t.\tParent=t1\n"
                "c\tx\tCDS\t5151\t5200\t.\t-\t0\tParent=t1\n")
    for genes in (gff, bgzip(gff)):
        page, svg = report("--genes", genes, path)
        text = read(os.path.join(svg, "a_logo.svg")).decode()
        expect(">BRCA#1</text>" in text, "the gene's name")
        unit = (980 - 46 - 12) / 1000
        boxes = [(float(x), float(w), float(h)) for x, w, h in re.findall(
            r"M([\d.]+) [\d.]+h([\d.]+)v([\d.]+)h", "".join(re.findall(r'<path fill="#6b4fa0" d="([^"]*)"', text)))]
        wanted = [(46 + 100 * unit, 100 * unit, 7), (46 + 500 * unit, 100 * unit, 7), (46 + 150 * unit, 50 * unit, 14)]
        expect_equal(len(boxes), 3, "boxes")
        for got, value in zip(boxes, wanted):
            for g, v in zip(got, value):
                expect_close(g, v, 0.06, "box")
        data = json.loads(re.search(r'<script type="application/json">(.*?)</script>', page, re.S).group(1))
        expect_equal([(m["start"], m["end"]) for m in data["marks"]], [(101, 200), (501, 600)], "marks of the viewer")
    other = write(fresh(), "h.gff3", "chr17\tx\texon\t1\t9\t.\t+\t.\tID=e\n")
    result = carbon("report", "--genes", other, "-o", "-", path)
    expect(result.rc == 0 and any("chr17" in w for w in result.messages("W")), "no warning of other names", result)
    expect("No exons are drawn" in result.text, "no paragraph of other names")
    broken = write(fresh(), "i.gff3", "##gff-version 3\nc\tx\texon\t1\n")
    expect_failure(carbon("report", "--genes", broken, "-o", os.path.join(fresh(), "o.html"), path), "i.gff3:2")


@case
def a_malformed_table_is_one_line_and_no_file():
    good = made_score(random_rows("c", 30))
    lines = good.splitlines()
    for change, word in ((lines[:5] + ["c\t9"], ":6"), (lines[:5] + [lines[5].replace("\t", " ")], ":6"),
                         (lines[:5] + ["c\t5\tA\t-0.7\t1\t0.5\tx\t0.2\t0.1"], "'x'"),
                         (lines[:5] + ["c\t5\tA\t-0.7\t1\t0.5\t\u00e9\x1b[31m\t0.2\t0.1"], ":6"),
                         (lines[:5] + [lines[4]], "twice")):
        folder = fresh()
        path = write(fresh(), "a.tsv", "\n".join(change) + "\n")
        expect_failure(carbon("report", "-o", os.path.join(folder, "o.html"), path), word)
        expect_equal(os.listdir(folder), [], "files of a failed run")


@case
def the_viewer_has_what_the_table_has():
    rows = list(random_rows("chr17", 700, first=43044296))
    page, _ = report(write(fresh(), "a.tsv", made_score(rows)))
    found = re.findall(r'<div class="viewer" hidden></div>\n<script type="application/json">(.*?)</script>', page, re.S)
    expect_equal(len(found), 1, "viewers")
    data = json.loads(found[0])
    expect_equal((data["name"], data["start"], data["replaces"]), ("chr17", 43044296, ["a_map"]), "the viewer's data")
    expect_equal(data["sequence"], "".join(row[2] for row in rows), "sequence")
    for got, (_, pos, _, p) in zip(data["logp"], rows):
        for value, wanted in zip(got, p):
            expect_close(value, math.log(wanted), 1e-4 * max(1, abs(math.log(wanted))), "ln P at %d" % pos)
    expect('id="a_map"' in page, "the map that the viewer replaces")
    page, _ = report(write(fresh(), "b.tsv", made_score(random_rows("c", 50001))))
    expect_equal(page.count("application/json"), 0, "viewers of more than 50,000 bases")
    expect("50,001 bases are drawn as means, without letters" in page and "-r REGION draws a part" in page, "how letters are drawn")
    expect(len(page) < 1_000_000, "a page of %d bytes" % len(page))


@case
def the_same_input_gives_the_same_bytes():
    path = write(fresh(), "a.tsv", made_score(random_rows("c", 900)))
    expect(report(path)[0] == report(path)[0], "two runs differ")


@case
def long_tables_are_thinned_and_cut_in_words():
    path = write(fresh(), "a.tsv", made_score(random_rows("c", 1700)))
    page, _ = report(path)
    rows = table_of(page, "Values of c:1-1,700; one base of 4")
    expect_equal([r[0] for r in rows], [str(p) for p in range(1, 1701, 4)], "positions")
    text = "".join(made_score(random_rows("c", 3, first=1 + 100 * n)) if n == 0 else
                   made_score(random_rows("c", 3, first=1 + 100 * n)).split("\n", 1)[1] for n in range(25))
    page, svg = report(write(fresh(), "b.tsv", text))
    expect_equal(len(os.listdir(svg)), 40, "figures of the first 20 pieces")
    expect("The table goes on at c:2,001" in page, "what is left out")


@case
def letters_of_a_long_table_are_a_region_away():
    path = write(fresh(), "long.tsv", made_score(random_rows("c", 50001)))
    result = ok("report", "-o", os.path.join(fresh(), "r.html"), path)
    expect(any("50,001 bases are drawn as means" in line and "-r REGION" in line for line in result.messages("W")), "no warning", result)
    result = ok("report", "-r", "c:1-50000", "-o", os.path.join(fresh(), "r.html"), path)
    expect_equal(result.messages("W"), [], "warnings of 50,000 bases")


@case
def a_name_of_another_format_is_refused():
    path = write(fresh(), "a.tsv", made_score(random_rows("c", 30)))
    for name in ("x.pdf", "x.PNG", "x.svg", "x.tsv"):
        folder = fresh()
        expect_failure(carbon("report", "-o", os.path.join(folder, name), path), name, "HTML")
        expect_equal(os.listdir(folder), [], "files of a failed run")
    ok("report", "-o", os.path.join(fresh(), "x.htm"), path)


if __name__ == "__main__":
    main()
