"""carbon report: curves for labels, the agreement of two scores, and the JSON of +concord, number by number."""

import html
import html.parser
import json
import math
import os
import random
import re
import struct

from harness import carbon, case, expect, expect_close, expect_equal, expect_failure, fresh, main, ok, read, write
from plugin_support import SplitMix64

try:
    import numpy
    import scipy.stats
    from sklearn import metrics as sklearn_metrics
except ImportError:
    sklearn_metrics = None  # then the definitions below are all there is

HEAD = """##fileformat=VCFv4.2
##contig=<ID=1,length=100000000>
##INFO=<ID=S,Number=A,Type=Float,Description="a score">
##INFO=<ID=T,Number=A,Type=Float,Description="another score">
##INFO=<ID=SIG,Number=.,Type=String,Description="words">
##INFO=<ID=L,Number=A,Type=Integer,Description="label">
#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO
"""
LABEL = "SIG=P,LP/B"


def shown(value):
    return "." if value is None else "%g" % value


def records(count, seed=0):
    """(S, T, words) of alleles, two for each record; scores have ties and gaps."""
    numbers = random.Random(seed)
    out = []
    for _ in range(count):
        word = numbers.choice(["P", "LP", "B", "B", "B", "VUS", "."])
        s = round(numbers.gauss(-2 if word in ("P", "LP") else 0, 1.5), 1)
        out.append((None if numbers.random() < 0.05 else s, None if numbers.random() < 0.05 else round(0.7 * s + numbers.gauss(0, 0.5), 2), word))
    return out


def vcf(alleles):
    lines = ["1\t%d\t.\tA\tC\t.\t.\tS=%s;T=%s;SIG=%s\n" % (10 + i, shown(s), shown(t), word) for i, (s, t, word) in enumerate(alleles)]
    return write(fresh(), "in.vcf", HEAD + "".join(lines))


def single(value):
    """The value in single precision, as the tags have it."""
    return struct.unpack("f", struct.pack("f", value))[0]


class Page(html.parser.HTMLParser):
    """The figures of a report, {id: {"caption", "table", "columns"}}, and its other tables by caption."""

    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.figures, self.tables, self.paragraphs, self.facts = {}, {}, [], []
        self.figure = self.table = None
        self.text = ""
        self.feed(read(path).decode())

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "figure":
            self.figure = self.figures[attributes["id"]] = {}
        elif tag == "table":
            self.table = {"caption": "", "columns": [], "table": []}
        elif tag == "tr":
            self.row = []
        if tag in ("caption", "th", "td", "figcaption", "p", "dd", "dt"):
            self.text = ""

    def handle_endtag(self, tag):
        if tag == "caption":
            self.table["caption"] = self.text
        elif tag == "th":
            self.table["columns"].append(self.text)
        elif tag == "td":
            self.row.append(self.text)
        elif tag == "tr" and self.row:
            self.table["table"].append(self.row)
        elif tag == "figcaption":
            self.figure["caption"] = self.text
        elif tag == "figure":
            self.figure = None
        elif tag == "p":
            self.paragraphs.append(self.text)
        elif tag == "dd":
            self.facts.append(self.text)
        elif tag == "table" and self.figure is not None:
            self.figure.update(columns=self.table["columns"], table=self.table["table"])
        elif tag == "table":
            self.tables[self.table["caption"]] = self.table

    def handle_data(self, data):
        self.text += data

    def numbers(self, end):
        """The columns of numbers of the figure whose name ends so; None for a dot."""
        found = [f for name, f in self.figures.items() if name.endswith(end)]
        expect_equal(len(found), 1, "figures *%s among %s" % (end, sorted(self.figures)))
        return [[None if cell == "." else float(cell) for cell in column] for column in zip(*found[0]["table"])]

    def measures(self, words):
        """The rows of the table whose caption begins so, {name: [values]}."""
        found = [t for caption, t in self.tables.items() if caption.startswith(words)]
        expect_equal(len(found), 1, "tables %s... among %s" % (words, sorted(self.tables)))
        return {row[0]: [None if cell == "." else float(cell) for cell in row[1:]] for row in found[0]["table"]}


