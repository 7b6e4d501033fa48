"""What the tests of carbon vep --recipe anchored share: runs, the bits of a BCF, an awkward genome, records of every kind.

Not a test.
"""

import os
import random
import struct
import sys

from harness import decompress, expect_equal, fresh, model, ok, records, to_fasta, write
from vep_reference_support import Comparison, as_vcf, random_bases, reference_model, upper, variant_of, with_runs
from vep_support import OTHER, values

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "reference"))
import anchored_reference  # noqa: E402

ACGT = set("ACGT")
DEFINITIONS = """##INFO=<ID=END,Number=1,Type=Integer,Description="Last base">
##INFO=<ID=SVLEN,Number=A,Type=Integer,Description="Length">
##INFO=<ID=IMPRECISE,Number=0,Type=Flag,Description="Imprecise">
"""


def fasta_of(genome):
    return write(fresh(), "ref.fa", to_fasta(list(genome.items())))


def vcf_of(rows, contigs):
    """A file of (contig, pos, REF, ALT) or (contig, pos, REF, ALT, INFO); ID is the number of the row."""
    head = as_vcf([], contigs).replace("##contig", DEFINITIONS + "##contig", 1)
    body = "".join("%s\t%d\trow%d\t%s\t%s\t.\t.\t%s\n" % (*row[:2], i, *row[2:4], row[4] if len(row) > 4 else ".")
                   for i, row in enumerate(rows))
    return write(fresh(), "in.vcf", head + body)


def anchored_args(horizons=None, context=None, strand=None, phases=None):
    args = ["--recipe", "anchored"]
    for option, value in (("--horizon", horizons), ("--context", context), ("--strand", strand), ("--phases", phases)):
        if value is not None:
            args += [option, ",".join(map(str, value)) if isinstance(value, (list, tuple)) else value]
    return args


class AnchoredComparison(Comparison):
    """carbon vep beside test/reference/anchored_reference.py."""

    def check_anchored(self, sizes, genome, fasta, path, horizons=None, context=None, strand=None, phases=None, more=()):
        args = anchored_args(horizons, context, strand, phases)
        result = ok("vep", "-m", model(**sizes), "--dtype", "f32", "-f", fasta, "--max-ref-mismatch", 1, "--no-version", "-q",
                    *args, *more, path)
        lines = records(result.out.decode("latin-1"))
        variants = [variant_of(line) for line in lines]
        given = {"horizons": [horizons] if isinstance(horizons, int) else horizons, "context": context, "strand": strand,
                 "phases": phases}
        wanted = anchored_reference.annotate(reference_model(**sizes), upper(genome), variants,
                                             **{name: value for name, value in given.items() if value is not None})
        tags = [tag for tag in wanted[0] if tag != "FLAG"] if wanted else []
        for line, variant, expected in zip(lines, variants, wanted):
            what = "%s:%d %s>%s, %s" % (*variant[:3], ",".join(variant[3]), " ".join(map(str, args)))
            expect_equal([item.split("=")[0][7:] for item in line.split("\t")[7].split(";") if item.startswith("CARBON_")],
                         (tags if variant[3] else []) + ["FLAG"] * any(expected["FLAG"]), "tags of " + what)
            for tag in tags if variant[3] else []:
                for alt, got, value in zip(variant[3], values(line, "CARBON_" + tag), expected[tag]):
                    self.compare(got, value, alt.upper() == variant[2].upper(), "%s of %s (%s)" % (tag, what, alt))
            flags = values(line, "CARBON_FLAG")
            expect_equal(flags, expected["FLAG"] if any(expected["FLAG"]) else None, "flags of " + what)
            for flag in flags or []:
                if flag:
                    self.flags[flag] = self.flags.get(flag, 0) + 1
        return lines


# ---- the bits ------------------------------------------------------------------------------------------------------


def blobs(content):
    """The records of a BCF, as the bytes that they are."""
    content = decompress(content)
    at = 9 + struct.unpack_from("<I", content, 5)[0]
    found = []
    while at < len(content):
        size = 8 + sum(struct.unpack_from("<II", content, at))
        found.append(content[at:at + size])
        at += size
    return found


