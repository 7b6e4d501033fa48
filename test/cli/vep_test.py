"""carbon vep: records and fields as bcftools prints them, flags, and every score recomputed from its definition.

The recomputation cuts the windows of the contract's section 5 from the FASTA in Python and has `carbon score` sum their
log-probabilities; it shares nothing with the program's own planning of windows, forks and suffixes.
"""

import math
import os
import random
import subprocess

from harness import (CARBON, DATA, ENV, bgzip, carbon, case, data, decompress, expect, expect_close, expect_equal, expect_failure, fresh,
                     genome, info_of, is_bgzf, main, model, ok, read, records, reverse_complement, to_fasta, tool,
                     without_tags, write)

MINI = os.path.join(DATA, "mini.vcf")
WINDOW = 48
HEAD = "##fileformat=VCFv4.2\n%s#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
OTHER = {"A": "C", "C": "G", "G": "T", "T": "A"}

_reference = []


def reference():
    if not _reference:
        _reference.append(data("mini.fa"))
    return _reference[0]


def vep(*args, fasta=None, **options):
    return ok("vep", "-m", model(), "-f", fasta or reference(), *args, **options)


def mini(*args, **options):
    """Annotated records of mini.vcf by ID."""
    result = vep("-w", WINDOW, "--no-version", *args, MINI, **options)
    return {line.split("\t")[2]: line for line in records(result.text)}


def vcf(lines, contigs=("c1", "c2", "tiny")):
    """A VCF without samples; `lines` are (contig, pos, ref, alt)."""
    body = "".join("%s\t%s\t.\t%s\t%s\t.\t.\t.\n" % line for line in lines)
    return write(fresh(), "in.vcf", HEAD % "".join("##contig=<ID=%s>\n" % name for name in contigs) + body)


def values(line, tag):
    """A value or None for each ALT; a single '.' stands for all."""
    info = info_of(line)
    if tag not in info:
        return None
    found = [None if v == "." else float(v) if not tag.endswith("FLAG") else v for v in info[tag].split(",")]
    alts = line.split("\t")[4].count(",") + 1
    expect(len(found) == alts or found == [None], "%d values for %d alleles: %s" % (len(found), alts, line))
    return found if len(found) == alts else found * alts


# ---- what must not change ------------------------------------------------------------------------------------------


@case
def records_are_as_bcftools_prints_them():
    wanted = records(tool("bcftools", "view", "--no-version", MINI).text)
    got = records(vep("-w", WINDOW, MINI).text)
    expect_equal([without_tags(line) for line in got], wanted, "records without the new tags")
    expect_equal(len(got), 36, "number of records")


@case
def every_way_in_and_out_has_the_same_records():
    wanted = records(vep("-w", WINDOW, "--no-version", MINI).text)
    d = fresh()
    zipped, bcf = os.path.join(d, "in.vcf.gz"), os.path.join(d, "in.bcf")
    tool("bcftools", "view", "-Oz", "-o", zipped, MINI)
    tool("bcftools", "view", "-Ob", "-o", bcf, MINI)
    ubcf = write(d, "u.bcf", tool("bcftools", "view", "-Ou", MINI).out)
    gzipped = write(d, "gzip.vcf.gz", tool("gzip", "-c", MINI).out)
    for path in (zipped, bcf, ubcf, gzipped):
        expect_equal(records(vep("-w", WINDOW, path).text), wanted, "from " + os.path.basename(path))
        expect_equal(records(vep("-w", WINDOW, "-", stdin=read(path)).text), wanted, "from stdin: " + os.path.basename(path))
    expect_equal(records(vep("-w", WINDOW, stdin=read(MINI)).text), wanted, "without a file name")
    for kind in ("v", "z", "b", "u", "z1", "b9"):
        out = vep("-w", WINDOW, "-O", kind, MINI).out
        expect_equal(records(tool("bcftools", "view", "-", stdin=out).text), wanted, "-O " + kind)
        if kind[0] in "zb":
            expect(is_bgzf(out), "-O %s is not BGZF with its end marker" % kind)
        else:
            expect(out[:5] == (b"BCF\x02\x02" if kind == "u" else b"##fil"), "-O %s begins with %r" % (kind, out[:5]))
    for name in ("o.vcf", "o.vcf.gz", "o.bcf"):
        path = os.path.join(fresh(), name)
        expect_equal(vep("-w", WINDOW, "-o", path, MINI).out, b"", "stdout of a run with -o")
        expect_equal(os.listdir(os.path.dirname(path)), [name], "files of -o " + name)
        expect_equal(records(tool("bcftools", "view", path).text), wanted, "-o " + name)
        expect_equal(is_bgzf(read(path)), name != "o.vcf", "BGZF of " + name)
    path = os.path.join(fresh(), "o.vcf.gz")
    vep("-w", WINDOW, "-O", "v", "-o", path, MINI)
    expect(is_bgzf(read(path)), "the suffix does not override -O v")