def report(*args):
    out = os.path.join(fresh(), "report.html")
    ok("report", *args, "-o", out)
    return Page(out)


# ---- definitions ---------------------------------------------------------------------------------------------------


def curve(scores, classes):
    """(fpr, tpr, precision, threshold) of every threshold, highest first."""
    positives, out = sum(classes), []
    for threshold in sorted(set(scores), reverse=True):
        tp = sum(c for s, c in zip(scores, classes) if s >= threshold)
        fp = sum(1 - c for s, c in zip(scores, classes) if s >= threshold)
        out.append((fp / (len(classes) - positives), tp / positives, tp / (tp + fp), threshold))
    return out


def at_rates(xs, ys, last):
    """The line through the points at 0, 0.01, ..., 1; of several points with one x the last one counts, or the first one."""
    out = []
    for k in range(101):
        x = k / 100
        if last:
            i = max(j for j, v in enumerate(xs) if v <= x)
            out.append(ys[i] if xs[i] == x or i + 1 == len(xs) else ys[i] + (ys[i + 1] - ys[i]) * (x - xs[i]) / (xs[i + 1] - xs[i]))
        else:
            i = min(j for j, v in enumerate(xs) if v >= x)
            out.append(ys[i] if xs[i] == x else ys[i - 1] + (ys[i] - ys[i - 1]) * (x - xs[i - 1]) / (xs[i] - xs[i - 1]))
    return out


def areas(scores, classes):
    points = [(0, 0, 1, None)] + curve(scores, classes)
    pairs = list(zip(points, points[1:]))
    return [sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in pairs), sum((b[1] - a[1]) * (a[2] + b[2]) / 2 for a, b in pairs),
            sum((b[1] - a[1]) * b[2] for a, b in pairs)]


def quantile(values, share):
    values = sorted(values)
    at = share * (len(values) - 1)
    below = int(at)
    return values[below] + (at - below) * (values[min(below + 1, len(values) - 1)] - values[below])


def close(found, wanted, what, tolerance=6e-6):
    expect_equal(len(found), len(wanted), what + ": length")
    for i, (a, b) in enumerate(zip(found, wanted)):
        expect_close(a, b, tolerance * max(1, abs(b)), "%s [%d]" % (what, i))


# ---- labels --------------------------------------------------------------------------------------------------------


@case
def curves_are_those_of_the_definitions_and_of_scikit_learn():
    alleles = records(600)
    path = vcf(alleles)
    for negate in (True, False):
        sign = -1 if negate else 1
        options = ["--negate"] if negate else []
        page = report("--tags", "S", "--label", LABEL, "--bootstrap", 0, *options, path)
        used = [(sign * s, int(w in ("P", "LP"))) for s, _, w in alleles if s is not None and w in ("P", "LP", "B")]
        scores, classes = [s for s, _ in used], [c for _, c in used]
        points = curve(scores, classes)
        fpr, tpr = [0] + [p[0] for p in points], [0] + [p[1] for p in points]
        precision = [1] + [p[2] for p in points]
        x, y, low, high, _ = page.numbers("_roc")
        close(x, [k / 100 for k in range(101)], "rates")
        close(y, at_rates(fpr, tpr, True), "true positive rates")
        expect(set(low + high) == {None}, "a band without samples")
        x, y, low, high, _ = page.numbers("_precision_recall")
        close(y, at_rates(tpr, precision, False), "precision")
        wanted = areas(scores, classes)
        if sklearn_metrics:
            p, r, _ = sklearn_metrics.precision_recall_curve(classes, scores)
            close(wanted, [sklearn_metrics.roc_auc_score(classes, scores), sklearn_metrics.auc(r, p),
                           sklearn_metrics.average_precision_score(classes, scores)], "areas of scikit-learn", 1e-12)
            f, t, _ = sklearn_metrics.roc_curve(classes, scores, drop_intermediate=False)
            close(at_rates(list(f), list(t), True), at_rates(fpr, tpr, True), "the curve of scikit-learn", 1e-12)
        found = page.measures("How well")
        for name, value in zip(("AUROC", "AUPRC (trapezoidal)", "Average precision"), wanted):
            expect_close(found[name][0], value, 6e-6, name)
            expect_equal(found[name][1:], [None, None], "interval of " + name)
        expect_equal(found["Alleles: P or LP"][0], sum(classes), "positive")
        expect_equal(found["Alleles: B"][0], len(classes) - sum(classes), "negative")
        expect_equal(found["Alleles without score"][0], sum(s is None for s, _, _ in alleles), "without score")
        expect_equal(found["Alleles without label"][0], sum(s is not None and w == "." for s, _, w in alleles), "without label")
        expect_equal(found["Alleles with a label of neither class"][0], sum(s is not None and w == "VUS" for s, _, w in alleles), "neither")