def tags_of(content):
    """For each record of a BCF {tag: the bits of its floats, or its text}, in the order of INFO."""
    content = decompress(content)
    header = content[9:9 + struct.unpack_from("<I", content, 5)[0]].rstrip(b"\0").decode()
    names = {}
    for line in header.splitlines():
        if line.startswith("##INFO=<ID="):
            fields = dict(item.partition("=")[::2] for item in line[line.index("<") + 1:].rstrip(">").split(","))
            names[int(fields["IDX"])] = fields["ID"]
    return [_tags(blob, names) for blob in blobs(content)]


def _tags(blob, names):
    at = 32

    def typed():
        nonlocal at
        kind, count = blob[at] & 15, blob[at] >> 4
        at += 1
        if count == 15:
            count = typed()[0]
        letter, size = {0: ("B", 0), 1: ("b", 1), 2: ("h", 2), 3: ("i", 4), 5: ("I", 4), 7: ("s", 1)}[kind]
        if kind == 7:
            value = blob[at:at + count].decode()
        else:
            value = struct.unpack_from("<%d%s" % (count, letter), blob, at)
        at += count * size
        return value

    infos, alleles = struct.unpack_from("<HH", blob, 24)
    for _ in range(1 + alleles + 1):  # ID, alleles, FILTER
        typed()
    found = {}
    for _ in range(infos):
        key = typed()[0]
        found[names[key]] = typed()
    return found


# ---- an awkward genome ---------------------------------------------------------------------------------------------


def awkward_genome():
    """Repeats inside and at both ends, soft-masked letters, letters that are no bases, contigs shorter than a 6-mer."""
    rng = random.Random(51)
    some = lambda n: random_bases(rng, n)
    main = some(30) + "A" * 10 + some(40) + "CA" * 8 + "G" + some(27) + "GAT" * 6 + some(450)
    main = with_runs(main, (200, "N"), (216, "N" * 7), (250, "R"), (251, "Y"), (330, "N" * 66), (470, "NN"))
    main = main[:140] + main[140:190].lower() + main[190:]
    return {
        "main": main, "starts": "CA" * 6 + some(80), "starts_a": "A" * 9 + some(80), "ends": some(80) + "GT" * 6,
        "ends_t": some(80) + "T" * 9, "gaps": some(40) + "N" + "A" * 8 + "N" + some(20) + "NN" + "AC" * 5 + "NNN" + some(40) + "K",
        "short": some(61), "six": "GATTAC", "five": "GATTA", "two": "CA", "one": "C", "unknown": "N" * 30,
        "leading": "N" * 20 + some(50), "trailing": some(50) + "N" * 20,
    }


def places(genome):
    """0-based positions: the ends, the repeats, beside letters that are no bases, around multiples of 60 and 120."""
    found = {}
    for contig, bases in genome.items():
        size = len(bases)
        near = {0, 1, 2, 3, 5, 6, 7, 11, 12, *range(size - 9, size)}
        near |= {multiple + i for multiple in range(60, size, 60) for i in (-6, -1, 0, 1, 5, 6)}
        known = [base.upper() in ACGT for base in bases]
        edges = [i for i in range(1, size) if known[i] != known[i - 1]]
        near |= {i + step for i in edges for step in (-7, -2, -1, 0, 1)}
        near |= {29, 30, 34, 39, 40, 79, 80, 85, 95, 96} if contig == "main" else set()
        found[contig] = sorted(p for p in near if 0 <= p < size)
    return found