@case
def bcf_needs_no_contig_lines():
    lines = [("c1", 100, "G", "T"), ("c2", 80, "T", "G")]
    wanted = records(vep("-w", WINDOW, vcf(lines)).text)
    out = vep("-w", WINDOW, "-O", "b", vcf(lines, contigs=())).out
    expect_equal(records(tool("bcftools", "view", "-", stdin=out).text), wanted, "BCF of a VCF without ##contig")


@case
def header_is_the_input_header_and_our_lines():
    old = [line for line in read(MINI).decode().splitlines() if line.startswith("#")]
    header = [line for line in vep("-w", WINDOW, MINI).lines() if line.startswith("#")]
    expect_equal([line for line in header if line in old], old, "lines of the input")
    new = [line for line in header if line not in old]
    for text in ("##INFO=<ID=CARBON_LLR,Number=A,Type=Float,", "##INFO=<ID=CARBON_FLAG,Number=A,Type=String,",
                 "##carbon_vepVersion=", "##carbon_vepCommand=vep -m ", "##carbon_vepModel=<ID="):
        expect(sum(line.startswith(text) for line in new) == 1, "not one line %r in %r" % (text, new))
    expect(not any("CARBON_NT" in line for line in new), "the next-token tag is defined without its recipe")
    line = next(line for line in new if line.startswith("##carbon_vepModel"))
    for text in ("SHA256=", "Dtype=bf16", "Device=", "Recipe=centered", "Window=48", "Strand=both"):
        expect(text in line, "%r is not in %r" % (text, line))
    expect("; Date=" in next(line for line in new if line.startswith("##carbon_vepCommand")), "no date")


@case
def without_version_lines_runs_are_the_same_bytes():
    first = vep("-w", WINDOW, "--no-version", MINI)
    expect_equal(vep("--no-version", "-@", "1", "-w", WINDOW, MINI).out, first.out, "second run")
    ours = [line for line in first.lines() if line.startswith("##carbon")]
    expect(len(ours) == 1 and ours[0].startswith("##carbon_vepModel="), "lines %r" % ours)
    z = [vep("-w", WINDOW, "--no-version", "-O", "z", "-@", n, MINI).out for n in ("1", "2")]
    expect_equal(z[0], z[1], "compressed")


@case
def input_without_records():
    head = "".join(line + "\n" for line in read(MINI).decode().splitlines() if line.startswith("#"))
    result = vep("-w", WINDOW, write(fresh(), "h.vcf", head))
    expect_equal(records(result.text), [], "records")
    expect("##INFO=<ID=CARBON_LLR," in result.text, "no definition", result)
    expect(result.err.rstrip().endswith(":\t0/0/0/0/0/0/0/0/0/0"), "summary", result)


# ---- flags, tags, messages -----------------------------------------------------------------------------------------


FLAGS = {
    "pos_zero": ["edge"], "symbolic": ["symbolic"], "any_allele": ["symbolic"], "breakend": ["symbolic"],
    "star": [None, "star"], "mixed": [None, "non_acgt", "symbolic"], "iupac_ref": ["non_acgt"],
    "wrong_ref": ["ref_mismatch"], "too_long": ["too_long"], "past_the_end": ["edge"], "beyond": ["edge"],
    "unknown_base": ["non_acgt"], "no_contig": ["no_contig", "no_contig"],
}


@case
def flags_say_why_a_value_is_missing():
    for identifier, line in mini().items():
        if identifier == "monomorphic":
            expect_equal(info_of(line), {"DP": "7"}, "INFO of a record without ALT")
            continue
        flags, scores = values(line, "CARBON_FLAG"), values(line, "CARBON_LLR")
        expect_equal(flags, FLAGS.get(identifier), "flag of " + identifier)
        for flag, score in zip(flags or [None] * len(scores), scores):
            expect((flag is None) == (score is not None), "score %r beside flag %r in %s" % (score, flag, line))