@case
def the_header_knows_the_direction_of_a_score_of_carbon():
    """By its line of a model, or by its description, low values are those of positive alleles; --negate is for other tags."""
    plain = vcf(records(300, 5))
    model = '##carbon_vepModel=<ID=MINE,Model="m",Recipe=centered>\n'
    text = read(plain).decode()
    named = write(fresh(), "in.vcf", (model + text.replace("S=", "MINE_LLR=").replace("ID=S,", "ID=MINE_LLR,")).replace(
        model + "##fileformat=VCFv4.2\n", "##fileformat=VCFv4.2\n" + model))
    described = write(fresh(), "in.vcf", text.replace("S=", "OLD_LLR=").replace('ID=S,Number=A,Type=Float,Description="a score"',
                                                                            'ID=OLD_LLR,Number=A,Type=Float,Description="Carbon log-likelihood"'))
    arguments = ["--label", LABEL, "--bootstrap", 0]
    wanted = report("--tags", "S", "--negate", *arguments, plain).measures("How well")
    expect(wanted["AUROC"][0] > 0.6, "AUROC")
    for path, tag in ((named, "MINE_LLR"), (described, "OLD_LLR")):
        expect_equal(report("--tags", tag, *arguments, path).measures("How well"), wanted, tag)
        expect_failure(carbon("report", "--tags", tag, "--negate", *arguments, "-o", os.path.join(fresh(), "r.html"), path), "--negate")
        auroc = json_of_auroc(path, ["--score", tag, *arguments])
        expect_close(auroc["auroc"]["value"], wanted["AUROC"][0], 6e-6, "AUROC of +auroc")
    swapped = ["--label", "SIG=B/P,LP", "--bootstrap", 0]
    for path, tag, options, words in ((named, "MINE_LLR", [], "does the label name the other class?"),
                                      (plain, "S", ["--negate"], "do high scores speak for the label?")):
        out = os.path.join(fresh(), "r.html")
        result = carbon("report", "--tags", tag, *options, *swapped, "-o", out, path)
        lines = result.messages("W")
        expect(result.rc == 0 and len(lines) == 1 and "the AUROC of %s is 0." % tag in lines[0] and words in lines[0], "one warning", result)
    result = carbon("report", "--tags", "S", *arguments, "-o", out, plain)
    expect("do low scores speak for the label?" in result.err, "a warning of a score that is judged the wrong way round", result)


@case
def the_classes_are_counted():
    alleles = records(500, 1)
    page = report("--tags", "S", "--label", LABEL, "--negate", "--bootstrap", 0, vcf(alleles))
    low, high, positive, positive_share, negative, negative_share = page.numbers("_label_classes")
    edges = [low[0] + i * ((high[-1] - low[0]) / len(low)) for i in range(len(low))] + [high[-1]]
    close(low, edges[:-1], "lower edges")
    close(high, edges[1:], "upper edges")
    for words, counts, shares in ((("P", "LP"), positive, positive_share), (("B",), negative, negative_share)):
        scores = [single(s) for s, _, w in alleles if s is not None and w in words]
        wanted = [sum(a <= s < b or s == b == edges[-1] for s in scores) for a, b in zip(edges, edges[1:])]
        expect_equal(counts, wanted, "counts of " + words[0])
        close(shares, [c / len(scores) for c in counts], "shares")


