"""carbon +rank: every CARBON_PHRED against a plain count over the background, and what is refused."""

import gzip
import math
import os
import random
import struct

from harness import (Skip, bgzip, carbon, case, expect, expect_equal, expect_failure, fresh, info_of, main, model, ok, read, records,
                     to_fasta, tool, write)

MODEL = ('##carbon_scanModel=<ID=CARBON_SCAN,Model="some/Model 1",SHA256=%s,Dtype=f32,Device="cpu",Level=marginal,Frames=1,'
         "Context=24000,Strand=both>\n" % ("0123456789abcdef" * 4))
NAMES = "#TRI\tALT\tBIN\tCOUNT\n"
SCORE = '##INFO=<ID=CARBON_SCAN,Number=A,Type=Float,Description="score">\n'
TAIL = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"


def vcf(lines, model_lines=MODEL, tag=SCORE):
    """`lines` are (contig, POS, REF, ALTs, CARBON_SCAN as text or None)."""
    contigs = "".join("##contig=<ID=%s>\n" % contig for contig in dict.fromkeys(line[0] for line in lines))
    body = "".join("%s\t%d\t.\t%s\t%s\t.\t.\t%s\n" % (*line[:4], "." if line[4] is None else "DP=7;CARBON_SCAN=" + line[4])
                   for line in lines)
    depth = '##INFO=<ID=DP,Number=1,Type=Integer,Description="depth">\n'
    return write(fresh(), "in.vcf", "##fileformat=VCFv4.2\n" + model_lines + tag + depth + contigs + TAIL + body)


def histogram(rows, head=MODEL, name="b.hist"):
    return write(fresh(), name, "##carbon_scanVersion=1\n" + head + NAMES + "".join("%s\t%s\t%d\t%d\n" % row for row in rows))


# ---- the definition, restated


def bin_of(score):
    single = struct.unpack("f", struct.pack("f", float(score)))[0]
    return math.floor(100 * float("%.6g" % single))


def wanted_rank(rows, score, chosen):
    """As text. `chosen` says which (TRI, ALT) are of the class."""
    counts = [(bin_, count) for tri, alt, bin_, count in rows if chosen(tri, alt)]
    total = sum(count for _, count in counts)
    below = sum(count for bin_, count in counts if bin_ <= bin_of(score))
    if total == 0:
        return "."
    value = -10 * math.log10((below + 1) / (total + 1)) or 0.0
    return "%.6g" % struct.unpack("f", struct.pack("f", value))[0]


def ranks(text):
    """CARBON_PHRED of each record as a list of texts, None without the tag."""
    found = [info_of(line).get("CARBON_PHRED") for line in records(text)]
    return [value and value.split(",") for value in found]


def rank(path, background, *options, **more):
    return ok("+rank", path, "--", "--background", background, *options, **more)


def random_rows(rng, n):
    rows = []
    while len(rows) < n:
        tri = rng.choice([".", "".join(rng.choice("ACGT") for _ in range(3))])
        alt = rng.choice("ACGT")
        if tri == "." or tri[1] != alt:
            rows.append((tri, alt, rng.randrange(-400, 200), rng.choice((1, 2, 50, 10 ** 6))))
    return rows


# ---- ranks


@case
def every_rank_among_all_snvs():
    for seed in range(4):
        rng = random.Random(seed)
        rows = random_rows(rng, 300)
        lines, wanted = [], []
        for pos in range(1, 200):
            ref = rng.choice("ACGTacgt")
            alts = rng.sample([base for base in "ACGT" if base != ref.upper()], rng.choice((1, 2, 3)))
            scores = [None if rng.random() < 0.1 else "%.6g" % rng.uniform(-5, 3) for _ in alts]
            alts = [alt.lower() if rng.random() < 0.2 else alt for alt in alts]
            lines.append(("c", pos, ref, ",".join(alts), ",".join(score or "." for score in scores)))
            wanted.append([score and wanted_rank(rows, score, lambda tri, alt: True) or "." for score in scores])
        found = rank(vcf(lines), histogram(rows))
        expect_equal(ranks(found.text), wanted, "seed %d" % seed)
        # The other columns and tags are as they were.
        expect_equal([info_of(line)["CARBON_SCAN"] for line in records(found.text)], [line[4] for line in lines], "scores")


