"""Loci of variants on the page of carbon report: the bases and genes of a row, what the script opens, and thresholds."""

import html
import json
import os
import re
import shutil

from harness import Skip, case, expect, expect_close, expect_equal, fresh, main, ok, read, tool, write
from report_page import Page, browser

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "../../src/report")
HEAD = """##fileformat=VCFv4.2
##reference=GRCh38.fa
##contig=<ID=17>
##INFO=<ID=CARBON_LLR,Number=A,Type=Float,Description="Carbon log-likelihood ratio">
##INFO=<ID=SIG,Number=1,Type=String,Description="words">
#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO
"""
GENES = """##gff-version 3
17\tx\tgene\t90\t400\t.\t+\t.\tID=g;Name=G</script>
17\tx\tmRNA\t90\t400\t.\t+\t.\tID=t;Parent=g
17\tx\texon\t90\t150\t.\t+\t.\tParent=t
17\tx\tCDS\t100\t150\t.\t+\t0\tParent=t
17\tx\texon\t390\t400\t.\t+\t.\tParent=t
"""


def vcf(alleles):
    """(POS, REF, ALT, score, word) of each."""
    lines = ["17\t%d\t.\t%s\t%s\t.\t.\tCARBON_LLR=%s;SIG=%s\n" % a for a in alleles]
    return write(fresh(), "in.vcf", HEAD + "".join(lines))


def bases(first=1, last=180, contig="17"):
    """A table of score: base i is ACGT[i % 4], with probability one half."""
    rows = ["#name\tpos\tbase\tlogp\tentropy\tA\tC\tG\tT\n"]
    for i in range(first, last + 1):
        p = [0.5 if k == i % 4 else 0.5 / 3 for k in range(4)]
        rows.append("%s\t%d\t%s\t-0.693147\t1.2\t%s\n" % (contig, i, "ACGT"[i % 4], "\t".join("%.6g" % x for x in p)))
    return write(fresh(), "bases.tsv", "".join(rows))


ALLELES = [(5, "C", "A", -1, "P"), (95, "T", "G", -2, "P"), (110, "G", "T", -3, "P"), (111, "T", "G", 0, "B"), (300, "A", "C", 1, "B"),
           (1000, "A", "C", 2, "B")]


def report(*args):
    text = ok("report", "--no-version", *args).text
    return Page(text), text


def loci(text):
    found = re.search(r'<script type="application/json" class="loci">(.*?)</script>', text, re.S)
    return json.loads(found[1]) if found else None


@case
def a_row_has_the_bases_around_it():
    """Thirty on each side, as far as the contig and the table have them, in the order of the rows."""
    _, text = report("--probabilities", bases(), "--genes", write(fresh(), "g.gff3", GENES), vcf(ALLELES))
    found = loci(text)
    expect_equal([one and (one["name"], one["start"], len(one["sequence"])) for one in found],
                 [("17:110 G>T", 80, 61), ("17:95 T>G", 65, 61), ("17:5 C>A", 1, 35), ("17:111 T>G", 81, 61), None, None], "loci")
    first = found[0]
    expect_equal(first["sequence"], "".join("ACGT"[i % 4] for i in range(80, 141)), "letters")
    expect_close(first["logp"][30][2], -0.693147, 1e-4, "ln P of the reference")
    expect_equal(first["marks"], [{"start": 11, "end": 61, "name": "G</script>"}], "the exon, as far as it is in the locus")
    expect(loci(report(vcf(ALLELES))[1]) is None, "loci without bases")


@case
def a_row_says_which_part_of_a_gene_it_is_in():
    page, _ = report("--genes", write(fresh(), "g.gff3", GENES), vcf(ALLELES))
    rows = page.table("Lowest scores")
    expect_equal({row["POS"]: row["Where"] for row in rows}, {"5": ".", "95": "G</script> (exon)", "110": "G</script> (coding)", "111": "G</script> (coding)",
                                                             "300": "G</script> (intron)", "1000": "."}, "genes of the rows")
    expect("Where" not in report(vcf(ALLELES))[0].table("Lowest scores")[0], "a column without genes")


STUB = """
globalThis.document = {querySelectorAll: () => [], querySelector: () => null};
globalThis.matchMedia = () => ({matches: false});
globalThis.addEventListener = () => {};
"""