@case
def intervals_and_bands_are_of_the_samples_of_auroc():
    alleles = records(150, 2)
    path = vcf(alleles)
    arguments = ["--label", LABEL, "--negate", "--bootstrap", 60, "--seed", 9]
    page = report("--tags", "S", *arguments, path)
    plugin = json_of_auroc(path, arguments)
    found = page.measures("How well")
    for name, key in (("AUROC", "auroc"), ("AUPRC (trapezoidal)", "auprc"), ("Average precision", "average_precision")):
        close(found[name], [plugin[key][k] for k in ("value", "low", "high")], name)
    used = [(-s, int(w in ("P", "LP"))) for s, _, w in alleles if s is not None and w in ("P", "LP", "B")]
    numbers = SplitMix64(9)
    tprs, precisions = [], []
    for _ in range(60):
        sample = [used[numbers.below(len(used))] for _ in used]
        points = curve([s for s, _ in sample], [c for _, c in sample])
        tpr = [0] + [p[1] for p in points]
        tprs.append(at_rates([0] + [p[0] for p in points], tpr, True))
        precisions.append(at_rates(tpr, [1] + [p[2] for p in points], False))
    for figure, samples in (("_roc", tprs), ("_precision_recall", precisions)):
        _, _, low, high, _ = page.numbers(figure)
        close(low, [quantile(values, 0.025) for values in zip(*samples)], figure + " low")
        close(high, [quantile(values, 0.975) for values in zip(*samples)], figure + " high")
    other = report("--tags", "S", *arguments[:-1], 10, path)
    expect(other.numbers("_roc")[2] != page.numbers("_roc")[2], "another seed gives the same band")


def json_of_auroc(path, arguments):
    out = os.path.join(fresh(), "auroc.json")
    score = () if "--score" in arguments else ("--score", "S")
    ok("+auroc", path, "--", *score, *arguments, "--json", out)
    return json.loads(read(out))["metrics"]


@case
def many_alleles_have_bands_of_joined_scores_and_exact_areas():
    numbers = random.Random(5)
    alleles = []
    for _ in range(21000):
        positive = numbers.random() < 0.3
        alleles.append((round(numbers.gauss(-1 if positive else 0, 1), 4), 0, "P" if positive else "B"))
    path = vcf(alleles)
    arguments = ["--label", LABEL, "--negate", "--bootstrap", 25]
    page = report("--tags", "S", *arguments, path)
    plugin = json_of_auroc(path, arguments)
    found = page.measures("How well")
    expect_close(found["AUROC"][0], plugin["auroc"]["value"], 6e-7, "AUROC")
    expect_close(found["Average precision"][0], plugin["average_precision"]["value"], 6e-7, "average precision")
    for i, end in ((1, "low"), (2, "high")):
        expect_close(found["AUROC"][i], plugin["auroc"][end], 1e-4, "AUROC " + end)
        expect_close(found["Average precision"][i], plugin["average_precision"][end], 2e-3, "average precision " + end)
    captions = [f["caption"] for name, f in page.figures.items() if name.endswith("_roc")]
    expect("neighbouring scores are joined" in captions[0], "the caption is " + captions[0])


@case
def one_class_is_a_sentence():
    page = report("--tags", "S", "--label", "SIG=P/LP", vcf([(1, 1, "P"), (2, 1, "P"), (3, 1, "B"), (None, 1, "LP")]))
    expect(any("are P (1 lack the score" in p and "1 have a label of neither class" in p for p in page.paragraphs), "paragraphs %r" % page.paragraphs)