@case
def flags_in_the_order_of_the_contract():
    rows = [("absent", 5, "N", "<DEL>", "no_contig"), ("c1", 600, "AN", "<DEL>", "edge"), ("c1", 0, "A", "*", "edge"),
            ("c1", 310, "R", "<DEL>", "symbolic"), ("c1", 310, "A", "G]c2:5]", "symbolic"), ("c1", 310, "A", "[c2:5[G", "symbolic"),
            ("c1", 310, "A", "G.", "symbolic"), ("c1", 310, "A", ".G", "symbolic"), ("c1", 310, "A", "<NON_REF>", "symbolic"),
            ("c1", 310, "R", "*", "star"), ("c1", 310, "A", "N", "non_acgt"), ("c2", 93, "C", "A", "non_acgt"),
            ("c1", 310, "A", "C" * 30, "ref_mismatch"), ("c1", 309, "C", "G" * 30, "too_long"), ("c1", 309, "C", "CU", "non_acgt")]
    for c, p, r, a, flag in rows:
        line = records(vep("-w", WINDOW, vcf([(c, p, r, a), ("c1", 100, "G", "T")])).text)[0]
        expect_equal(values(line, "CARBON_FLAG"), [flag], "flag of " + line)
    line = records(vep("-w", WINDOW, "--recipe", "next-token", vcf([("c1", 309, "C", "G" * 30)])).text)[0]
    expect_equal(values(line, "CARBON_FLAG"), ["multibase"], "next-token alone has no too_long")


@case
def summary_line():
    result = vep("-w", WINDOW, MINI)
    last = result.err.splitlines()[-1]
    names = "Lines total/scored/no_contig/edge/symbolic/star/non_acgt/ref_mismatch/too_long/multibase"
    counts = [36, 24] + [sum(flags.count(name) for flags in FLAGS.values()) for name in names.split("/")[2:]]
    expect_equal(last, names + ":\t" + "/".join(map(str, counts)), "last line on stderr")


@case
def warnings_name_the_place_once():
    result = vep("-w", WINDOW, MINI)
    warnings = result.messages("W")
    expect(sum("c1:310" in line for line in warnings) == 1, "no warning about c1:310", result)
    expect(sum("absent" in line for line in warnings) == 1, "no warning about the contig", result)
    expect_equal(len(warnings), 2, "number of warnings")


@case
def tag_prefix():
    plain, other = mini(), mini("--tag-prefix", "XY")
    for identifier, line in plain.items():
        renamed = line.split("\t")
        renamed[7] = renamed[7].replace("CARBON_", "XY_")
        expect_equal(other[identifier], "\t".join(renamed), identifier)
    for bad in ("", "9A", "A-B", "A B", "A;B", "A=B"):
        expect_failure(carbon("vep", "-m", model(), "-f", reference(), "--tag-prefix", bad, MINI), "--tag-prefix")


@case
def annotating_again_replaces_with_one_warning():
    once = vep("-w", WINDOW, "--no-version", MINI)
    # An old value on a record that gets none now, and one of a recipe that does not run now, must go as well.
    old = once.text.replace("DP=7", "DP=7;CARBON_LLR=3;CARBON_NT=1").replace(
        "##contig=<ID=c1", "##INFO=<ID=CARBON_NT,Number=A,Type=Float,Description=\"old\">\n##contig=<ID=c1", 1)
    twice = vep("-w", WINDOW, "--no-version", write(fresh(), "again.vcf", old))
    expect_equal(records(twice.text), records(once.text), "records of the second run")
    for start in ("##INFO=<ID=CARBON_LLR", "##INFO=<ID=CARBON_FLAG", "##carbon_vepModel"):
        expect_equal(sum(line.startswith(start) for line in twice.lines()), 1, "lines " + start)
    expect("CARBON_NT" not in twice.text, "the old CARBON_NT is still defined")
    added = [line for line in twice.messages("W") if line not in once.messages("W")]
    expect(len(added) == 1 and "CARBON" in added[0], "expected one more warning than the first run", twice)


