"""carbon vep --histogram: every count against the scores of the same run, and the ranks that carbon +rank makes of it."""

import collections
import math
import os
import random
import struct

from harness import (bgzip, carbon, case, expect, expect_equal, expect_failure, fresh, genome, info_of, main, model, ok, read, records,
                     to_fasta, tool, write)
from vep_support import HEAD, MINI, OTHER, WINDOW, reference, values, vcf, vep

RECIPES = ("--recipe", "centered,anchored", "--context", "60", "--horizon", "12,30", "-w", "240", "--strand", "+", "--phases", "1")
TAGS = ["CARBON_LLR", "CARBON_ALLR_12", "CARBON_ALLR_30"]
LEVELS = ("--level", "bp,token", "-w", "240"), ["CARBON_LLR", "CARBON_LLR_TOKEN"]
OTHERS = ("--recipe", "centered,next-token", "-w", "48", "--context", "60"), ["CARBON_LLR", "CARBON_NT"]
NAMES = "#TAG\tTYPE\tBIN\tCOUNT"
SV = ('##INFO=<ID=END,Number=1,Type=Integer,Description="end">\n##INFO=<ID=SVLEN,Number=A,Type=Integer,Description="length">\n'
      '##INFO=<ID=SVINSSEQ,Number=A,Type=String,Description="inserted">\n')


# ---- the definitions, restated


def bin_of(score):
    single = struct.unpack("f", struct.pack("f", float(score)))[0]
    return math.floor(100 * float("%.6g" % single))


def length_text(length):
    for low, high in ((1, 1), (2, 2), (3, 3), (4, 6), (7, 12), (13, 24), (25, 48)):
        if low <= length <= high:
            return str(low) if low == high else "%d-%d" % (low, high)
    return "49+"


def type_of(line, alt):
    """Of an ALT of a line of VCF. Common beginnings go first here, common ends in the program."""
    fields, info = line.split("\t"), info_of(line)
    ref, alts = fields[3].upper(), fields[4].split(",")
    if alt[0] == "<":
        length = (int(info["END"]) - int(fields[1]) if "END" in info and len(alts) == 1
                  else abs(int(info["SVLEN"].split(",")[alts.index(alt)])))
        return {"<DEL>": "del:" + length_text(length), "<INV>": "mnv"}.get(alt, "ins:" + length_text(length))
    alt = alt.upper()
    begin = len(os.path.commonprefix([ref, alt]))
    ref, alt = ref[begin:], alt[begin:]
    end = len(os.path.commonprefix([ref[::-1], alt[::-1]]))
    ref, alt = ref[:len(ref) - end], alt[:len(alt) - end]
    if len(ref) == len(alt):
        return {0: "other", 1: "snv"}.get(len(ref), "mnv")
    if ref and alt:
        return "other"
    return ("del:" if ref else "ins:") + length_text(len(ref or alt))


def scored(lines, tags):
    """(tag, type, score) of every score, from lines of VCF."""
    for line in lines:
        for tag in tags:
            if line.split("\t")[4] == ".":
                continue
            for alt, score in zip(line.split("\t")[4].split(","), values(line, tag) or []):
                if score is not None:
                    yield tag, type_of(line, alt), score


def counted(lines, tags):
    return collections.Counter((tag, kind, bin_of(score)) for tag, kind, score in scored(lines, tags))


def parsed(content):
    """Header lines and counts of a histogram; rows may be repeated."""
    lines, counts = content.decode().splitlines(), collections.Counter()
    for line in lines:
        if not line.startswith("#"):
            tag, kind, bin_, count = line.split("\t")
            counts[tag, kind, int(bin_)] += int(count)
    return [line for line in lines if line.startswith("#")], counts


def phred(counts, tag, chosen, score):
    """As text: `counts` of a histogram, of the types for which chosen(type) is true."""
    mine = [(bin_, n) for (t, kind, bin_), n in counts.items() if t == tag and chosen(kind)]
    total, below = sum(n for _, n in mine), sum(n for bin_, n in mine if bin_ <= bin_of(score))
    if total == 0:
        return "."
    return "%.6g" % struct.unpack("f", struct.pack("f", -10 * math.log10((below + 1) / (total + 1)) or 0.0))[0]