@case
def classes_have_the_names_of_the_label():
    """In legends, axes, captions and tables; "positive" and "negative" are left to rates alone."""
    head = HEAD.replace("#CHROM", '##INFO=<ID=CLNSIG,Number=.,Type=String,Description="x">\n##INFO=<ID=F,Number=0,Type=Flag,Description="x">\n#CHROM')
    lines = ["1\t%d\t.\tA\tC\t.\t.\tS=%d;SIG=%s;L=%d;CLNSIG=%s%s\n" % (i + 1, i % 5, "PQR"[i % 3], i % 2, ("Benign", "Pathogenic")[i % 2], ";F" * (i % 2))
             for i in range(30)]
    path = write(fresh(), "in.vcf", head + "".join(lines))
    for label, positive, negative in (("clinvar", "pathogenic", "benign"), ("SIG=P/Q,R", "P", "Q or R"), ("SIG=P", "P", "other"), ("L", "L=1", "L=0"),
                                      ("L>0", "L>0", "other"), ("F", "F", "other"), ("SIG=a,b,c,P/Q", "a, b or 2 more", "Q")):
        svg, out = fresh(), os.path.join(fresh(), "report.html")
        ok("report", "--tags", "S", "--label", label, "--bootstrap", 0, "--svg", svg, "-o", out, path)
        page = Page(out)
        texts = {name: html.unescape(read(os.path.join(svg, "in_S_%s.svg" % name)).decode()) for name in ("label_classes", "roc", "precision_recall")}
        rows = page.measures("How well")
        count = {words: "%d %s alleles" % (rows["Alleles: " + words][0], words) for words in (positive, negative)}
        for words in (positive, negative):
            expect(">%s</text>" % count[words] in texts["label_classes"], "%s: the legend has no %r" % (label, count[words]))
            expect(words in {row[-1] for caption, t in page.tables.items() if caption.startswith("Lowest") for row in t["table"]}, "the table of " + label)
        expect("False positive rate (share of %s)" % count[negative] in texts["roc"], "the axis of " + label)
        expect("True positive rate (share of %s)" % count[positive] in texts["roc"], "the axis of " + label)
        expect("Precision (share of %s alleles among" % positive in texts["precision_recall"], "the axis of " + label)
        if label == "clinvar":
            expect("Words of the label: pathogenic 15 Pathogenic; benign 15 Benign; in neither class none." in page.paragraphs, "paragraphs %r" % page.paragraphs)
        for name, figure in page.figures.items():
            rest = re.sub("(true|false) positive", "", figure["caption"], flags=re.I)
            expect("positive" not in rest and "negative allele" not in rest, "%s: %s" % (name, rest))


@case
def the_area_stands_in_its_figure():
    svg, out = fresh(), os.path.join(fresh(), "report.html")
    ok("report", "--tags", "S", "--label", LABEL, "--negate", "--bootstrap", 20, "--svg", svg, "-o", out, vcf(records(200)))
    rows = Page(out).measures("How well")
    for name, measure, words in (("roc", "AUROC", "AUROC"), ("precision_recall", "Average precision", "average precision")):
        texts = re.findall(r">([^<>]*)</text>", read(os.path.join(svg, "in_S_%s.svg" % name)).decode())
        value, low, high = ("%.4g" % v for v in rows[measure])
        expect("%s %s" % (words, value) in texts, "%s of %s in %r" % (words, value, texts))
        expect("95 % interval {} to {}".format(low, high) in texts, "the interval in %r" % texts)


@case
def curves_of_all_scores_in_one_figure():
    """Each with its area; the numbers are those of the single figures."""
    svg, out, path = fresh(), os.path.join(fresh(), "report.html"), vcf(records(300, 8))
    ok("report", "--tags", "S,T", "--label", LABEL, "--negate", "--bootstrap", 0, "--svg", svg, "-o", out, path)
    page = Page(out)
    expect_equal([n for n in page.figures if n.endswith("_roc")], ["in_roc", "in_S_roc", "in_T_roc"], "ROC figures")
    figure = page.figures["in_roc"]
    expect_equal(figure["columns"], ["False positive rate", "minus S", "minus T"], "columns")
    columns = list(zip(*figure["table"]))
    for tag, column in (("S", columns[1]), ("T", columns[2])):
        expect_equal(list(column), [row[1] for row in page.figures["in_%s_roc" % tag]["table"]], "rates of " + tag)
        area = "%.4g" % page.measures("How well minus %s " % tag)["AUROC"][0]
        text = read(os.path.join(svg, "in_roc.svg")).decode()
        expect(">minus %s, AUROC %s</text>" % (tag, area) in text, "the legend has no area of " + tag)
    expect("in_roc" not in report("--tags", "S", "--label", LABEL, "--negate", "--bootstrap", 0, path).figures, "a figure for one curve")