@case
def another_prefix_keeps_the_earlier_run():
    once = vep("-w", WINDOW, "--no-version", MINI)
    twice = vep("-w", WINDOW, "--no-version", "--tag-prefix", "SECOND", write(fresh(), "again.vcf", once.out))
    expect_equal([without_tags(line, "SECOND") for line in records(twice.text)], records(once.text), "earlier tags")
    expect_equal(sum(line.startswith("##carbon_vepModel") for line in twice.lines()), 2, "model lines")


# ---- REF against the FASTA -----------------------------------------------------------------------------------------


@case
def check_ref():
    args = ("vep", "-m", model(), "-f", reference(), "-w", WINDOW, "-c")
    expect_failure(carbon(*args, "e", MINI), "c1:310", "-c w")
    kept = records(ok(*args, "x", MINI).text)
    expect_equal([line for line in mini().values() if "\twrong_ref\t" not in line], kept, "-c x drops the one record")
    expect_equal(list(mini("-c", "w").values()), list(mini().values()), "-c w is the default")


def mismatches(matching, wrong, then=0):
    """Records of c1: first `wrong` whose REF differs and `matching` mixed, then `then` more that match."""
    bases, lines = genome()["c1"], []
    for i in range(matching + wrong + then):
        pos = i % 500 + 1
        letter = bases[pos - 1]
        lines.append(("c1", pos, OTHER[letter] if i < wrong else letter, OTHER[OTHER[letter]]))
    head = lines[:matching + wrong]
    random.Random(1).shuffle(head)
    return vcf(head + lines[matching + wrong:])


def assembly(path, *args):
    return carbon("vep", "-m", model(), "-f", reference(), "-w", "12", "--strand", "+", *args, path)


@case
def wrong_assembly_at_a_thousand_records():
    expect_failure(assembly(mismatches(949, 51, then=300)), "wrong assembly", "51 of 1000", "--max-ref-mismatch")
    result = assembly(mismatches(950, 50, then=10))
    expect(result.rc == 0 and len(records(result.text)) == 1010, "a share of 0.05 is not above 0.05", result)
    d = fresh()
    expect_failure(assembly(mismatches(949, 51), "-o", os.path.join(d, "o.vcf.gz")), "wrong assembly")
    expect_equal(os.listdir(d), [], "files left")


@case
def wrong_assembly_at_the_end():
    expect_failure(assembly(mismatches(10, 20)), "wrong assembly", "20 of 30")
    result = assembly(mismatches(0, 19))
    expect(result.rc == 0 and len(records(result.text)) == 19, "19 mismatches are too few to judge", result)
    expect(len(result.messages("W")) < 19, "every mismatch has its own line", result)
    result = assembly(mismatches(10, 20), "--max-ref-mismatch", "0.7")
    expect(result.rc == 0, "20 of 30 are not above 0.7", result)
    expect_failure(assembly(mismatches(10, 20), "--max-ref-mismatch", "0.6"), "wrong assembly")


@case
def wrong_assembly_after_a_good_beginning():
    good, bad = (records(read(mismatches(*n)).decode()) for n in ((1000, 0), (0, 400)))
    lines = [tuple(line.split("\t")[i] for i in (0, 1, 3, 4)) for line in good + bad]
    expect_failure(assembly(vcf(lines)), "wrong assembly", "400 of 1400")


@case
def records_that_cannot_be_compared_do_not_count():
    odd = [("c2", 20, "A", "C")] * 30 + [("absent", 5, "A", "C")] * 30 + [("c1", 601, "A", "C")] * 30 + [("c1", 5, "N", "C")] * 30
    result = assembly(vcf(odd + [("c1", 310, "A", "C")] * 19))
    expect(result.rc == 0, "only 19 of the records mismatch", result)


# ---- contig names --------------------------------------------------------------------------------------------------


def renamed_reference(*names):
    return write(fresh(), "renamed.fa", to_fasta(list(zip(names, genome().values()))))