# ---- input


_made = []


def long_reference():
    if not _made:
        rng = random.Random(5)
        _made.append({name: "".join(rng.choice("ACGT") for _ in range(length)) for name, length in (("c1", 1200), ("c2", 900))})
        _made.append(write(fresh(), "long.fa", to_fasta(_made[0].items())))
    return _made


def every_kind(seed=1, count=150):
    """Lines of a VCF with alleles of every type, spelled in several ways, some of which get no score."""
    rng, (bases_of, _), lines = random.Random(seed), long_reference(), []

    def letters(n):
        return "".join(rng.choice("ACGT") for _ in range(n))

    for i in range(count):
        contig = rng.choice(list(bases_of))
        bases, pos = bases_of[contig], rng.randrange(130, 700)
        length = rng.choice((1, 1, 2, 3, 4, 6, 7, 12, 13, 24, 25, 48, 49, 70, 119))
        base, info = bases[pos - 1], "."
        kind = i % 10
        if kind < 3:  # SNVs, also with bases around them and in lower case
            left, right = rng.randrange(3), rng.randrange(3)
            ref = bases[pos - 1:pos + left + right]
            alts = [ref[:left] + other + ref[left + 1:] for other in rng.sample([b for b in "ACGT" if b != ref[left]], 2)]
            if kind == 2:
                ref, alts = ref.lower(), [alts[0].lower()]
        elif kind == 3:
            ref = bases[pos - 1:pos + 3]
            alts = [OTHER[ref[0]] + ref[1:3] + OTHER[ref[3]], ref[:1] + OTHER[ref[1]] + OTHER[ref[2]] + ref[3:]]
        elif kind == 4:
            ref, alts = base, [base + letters(length), letters(length) + base]
        elif kind == 5:
            ref, alts = bases[pos - 1:pos + length], [base, "*"]
        elif kind == 6:
            ref, alts = bases[pos - 1:pos + 4], [letters(3), letters(9), "<NON_REF>"]
        elif kind == 7:
            alts = [rng.choice(("<DEL>", "<DUP>", "<DUP:TANDEM>", "<INV>"))]
            ref, info = rng.choice((base, "N")), rng.choice(("END=%d" % (pos + length), "SVLEN=%d" % -length))
        elif kind == 8:
            ref, alts, info = base, ["<DEL>", "<INV>", OTHER[base]], "SVLEN=%d,%d,." % (length, length + 1)
            if length > 1:
                info = rng.choice((info, "SVLEN=%d,%d,.;SVINSSEQ=%s,.,." % (length, length + 1, letters(1))))
        else:
            ref, alts = base, ["."] if i % 20 == 9 else [base if i % 3 == 0 else "N"]
        lines.append("%s\t%d\t.\t%s\t%s\t.\t.\t%s\n" % (contig, pos, ref, ",".join(alts), info))
    lines.append("absent\t5\t.\tA\tC\t.\t.\t.\n")
    return lines


def given(lines):
    return write(fresh(), "in.vcf", HEAD % (SV + "".join("##contig=<ID=%s>\n" % name for name in ("c1", "c2", "absent")))
                 + "".join(lines))


def run(path, *args, recipes=RECIPES, name="out.vcf"):
    """Output of a run, and its histogram."""
    directory = fresh()
    out, histogram = os.path.join(directory, name), os.path.join(directory, "vep.hist")
    result = ok("vep", "-m", model(), "-f", long_reference()[1], *recipes, "--no-version", "-o", out, "--histogram", histogram, *args, path)
    expect_equal(sorted(os.listdir(directory)), sorted([name, "vep.hist"]), "files of a run")
    return out, histogram, result


def ranked(path, background):
    return records(ok("+rank", path, "--", "--background", background).text)


# ---- counts


