"""carbon vep beside the reference of test/reference/vep_reference.py: made-up genomes, runs, comparing. Not a test."""

import os
import random
import sys

from harness import SHARED, Skip, expect, expect_close, expect_equal, info_of, model, ok, records
from vep_support import HEAD, OTHER, values

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "reference"))
import vep_reference  # noqa: E402

TOLERANCE = 2e-3  # nats; both sides have their angles in double
DTYPE = {"dtype": "f32"}
# Three query heads share a key head, and the untied head is a matrix of its own.
SMALL = dict(DTYPE, hidden=48, heads=3, kv_heads=1, head_dim=16, layers=3, intermediate=96)
UNTIED = dict(DTYPE, hidden=32, heads=4, kv_heads=2, head_dim=8, layers=2, tied=0, max_positions=8192)
LONGEST = 400000  # contigs that the files of the shared folder get
BOTH = ("centered", "next-token")
ALL_FLAGS = {"no_contig", "edge", "symbolic", "star", "non_acgt", "ref_mismatch", "too_long", "multibase"}

_references = {}


def reference_model(**sizes):
    path = model(**sizes)
    if path not in _references:
        _references[path] = vep_reference.Model(path)
    return _references[path]


# ---- files ---------------------------------------------------------------------------------------------------------


def random_bases(rng, n):
    return "".join(rng.choice("ACGT") for _ in range(n))


def with_runs(bases, *runs):
    """`bases` with other letters: (begin, letters)."""
    for begin, letters in runs:
        bases = bases[:begin] + letters + bases[begin + len(letters):]
    return bases


def as_vcf(rows, contigs):
    head = HEAD % "".join("##contig=<ID=%s>\n" % name for name in contigs)
    return head + "".join("%s\t%d\t.\t%s\t%s\t.\t.\t.\n" % row for row in rows)


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


# ---- comparing -----------------------------------------------------------------------------------------------------


def upper(genome):
    return {name: bases.upper() for name, bases in genome.items()}


def alleles_of(line):
    """(contig, pos, REF, [ALT, ...]) of a VCF line."""
    fields = line.split("\t")
    return fields[0], int(fields[1]), fields[3], fields[4].split(",") if fields[4] != "." else []


def variant_of(line):
    """The same with the texts of INFO, which say what a structural variant is."""
    return *alleles_of(line), info_of(line)


def run_vep(sizes, fasta, path, recipes, window, context, strand, phases=None, *more):
    args = ["-m", model(**sizes), "--dtype", "f32", "-f", fasta, "--recipe", ",".join(recipes), "--max-ref-mismatch", 1]
    args += ["-w", window] if "centered" in recipes else []
    args += ["--context", context] if {"next-token", "anchored"} & set(recipes) else []
    args += ["--no-version", "-q"] + (["--strand", strand] if strand else [])
    args += ["--phases", phases] if phases else []
    return records(ok("vep", *args, *more, path).out.decode("latin-1"))


class Comparison:
    """Counts what was compared, and the largest difference."""

    def __init__(self):
        self.worst, self.scores, self.zeros, self.flags = 0.0, 0, 0, {}

    def check(self, sizes, genome, fasta, path, recipes, window, context, strand=None, phases=None, levels=("bp",)):
        lines = run_vep(sizes, fasta, path, recipes, window, context, strand, phases, "--level", ",".join(levels))
        variants = [variant_of(line) for line in lines]
        wanted = vep_reference.annotate(reference_model(**sizes), upper(genome), variants, recipes, window, context, strand,
                                        phases or "auto", levels)
        for line, variant, expected in zip(lines, variants, wanted):
            what = "%s:%d %s>%s, strand %s, window %d, phases %s" % (*variant[:3], ",".join(variant[3]), strand, window, phases)
            for tag in ("LLR", "LLR_TOKEN", "NT"):
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


def table(lines, tag):
    """{(contig, pos, REF, ALT): value as printed} of what has a score."""
    found = {}
    for line in lines:
        contig, pos, ref, alts = alleles_of(line)
        texts = dict(item.split("=") for item in line.split("\t")[7].split(";") if "=" in item).get("CARBON_" + tag, ".").split(",")
        found.update({(contig, pos, ref, alt): text for alt, text in zip(alts, texts) if text != "."})
    return found