@case
def contig_names_that_do_not_match():
    wanted = [line.split("\t")[7] for line in records(vep("-w", WINDOW, MINI).text)]

    def check(fasta, option, *value):
        result = carbon("vep", "-m", model(), "-f", fasta, "-w", WINDOW, MINI)
        expect_failure(result, option)
        fixed = vep("-w", WINDOW, *value, MINI, fasta=fasta)
        expect_equal([line.split("\t")[7] for line in records(fixed.text)], wanted, "INFO with " + " ".join(value))
        expect_equal([line.split("\t")[0] for line in records(fixed.text)],
                     [line.split("\t")[0] for line in records(read(MINI).decode())], "contig names stay")

    check(renamed_reference("chrc1", "chrc2", "chrtiny"), "--unify-chr-names -,chr", "--unify-chr-names", "-,chr")
    names = write(fresh(), "map.txt", "c1\tfirst\nc2\tsecond\ntiny\tthird\n")
    check(renamed_reference("first", "second", "third"), "--chr-map", "--chr-map", names)
    prefixed = write(fresh(), "chr.vcf", read(MINI).replace(b"\nc1\t", b"\nchrc1\t").replace(b"ID=c1,", b"ID=chrc1,"))
    lone = write(fresh(), "one.vcf", b"".join(line for line in read(prefixed).splitlines(True)
                                              if line.startswith((b"#", b"chrc1"))))
    expect_failure(carbon("vep", "-m", model(), "-f", reference(), "-w", WINDOW, lone), "--unify-chr-names chr,-")
    fixed = vep("-w", WINDOW, "--unify-chr-names", "chr,-", lone)
    expect_equal([line.split("\t")[7] for line in records(fixed.text)], wanted[:len(records(fixed.text))], "chr,-")


@case
def name_options_are_checked():
    args = ("vep", "-m", model(), "-f", reference(), "-w", WINDOW, MINI)
    expect_failure(carbon(*args, "--unify-chr-names", "chr"), "chr")
    expect_failure(carbon(*args, "--chr-map", os.path.join(DATA, "absent.txt")), "absent.txt")
    expect_failure(carbon(*args, "--chr-map", write(fresh(), "short.txt", "c1\n")), "short.txt:1")
    expect_failure(carbon(*args, "--chr-map", write(fresh(), "empty.txt", "")), "empty.txt")
    both = carbon(*args, "--chr-map", write(fresh(), "m.txt", "a b\n"), "--unify-chr-names", "chr,-")
    expect_failure(both, "--unify-chr-names", "--chr-map")


# ---- scores, from the definition -----------------------------------------------------------------------------------


def is_scored(base):
    return base in "ACGT"


def first_scored(bases, n):
    """The shortest beginning that holds n scored bases."""
    if n == 0:
        return ""
    for i, base in enumerate(bases):
        n -= is_scored(base)
        if n == 0:
            return bases[:i + 1]
    raise AssertionError("too few scored bases")


def centered_pair(bases, pos, ref, alt, window, strand):
    """(A, R) of the contract, both cut to the same number of scored bases."""
    p, length = pos - 1, len(bases)
    if strand == "+":
        start = p - window // 2
        end = min(length, start + window)
        r = bases[max(0, start):end]
        a = bases[max(0, start):p] + alt + bases[p + len(ref):]
    else:
        q0 = p + window // 2
        q = min(length, q0)
        r = reverse_complement(bases[max(0, q0 - window):q])
        a = reverse_complement(bases[:p] + alt + bases[p + len(ref):max(q, p + len(ref))])
    size = min(len(a), len(r))
    a, r = a[:size], r[:size]
    n = min(sum(map(is_scored, a)), sum(map(is_scored, r)))
    return first_scored(a, n), first_scored(r, n)


def sums(sequences):
    """sum_logp of each, by one run of carbon score."""
    path = write(fresh(), "windows.fa", to_fasta([(str(i), s) for i, s in enumerate(sequences)], width=10000))
    return [float(line.split("\t")[5]) for line in ok("score", "-m", model(), path).lines()[1:]]


def expected_llr(rows, window, strands, bases_of):
    """LLR of each (contig, pos, ref, alt), averaged over strands."""
    pairs = [centered_pair(bases_of[c], p, r.upper(), a.upper(), window, s) for c, p, r, a in rows for s in strands]
    totals = sums([sequence for pair in pairs for sequence in pair])
    deltas = [a - r for a, r in zip(totals[::2], totals[1::2])]
    n = len(strands)
    return [sum(deltas[i * n:(i + 1) * n]) / n for i in range(len(rows))]


def tolerance(value):
    return 2e-6 + 6e-6 * abs(value)  # six printed digits of a binary32


def scored_alleles(lines, tag):
    """((contig, pos, ref, alt), value) of every allele with a value."""
    found = []
    for line in lines:
        c, p, _, r, alts = line.split("\t")[:5]
        for alt, value in zip(alts.split(","), values(line, tag) or []):
            if value is not None:
                found.append(((c, int(p), r, alt), value))
    return found