def small_genome(rng):
    contigs = {"c%d" % i: "".join(rng.choice("ACGTACGTACGTacgtNR") for _ in range(n)) for i, n in enumerate((300, 1, 2, 5000))}
    contigs["c3"] = contigs["c3"][:4090] + "ACGTACGTACGT" + contigs["c3"][4102:]  # over the end of a piece that is read at once
    return contigs


def trinucleotide(bases, pos):
    """Around the 0-based position; None if a neighbour is not known."""
    around = bases[max(pos - 1, 0):pos + 2].upper()
    return around if len(around) == 3 and pos > 0 and set(around) <= set("ACGT") else None


@case
def every_rank_in_the_same_context():
    for seed in range(2):
        rng = random.Random(seed)
        rows, genome = random_rows(rng, 400), small_genome(rng)
        fasta = write(fresh(), "ref.fa", to_fasta(genome.items()))
        lines, wanted = [], []
        for contig, bases in genome.items():
            for pos, base in enumerate(bases.upper()):
                if base not in "ACGT" or rng.random() < 0.3:
                    continue
                alts = [alt for alt in "ACGT" if alt != base]
                scores = ["%.6g" % rng.uniform(-5, 3) for _ in alts]
                tri = trinucleotide(bases, pos)
                lines.append((contig, pos + 1, base if seed else base.lower(), ",".join(alts), ",".join(scores)))
                wanted.append([wanted_rank(rows, score, lambda t, a, alt=alt: t == tri and a == alt) if tri else "."
                               for alt, score in zip(alts, scores)])
        path, background = vcf(lines), histogram(rows)
        found = ranks(rank(path, background, "--by", "trinucleotide", "--fasta-ref", fasta).text)
        expect_equal(found, wanted, "seed %d" % seed)
        expect(["."] * 3 in wanted and any("." in line and set(line) != {"."} for line in wanted), "not all cases arise")
        # Records may come in any order, and the FASTA may be compressed.
        order = list(range(len(lines)))
        rng.shuffle(order)
        shuffled = vcf([lines[i] for i in order])
        found = ranks(rank(shuffled, background, "--by", "trinucleotide", "--fasta-ref", bgzip(fasta)).text)
        expect_equal(found, [wanted[i] for i in order], "shuffled, seed %d" % seed)
        all_snvs = ranks(rank(path, background).text)
        expect(all_snvs != wanted and all("." not in line for line in all_snvs), "the classes make no difference")


@case
def bins_at_their_edges():
    # 100 * 0.29 is less than 29 in double, and 0.2900004 is printed as 0.29.
    scores = ["0.29", "0.2900004", "0.289999", "0.3", "-0.01", "-0.010001", "-0.00999999", "0", "-0", "1e-05", "-1e-05", "0.57", "-0.57",
              "2.55", "-2.55", "1234.56", "-7.1e+06", "1e30", "-1e30"]
    # Each bin has a count of its own, so that a neighbour gives another rank.
    near = {bin_ for score in scores[:-3] for bin_ in range(bin_of(score) - 2, bin_of(score) + 3)}
    rows = [(".", "A", bin_, 100 + i) for i, bin_ in enumerate(sorted(near))]
    path, background = vcf([("c", i + 1, "A", "C", score) for i, score in enumerate(scores)]), histogram(rows)
    wanted = [[wanted_rank(rows, score, lambda tri, alt: True)] for score in scores]
    expect_equal(ranks(rank(path, background).text), wanted, "from text")
    binary = tool("bcftools", "view", "--no-version", "-Ou", path).out
    expect_equal(ranks(rank("-", background, stdin=binary).text), wanted, "from BCF")