@case
def every_score_is_counted_by_its_type():
    types = set()
    for seed, (recipes, tag_names) in ((1, (RECIPES, TAGS)), (2, (RECIPES, TAGS)), (3, OTHERS), (4, LEVELS)):
        out, histogram, _ = run(given(every_kind(seed)), recipes=recipes)
        lines = records(read(out).decode())
        head, counts = parsed(read(histogram))
        wanted = counted(lines, tag_names)
        expect_equal(counts, wanted, "counts, seed %d" % seed)
        expect_equal(head, [line for line in read(out).decode().splitlines() if line.startswith("##carbon_vepModel=")] + [NAMES], "header")
        for tag in tag_names:
            expect(any(t == tag for t, _, _ in counts), "no score of " + tag)
        types |= {kind for tag, kind, _ in counts if tag == "CARBON_LLR"}
    lengths = ("1", "2", "3", "4-6", "7-12", "13-24", "25-48", "49+")
    expect_equal(types, {"snv", "mnv", "other", *("%s:%s" % (kind, n) for kind in ("ins", "del") for n in lengths)}, "types that occur")


@case
def the_order_is_that_of_tags_types_and_bins():
    _, histogram, _ = run(given(every_kind()))
    kinds = ["snv", "mnv"] + ["%s:%s" % (kind, n) for kind in ("ins", "del")
                              for n in ("1", "2", "3", "4-6", "7-12", "13-24", "25-48", "49+")] + ["other"]
    rows = [line.split("\t") for line in read(histogram).decode().splitlines() if not line.startswith("#")]
    keys = [(TAGS.index(tag), kinds.index(kind), int(bin_)) for tag, kind, bin_, _ in rows]
    expect_equal(keys, sorted(set(keys)), "rows")


@case
def the_histogram_does_not_depend_on_the_output():
    path = given(every_kind())
    _, histogram, _ = run(path)
    wanted = read(histogram)
    for name, *args in (("out.bcf", "-W"), ("out.tsv", "-Ot"), ("out.vcf.gz", "-@", "2"), ("out.vcf", "--batch-tokens", "256")):
        if "-W" in args:
            args, name = [], "out.bcf"
        expect_equal(read(run(path, *args, name=name)[1]), wanted, "histogram beside %s %s" % (name, args))
    directory = fresh()
    for where in ("counts", "counts.gz"):
        piped = ok("vep", "-m", model(), "-f", long_reference()[1], *RECIPES, "--no-version", "--histogram", os.path.join(directory, where), path)
        content = read(os.path.join(directory, where))
        if where.endswith(".gz"):
            content = tool("bgzip", "-dc", os.path.join(directory, where)).out
        expect_equal(content, wanted, "beside standard output, " + where)
        expect_equal(len(records(piped.text)), 151, "records on standard output")
    out = os.path.join(fresh(), "out.vcf")
    result = ok("vep", "-m", model(), "-f", long_reference()[1], *RECIPES, "--no-version", "-o", out, "--histogram", "-", path)
    expect_equal(result.out, wanted, "on standard output")
    cache = os.path.join(fresh(), "cache")
    for _ in range(2):
        expect_equal(read(run(path, "--cache", cache)[1]), wanted, "with a cache")


@case
def the_version_lines_stand_first():
    directory = fresh()
    path = os.path.join(directory, "h")
    vep("-w", WINDOW, "--histogram", path, "-o", os.path.join(directory, "o.vcf"), MINI)
    lines = read(path).decode().splitlines()
    expect_equal([line.partition("=")[0] for line in lines[:4]],
                 ["##carbon_vepVersion", "##carbon_vepCommand", "##carbon_vepModel", NAMES], "first lines")


@case
def dropped_records_and_tables_are_not_counted():
    bases = genome()["c1"]
    path = vcf([("c1", 50 + i, bases[49 + i] if i % 3 else OTHER[bases[49 + i]], "N" if i == 7 else OTHER[OTHER[bases[49 + i]]])
                for i in range(40)])
    directory = fresh()
    scan, histogram = os.path.join(directory, "scan.tsv.gz"), os.path.join(directory, "h")
    ok("scan", "-m", model(), "-f", reference(), "-r", "c1:1-200", "--context", "60", "-o", scan, "-W")
    found = vep("-w", WINDOW, "-c", "x", "--max-ref-mismatch", "1", "--recipe", "centered", "--table", scan, "--histogram", histogram, path)
    lines = records(found.text)
    expect(0 < len(lines) < 40 and "CARBON_SCAN=" in found.text, "not all cases arise", found)
    head, counts = parsed(read(histogram))
    expect_equal(counts, counted(lines, ["CARBON_LLR"]), "counts")
    expect("CARBON_SCAN" not in "".join(head[2:]), "a model line of the table")


