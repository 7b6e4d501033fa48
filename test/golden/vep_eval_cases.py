"""The windows on which the makers' evaluation of variants (their vep_eval.py) is repeated. Standard library only."""
import random

import cases

CHECKPOINT = "full-tied-hd64-gqa2"
WINDOW = 608  # as 8,192 bases do, these leave two bases after the last whole 6-mer
COUNT = 40


def contig():
    return cases.synthetic(6000, 11)


def variants():
    """[(pos from 0, ref, alt)], each with a whole window around it."""
    rng, bases = random.Random(7), contig()
    places = sorted(rng.sample(range(WINDOW // 2, len(bases) - WINDOW // 2), COUNT))
    return [(p, bases[p], rng.choice([b for b in "ACGT" if b != bases[p]])) for p in places]