@case
def the_scale_is_that_of_phred():
    rows = [("ACA", "T", -1000 + i, 1) for i in range(999)]
    scores = {"-20": "30", "-10": "26.9897", "-9.99": "25.2288", "-9.915": "20", "-9.015": "10", "-0.02": "0", "5": "0"}
    found = ranks(rank(vcf([("c", i + 1, "A", "C", score) for i, score in enumerate(scores)]), histogram(rows)).text)
    expect_equal([value for value, in found], list(scores.values()), "ranks")


@case
def alleles_without_a_rank_are_counted():
    lines = [("c", 1, "A", "C,<DEL>,*", "-1,-1,-1"), ("c", 2, "A", ".", None), ("c", 3, "AC", "A,GT", "-1,-1"), ("c", 4, "N", "A", "-1"),
             ("c", 5, "A", "N,G,A", "-1,.,-1"), ("c", 6, "A", "T", None), ("c", 7, "A", "C,G", "."), ("c", 8, "C", "A", "nan"),
             ("c", 9, "R", "A", "1"), ("c", 10, "C", "T", "-4")]
    rows = [(".", "A", -12, 3), ("ACA", "T", -312, 17)]
    result = rank(vcf(lines), histogram(rows))
    low = wanted_rank(rows, "-1", lambda tri, alt: True)
    expect_equal(ranks(result.text), [[low, ".", "."], None, [".", "."], ["."], [".", ".", "."], ["."], [".", "."], ["."], ["."],
                                      [wanted_rank(rows, "-4", lambda tri, alt: True)]], "ranks")
    expect_equal(result.messages("W"), ["[W::rank] 2 of 15 alleles have a rank; the others: 8 not an SNV of A, C, G and T, "
                                        "5 without a score"], "counts")


@case
def classes_and_contexts_that_are_missing_are_counted():
    fasta = write(fresh(), "ref.fa", ">c\nACACNCA\n")
    lines = [("c", 1, "A", "C", "-1"), ("c", 2, "C", "T,G", "-1,-1"), ("c", 4, "C", "T", "-1"), ("c", 7, "A", "C", ".")]
    rows = [(".", "T", -100, 5), ("ACA", "T", -200, 9)]
    result = rank(vcf(lines), histogram(rows), "--by", "trinucleotide", "--fasta-ref", fasta)
    expect_equal(ranks(result.text), [["."], ["0", "."], ["."], ["."]], "ranks")
    expect_equal(result.messages("W"), ["[W::rank] 1 of 5 alleles have a rank; the others: 1 without a score, 2 beside an unknown base, "
                                        "1 of a class that the background lacks"], "counts")
    good = rank(vcf(lines[1:2]), histogram(rows + [("ACA", "G", 1, 1)]), "--by", "trinucleotide", "--fasta-ref", fasta)
    expect_equal(good.messages("W"), [], "warnings where every allele has a rank")
    told = ok("+rank", "-v", "4", vcf(lines[1:2]), "--", "--background", histogram(rows))
    expect("[I::rank] 2 of 2 alleles have a rank\n" in told.err, "no counts", told)


@case
def an_earlier_rank_is_replaced():
    path, rows = vcf([("c", 1, "A", "C", "-1"), ("c", 2, "A", ".", None)]), [(".", "A", -12, 3)]
    first = rank(path, histogram(rows))
    again = write(fresh(), "again.vcf", first.out.replace(b"\tDP=7", b"\tCARBON_PHRED=77;DP=7").replace(b"t\t.\n", b"t\tCARBON_PHRED=5\n"))
    second = rank(again, histogram([(".", "A", -700, 99)]))
    expect_equal(ranks(second.text), [["0"], None], "ranks")
    expect_equal(second.text.count("##INFO=<ID=CARBON_PHRED,Number=A,Type=Float,"), 1, "definitions")
    expect("of the same trinucleotide" not in second.text, "the definition speaks of contexts", second)
    binary = ok("+rank", "-O", "b", path, "--", "--background", histogram(rows))
    viewed = tool("bcftools", "view", "--no-version", "-", stdin=binary.out)
    expect_equal(records(viewed.text), records(first.text), "as BCF")