@case
def shares_are_put_together():
    path = given(every_kind())
    out, histogram, _ = run(path)
    head, wanted = parsed(read(histogram))
    shares = [run(path, "--shard", "%d/7" % (i + 1))[1] for i in range(7)] + [run(path, "--shard", "400/400")[1]]
    whole = write(fresh(), "all.hist", b"".join(read(share) for share in shares))
    expect_equal(parsed(read(shares[-1])), (head, collections.Counter()), "a share without scores")
    expect_equal(parsed(read(whole))[1], wanted, "counts of the shares")
    expect_equal(ranked(out, whole), ranked(out, histogram), "ranks")
    blocks = write(fresh(), "all.hist.gz", b"".join(read(bgzip(share)) for share in shares))
    expect_equal(ranked(out, blocks), ranked(out, histogram), "compressed")


# ---- runs that write none


@case
def failures_leave_nothing():
    directory = fresh()
    out, histogram = os.path.join(directory, "out.vcf"), os.path.join(directory, "h")
    common = ("vep", "-m", model(), "-f", reference(), "-w", WINDOW, "--restart")
    bad = vcf([("c1", 50, "A", "C"), ("c1", 51, "A", "C"), ("c1", 52, "A", "C")])
    expect_failure(carbon(*common, "-c", "e", "-o", out, "--histogram", histogram, bad), "differs from the FASTA")
    cut = write(fresh(), "cut.vcf.gz", read(bgzip(write(fresh(), "mini.vcf", read(MINI))))[:-28])
    expect_failure(carbon(*common, "-o", out, "--histogram", histogram, cut), "cut.vcf.gz")
    expect_failure(carbon(*common, "-o", out, "--histogram", os.path.join(directory, "no", "h"), MINI), "no/h")
    expect_failure(carbon(*common, "-o", out, "--histogram", "/dev/full", MINI), "/dev/full")
    expect_failure(carbon(*common, "-o", out, "--histogram", "", MINI), "--histogram", "empty")
    expect_equal([name for name in os.listdir(directory) if not name.endswith(".partial")], [], "files after failures")


@case
def names_that_collide_are_refused():
    path = write(fresh(), "in.vcf", read(MINI))
    directory = os.path.dirname(path)
    fasta = write(directory, "ref.fa", read(reference()))
    common = ("vep", "-m", model(), "-f", fasta, "-w", WINDOW)
    out = os.path.join(directory, "out.vcf")
    for args, words in ((("-o", out, "--histogram", out), ("two outputs",)),
                        (("-o", out, "--histogram", directory + "/./out.vcf"), ("two outputs",)),
                        (("--histogram", "-"), ("two outputs",)),
                        (("-o", out, "--cache", out + "c", "--histogram", out + "c"), ("two outputs",)),
                        (("-o", out, "--histogram", path), ("an input of this run",)),
                        (("-o", out, "--histogram", fasta), ("an input of this run",))):
        expect_failure(carbon(*common, *args, path), *words)
        expect_equal(sorted(name for name in os.listdir(directory) if not name.endswith(".fai")), ["in.vcf", "ref.fa"], "files")
        expect_equal(read(path), read(MINI), "the input")


@case
def an_estimate_writes_no_histogram():
    directory = fresh()
    result = vep("-w", WINDOW, "--estimate", "--histogram", os.path.join(directory, "h"), "-o", os.path.join(directory, "o.vcf"), MINI)
    expect("window" in result.text and os.listdir(directory) == [], "an estimate left %s" % os.listdir(directory), result)


@case
def tables_alone_have_no_histogram():
    directory = fresh()
    scan = os.path.join(directory, "scan.tsv.gz")
    ok("scan", "-m", model(), "-f", reference(), "-r", "c1:1-100", "--context", "60", "-o", scan, "-W")
    expect_failure(carbon("vep", "--table", scan, "--histogram", os.path.join(directory, "h"), MINI), "--histogram has no effect",
                   "tables")