def in_node(expression):
    if not shutil.which("node"):
        raise Skip("no node")
    folder = fresh()
    script = "".join(read(os.path.join(FOLDER, "page", name)).decode() for name in ("report.js", "locus.js"))
    write(folder, "call.js", STUB + script + "\nconsole.log(JSON.stringify(%s));\n" % expression)
    return json.loads(tool("node", os.path.join(folder, "call.js")).out)


@case
def neighbours_are_the_nearest_of_the_contig():
    places = "[[1, 'a'], [5, 'a'], [5, 'a'], [5, 'b'], [7, 'a'], [1005, 'a'], [1006, 'a']].map(([pos, contig]) => ({pos, contig}))"
    expect_equal(in_node("((all) => neighboursOf(all[1], all).map(([one, bases]) => [one.pos, bases]))(%s)" % places),
                 [[5, 0], [7, 2], [1, -4], [1005, 1000]], "neighbours")
    expect_equal(in_node("[0, 1, -2, 1000].map(distanceWords)"), ["at the same position", "1 base after", "2 bases before", "1,000 bases after"], "words")


# What the page has become, in its title.
LOOK = """<script>setTimeout(() => {
const panel = document.querySelector(".locus");
const state = () => ({open: Boolean(panel) && !panel.hidden, name: panel?.querySelector("h3")?.textContent,
  logo: panel?.querySelectorAll(".stage > svg").length, near: [...(panel?.querySelectorAll("li") ?? [])].map((e) => e.textContent), hash: location.hash});
const at = [state()];
document.querySelector("tr[id='17-111-T-G'] td").click();
setTimeout(() => {
  at.push(state());
  panel.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape"}));
  at.push({...state(), focus: document.activeElement.textContent});
  document.activeElement.click();
  setTimeout(() => { at.push(state()); document.title = JSON.stringify(at); }, 200);
}, 200);
}, 300);</script>"""


@case
def an_address_and_a_click_open_the_locus():
    folder = fresh()
    out = os.path.join(folder, "r.html")
    ok("report", "-o", out, "--probabilities", bases(), "--genes", write(folder, "g.gff3", GENES), vcf(ALLELES))
    write(folder, "look.html", read(out).decode().replace("</body>", LOOK + "</body>"))
    run = browser("--dump-dom", "--window-size=1200,900", "file://%s/look.html#17-110-G-T" % folder)
    title = html.unescape(re.search("<title>(.*?)</title>", run.out.decode(errors="replace"))[1])
    expect(title.startswith("["), "the script has not run: " + title, run)
    by_address, by_click, closed, again = json.loads(title)
    expect_equal((by_address["open"], by_address["name"], by_address["logo"]), (True, "17:110 G>T", 3), "what the address opens")
    expect_equal(by_address["near"], ["17:111 T>G, 1 base after, CARBON_LLR 0", "17:95 T>G, 15 bases before, CARBON_LLR -2",
                                      "17:5 C>A, 105 bases before, CARBON_LLR -1", "17:300 A>C, 190 bases after, CARBON_LLR 1",
                                      "17:1,000 A>C, 890 bases after, CARBON_LLR 2"], "neighbours")
    expect_equal((by_click["open"], by_click["name"], by_click["hash"]), (True, "17:111 T>G", "#17-111-T-G"), "what a click opens")
    expect_equal((closed["open"], closed["focus"]), (False, "111"), "Escape")
    expect(again["open"], "the address that the page has already does not open the locus again")