UPPER = {name: bases.upper() for name, bases in genome().items()}


def check_centered(lines, window, strands, bases_of=None):
    found = scored_alleles(lines, "CARBON_LLR")
    wanted = expected_llr([allele for allele, _ in found], window, strands, bases_of or UPPER)
    for (allele, value), expected in zip(found, wanted):
        expect_close(value, expected, tolerance(expected), "LLR of %s:%d %s>%s, strand %s, window %d" % (*allele, strands, window))
    return found


for option, strands in (("+", "+"), ("-", "-"), ("both", "+-")):
    @case(name="centered scores of mini.vcf, strand " + option)
    def centered_scores(option=option, strands=strands):
        found = check_centered(mini("--strand", option).values(), WINDOW, strands)
        expect_equal(len(found), 28, "number of scored alleles")
        expect(len({value for _, value in found}) > 20, "the scores hardly differ")


@case
def centered_scores_in_other_windows():
    for window in (12, 14, 50, 96, 700):
        check_centered(records(vep("-w", window, MINI).text), window, "+-")


@case
def centered_scores_of_random_variants():
    rng = random.Random(5)
    lines = []
    for name, length in (("c1", 600), ("c2", 180), ("tiny", 7)):
        for _ in range(60 if name != "tiny" else 20):
            size = rng.choice((1, 1, 2, 5, 11))
            p = rng.choice((rng.randint(1, length), rng.randint(1, min(length, 20)), rng.randint(max(1, length - 20), length)))
            ref = UPPER[name][p - 1:p - 1 + size]
            if not set(ref) <= set("ACGT"):
                continue
            alts = {"".join(rng.choice("ACGT") for _ in range(rng.choice((1, 1, 2, 6, 12)))) for _ in range(rng.choice((1, 1, 3)))}
            lines.append((name, p, ref, ",".join(sorted(alts))))
    path = vcf(lines)
    for strand in "+-":
        found = check_centered(records(vep("-w", "30", "--strand", strand, path).text), 30, strand)
        expect(len(found) > 120, "only %d scored alleles" % len(found))


@case
def default_window_and_strand():
    bases = {"big": "".join(random.Random(3).choice("ACGT") for _ in range(20000))}
    fasta = write(fresh(), "big.fa", to_fasta(list(bases.items())))
    lines = [("big", p, bases["big"][p - 1], OTHER[bases["big"][p - 1]]) for p in (1, 4097, 10000, 19990)]
    path = vcf(lines, contigs=("big",))
    default = records(vep(path, fasta=fasta).text)
    expect_equal(records(vep("-w", "8192", "--strand", "both", path, fasta=fasta).text), default, "the default written out")
    check_centered(default, 8192, "+-", bases)
    for option in (["-@", "1"], ["-@", "2", "--batch-tokens", "64"], ["--batch-tokens", "100000"]):
        expect_equal(records(vep(*option, path, fasta=fasta).text), default, " ".join(option))


@case
def both_is_the_mean_of_the_strands():
    plus, minus, both = (dict(scored_alleles(mini("--strand", s).values(), "CARBON_LLR")) for s in ("+", "-", "both"))
    expect_equal((list(plus), list(minus)), (list(both), list(both)), "alleles")
    for allele, value in both.items():
        mean = (plus[allele] + minus[allele]) / 2
        expect_close(value, mean, 2e-6 + 6e-6 * max(abs(plus[allele]), abs(minus[allele])), "%s:%d" % allele[:2])
    expect(any(abs(plus[a] - minus[a]) > 0.05 for a in both), "the strands do not differ")


@case
def an_alternative_equal_to_the_reference_is_zero():
    lines = [("c1", 260, "A", "A"), ("c1", 260, "A", "a"), ("c1", 200, "GGACAC", "GGACAC"), ("c1", 260, "A", "C,A")]
    got = [values(line, "CARBON_LLR") for line in records(vep("-w", WINDOW, vcf(lines)).text)]
    expect_equal(got[:3], [[0.0]] * 3, "LLR")
    expect(got[3][0] != 0 and got[3][1] == 0, "LLR %r of C,A" % got[3])