# ---- backgrounds in parts and compressed


@case
def a_background_of_parts():
    rng = random.Random(3)
    rows = random_rows(rng, 200)
    lines = [("c", i + 1, "A", "C", "%.6g" % rng.uniform(-5, 3)) for i in range(50)]
    path, whole = vcf(lines), histogram(rows)
    wanted = ranks(rank(path, whole).text)
    parts = [histogram(rows[begin:begin + 50]) for begin in range(0, 200, 50)]
    parts.append(histogram([]))
    plain = write(fresh(), "plain.hist", b"".join(read(part) for part in parts))
    expect_equal(ranks(rank(path, plain).text), wanted, "parts of text")
    blocks = b"".join(read(bgzip(part)) for part in parts)
    for name, content in (("b.hist.gz", read(bgzip(whole))), ("b.hist", read(bgzip(whole))), ("b.hist.gz", gzip.compress(read(whole))),
                          ("b.hist.gz", blocks)):
        expect_equal(ranks(rank(path, write(fresh(), name, content)).text), wanted, "compressed, " + name)
    crlf = write(fresh(), "b.hist", read(whole).replace(b"\n", b"\r\n"))
    expect_equal(ranks(rank(path, crlf).text), wanted, "lines that end in CR LF")


@case
def parts_of_other_scans_are_refused():
    first, second = (histogram([(".", "A", 1, 1)], head=head) for head in (MODEL, MODEL.replace("Strand=both", "Strand=+")))
    both = write(fresh(), "both.hist", read(first) + read(second))
    expect_failure(carbon("+rank", vcf([("c", 1, "A", "C", "1")]), "--", "--background", both), "both.hist:6", "do not add up",
                   "Strand (both in %s:2, + in %s:6)" % (both, both))