@case
def introns_are_shortened():
    """Exons of one scale, all points in their order, and the genome's scale on request."""
    genes = GENES.replace("\t400", "\t50400").replace("\t390\t", "\t50390\t").replace("</script>", "")
    alleles = [(p, "A", "C", -p / 1e4, "P") for p in (90, 100, 150, 200, 25000, 50300, 50390, 50395)]
    folder = fresh()
    out = os.path.join(folder, "r.html")
    ok("report", "--no-version", "-o", out, "--svg", os.path.join(folder, "svg"), "--genes", write(folder, "g.gff3", genes), vcf(alleles))
    text = read(out).decode()
    figure = text.split('<figure id="in_gene_1">')[1].split("</figure>")[0]
    shown, genome = (json.loads(html.unescape(p)) for p in re.findall('data-points="([^"]*)"', figure))
    expect_equal(figure.count("<summary>At the scale of the genome</summary>"), 1, "what is shown on request")
    expect_equal([len(p) for p in genome], [2] * len(shown), "points of both; the words are those of the first")
    at = [int(p[2].split()[0].split(":")[1].replace(",", "")) for p in shown]
    expect_close((genome[at.index(200)][0] - genome[at.index(90)][0]) / 110, (genome[at.index(25000)][0] - genome[at.index(90)][0]) / 24910, 2e-3,
                 "pixels of a base at the scale of the genome")
    xs = {int(p[2].split()[0].split(":")[1].replace(",", "")): p[0] for p in shown}
    expect_equal(sorted(xs.values()), [xs[p] for p in sorted(xs)], "the order of the points")
    expect_close((xs[150] - xs[100]) / 50, (xs[50395] - xs[50390]) / 5, 0.3, "pixels of a base in two exons")
    expect(xs[50300] - xs[200] < xs[150] - xs[90], "the intron is as long as an exon")
    expect(shown[0][2].split("\n")[0] == "17:50,395 A>C", "the lowest score: %r" % shown[0][2])
    expect_equal(sorted(n for n in os.listdir(folder + "/svg") if "gene" in n), ["in_gene_1.svg", "in_gene_1_genome.svg"], "files")
    expect("shortened" not in report("--genes", write(fresh(), "g.gff3", GENES.replace("390", "160")), vcf(ALLELES))[1], "a gene with short introns")


@case
def thresholds_are_those_of_the_definitions():
    scores = [(i, "P" if (i * 7) % 10 < (7 if i < 40 else 2) else "B") for i in range(100)]
    page, text = report("--label", "SIG=P/B", "--bootstrap", 0, vcf([(10 + i, "A", "C", s, word) for i, (s, word) in enumerate(scores)]))
    positives, negatives = [s for s, w in scores if w == "P"], [s for s, w in scores if w == "B"]
    rows = page.table("Thresholds of CARBON_LLR: an allele counts as P if its score is the threshold or lower")
    reached = [word for row in rows for word in row["Reached"].split("; ")]
    expect_equal(sorted(reached), sorted(["largest sum of both"] + ["%s %d %%" % (what, n) for what in ("sensitivity", "specificity")
                                                                    for n in (99, 95, 90, 80, 70, 50)]), "what is reached")
    for row in rows:
        at = float(row["Threshold"])
        tp, fp = sum(s <= at for s in positives), sum(s <= at for s in negatives)
        expect_equal((row["Found: P"], row["Found: B"]), (str(tp), str(fp)), "counts at %g" % at)
        for name, value in (("Sensitivity", tp / len(positives)), ("Specificity", 1 - fp / len(negatives)), ("PPV", tp / (tp + fp))):
            expect_close(float(row[name]), value, 1e-6, "%s at %g" % (name, at))
        for word in row["Reached"].split("; "):
            if word[0] != "s":
                best = max(sum(s <= t for s in positives) / len(positives) - sum(s <= t for s in negatives) / len(negatives) for t, _ in scores)
                expect_close(float(row["Sensitivity"]) + float(row["Specificity"]) - 1, best, 1e-6, "the largest sum")
                continue
            name, share = word[:11], int(word[12:-2])
            expect(float(row[name.capitalize()]) >= share / 100 - 1e-6, "%s at %g" % (word, at))
            nearer = at - 1 if name == "sensitivity" else at + 1
            value = sum(s <= nearer for s in positives) / len(positives) if name == "sensitivity" else sum(s > nearer for s in negatives) / len(negatives)
            expect(value < share / 100, "%s is reached by %g, too" % (word, nearer))
    expect("PPV is given for the share of P alleles in the data, %g %%." % (100 * len(positives) / 100) in page.paragraphs, "the share of the data")
    data = json.loads(html.unescape(re.search('data-predictive="([^"]*)"', text)[1]))
    expect_equal(data, {"sensitivity": 1, "specificity": 2, "value": 3, "share": len(positives) / 100, "positive": "P"}, "columns for the script")


@case
def predictive_values_of_another_share():
    expect_equal(in_node("[[0.9, 0.8, 0.5], [0.9, 0.8, 0.01], [0, 1, 0.5], [1, 1, 0], [1, 0.5, 1]].map((a) => predictiveValue(...a)?.toFixed(6) ?? null)"),
                 ["0.818182", "0.043478", None, None, "1.000000"], "values")


if __name__ == "__main__":
    main()