def rows_of_every_kind(genome):
    """(contig, pos, REF, ALT[, INFO]) of every kind of allele at each of the places."""
    rng, rows = random.Random(52), []
    for contig, positions in places(genome).items():
        bases = genome[contig]
        for p in positions:
            at = lambda size: bases[p:p + size]
            one, other = at(1), OTHER.get(at(1).upper(), "A")
            some = [(one, other), (one, one), (at(2), random_bases(rng, 2)),  # SNV, the reference itself, MNV
                    (one, one + random_bases(rng, rng.choice((1, 5, 6, 7)))), (one, one + bases[p + 1:p + 1 + rng.choice((1, 2, 3))]),
                    (one, random_bases(rng, 2) + one), (at(rng.choice((2, 3, 4, 7, 8))), one),  # insertions, a deletion
                    (at(3), random_bases(rng, rng.choice((1, 2, 5)))), (at(6), random_bases(rng, 9)),
                    (at(5), other + at(5)[1:]), (at(4), at(4)[:-1] + OTHER.get(at(4)[-1].upper(), "A")),  # padded SNVs
                    (at(6), at(6)[:3]), (at(4), at(4)[:2] + "C" + at(4)[2:]), (at(5), at(5)[-1]),
                    (at(2), ",".join((at(1), at(2) + "AC", "G" + other, at(2), "*")))]
            rows += [(contig, p + 1, ref, alt) for ref, alt in rng.sample(some, 5)]
            length, alt = rng.choice((1, 2, 3, 5, 6, 12, 25)), rng.choice(("<DEL>", "<DUP>", "<DUP:TANDEM>", "<INV>"))
            if one.upper() in ACGT:
                rows.append((contig, p + 1, rng.choice((one, "N")), alt,
                             rng.choice(("END=%d" % (p + 1 + length), "SVLEN=%d" % -length))))
    rng.shuffle(rows)
    return [row for row in rows if row[2] and row[3]]  # at a contig's end what is cut out may be empty


def odd_rows(genome):
    """Records without a score, or with one ALT that has none, and long alleles."""
    rng, one = random.Random(53), genome["main"][99]
    rows = [("absent", 7, "A", "C,<DEL>,*"), ("main", 0, "N", "<DEL>"), ("main", 0, "A", "C"), ("main", len(genome["main"]) + 1, "A", "C"),
            ("main", 100, OTHER[one], one), ("main", 100, genome["main"][99:199], one), ("main", 100, one, "<DUP>", "SVLEN=90"),
            ("main", 100, one, "<DEL>", "END=105;IMPRECISE")]
    alts = ("<*>", "<NON_REF>", "<DEL>", "*", one + "]short:5]", "N", OTHER[one].lower() + ",<NON_REF>", ".", one + random_bases(rng, 200))
    return rows + [("main", 100, one, alt) for alt in alts]


def indel_spellings(bases, p, ref, alt):
    """Every (p, REF, ALT) of the same change in the letters of a contig, with no letter more than necessary."""
    grown = len(alt) - len(ref)
    haplotype = bases[:p] + alt + bases[p + len(ref):]
    size = max(1, 1 - grown)
    return [(b, bases[b:b + size], haplotype[b:b + size + grown]) for b in range(len(bases) - size + 1)
            if bases[:b] == haplotype[:b] and bases[b + size:] == haplotype[b + size + grown:]]


# ---- runs on it ----------------------------------------------------------------------------------------------------

GENOME = awkward_genome()
CONTIGS = [*GENOME, "absent"]
SMALL_RUN = anchored_args(30, 60)  # ends soon
_fasta = []


def the_fasta():
    if not _fasta:
        _fasta.append(fasta_of(GENOME))
    return _fasta[0]


def run(path, *args, fasta=None, **options):
    return ok("vep", "-m", model(), "-f", fasta or the_fasta(), "--max-ref-mismatch", 1, "--no-version", *args, path, **options)


def bcf(path, *args, **options):
    return run(path, "-Ou", "-q", *args, **options).out


def some_rows(count, seed, keep=lambda row: True):
    """So many records of every kind, the odd ones among them where there is room."""
    rng = random.Random(seed)
    odd, rows = ([row for row in of(GENOME) if keep(row)] for of in (odd_rows, rows_of_every_kind))
    odd = rng.sample(odd, min(len(odd), count // 5))
    rows = rng.sample(rows, count - len(odd)) + odd
    rng.shuffle(rows)
    return rows