# ---- ranks


def ranks_of(text, tag):
    return [value and value.split(",") for value in (info_of(line).get(tag + "_PHRED") for line in records(text))]


@case
def every_rank_among_the_same_type():
    out, histogram, _ = run(given(every_kind()))
    other, _, _ = run(given(every_kind(9)))
    counts = parsed(read(histogram))[1]
    for path in (out, other):
        lines = records(read(path).decode())
        for by, chosen in ((None, lambda kind: lambda k: k == kind), ("type", lambda kind: lambda k: k == kind),
                           ("none", lambda kind: lambda k: True)):
            found = ok("+rank", path, "--", "--background", histogram, *(("--by", by) if by else ()))
            for tag in TAGS:
                wanted = []
                for line in lines:
                    alts = line.split("\t")[4].split(",")
                    scores = values(line, tag) if alts != ["."] else None
                    wanted.append(None if alts == ["."] else
                                  ["." if score is None else phred(counts, tag, chosen(type_of(line, alt)), score)
                                   for alt, score in zip(alts, scores or [None] * len(alts))])
                got = [None if alts is None else alts if len(alts) == len(line) else alts * len(line)
                       for alts, line in zip(ranks_of(found.text, tag), [w or [] for w in wanted])]
                expect_equal(got, wanted, "%s by %s" % (tag, by))
                definition, = (line for line in found.text.splitlines() if line.startswith("##INFO=<ID=%s_PHRED," % tag))
                expect(("of the same type" in definition) == (by != "none") and tag + " is as low" in definition, definition)
            warned = "grow with their length" in found.err
            expect_equal(warned, by == "none", "the warning of indels, --by %s" % by)
            told = [line for line in found.err.splitlines() if "alleles have a rank" in line]
            expect_equal([line.partition("] ")[2].partition(":")[0] for line in told], sorted(TAGS), "tags with counts")
            # The other fields are as they were.
            expect_equal([{k: v for k, v in info_of(line).items() if not k.endswith("_PHRED")} for line in records(found.text)],
                         [info_of(line) for line in lines], "other tags")


MODEL = ('##carbon_vepModel=<ID=%s,Model="some/Model 1",SHA256=' + "0123456789abcdef" * 4 + ',Dtype=f32,Device="cpu",Recipe=centered,'
         "Window=8192,Phases=auto,Strand=both>\n")
BOTH = MODEL % "CARBON_LLR" + MODEL % "CARBON_NT"


def by_hand(lines, head=BOTH, tags=("CARBON_LLR", "CARBON_NT"), kind="Float"):
    """`lines` are (POS, REF, ALTs, INFO)."""
    definitions = "".join('##INFO=<ID=%s,Number=A,Type=%s,Description="Carbon score">\n' % (tag, kind) for tag in tags)
    return write(fresh(), "in.vcf", HEAD % (head + definitions + SV + "##contig=<ID=c>\n")
                 + "".join("c\t%d\t.\t%s\t%s\t.\t.\t%s\n" % line for line in lines))


def hist(rows, head=BOTH, name="v.hist"):
    return write(fresh(), name, head + NAMES + "\n" + "".join("%s\t%s\t%s\t%s\n" % row for row in rows))


@case
def ties_share_a_bin():
    rows = [("CARBON_LLR", "snv", -300, 1), ("CARBON_LLR", "snv", -200, 8), ("CARBON_LLR", "snv", 0, 90), ("CARBON_NT", "snv", 5, 1)]
    scores = {"-4": "20", "-3": "16.9897", "-2.999": "16.9897", "-2": "10", "-1.991": "10", "-0.001": "10", "0": "0", "9": "0"}
    path = by_hand([(i + 1, "A", "C", "CARBON_LLR=" + score) for i, score in enumerate(scores)])
    expect_equal([value for value, in ranks_of(ok("+rank", path, "--", "--background", hist(rows)).text, "CARBON_LLR")],
                 list(scores.values()), "ranks")
    again = hist([(tag, kind, bin_, 1) for tag, kind, bin_, n in rows for _ in range(n)][::-1])
    expect_equal(ranked(path, again), ranked(path, hist(rows)), "rows that are repeated, in another order")


