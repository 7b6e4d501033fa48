"""carbon vep: every score recomputed from its definition, and the same whatever runs beside it.

The recomputation cuts the windows of the definition from the FASTA in Python (test/reference/vep_reference.py) and has `carbon score` sum their
log-probabilities; it shares nothing with the program's own planning of windows, forks and suffixes.
"""

import math
import os
import random
import sys

from harness import (carbon, case, expect, expect_close, expect_equal, expect_failure, fresh, genome, info_of, main,
                     model, ok, read, records, reverse_complement, to_fasta, write)
from vep_support import FLAGS, MINI, OTHER, WINDOW, mini, reference, values, vcf, vep

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "reference"))
import vep_reference  # noqa: E402


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


def centered_pairs(bases, pos, ref, alt, window, strand):
    """(A, R) of the phases of an allele, each pair cut to the same number of scored bases."""
    p, ref, alt = vep_reference.normalise(bases, pos - 1, ref, alt)
    pairs = []
    for phase in vep_reference.phases_of("auto", ref, alt):
        found = vep_reference.centered_windows(bases, p, ref, alt, window, strand, phase)
        if found is None and phase > 0:
            continue
        n = min(sum(map(is_scored, sequence)) for sequence in found)
        pairs.append(tuple(first_scored(sequence, n) for sequence in found))
    return pairs


def sums(sequences):
    """sum_logp of each, by one run of carbon score."""
    path = write(fresh(), "windows.fa", to_fasta([(str(i), s) for i, s in enumerate(sequences)], width=10000))
    return [float(line.split("\t")[5]) for line in ok("score", "-m", model(), path).table()[1:]]


def expected_llr(rows, window, strands, bases_of):
    """LLR of each (contig, pos, ref, alt), averaged over strands."""
    groups = [centered_pairs(bases_of[c], p, r.upper(), a.upper(), window, s) for c, p, r, a in rows for s in strands]
    totals = iter(sums([sequence for pairs in groups for pair in pairs for sequence in pair]))
    by_strand = [sum(next(totals) - next(totals) for _ in pairs) / len(pairs) for pairs in groups]
    n = len(strands)
    return [sum(by_strand[i * n:(i + 1) * n]) / n for i in range(len(rows))]


def tolerance(value):
    return 2e-6 + 6e-6 * abs(value)  # six printed digits of a binary32


def scored_alleles(lines, tag):
    """((contig, pos, ref, alt), value) of every allele with a value."""
    found = []
    for line in lines:
        c, p, _, r, alts = line.split("\t")[:5]
        for alt, value in zip(alts.split(","), values(line, tag) or []):
            if value is not None and alt[0] != "<":  # vep_variants_test.py spells these out
                found.append(((c, int(p), r, alt), value))
    return found


UPPER = {name: bases.upper() for name, bases in genome().items()}


def check_centered(lines, window, strands, bases_of=None):
    found = scored_alleles(lines, "CARBON_LLR")
    wanted = expected_llr([allele for allele, _ in found], window, strands, bases_of or UPPER)
    for (allele, value), expected in zip(found, wanted):
        what = "LLR of %s:%d %s>%s, strand %s, window %d" % (*allele, strands, window)
        expect_close(value, expected, tolerance(expected), what)
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
            sizes = [rng.choice((1, 1, 2, 6, 12)) for _ in range(rng.choice((1, 1, 3)))]
            alts = {"".join(rng.choice("ACGT") for _ in range(n)) for n in sizes}
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
    for line in ok("score", "-m", model(), "-O", "tsv", path).table()[1:]:
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
    wanted = dict(FLAGS, insertion=["multibase"], deletion=["multibase"], mnv=["multibase"], too_long=["multibase"],
                  symbolic=["multibase"],
                  complex=["multibase", "multibase"], beside_ns=["multibase", None], last_base=None)
    for identifier, flags in wanted.items():
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
        if identifier in ("first_base", "insertion", "three_alts", "del_near_end", "tiny_del", "beside_ns"):
            got = records(vep("-w", WINDOW, write(fresh(), "one.vcf", "".join(head) + line)).text)
            expect_equal(got, [wanted[identifier]], "alone: " + identifier)


@case
def repeated_records_have_the_same_scores():
    args = ("--no-version", "--recipe", "centered,next-token", "--context", "60", "-w", WINDOW)
    head, body = [], []
    for line in read(MINI).decode().splitlines(True):
        (head if line[0] == "#" else body).append(line)
    wanted = [line for line in records(vep(*args, MINI).text) for _ in range(3)]
    repeated = write(fresh(), "repeated.vcf", "".join(head + [line for line in body for _ in range(3)]))
    apart = write(fresh(), "apart.vcf", "".join(head + body * 3))
    for tokens in ("1", "30", "4096"):
        expect_equal(records(vep(*args, "--batch-tokens", tokens, repeated).text), wanted, "three times in a row")
        expect_equal(records(vep(*args, "--batch-tokens", tokens, apart).text), wanted[::3] * 3, "three times over")


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