# ---- two files -----------------------------------------------------------------------------------------------------


@case
def two_files_are_compared():
    """Alleles of one contig, position, REF and ALT in both are the pairs; distributions of both have the same bins."""
    a, b = records(300, 9), records(260, 10)
    one, two = vcf(a), write(fresh(), "two.vcf", read(vcf(b)).decode().replace("1\t12\t.\tA\tC", "1\t12\t.\tA\tG"))
    page = report("--tags", "S", "--label", LABEL, "--negate", "--bootstrap", 0, one, two)
    pairs = [(s, t) for i, ((s, _, _), (t, _, _)) in enumerate(zip(a, b)) if s is not None and t is not None and i != 2]
    found = page.measures("Agreement of S in in.vcf and S in two.vcf")
    expect_equal(found["Alleles with both scores"][0], len(pairs), "pairs")
    expect_close(found["Pearson correlation"][0], pearson(*zip(*pairs)), 1e-5, "correlation")
    close(page.numbers("comparison_agreement_scatter")[0], [p for p, _ in pairs], "scores of the first")
    close(page.numbers("comparison_agreement_scatter")[1], [t for _, t in pairs], "scores of the second")
    low, high, first, second = page.numbers("comparison_scores")
    for counts, scores in ((first, [s for s, _, _ in a if s is not None]), (second, [s for s, _, _ in b if s is not None])):
        wanted = [sum(x <= single(s) < y or single(s) == y == high[-1] for s in scores) for x, y in zip(low, high)]
        expect_equal(counts, wanted, "counts")
    expect_equal(page.figures["comparison_scores"]["columns"][2:], ["in.vcf", "two.vcf"], "columns")
    curves = page.figures["comparison_roc"]
    expect_equal(curves["columns"][1:], ["in.vcf: minus S", "two.vcf: minus S"], "curves")
    for name, column in (("in_S_roc", 1), ("two_S_roc", 2)):
        expect_equal([row[column] for row in curves["table"]], [row[1] for row in page.figures[name]["table"]], "rates of " + name)
    expect(any("%d alleles have a score in both in.vcf" % len(pairs) in p for p in page.paragraphs), "paragraphs %r" % page.paragraphs)
    expect(not any("comparison" in name for name in report("--tags", "S", one).figures), "a comparison of one file")


@case
def files_without_a_common_allele():
    one, two = vcf([(1, 1, "P"), (2, 1, "B")]), write(fresh(), "two.vcf", read(vcf([(1, 1, "P"), (2, 1, "B")])).decode().replace("\tA\tC", "\tA\tT"))
    page = report("--tags", "S", one, two)
    expect(any("No allele has both S in in.vcf and S in two.vcf" in p for p in page.paragraphs), "paragraphs %r" % page.paragraphs)
    expect("comparison_scores" in page.figures and not any("scatter" in n for n in page.figures), "figures %r" % list(page.figures))


@case
def commas_in_values_and_words():
    alleles = [(1, 1, "P"), (2, 1, "P"), (3, 1, "P,_low_penetrance"), (4, 1, "x,y"), (5, 1, "x")]
    for label, words, counts in (("SIG=P/x\\,y", ("P", "x,y"), (2, 1, 2)), ("SIG=P,_low_penetrance/x", ("P,_low_penetrance", "x"), (1, 2, 2))):
        found = report("--tags", "S", "--label", label, "--bootstrap", 0, vcf(alleles)).measures("How well")
        names = ("Alleles: " + words[0], "Alleles: " + words[1], "Alleles with a label of neither class")
        expect_equal(tuple(found[name][0] for name in names), counts, label)


@case
def labels_that_cannot_be_asked():
    path = vcf(records(20))
    for label, words in (("SIG", "is text"), ("NONE", "no INFO tag NONE"), ("SIG=P//", "SIG=P//"), ("L>x", "'x' is not a number")):
        out = os.path.join(fresh(), "report.html")
        expect_failure(carbon("report", "--tags", "S", "--label", label, path, "-o", out), words)
        expect(not os.path.exists(out), "an output after the failure")


# ---- two scores ----------------------------------------------------------------------------------------------------