@case
def alleles_without_a_rank_are_counted():
    rows = [("CARBON_LLR", "snv", 0, 9), ("CARBON_LLR", "del:2", 0, 9), ("CARBON_NT", "ins:1", 0, 9)]
    path = by_hand([(1, "A", "C,<DEL>,*", "CARBON_LLR=-1,-1,-1"), (2, "A", "<DEL>,AN", "CARBON_LLR=-1,-1;SVLEN=2,.;CARBON_NT=-1,."),
                    (9, "AC", "GT,A", "CARBON_LLR=-1,."), (12, "A", ".", "."), (13, "A", "<DEL>", "CARBON_LLR=-1;END=15")])
    result = ok("+rank", path, "--", "--background", hist(rows))
    expect_equal(ranks_of(result.text, "CARBON_LLR"), [["10", ".", "."], ["10", "."], [".", "."], None, ["10"]], "ranks")
    expect_equal(result.messages("W"), ["[W::rank] CARBON_LLR: 3 of 8 alleles have a rank; the others: 3 of no known type, 1 without a "
                                        "score, 1 of a class that the background lacks",
                                        "[W::rank] CARBON_NT: 0 of 8 alleles have a rank; the others: 7 without a score, 1 of a class "
                                        "that the background lacks"], "counts")


@case
def lengths_of_named_alleles_in_tags_of_any_type():
    bases = long_reference()[0]["c1"]
    rows = [(200, "<DEL>", "SVLEN=-5"), (300, "<DUP>", "END=303"), (400, "<DEL>", "END=460;SVLEN=-60"), (500, "<INV>", "SVLEN=+7"),
            (600, "<del>", "SVLEN=-5"), (700, "<DEL>,<DUP>", "SVLEN=-1,2"), (800, "<DUP:TANDEM>", "SVLEN=+13")]
    body = "".join("c1\t%d\t.\t%s\t%s\t.\t.\t%s\n" % (pos, bases[pos - 1], alts, info) for pos, alts, info in rows)
    wanted = collections.Counter({"del:4-6": 2, "ins:3": 1, "del:49+": 1, "mnv": 1, "del:1": 1, "ins:2": 1, "ins:13-24": 1})
    for types in ((), ("END,1,String", "SVLEN,1,Float"), ("END,.,Float", "SVLEN,.,String"), ("END,1,Integer", "SVLEN,A,Integer")):
        head = "".join('##INFO=<ID=%s,Number=%s,Type=%s,Description="x">\n' % tuple(tag.split(",")) for tag in types)
        path = write(fresh(), "in.vcf", HEAD % (head + "##contig=<ID=c1>\n") + body)
        out, histogram, _ = run(path, recipes=("-w", "240"))
        counts = parsed(read(histogram))[1]
        found = collections.Counter()
        for (_, kind, _), n in counts.items():
            found[kind] += n
        expect_equal(found, wanted, "types, header %s" % (types,))
        result = ok("+rank", "-v", "4", out, "--", "--background", histogram)
        expect("8 of 8 alleles have a rank" in result.err, "ranks, header %s" % (types,), result)


@case
def tags_of_one_file_alone():
    rows = [("CARBON_LLR", "snv", 0, 9), ("CARBON_NT", "snv", 0, 9)]
    one = by_hand([(1, "A", "C", "CARBON_LLR=-1")], tags=("CARBON_LLR",), head=MODEL % "CARBON_LLR")
    result = ok("+rank", one, "--", "--background", hist(rows))
    expect(ranks_of(result.text, "CARBON_LLR") == [["10"]] and "CARBON_NT" not in result.text, "ranks", result)
    expect("no INFO tag CARBON_NT" in result.err, "the absent tag is not named", result)
    none = by_hand([(1, "A", "C", ".")], tags=(), head="")
    expect_failure(carbon("+rank", none, "--", "--background", hist(rows)), "no INFO tag CARBON_LLR", "carbon vep")
    text = by_hand([(1, "A", "C", "CARBON_LLR=x;CARBON_NT=x")], kind="String")
    expect_failure(carbon("+rank", text, "--", "--background", hist(rows)), "CARBON_LLR is not of type Float")


