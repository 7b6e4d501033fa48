"""carbon vep against an independent reading of its definitions: every allele of files made of edge cases.

test/reference/vep_reference.py computes scores and flags in float64 from whole windows; here are the files, the runs in
f32, and the cases in which symmetry makes scores equal to the last digit.
"""

import os
import random
import sys

from harness import (SHARED, Skip, case, decompress, expect, expect_close, expect_equal, fresh, main, model,
                     ok, parse_fasta, read, records, to_fasta, write)
from vep_support import HEAD, OTHER, values

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "reference"))
import vep_reference  # noqa: E402

TOLERANCE = 2e-3  # nats; both sides have their angles in double
DTYPE = {"dtype": "f32"}
# Three query heads share a key head, and the untied head is a matrix of its own.
SMALL = dict(DTYPE, hidden=48, heads=3, kv_heads=1, head_dim=16, layers=3, intermediate=96)
UNTIED = dict(DTYPE, hidden=32, heads=4, kv_heads=2, head_dim=8, layers=2, tied=0, max_positions=8192)
LONGEST = 400000  # contigs that the files of the shared folder get

_references = {}


def reference_model(**sizes):
    path = model(**sizes)
    if path not in _references:
        _references[path] = vep_reference.Model(path)
    return _references[path]


# ---- the files -----------------------------------------------------------------------------------------------------


def random_bases(rng, n):
    return "".join(rng.choice("ACGT") for _ in range(n))


def with_runs(bases, *runs):
    """`bases` with other letters: (begin, letters)."""
    for begin, letters in runs:
        bases = bases[:begin] + letters + bases[begin + len(letters):]
    return bases


def edge_genome():
    rng = random.Random(11)
    long = with_runs(random_bases(rng, 460), (60, "N"), (150, "N" * 7), (230, "R"), (231, "Y"), (300, "N" * 66), (452, "NN"))
    return {
        "long": long[:200] + long[200:280].lower() + long[280:],  # soft-masked letters, an IUPAC code among them
        "short": random_bases(rng, 61), "six": "GATTAC", "five": "GATTA", "one": "C", "unknown": "N" * 30,
        "leading": "N" * 20 + random_bases(rng, 50), "trailing": random_bases(rng, 50) + "N" * 20,
    }


