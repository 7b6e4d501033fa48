"""Genomes, variants and their spellings for the tests of what carbon vep scores. Not a test."""

import os
import random

from harness import fresh, to_fasta, write
from vep_reference_support import random_bases, upper
from vep_support import OTHER

ACGT = set("ACGT")


def fasta_of(genome, name="ref.fa"):
    return write(fresh(), name, to_fasta(list(genome.items())))


def tags(line):
    """{tag: [text of each ALT]} of what carbon wrote."""
    items = (item.split("=", 1) for item in line.split("\t")[7].split(";") if item.startswith("CARBON_"))
    return {tag: text.split(",") for tag, text in items}


def spellings(bases, p, ref, alt, pad=0):
    """Every (p, REF, ALT) of the haplotype that this allele makes, with at most `pad` letters more than necessary."""
    after, grown = p + len(ref), len(alt) - len(ref)
    haplotype = bases[:p] + alt + bases[after:]
    shared_left = len(os.path.commonprefix([bases, haplotype]))
    shared_right = len(os.path.commonprefix([bases[::-1], haplotype[::-1]]))
    shortest = max(len(bases) - shared_right - shared_left, 1, 1 - grown)
    found = []
    for begin in range(shared_left + 1):
        for size in range(shortest, shortest + pad + 1):
            end = begin + size
            if len(bases) - shared_right <= end <= len(bases):
                pair = bases[begin:end], haplotype[begin:end + grown]
                if all(part and set(part) <= ACGT for part in pair):
                    found.append((begin, *pair))
    return found


def repeats_genome():
    """Repeats of every kind, at both ends of a contig, and beside letters that are no bases."""
    rng = random.Random(21)
    some = lambda n: random_bases(rng, n)
    fifty = some(50)
    inner = "".join((some(70), "A" * 10, some(40), "CA" * 8, "G", some(30), "GAT" * 6, some(30), fifty * 3, some(40), "TTTTTCTTTTT", some(70)))
    return {
        "inner": inner, "starts": "CA" * 6 + some(90), "starts_a": "A" * 9 + some(90), "ends": some(90) + "GT" * 6,
        "ends_t": some(90) + "T" * 9, "soft": some(60) + "a" * 5 + "A" * 5 + some(60),
        "gaps": some(60) + "N" + "A" * 8 + "N" + some(20) + "NN" + "AC" * 5 + "NNN" + some(60) + "N" + some(7) + "N" + some(50),
        "codes": some(60) + "R" + "A" * 6 + "Y" + some(20) + "M" + "CA" * 5 + "K" + some(60),
    }


def indels_everywhere(genome, rng, sizes=(1, 2, 3, 5, 6, 7, 13, 50)):
    """(contig, p, REF, ALT): deletions and insertions at the ends, in the repeats, beside other letters."""
    found = []
    for contig, bases in genome.items():
        bases = bases.upper()
        others = [i for i, base in enumerate(bases) if base not in ACGT]
        near = {p for i in others for p in range(i - 3, i + 4)} | {0, 1, 2, 3, 4, 5, 6, 7, 12}
        near |= {len(bases) - i for i in (1, 2, 3, 7, 8, 13)} | {rng.randrange(len(bases)) for _ in range(12)}
        for p in sorted(i for i in near if 0 <= i < len(bases)):
            for size in rng.sample(sizes, 2):
                deleted = bases[p:p + size + 1]
                if set(deleted) <= ACGT and len(deleted) == size + 1:
                    found += [(contig, p, deleted, deleted[0]), (contig, p, deleted, deleted[-1])]
                copied = bases[p + 1:p + 1 + size] if rng.random() < 0.6 else random_bases(rng, size)
                if set(bases[p] + copied) <= ACGT and copied:
                    found += [(contig, p, bases[p], bases[p] + copied), (contig, p, bases[p], copied + bases[p])]
    return found


def rows_of_every_kind(genome):
    rng = random.Random(23)
    rows = [(contig, p + 1, ref, alt) for contig, p, ref, alt in indels_everywhere(genome, rng)]
    for contig, bases in upper(genome).items():
        for p in (0, 1, 5, 30, 59, len(bases) - 9, len(bases) - 2, len(bases) - 1):
            ref = bases[p:p + rng.choice((1, 2, 5, 6, 12))]
            if set(ref) <= ACGT:
                rows.append((contig, p + 1, ref, random_bases(rng, len(ref))))  # SNV and MNV
                rows.append((contig, p + 1, ref, OTHER[ref[0]] + ref[1:] + "," + ref[:-1] + OTHER[ref[-1]]))  # padded SNVs
                rows.append((contig, p + 1, ref, random_bases(rng, rng.choice((1, 3, 8))) + "," + ref))  # of another length
    return [row for row in rows if row[3]]