BAD = (  # what is wrong, the file, where, words
    ("empty", "", "", "#TRI ALT BIN COUNT"),
    ("no names at all", MODEL, ":1", "without the line #TRI ALT BIN COUNT"),
    ("no names", MODEL + ".\tA\t1\t1\n", ":2", "before #TRI ALT BIN COUNT"),
    ("other names", MODEL + "#TRI\tALT\tCOUNT\tBIN\n.\tA\t1\t1\n", ":2", "names #TRI, ALT, BIN and COUNT"),
    ("names with spaces", MODEL + "#TRI ALT BIN COUNT\n", ":2", "separated by tabs"),
    ("no model", NAMES + ".\tA\t1\t1\n", ":2", "without a line ##carbon_scanModel"),
    ("a damaged model", MODEL[:90] + "\n" + NAMES + ".\tA\t1\t1\n", ":1", "is damaged"),
    ("a model without fields", "##carbon_scanModel=x\n" + NAMES + ".\tA\t1\t1\n", ":1", "is damaged"),
    ("no counts", MODEL + NAMES, ":2", "without a count"),
    ("three columns", MODEL + NAMES + ".\tA\t1\t1\n.\tA\t1\n", ":4", "3 columns"),
    ("five columns", MODEL + NAMES + ".\tA\t1\t1\t\n", ":3", "5 columns"),
    ("an empty line", MODEL + NAMES + "\n.\tA\t1\t1\n", ":3", "1 columns"),
    ("spaces", MODEL + NAMES + ". A 1 1\n", ":3", "1 columns"),
    ("TRI of two", MODEL + NAMES + "AC\tG\t1\t1\n", ":3", "TRI is 'AC'"),
    ("TRI of four", MODEL + NAMES + "ACAC\tG\t1\t1\n", ":3", "TRI is 'ACAC'"),
    ("TRI with N", MODEL + NAMES + "NCA\tG\t1\t1\n", ":3", "TRI is 'NCA'"),
    ("TRI in lower case", MODEL + NAMES + "aca\tG\t1\t1\n", ":3", "TRI is 'aca'"),
    ("no TRI", MODEL + NAMES + "\tG\t1\t1\n", ":3", "TRI is ''"),
    ("a long TRI", MODEL + NAMES + "A" * 10 ** 5 + "\tG\t1\t1\n", ":3", "AAA...'"),
    ("ALT of N", MODEL + NAMES + "ACA\tN\t1\t1\n", ":3", "ALT is 'N'"),
    ("ALT in lower case", MODEL + NAMES + "ACA\tg\t1\t1\n", ":3", "ALT is 'g'"),
    ("ALT of two", MODEL + NAMES + "ACA\tGT\t1\t1\n", ":3", "ALT is 'GT'"),
    ("no ALT", MODEL + NAMES + "ACA\t\t1\t1\n", ":3", "ALT is ''"),
    ("ALT equal to REF", MODEL + NAMES + "ACA\tC\t1\t1\n", ":3", "no SNV"),
    ("BIN with a point", MODEL + NAMES + "ACA\tG\t1.0\t1\n", ":3", "BIN is '1.0'"),
    ("BIN with a space", MODEL + NAMES + "ACA\tG\t 1\t1\n", ":3", "BIN is ' 1'"),
    ("BIN with a plus", MODEL + NAMES + "ACA\tG\t+1\t1\n", ":3", "BIN is '+1'"),
    ("BIN too large", MODEL + NAMES + "ACA\tG\t-9223372036854775809\t1\n", ":3", "BIN is"),
    ("COUNT of zero", MODEL + NAMES + "ACA\tG\t1\t0\n", ":3", "COUNT is '0'"),
    ("COUNT below zero", MODEL + NAMES + "ACA\tG\t1\t-3\n", ":3", "COUNT is '-3'"),
    ("COUNT of letters", MODEL + NAMES + "ACA\tG\t1\tx\n", ":3", "COUNT is 'x'"),
    ("COUNT too large", MODEL + NAMES + "ACA\tG\t1\t9223372036854775808\n", ":3", "COUNT is"),
    ("counts too large", MODEL + NAMES + "ACA\tG\t1\t9223372036854775807\nAAA\tG\t5\t1\n", ":4", "2^63"),
    ("a table of a scan", MODEL + "#CHROM\tPOS\tREF\tALT\tCARBON_SCAN\nc\t1\tA\tC\t1\n", ":2", "names #TRI"),
)

for what, text, place, words in BAD:
    @case(name="refused background: " + what)
    def bad_background(text=text, place=place, words=words):
        d = fresh()
        background = write(d, "bad.hist", text)
        path, out = vcf([("c", 1, "A", "C", "1")]), os.path.join(d, "out.vcf")
        result = carbon("+rank", "-o", out, path, "--", "--background", background)
        expect_failure(result, "[E::rank] " + background + place, words)
        expect(len(result.messages("E")[0]) < 600, "the message is too long to be clear", result)
        expect_equal(sorted(os.listdir(d)), ["bad.hist"], "files after the failure")


@case
def a_cut_background_is_refused():
    whole = bgzip(histogram(random_rows(random.Random(1), 20000)))
    cut = write(fresh(), "cut.hist.gz", read(whole)[:-28])
    expect_failure(carbon("+rank", vcf([("c", 1, "A", "C", "1")]), "--", "--background", cut), "cut.hist.gz", "end-of-file marker")
    expect_failure(carbon("+rank", vcf([("c", 1, "A", "C", "1")]), "--", "--background", cut + "x"), "cut.hist.gzx", "No such file")


# ---- what the scores were computed with