def ranks(values):
    order = sorted(values)
    first, last = {}, {}
    for i, v in enumerate(order, 1):
        first.setdefault(v, i)
        last[v] = i
    return [(first[v] + last[v]) / 2 for v in values]


def pearson(a, b):
    x, y = sum(a) / len(a), sum(b) / len(b)
    return (sum((p - x) * (q - y) for p, q in zip(a, b)) /
            math.sqrt(sum((p - x) ** 2 for p in a) * sum((q - y) ** 2 for q in b)))


@case
def two_scores_agree_as_scipy_says():
    for count in (40, 800, 6000):
        alleles = records(count, 3)
        page = report("--tags", "S,T", vcf(alleles))
        pairs = [(s, t) for s, t, _ in alleles if s is not None and t is not None]
        a, b = [s for s, _ in pairs], [t for _, t in pairs]
        differences = [t - s for s, t in pairs]
        mean = sum(differences) / len(pairs)
        deviation = math.sqrt(sum((d - mean) ** 2 for d in differences) / (len(pairs) - 1))
        wanted = {"Alleles with both scores": len(pairs), "Pearson correlation": pearson(a, b),
                  "Spearman rank correlation": pearson(ranks(a), ranks(b)), "Mean difference T \u2212 S": mean,
                  "Standard deviation of the difference": deviation, "Lower limit of agreement": mean - 1.96 * deviation,
                  "Upper limit of agreement": mean + 1.96 * deviation,
                  "Largest absolute difference": max(map(abs, differences))}
        if sklearn_metrics:
            expect_close(wanted["Pearson correlation"], scipy.stats.pearsonr(a, b)[0], 1e-12, "scipy's Pearson")
            expect_close(wanted["Spearman rank correlation"], scipy.stats.spearmanr(a, b)[0], 1e-12, "scipy's Spearman")
            expect_close(deviation, numpy.std(differences, ddof=1), 1e-12, "numpy's deviation")
        found = page.measures("Agreement of S and T")
        for name, value in wanted.items():
            expect_close(found[name][0], value, 1e-5 * max(1, abs(value)), "%s of %d" % (name, count))
        columns = page.numbers("_scatter")
        if len(pairs) <= 500:
            close(columns[0], a, "S")
            close(columns[1], b, "T")
            close(page.numbers("_bland_altman")[1], differences, "differences", 1e-5)
        else:
            expect_equal(sum(columns[4]), len(pairs), "pairs in the grid")


# ---- +concord ------------------------------------------------------------------------------------------------------


@case
def a_concordance_is_drawn_with_all_its_fields():
    path = vcf(records(300, 6))
    out = os.path.join(fresh(), "concord.json")
    carbon("+concord", path, "--", "--tags", "S,T", "--by", "SIG", "--label", LABEL, "--negate", "--bootstrap", 20, "--json", out,
           "--min-pearson", 0.5, "--max-diff", 0.001)
    page = report(out)
    document = json.loads(read(out))
    table = [t for caption, t in page.tables.items() if caption.startswith("Agreement of S and T")][0]
    lines = [document["all"]] + document["strata"]
    expect_equal([row[0] for row in table["table"]], [line["name"] for line in lines], "strata")
    for row, line in zip(table["table"], lines):
        keys = [key for key in line if key != "name" and any(one[key] is not None for one in lines)]
        expect_equal(len(row), 1 + len(keys), "columns")
        for key, cell in zip(keys, row[1:]):
            if line[key] is None:
                expect_equal(cell, ".", key)
            else:
                expect_close(float(cell), line[key], 6e-6 * max(1, abs(line[key])), key)
    bounds = page.tables["Bounds"]["table"]
    expect_equal([(row[0], row[3]) for row in bounds], [("--min-pearson", "yes"), ("--max-diff", "no")], "bounds")
    expect("1 of 2 bounds are not met." in page.paragraphs, "paragraphs %r" % page.paragraphs)
    bars = [f for name, f in page.figures.items() if name.endswith("_correlations")][0]
    pearson_column = [row[bars["columns"].index("Pearson")] for row in bars["table"]]
    close([float(v) for v in pearson_column if v != "."], [line["pearson"] for line in lines if line["pearson"] is not None], "bars")
    for end in ("_auroc", "_auroc_difference"):
        expect(any(name.endswith(end) for name in page.figures), "no figure *" + end)