@case
def case_of_letters_changes_nothing():
    upper = dict(genome())
    fasta = write(fresh(), "upper.fa", to_fasta([(name, bases.upper()) for name, bases in upper.items()]))
    expect_equal(records(vep("-w", WINDOW, MINI, fasta=fasta).text), records(vep("-w", WINDOW, MINI).text), "soft masking")
    a, b = (records(vep("-w", WINDOW, vcf([("c1", 250, *alleles)])).text)[0] for alleles in (("g", "t"), ("G", "T")))
    expect_equal(a.split("\t")[7], b.split("\t")[7], "lower-case alleles")
    expect_equal(a.split("\t")[3:5], ["g", "t"], "the letters of the record stay")


@case
def bgzip_reference():
    expect_equal(records(vep("-w", WINDOW, MINI, fasta=bgzip(data("mini.fa"))).text), records(vep("-w", WINDOW, MINI).text), "bgzip")


@case
def index_is_built_beside_the_fasta():
    path = data("mini.fa")
    vep("-w", WINDOW, MINI, fasta=path)
    expect_equal(sorted(os.listdir(os.path.dirname(path))), ["mini.fa", "mini.fa.fai"], "files beside the FASTA")
    other = data("mini.fa")
    tool("samtools", "faidx", other)
    expect_equal(read(path + ".fai"), read(other + ".fai"), "index, beside that of samtools")


@case
def index_built_by_many_at_once():
    path = data("mini.fa")
    args = [CARBON, "vep", "-m", model(), "-f", path, "-w", "48", "--no-version", "-@", "1", MINI]
    running = [subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV) for _ in range(6)]
    done = [process.communicate(timeout=60) + (process.returncode,) for process in running]
    wanted = vep("-w", WINDOW, "--no-version", MINI)
    for out, err, rc in done:
        expect(rc == 0 and records(out.decode()) == records(wanted.text), "rc %d: %s" % (rc, err.decode()))
    expect_equal(sorted(os.listdir(os.path.dirname(path))), ["mini.fa", "mini.fa.fai"], "files beside the FASTA")


# ---- next-token ----------------------------------------------------------------------------------------------------


def next_context(bases, pos, size, strand):
    p = pos - 1
    text = bases[max(0, p - size):p] if strand == "+" else reverse_complement(bases[p + 1:p + 1 + size])
    text = text.lstrip("N")
    return text[len(text) % 6:]


def next_probabilities(contexts):
    """P_0 of the base after each context: the first base of the last, partial 6-mer of context + A."""
    path = write(fresh(), "contexts.fa", to_fasta([(str(i), c + "A") for i, c in enumerate(contexts)], width=100000))
    last = {}
    for line in ok("score", "-m", model(), "-O", "tsv", path).lines()[1:]:
        fields = line.split("\t")
        last[int(fields[0])] = dict(zip("ACGT", map(float, fields[5:])))
    return [last[i] for i in range(len(contexts))]


def check_next_token(lines, size, strands):
    found = scored_alleles(lines, "CARBON_NT")
    contexts = [next_context(UPPER[c], p, size, s) for (c, p, _, _), _ in found for s in strands]
    table = iter(next_probabilities(contexts))
    for (c, p, r, a), value in found:
        wanted = []
        for s in strands:
            row = next(table)
            ref, alt = (x.upper() if s == "+" else reverse_complement(x) for x in (r, a))
            wanted.append(math.log(row[alt] / row[ref]))
        mean = sum(wanted) / len(wanted)
        expect_close(value, mean, 2e-5, "NT of %s:%d %s>%s, strands %s, context %d" % (c, p, r, a, strands, size))
    return found


@case
def next_token_scores():
    for option, strands in (([], "+"), (["--strand", "+"], "+"), (["--strand", "-"], "-"), (["--strand", "both"], "+-")):
        for size in (0, 5, 60, 1000):
            lines = mini("--recipe", "next-token", "--context", size, *option).values()
            found = check_next_token(lines, size, strands)
            expect(len(found) == 16, "%d scored alleles" % len(found))
            expect(not any("CARBON_LLR" in line for line in lines), "the centered tag without its recipe")


@case
def next_token_flags():
    lines = mini("--recipe", "next-token", "--context", "60")
    for identifier, flags in dict(FLAGS, insertion=["multibase"], deletion=["multibase"], mnv=["multibase"], too_long=["multibase"],
                                  complex=["multibase", "multibase"], beside_ns=["multibase", None], last_base=None).items():
        expect_equal(values(lines[identifier], "CARBON_FLAG"), flags, "flag of " + identifier)