@case
def another_prefix_has_ranks_of_its_own():
    directory = fresh()
    out, histogram = os.path.join(directory, "out.vcf"), os.path.join(directory, "h")
    vep("-w", WINDOW, "--tag-prefix", "MY", "-o", out, "--histogram", histogram, MINI)
    lines = records(ok("+rank", out, "--", "--background", histogram).text)
    expect(any("MY_LLR_PHRED=" in line for line in lines), "no rank")
    expect_equal(parsed(read(histogram))[1], counted(records(read(out).decode()), ["MY_LLR"]), "counts")


@case
def a_later_run_of_vep_keeps_the_ranks():
    directory = fresh()
    out, histogram, ranked = (os.path.join(directory, name) for name in ("out.vcf", "h", "ranked.vcf"))
    vep("-w", WINDOW, "-o", out, "--histogram", histogram, MINI)
    ok("+rank", "-o", ranked, out, "--", "--background", histogram)
    again = vep("-w", WINDOW, "--phases", "6", ranked)
    expect_equal(ranks_of(again.text, "CARBON_LLR"), ranks_of(read(ranked).decode(), "CARBON_LLR"), "ranks")
    # The scores are those of another run now.
    expect_failure(carbon("+rank", "-", "--", "--background", histogram, stdin=again.out), "of another run", "Phases (6 in the VCF, auto")


@case
def another_model_is_refused():
    rows = [("CARBON_LLR", "snv", 0, 9)]
    other = BOTH.replace("Window=8192", "Window=4096")
    for head, words in ((other, ["Window (4096 in the VCF, 8192 in the background)"]),
                        (BOTH + other, ["of another run", "Window (4096 in the VCF"]),
                        (MODEL % "CARBON", ["no line ##carbon_vepModel=<ID=CARBON_LLR,...>", "bcftools annotate -h"]),
                        ("", ["no line ##carbon_vepModel=<ID=CARBON_LLR,...>"]),
                        ("##carbon_vepModel=x\n", ["is damaged"])):
        path = by_hand([(1, "A", "C", "CARBON_LLR=-1")], head=head)
        out = os.path.join(os.path.dirname(path), "out.vcf")
        expect_failure(carbon("+rank", "-o", out, path, "--", "--background", hist(rows)), "[E::rank] ", *words)
        expect_equal(os.listdir(os.path.dirname(path)), ["in.vcf"], "files after the failure")


@case
def options_that_do_not_fit_are_refused():
    path, background = by_hand([(1, "A", "C", "CARBON_LLR=-1")]), hist([("CARBON_LLR", "snv", 0, 9)])
    for args, words in ((("--by", "trinucleotide", "--fasta-ref", reference()), ("--by trinucleotide", "carbon vep")),
                        (("--fasta-ref", reference()), ("--fasta-ref is of use only",)), (("--by", "length"), ("trinucleotide", "length"))):
        expect_failure(carbon("+rank", path, "--", "--background", background, *args), *words)
    scan = write(fresh(), "s.hist", (MODEL % "CARBON_SCAN").replace("vep", "scan") + "#TRI\tALT\tBIN\tCOUNT\n.\tA\t1\t1\n")
    expect_failure(carbon("+rank", path, "--", "--background", scan, "--by", "type"), "--by type", "all SNVs")