@case
def the_model_line_of_other_programs():
    rows = [(".", "A", -12, 3)]
    path, background = vcf([("c", 1, "A", "C", "-1")]), histogram(rows)
    wanted = ranks(rank(path, background).text)
    binary = tool("bcftools", "view", "-Ob", path).out
    again = tool("bcftools", "view", "-", stdin=binary).out
    for name, content in (("BCF", binary), ("text from BCF", again)):
        expect_equal(ranks(rank("-", background, stdin=content).text), wanted, name)
    bare = vcf([("c", 1, "A", "C", "-1")], model_lines="")
    head = write(fresh(), "head.txt", MODEL)
    annotated = tool("bcftools", "annotate", "-h", head, bare).out
    expect_equal(ranks(rank("-", background, stdin=annotated).text), wanted, "bcftools annotate -h")
    # Quotes and a number that some programs add do not count, nor does the order.
    odd = MODEL.replace("Dtype=f32", 'Dtype="f32"').replace("Frames=1,", "").replace(">", ",Frames=1,IDX=4>")
    expect(odd != MODEL, "the line did not change")
    expect_equal(ranks(rank(vcf([("c", 1, "A", "C", "-1")], model_lines=odd), background).text), wanted, "written in another way")
    expect_equal(ranks(rank(vcf([("c", 1, "A", "C", "-1")], model_lines=MODEL + "##carbon_scanVersion=9\n"), background).text), wanted,
                 "beside another line")


@case
def another_model_is_refused():
    background = histogram([(".", "A", -12, 3)])
    shorter = MODEL.replace("Context=24000,", "")
    for lines, words in ((MODEL.replace("Frames=1", "Frames=2"), ["Frames (2 in the VCF, 1 in the background)"]),
                         (MODEL.replace("some/Model 1", "other").replace("=f32", "=bf16"),
                          ["Dtype (bf16 in the VCF, f32 in the background), Model (other in the VCF, some/Model 1 in the background)"]),
                         (shorter, ["Context (nothing in the VCF, 24000 in the background)"]),
                         (MODEL.replace(">", ",RopeScaling=yarn:4>"), ["RopeScaling (yarn:4 in the VCF, nothing in the background)"]),
                         (MODEL.replace("ID=CARBON_SCAN", "ID=OTHER"), ["ID (OTHER in the VCF"]),
                         (MODEL + MODEL.replace("Frames=1", "Frames=6"), ["Frames (6 in the VCF"]),
                         ("##carbon_scanModel=hello\n", ["is damaged"]),
                         ("", ["no line ##carbon_scanModel", "header of the scan", "bcftools annotate -h"])):
        path = vcf([("c", 1, "A", "C", "-1")], model_lines=lines)
        d = os.path.dirname(path)
        expect_failure(carbon("+rank", "-o", os.path.join(d, "out.vcf"), path, "--", "--background", background), "[E::rank] ", *words)
        expect_equal(os.listdir(d), ["in.vcf"], "files after the failure")


# ---- other refusals


for words, message in ((["--by", "trinucleotide"], "needs --fasta-ref"), (["--fasta-ref", "ref.fa"], "--by trinucleotide"),
                       (["--by", "gene"], "none, trinucleotide or type"), (["--background="], "--background is empty")):
    @case(name="refused: " + " ".join(words))
    def bad_options(words=words, message=message):
        background = histogram([(".", "A", -12, 3)])
        expect_failure(carbon("+rank", vcf([("c", 1, "A", "C", "1")]), "--", "--background", background, *words), ("[E::rank] ", "[E::main_+rank] "), message)


@case
def the_tag_must_be_that_of_a_scan():
    background = histogram([(".", "A", -12, 3)])
    for tag, value, message in (("", None, "no INFO tag CARBON_SCAN"), (SCORE.replace("Float", "String"), "1", "not of type Float"),
                                (SCORE.replace("Float", "Integer"), "1", "not of type Float"), (SCORE.replace("=A", "=1"), "1", "Number=A"),
                                (SCORE.replace("=A", "=."), "1,2", "Number=A"), (SCORE, "1,2,3", "c:1: 3 values of CARBON_SCAN for 2"),
                                (SCORE, "1", "c:1: 1 values of CARBON_SCAN for 2")):
        path = vcf([("c", 1, "A", "C,G", value)], tag=tag)
        d = os.path.dirname(path)
        expect_failure(carbon("+rank", "-o", os.path.join(d, "out.vcf"), path, "--", "--background", background), "[E::rank] ", message)
        expect_equal(os.listdir(d), ["in.vcf"], "files after the failure")