def edge_variants(genome):
    """(contig, pos, REF, ALT as in a VCF) of every kind of record, at every kind of place."""
    rng = random.Random(12)
    places = {"long": [1, 2, 3, 6, 7, 47, 48, 49, 50, 58, 60, 61, 62, 95, 149, 158, 210, 229, 233, 265, 299, 300, 367, 368, 371,
                       402, 411, 412, 413, 414, 451, 454, 455, 459, 460],
              "short": [1, 2, 30, 55, 60, 61], "six": range(1, 7), "five": range(1, 6), "one": [1], "unknown": [5],
              "leading": [3, 20, 21, 22, 45, 70], "trailing": [1, 20, 49, 50, 51, 70]}
    rows = []
    for contig, positions in places.items():
        bases = genome[contig]
        for pos in positions:
            at = lambda size: bases[pos - 1:pos - 1 + size]
            other = OTHER.get(at(1).upper(), "A")
            rows += [(contig, pos, at(1), other), (contig, pos, at(1), at(1))]  # SNV; the reference itself
            rows.append((contig, pos, at(2), random_bases(rng, 2)))  # MNV
            rows.append((contig, pos, at(1), at(1) + random_bases(rng, rng.choice((1, 5, 6, 7)))))  # insertion
            rows.append((contig, pos, at(rng.choice((2, 6, 7, 8))), at(1)))  # deletion; near the end one that is too long
            rows.append((contig, pos, at(3), random_bases(rng, rng.choice((1, 2, 5)))))  # deletion and insertion
            rows.append((contig, pos, at(2), ",".join((at(1), at(2) + "AC", "G" + other, at(2), "*"))))  # many alleles
    for pos in (100, 262, 440):
        for size in (47, 48, 49, 50):  # the longest alleles that a window of 96 takes, and one more
            rows += [("long", pos, genome["long"][pos - 1], random_bases(rng, size)),
                     ("long", pos, genome["long"][pos - 1:pos - 1 + size], random_bases(rng, size // 2))]
    rows += [("absent", 7, "A", "C,<DEL>,*"), ("absent", 7, "N", "<*>"), ("long", 0, "N", "<DEL>"), ("long", 0, "A", "C"),
             ("long", 461, "A", "C"), ("long", 460, genome["long"][459] + "A", genome["long"][459]), ("one", 2, "A", "C"),
             ("five", 4, "TAC", "T")]
    a, c = genome["long"][99], genome["long"][259]
    rows += [("long", 100, a, alt) for alt in (
        "<DEL>", "<DUP:TANDEM>", "<*>", "<NON_REF>", a + "]short:5]", "[short:5[" + a, "]short:5]" + a, a + ".", "." + a,
        "<INS:ME>,*," + OTHER[a] + ",N", "N", "R", "*", OTHER[a] + "U", OTHER[a].lower(), OTHER[a] + ",<NON_REF>", ".")]
    rows += [("long", 100, OTHER[a], alt) for alt in ("A", "C", "G", "T", "AC", "N", "<DEL>", "*", "G" * 60)]
    rows += [("long", 260, c.upper(), OTHER[c.upper()]), ("long", 260, c.lower(), OTHER[c.upper()].lower()),
             ("long", 231, "R", "A"), ("long", 231, "A", "G"), ("long", 100, "R", "A"), ("long", 100, a.lower(), a)]
    rows += [("long", 100, a, OTHER[a])] * 3  # repeated records
    rng.shuffle(rows)
    # At a contig's end a longer REF comes out cut: what is left need not differ from REF of another kind.
    return [row for row in rows if row[2]]


def as_vcf(rows, contigs):
    head = HEAD % "".join("##contig=<ID=%s>\n" % name for name in contigs)
    return head + "".join("%s\t%d\t.\t%s\t%s\t.\t.\t.\n" % row for row in rows)


# ---- comparing -----------------------------------------------------------------------------------------------------


def upper(genome):
    return {name: bases.upper() for name, bases in genome.items()}


def alleles_of(line):
    """(contig, pos, REF, [ALT, ...]) of a VCF line."""
    fields = line.split("\t")
    return fields[0], int(fields[1]), fields[3], fields[4].split(",") if fields[4] != "." else []


def run_vep(sizes, fasta, path, recipes, window, context, strand, *more):
    args = ["-m", model(**sizes), "--dtype", "f32", "-f", fasta, "--recipe", ",".join(recipes), "--max-ref-mismatch", 1]
    args += ["-w", window, "--context", context, "--no-version", "-q"] + (["--strand", strand] if strand else [])
    return records(ok("vep", *args, *more, path).out.decode("latin-1"))


class Comparison:
    """Counts what was compared, and the largest difference."""

    def __init__(self):
        self.worst, self.scores, self.zeros, self.flags = 0.0, 0, 0, {}

    def check(self, sizes, genome, fasta, path, recipes, window, context, strand=None):
        lines = run_vep(sizes, fasta, path, recipes, window, context, strand)
        variants = [alleles_of(line) for line in lines]
        wanted = vep_reference.annotate(reference_model(**sizes), upper(genome), variants, recipes, window, context, strand)
        for line, variant, expected in zip(lines, variants, wanted):
            what = "%s:%d %s>%s, strand %s, window %d" % (*variant[:3], ",".join(variant[3]), strand, window)
            for tag in ("LLR", "NT"):
                found = values(line, "CARBON_" + tag)
                if tag not in expected or not variant[3]:
                    expect_equal(found, None, tag + " of " + what)
                    continue
                for alt, got, value in zip(variant[3], found, expected[tag]):
                    self.compare(got, value, alt.upper() == variant[2].upper(), "%s of %s (%s)" % (tag, what, alt))
            flags = values(line, "CARBON_FLAG")
            expect_equal(flags, expected["FLAG"] if any(expected["FLAG"]) else None, "flags of " + what)
            for flag in flags or []:
                if flag:
                    self.flags[flag] = self.flags.get(flag, 0) + 1
        return lines

    def compare(self, got, value, same_allele, what):
        expect((got is None) == (value is None), "%s: %r, expected %r" % (what, got, value))
        if got is None:
            return
        expect_close(got, value, TOLERANCE, what)
        self.worst, self.scores = max(self.worst, abs(got - value)), self.scores + 1
        if same_allele:
            expect_equal(got, 0.0, what)
            self.zeros += 1

    def report(self, title):
        print("%s: %d scores, worst difference %.2g nats; flags %s" % (
            title, self.scores, self.worst, ", ".join("%s %d" % item for item in sorted(self.flags.items())) or "none"))


BOTH = ("centered", "next-token")
ALL_FLAGS = {"no_contig", "edge", "symbolic", "star", "non_acgt", "ref_mismatch", "too_long", "multibase"}


@case
def edge_cases_in_every_window_and_strand():
    genome = edge_genome()
    d = fresh()
    fasta = write(d, "edge.fa", to_fasta(list(genome.items())))
    path = write(d, "edge.vcf", as_vcf(edge_variants(genome), [*genome, "absent"]))
    of_all = Comparison()
    for sizes, window, context, strand in ((SMALL, 96, 60, None), (SMALL, 96, 60, "-"), (SMALL, 12, 5, "both"),
                                           (UNTIED, 192, 300, "+"), (UNTIED, 50, 0, "both"), (UNTIED, 1000, 1000, "both")):
        lines = of_all.check(sizes, genome, fasta, path, BOTH, window, context, strand)
        expect_equal([alleles_of(line) for line in lines], [alleles_of(line) for line in records(read(path).decode())], "records")
    one = Comparison()
    for recipe in BOTH:  # the flag of a recipe alone
        one.check(SMALL, genome, fasta, path, (recipe,), 96, 60)
    of_all.report("edge cases")
    expect_equal(set(of_all.flags) | set(one.flags), ALL_FLAGS, "flags met")
    expect(of_all.scores > 4000 and of_all.zeros > 500, "%d scores, %d zeros" % (of_all.scores, of_all.zeros))


@case
def default_windows():
    rng = random.Random(13)
    genome = {"big": with_runs(random_bases(rng, 30000), (9000, "N" * 40), (20005, "N"))}
    bases = genome["big"]
    rows = [("big", 100, bases[99], OTHER[bases[99]]), ("big", 12345, bases[12344:12347], bases[12344]),
            ("big", 25000, bases[24999], OTHER[bases[24999]] + "," + bases[24999] + "ACCGT")]
    d = fresh()
    compared = Comparison()
    compared.check(UNTIED, genome, write(d, "big.fa", to_fasta(list(genome.items()))),
                   write(d, "big.vcf", as_vcf(rows, genome)), BOTH, 8192, 24000)
    compared.report("windows of 8,192 and contexts of 24,000")
    expect_equal(compared.scores, 6, "number of scores")


@case
def thousands_of_samples():
    genome = {"long": edge_genome()["long"]}
    rows = [row for row in edge_variants(edge_genome()) if row[0] == "long" and 90 < row[1] < 110][:20]
    plain = as_vcf(rows, genome)
    samples = 3000
    wide = plain.replace("\tINFO\n", "\tINFO\tFORMAT" + "".join("\ts%d" % i for i in range(samples)) + "\n")
    wide = wide.replace("##contig", '##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">\n##contig', 1)
    wide = wide.replace("\t.\t.\t.\n", "\t.\t.\t.\tGT" + "\t0/1\t./.\t0|0" * (samples // 3) + "\n")
    d = fresh()
    fasta = write(d, "long.fa", to_fasta(list(genome.items())))
    args = (BOTH, 96, 60, None)
    narrow = run_vep(SMALL, fasta, write(d, "narrow.vcf", plain), *args)
    lines = run_vep(SMALL, fasta, write(d, "wide.vcf", wide), *args)
    expect_equal([line.split("\t")[:8] for line in lines], [line.split("\t") for line in narrow], "records before their samples")
    expect_equal([line.split("\t", 8)[8] for line in lines],
                 [line.split("\t", 8)[8] for line in records(wide)], "samples")
    expect_equal(len(lines), 20, "records")


# ---- symmetry ------------------------------------------------------------------------------------------------------


def table(lines, tag):
    """{(contig, pos, REF, ALT): value as printed} of what has a score."""
    found = {}
    for line in lines:
        contig, pos, ref, alts = alleles_of(line)
        texts = dict(item.split("=") for item in line.split("\t")[7].split(";") if "=" in item).get("CARBON_" + tag, ".").split(",")
        found.update({(contig, pos, ref, alt): text for alt, text in zip(alts, texts) if text != "."})
    return found


def negated(text):
    return text if text == "0" else text[1:] if text[0] == "-" else "-" + text


@case
def swapping_alleles_and_fasta_negates():
    genome = upper({"long": edge_genome()["long"]})
    bases, d = genome["long"], fresh()
    positions = [p for p in (1, 7, 59, 100, 157, 290, 371, 420, 460) if bases[p - 1] in "ACGT"]
    there, back = {}, {}
    for p in positions:
        ref, alt = bases[p - 1], OTHER[bases[p - 1]]
        swapped = bases[:p - 1] + alt + bases[p:]
        for strand in "+-":
            for found, fasta, row in ((there, bases, ("long", p, ref, alt)), (back, swapped, ("long", p, alt, ref))):
                lines = run_vep(SMALL, write(d, "f%d%s.fa" % (p, row[2]), to_fasta([("long", fasta)])),
                                write(d, "in.vcf", as_vcf([row], genome)), BOTH, 96, 60, strand)
                found.update({(p, strand, tag): text for tag in ("LLR", "NT") for text in table(lines, tag).values()})
    expect_equal(len(there), len(positions) * 4, "scores")
    expect_equal({key: negated(text) for key, text in back.items()}, there, "scores of the swapped alleles, negated")


@case
def reverse_complement_swaps_the_strands():
    # A window that covers the whole contig from either side cuts the same bases for both strands; a shorter one is one
    # base off its mirror image, as the definition has the variant right of the middle on either strand. The next-token
    # context is its own mirror image in any length.
    genome = {name: bases.upper() for name, bases in edge_genome().items() if name in ("long", "short", "six", "five")}
    rows = [row for row in edge_variants(edge_genome()) if row[0] in genome and set(row[2] + row[3]) <= set("ACGTacgt,")]
    mirrored = {name: vep_reference.rc(bases) for name, bases in genome.items()}
    back = {}
    for contig, pos, ref, alt in rows:
        ref, alt = ref.upper(), alt.upper()
        there = (contig, len(genome[contig]) + 2 - pos - len(ref), vep_reference.rc(ref),
                 ",".join(map(vep_reference.rc, alt.split(","))))
        back[there] = (contig, pos, ref, alt)
    d = fresh()
    fastas = [write(d, name, to_fasta(list(bases.items()))) for name, bases in (("f.fa", genome), ("r.fa", mirrored))]
    inputs = [write(d, name, as_vcf(lines, genome)) for name, lines in (("f.vcf", back.values()), ("r.vcf", back))]
    for recipe, tag, window, context, least in (("centered", "LLR", 1200, 60, 300), ("next-token", "NT", 96, 60, 40)):
        for strand, other in ("+-", "-+"):
            plus, minus = (run_vep(SMALL, *files, (recipe,), window, context, which)
                           for files, which in zip(zip(fastas, inputs), (strand, other)))
            plus, minus = ([line.split("\t")[7] for line in lines] for lines in (plus, minus))
            expect_equal(minus, plus, "%s of the mirror image on %s" % (tag, other))
            expect(sum(tag + "=" in info for info in plus) > least, "hardly a score")
            expect(len(set(plus)) > least / 2, "hardly a difference")


# ---- files of the shared folder ------------------------------------------------------------------------------------


def shared(path):
    full = os.path.join(SHARED, "data", path)
    if not os.path.exists(full):
        raise Skip("%s is absent: set CARBON_SHARED to the folder with data/" % full)
    return full


def shared_files():
    return sorted(os.path.join(where, name) for where, _, files in os.walk(shared("vcf")) for name in files
                  if name.endswith((".vcf", ".vcf.gz")) and os.path.basename(where) != "failed")


def fitting_genome(variants):
    """Contigs under the REF of the records: of two that overlap the first one's letters count. Far ones stay outside."""
    rng, genome, taken = random.Random(14), {}, {}
    near = [variant for variant in variants if 0 < variant[1] < LONGEST]
    for contig, pos, ref, _ in near:
        end = max(len(genome.get(contig, ())), pos + len(ref) + 30)
        genome.setdefault(contig, bytearray()).extend(rng.choices(b"ACGT", k=end - len(genome[contig])))
        covered = taken.setdefault(contig, set())
        place = range(pos - 1, pos - 1 + len(ref))
        if ref.isalpha() and covered.isdisjoint(place):
            genome[contig][place.start:place.stop] = ref.encode()
            covered.update(place)
    return {contig: bases.decode() for contig, bases in genome.items()}


@case
def files_of_the_shared_folder():
    compared, files = Comparison(), 0
    for path in shared_files():
        text = decompress(read(path)).decode("latin-1")
        variants = [alleles_of(line) for line in records(text)]
        near = any(alts and pos < LONGEST for _, pos, _, alts in variants)
        if not near or len(variants) > 1000 or not text.startswith("##fileformat"):
            continue
        genome = fitting_genome(variants)
        fasta = write(fresh(), "fit.fa", to_fasta(list(genome.items())))
        lines = compared.check(SMALL, genome, fasta, path, BOTH, 48, 60)
        expect_equal(len(lines), len(variants), "records of " + path)
        files += 1
    compared.report("%d files of the shared folder" % files)
    expect(files > 60 and compared.scores > 600, "%d files, %d scores" % (files, compared.scores))


@case
def brca1_on_its_own_sequence():
    genome = dict(parse_fasta(decompress(read(shared("genome/ref_brca1.fa.gz"))).decode()))
    lines = read(shared("vcf/brca1/brca1_1kgPhase3_variants.vcf")).decode().splitlines(True)
    head, body = [line for line in lines if line[0] == "#"], [line for line in lines if line[0] != "#"]
    # Both ends of the contig, and between them every record with an allele of another length or several.
    body = body[:20] + [line for line in body[20:-20] if set(map(len, line.split("\t")[3:5])) != {1}] + body[-20:]
    compared = Comparison()
    path = write(fresh(), "brca1.vcf", "".join(head + body))
    compared.check(SMALL, genome, shared("genome/ref_brca1.fa.gz"), path, BOTH, 144, 120)
    compared.report("%d records of BRCA1" % len(body))
    expect(compared.scores > 150, "%d scores" % compared.scores)


if __name__ == "__main__":
    main()