@case
def both_recipes():
    two = mini("--recipe", "centered,next-token", "--context", "60")
    one, other = mini(), mini("--recipe", "next-token", "--context", "60")
    for identifier, line in two.items():
        expect_equal(info_of(line).get("CARBON_LLR"), info_of(one[identifier]).get("CARBON_LLR"), "LLR of " + identifier)
        expect_equal(info_of(line).get("CARBON_NT"), info_of(other[identifier]).get("CARBON_NT"), "NT of " + identifier)
        # The flag speaks of the first missing tag.
        wanted, second = values(one[identifier], "CARBON_FLAG"), values(other[identifier], "CARBON_FLAG")
        if wanted or second:
            width = len(wanted or second)
            wanted = [a or b for a, b in zip(wanted or [None] * width, second or [None] * width)]
        expect_equal(values(line, "CARBON_FLAG"), wanted, "flag of " + identifier)
    expect_equal(mini("--recipe", "next-token,centered", "--context", "60"), two, "order of the names")


for bad in ("", ",", "other", "centered,centered", "centered,other"):
    @case(name="refused: --recipe '%s'" % bad)
    def bad_recipe(bad=bad):
        expect_failure(carbon("vep", "-m", model(), "-f", reference(), "--recipe", bad, MINI), "--recipe")


for arguments, words in ((["-w", "24572"], ["24572", "24570"]), (["-w", "11"], ["11", "12"]), (["-w", "10"], ["10", "12"]),
                         (["-w", "49"], ["49", "even"]), (["-w", "-12"], ["-12"]),
                         (["--recipe", "next-token", "--context", "24571"], ["24571", "24570"]),
                         (["--recipe", "next-token", "--context", "-1"], ["-1"])):
    @case(name="refused: " + " ".join(arguments))
    def refused(arguments=arguments, words=words):
        expect_failure(carbon("vep", "-m", model(), "-f", reference(), *arguments, MINI), *words)


# ---- invariance ----------------------------------------------------------------------------------------------------


@case
def threads_and_batches_change_nothing():
    args = ("-w", WINDOW, "--no-version", "--recipe", "centered,next-token", "--context", "60")
    wanted = vep(*args, MINI).out
    for threads in ("1", "2"):
        for tokens in ("1", "64", "4096"):
            got = vep(*args, "-@", threads, "--batch-tokens", tokens, MINI).out
            expect_equal(got, wanted, "--threads %s --batch-tokens %s" % (threads, tokens))


@case
def order_and_neighbours_change_nothing():
    text = read(MINI).decode().splitlines(True)
    head, body = [line for line in text if line[0] == "#"], [line for line in text if line[0] != "#"]
    wanted = mini()
    for seed in (1, 2):
        random.Random(seed).shuffle(body)
        for line in records(vep("-w", WINDOW, write(fresh(), "s.vcf", "".join(head + body))).text):
            expect_equal(line, wanted[line.split("\t")[2]], "shuffled")
    for line in body:
        identifier = line.split("\t")[2]
        if identifier in ("no_contig", "first_base", "insertion", "three_alts", "del_near_end", "tiny_del", "beside_ns"):
            if identifier == "no_contig":
                continue  # alone it is an error: no contig matches
            got = records(vep("-w", WINDOW, write(fresh(), "one.vcf", "".join(head) + line)).text)
            expect_equal(got, [wanted[identifier]], "alone: " + identifier)


@case
def alleles_together_or_apart():
    together = values(mini()["three_alts"], "CARBON_LLR")
    apart = [values(line, "CARBON_LLR")[0] for line in records(vep("-w", WINDOW, vcf([("c1", 120, "C", a) for a in "GTA"])).text)]
    expect_equal(together, apart, "three alleles of one record and of three")


@case
def f32_is_close():
    a, b = (dict(scored_alleles(mini("--dtype", d).values(), "CARBON_LLR")) for d in ("bf16", "f32"))
    expect_equal(list(a), list(b), "alleles")
    expect(any(a[x] != b[x] for x in a), "the same scores in both types")
    for allele in a:
        expect_close(a[allele], b[allele], 0.1 + 0.1 * abs(b[allele]), "bf16 beside f32 at %s:%d" % allele[:2])


if __name__ == "__main__":
    main()