@case
def a_reference_that_is_not_that_of_the_vcf():
    background, fasta = histogram([("ACA", "T", -12, 3)]), write(fresh(), "ref.fa", ">c\nACACA\n")
    for line, message in ((("c", 2, "G", "T", "1"), "c:2: REF G differs from %s (C)" % fasta), (("d", 2, "C", "T", "1"), "no contig d"),
                          (("c", 6, "C", "T", "1"), "c:6: "), (("c", 0, "C", "T", "1"), "c:0: ")):
        expect_failure(carbon("+rank", vcf([("c", 2, "C", "T", "1"), line]), "--", "--background", background, "--by", "trinucleotide",
                              "--fasta-ref", fasta), "[E::rank] ", message, "that was scanned")
    # Of alleles without a score nothing is read.
    lines = [("c", 2, "G", "T", "."), ("d", 2, "CA", "C", "1"), ("c", 90, "C", "<DEL>", None)]
    expect_equal(ranks(rank(vcf(lines), background, "--by", "trinucleotide", "--fasta-ref", fasta).text), [["."]] * 3, "ranks")


# ---- the histogram of a scan


@case
def a_real_scan():
    if "--histogram" not in ok("scan", "--help").text:
        raise Skip("this carbon scan has no --histogram")
    rng, d = random.Random(11), fresh()
    genome = {"c1": "".join(rng.choice("ACGTACGTACGTacgtN") for _ in range(700)), "c2": "".join(rng.choice("ACGT") for _ in range(90))}
    fasta, background = write(d, "ref.fa", to_fasta(genome.items())), os.path.join(d, "scan.hist")
    scanned = ok("scan", "-m", model(), "-q", "-O", "v", "-f", fasta, "--histogram", background).out
    path, rows = write(d, "scan.vcf", scanned), []
    values = {}  # of the same SNVs, from the scan itself
    for line in records(scanned.decode()):
        fields = line.split("\t")
        for alt, score in zip(fields[4].split(","), info_of(line)["CARBON_SCAN"].split(",")):
            tri = trinucleotide(genome[fields[0]], int(fields[1]) - 1) or "."
            rows.append((tri, alt, bin_of(score), 1))
            values[fields[0], fields[1], alt] = tri, score
    expect(len(rows) > 1500, "only %d SNVs" % len(rows))
    for options, chosen in (([], lambda tri, alt: lambda t, a: True),
                            (["--by", "trinucleotide", "--fasta-ref", fasta], lambda tri, alt: lambda t, a: (t, a) == (tri, alt))):
        found = {}
        for line in records(rank(path, background, *options).text):
            fields = line.split("\t")
            for alt, value in zip(fields[4].split(","), info_of(line)["CARBON_PHRED"].split(",")):
                found[fields[0], fields[1], alt] = value
        wanted = {key: "." if options and tri == "." else wanted_rank(rows, score, chosen(tri, key[2]))
                  for key, (tri, score) in values.items()}
        expect_equal(list(found.items()), list(wanted.items()), "ranks %s" % options)
    shards = []
    for i in range(1, 4):
        part = os.path.join(d, "part%d.hist" % i)
        ok("scan", "-m", model(), "-q", "-O", "v", "-f", fasta, "--shard", "%d/3" % i, "--histogram", part)
        shards.append(read(part))
    together = write(d, "together.hist", b"".join(shards))
    expect_equal(records(rank(path, together).text), records(rank(path, background).text), "with the histograms of shards")


if __name__ == "__main__":
    main()
