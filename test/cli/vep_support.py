"""Running carbon vep on the small reference of test/data and reading what it writes. Not a test."""

import collections
import os
import re

from harness import DATA, data, expect, fresh, info_of, model, ok, records, write

MINI = os.path.join(DATA, "mini.vcf")
WINDOW = 48
HEAD = "##fileformat=VCFv4.2\n%s#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
OTHER = {"A": "C", "C": "G", "G": "T", "T": "A"}

# By ID: the flag of each allele in mini.vcf, for records that have one.
FLAGS = {
    "pos_zero": ["edge"], "symbolic": ["too_long"], "any_allele": ["symbolic"], "breakend": ["symbolic"],
    "star": [None, "star"], "mixed": [None, "non_acgt", "symbolic"], "iupac_ref": ["non_acgt"],
    "wrong_ref": ["ref_mismatch"], "too_long": ["too_long"], "past_the_end": ["edge"], "beyond": ["edge"],
    "unknown_base": ["non_acgt"], "no_contig": ["no_contig", "no_contig"],
}

_reference = []


def reference():
    if not _reference:
        _reference.append(data("mini.fa"))
    return _reference[0]


def vep(*args, fasta=None, **options):
    return ok("vep", "-m", model(), "-f", fasta or reference(), *args, **options)


def summary_of(result):
    """The counts of the summary line, which names only what occurred: records, those with a score, alleles by flag."""
    line, = (line for line in result.err.splitlines() if line.startswith("Records "))
    counts, _, reasons = line.partition("; alleles without a score: ")
    total, scored = re.fullmatch(r"Records (\d+), scored (\d+)", counts).groups()
    found = re.findall(r"(\d+) (\w+) \([^()]+\)(?:, |$)", reasons)
    return collections.Counter(total=int(total), scored=int(scored), **{flag: int(count) for count, flag in found})


def mini(*args, **options):
    """Annotated records of mini.vcf by ID."""
    recipe = args[args.index("--recipe") + 1] if "--recipe" in args else "centered"
    result = vep(*(("-w", WINDOW) if "centered" in recipe else ()), "--no-version", *args, MINI, **options)
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