@case
def hostile_texts_of_a_concordance_stay_text():
    evil = "<script>alert(1)</script>"
    line = {"name": "all", "alleles": 2, "n": 2, "only_a": 0, "only_b": 0, "missing_a": 0, "missing_b": 0, "missing_both": 0,
            "pearson": None, "spearman": None, "mean_abs_diff": 0, "max_abs_diff": 0, "overlap_1": 1, "overlap_5": 1}
    document = {"a": {"file": evil, "tag": evil}, "b": {"file": evil, "tag": evil + '"'}, "all": line, "by": evil,
                "strata": [dict(line, name=evil), dict(line, name="\u0000\n\t'")],
                "bounds": [{"option": evil, "bound": 1, "value": None, "met": False}]}
    directory = fresh()
    path = write(directory, "c.json", json.dumps(document))
    out = os.path.join(directory, "report.html")
    ok("report", path, "-o", out, "--no-version", "--svg", os.path.join(directory, "svg"))
    for text in [read(out)] + [read(os.path.join(directory, "svg", name)) for name in os.listdir(os.path.join(directory, "svg"))]:
        expect(b"<script>alert" not in text, "a script of a file")
    expect(evil in read(out).decode().replace("&lt;", "<").replace("&gt;", ">"), "the text is not shown")


@case
def damaged_concordances():
    path = vcf(records(60, 7))
    good = os.path.join(fresh(), "concord.json")
    ok("+concord", path, "--", "--tags", "S,T", "--json", good)
    text = read(good).decode()
    for old, new, words in ((r'"n": \d+', '"n": -1', "all.n"), (r'"pearson": [^,]+', '"pearson": "high"', "all.pearson"),
                            (r'"pearson": [^,]+', '"pearson": 7', "all.pearson"), (r'"tag": "S"', '"tag": 3', "a.tag"),
                            (r'"bounds": \[\]', '"bounds": 0', "bounds"), (r'"spearman": [^,]+, ', "", "all.spearman"),
                            (r"\}\s*$", "", "bad.json"), (r'"alleles"', '"n": 1, "alleles"', "bad.json")):
        directory = fresh()
        bad = write(directory, "bad.json", re.sub(old, new, text, count=1))
        out = os.path.join(directory, "report.html")
        expect_failure(carbon("report", bad, "-o", out), "bad.json", words)
        expect(not os.path.exists(out), "an output after the failure")


@case
def words_that_no_allele_has():
    """As +auroc: an error where a class would be empty, else a warning; both list the values with their counts."""
    path = vcf([(i, i, "P" if i % 3 else "B") for i in range(9)])
    for label, word in (("SIG=Q/B", "Q"), ("SIG=Q", "Q"), ("SIG=P/Q", "Q")):
        folder = fresh()
        expect_failure(carbon("report", "--tags", "S", "--label", label, "-o", os.path.join(folder, "r.html"), path), "in.vcf: the label " + label,
                       "no allele has the value %s of SIG; its values are 6 P, 3 B" % word)
        expect_equal(os.listdir(folder), [], "files of a failed run")
    result = ok("report", "--tags", "S", "--label", "SIG=P,LP/B", "--bootstrap", 0, "-o", os.path.join(fresh(), "r.html"), path)
    expect(any("no allele has the value LP of SIG" in line for line in result.messages("W")), "no warning", result)


@case
def an_area_below_one_half_is_said_on_the_page():
    path = vcf([(i, i, "P" if i < 4 else "B") for i in range(9)])
    out = os.path.join(fresh(), "r.html")
    result = ok("report", "--tags", "S", "--label", "SIG=P/B", "--bootstrap", 0, "-o", out, path)
    said, = (line.split("] ", 1)[1] for line in result.messages("W") if "below 0.5" in line)
    expect(said[1:] in html.unescape(read(out).decode()), "the page does not say: " + said)


if __name__ == "__main__":
    main()