LLR = MODEL % "CARBON_LLR"
BAD = (  # what is wrong, the file, where, words
    ("no names", LLR + "CARBON_LLR\tsnv\t1\t1\n", ":2", "before #TAG TYPE BIN COUNT"),
    ("only a model", LLR, ":1", "without the line #TAG TYPE BIN COUNT"),
    ("other names", LLR + "#TAG\tTYPE\tCOUNT\tBIN\n", ":2", "names"),
    ("no model", NAMES + "\nCARBON_LLR\tsnv\t1\t1\n", ":2", "no line ##carbon_vepModel"),
    ("nothing but names", NAMES + "\n", ":1", "without a line ##carbon_vepModel"),
    ("the model of another tag", LLR + NAMES + "\nCARBON_NT\tsnv\t1\t1\n", ":3", "TAG is 'CARBON_NT'"),
    ("a model without ID", LLR.replace("ID=CARBON_LLR,", "") + NAMES + "\n", ":1", "is damaged"),
    ("a damaged model", LLR[:70] + "\n", ":1", "is damaged"),
    ("two models", LLR + NAMES + "\nCARBON_LLR\tsnv\t1\t1\n" + LLR.replace("f32", "bf16"), ":4", "different runs do not add up"),
    ("a scan after it", LLR + NAMES + "\nCARBON_LLR\tsnv\t1\t1\n" + LLR.replace("vep", "scan"), ":4", "do not add up"),
    ("names of a scan", LLR + "#TRI\tALT\tBIN\tCOUNT\nACA\tG\t1\t1\n", ":2", "do not add up"),
    ("no counts", LLR + NAMES + "\n", ":2", "without a count"),
    ("three columns", LLR + NAMES + "\nCARBON_LLR\tsnv\t1\n", ":3", "3 columns"),
    ("an empty line", LLR + NAMES + "\n\n", ":3", "1 columns"),
    *(("TYPE " + kind, LLR + NAMES + "\nCARBON_LLR\t%s\t1\t1\n" % kind, ":3", "TYPE is '%s'" % kind)
      for kind in ("", "SNV", "ins", "del:4", "del:5-6", "ins:49", "other:1", "snv ", "mnv:2")),
    ("a long TYPE", LLR + NAMES + "\nCARBON_LLR\t" + "s" * 10 ** 5 + "\t1\t1\n", ":3", "sss...'"),
    ("a long TAG", LLR + NAMES + "\n" + "T" * 10 ** 5 + "\tsnv\t1\t1\n", ":3", "TTT...'"),
    ("BIN with a point", LLR + NAMES + "\nCARBON_LLR\tsnv\t1.5\t1\n", ":3", "BIN is '1.5'"),
    ("BIN too large", LLR + NAMES + "\nCARBON_LLR\tsnv\t9223372036854775808\t1\n", ":3", "BIN is"),
    ("COUNT of zero", LLR + NAMES + "\nCARBON_LLR\tsnv\t1\t0\n", ":3", "COUNT is '0'"),
    ("COUNT below zero", LLR + NAMES + "\nCARBON_LLR\tsnv\t1\t-3\n", ":3", "COUNT is '-3'"),
    ("COUNT too large", LLR + NAMES + "\nCARBON_LLR\tsnv\t1\t9223372036854775808\n", ":3", "COUNT is"),
    ("counts too large", LLR + NAMES + "\nCARBON_LLR\tsnv\t1\t9223372036854775807\nCARBON_LLR\tmnv\t1\t1\n", ":4", "2^63"),
    ("the same count too often", LLR + NAMES + "\n" + "CARBON_LLR\tsnv\t1\t4611686018427387904\n" * 2, ":4", "2^63"),
)

for what, text, where, words in BAD:
    @case(name="refused background: " + what)
    def bad_background(text=text, where=where, words=words):
        d = fresh()
        background, path = write(d, "bad.hist", text), by_hand([(1, "A", "C", "CARBON_LLR=-1")])
        result = carbon("+rank", "-o", os.path.join(d, "out.vcf"), path, "--", "--background", background)
        expect_failure(result, "[E::rank] " + background + where, words)
        expect(len(result.messages("E")[0]) < 700, "the message is too long to be clear", result)
        expect_equal(os.listdir(d), ["bad.hist"], "files after the failure")


@case
def the_largest_counts_and_bins():
    rows = [("CARBON_LLR", "snv", -2 ** 63, 2 ** 62), ("CARBON_LLR", "snv", 2 ** 63 - 1, 2 ** 62 - 1)]
    path = by_hand([(1, "A", "C", "CARBON_LLR=-1e30"), (2, "A", "C", "CARBON_LLR=1e30"), (3, "A", "C", "CARBON_LLR=inf")])
    found = ranks_of(ok("+rank", path, "--", "--background", hist(rows)).text, "CARBON_LLR")
    expect_equal(found, [["3.0103"]] * 3, "ranks")


if __name__ == "__main__":
    main()
