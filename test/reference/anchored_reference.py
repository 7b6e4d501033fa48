"""The scores and flags of `carbon vep --recipe anchored` computed a second time, from the written definition alone.

Decoder, alleles and their normal form are those of vep_reference.py. Every window is cut from the letters of a strand, and
a phase is the strand without its first bases, as the definition says it. One thing is used that the definition does not
say: the decoder is causal, so a sequence that is the beginning of another one is not read again (`alone` reads them all).
"""

import numpy as np

from vep_reference import DIGITS, K, classify, mean, normalise, phases_of, rc, upper

CONTEXT, HORIZON = 4098, 768


def mirrored(bases, p, ref, alt):
    """An allele on the other strand."""
    return len(bases) - p - len(ref), rc(ref), rc(alt)


def strand_form(bases, p, ref, alt, strand):
    """(letters of the strand, p, REF, ALT), the allele moved as far along the reading direction as it goes.

    normalise() moves an allele to the left of what it is given, so it is given the opposite strand. There the base before
    an insertion or deletion is kept, or at the beginning the one after it; here that is the base after, or the last one.
    normalise() takes alleles made of bases. A normal form that has another letter before its bases gets the one after them
    instead."""
    after = p + len(ref)
    if ref[0] not in DIGITS and after < len(bases):
        p, ref, alt = p + 1, ref[1:] + bases[after], alt[1:] + bases[after]
    opposite = rc(bases) if strand == "+" else bases
    found = normalise(opposite, *(mirrored(bases, p, ref, alt) if strand == "+" else (p, ref, alt)))
    return (rc(opposite), *mirrored(opposite, *found))


def windows(letters, p, ref, alt, context, horizon, f):
    """(A, R, where in both the sum begins) of phase f, None where the phase is left out."""
    if p < f:
        return None
    letters, p = letters[f:], p - f
    q = p - p % K
    start = context * max(0, q // context - 1)
    n = p - q + max(len(ref), len(alt)) + horizon
    r = letters[start:q + n]
    a = (letters[start:p] + alt + letters[p + len(ref):p + len(ref) + len(r)])[:len(r)]
    size = min(len(a), len(r))
    return a[:size], r[:size], q - start


def longest_allele(positions, context, horizons):
    """The longest REF or ALT that fits a model of so many positions: 1 + ceil((2C + H + it - 1) / 6) is not above them."""
    return K * (positions - 1) - 2 * context - max(horizons) + 1


def largest_horizon(positions, context):
    """The H up to which 1 + ceil((2C + H) / 6) is not above the positions; negative if there is none."""
    return K * (positions - 1) - 2 * context


def base_logps(model, sequences, alone):
    """{(bases, from): [ln P of each base from there on]}, NaN for what is not A, C, G or T.

    Like Model.base_logps, but only the rows that predict something from `from` on, a multiple of 6, go through the head."""
    read, last = {}, ""  # what is read: the least `from` of it and of its beginnings; in this order they come after it
    whole = {}
    for bases, begin in sorted(sequences, reverse=True):
        last = whole[bases] = last if last.startswith(bases) and (last == bases or not alone) else bases
        read[last] = min(read.get(last, begin), begin)
    tables = {}
    for part, hidden in model.batches(read):
        first = [read[bases] // K for bases in part]
        rows = np.concatenate([h[i:-1] for h, i in zip(hidden, first)])  # <dna> predicts the first 6-mer
        table = model.marginals(rows)
        for bases, h, i in zip(part, hidden, first):
            tables[bases], table = table[:len(h) - 1 - i].reshape(-1, 4), table[len(h) - 1 - i:]

    def logps(bases, begin):
        table = tables[whole[bases]][begin - read[whole[bases]]:]
        return np.array([table[i, DIGITS[b]] if b in DIGITS else np.nan for i, b in enumerate(bases[begin:])])

    return {(bases, begin): logps(bases, begin) for bases, begin in sequences}


def difference(a, r):
    """The sum over the first n scored bases of A minus that of R, n being the smaller of their numbers."""
    a, r = (values[~np.isnan(values)] for values in (a, r))
    n = min(len(a), len(r))
    return a[:n].sum() - r[:n].sum()


def forms(genome, variants, horizons, context, positions):
    """For each ALT of each variant (contig, why it has no score, its normal form)."""
    half = longest_allele(positions, context, horizons)
    # classify() of recipe centered calls too long what exceeds half of its window.
    return [[(variant[0], *classify(genome, variant, i, "centered", 2 * half)) for i in range(len(variant[3]))]
            for variant in map(upper, variants)]


def annotate(model, genome, variants, horizons=(HORIZON,), context=CONTEXT, strand=None, phases="auto", alone=False):
    """For each variant, as in vep_reference.annotate, a dict of lists, a value an ALT: ALLR, or ALLR_H for each of several
    horizons, and FLAG."""
    positions = model.config["max_position_embeddings"]
    if largest_horizon(positions, context) < max(horizons):
        raise ValueError("the horizon does not fit the model")
    ordered = sorted(horizons)
    plans, needed = [], {}
    for alleles in forms(genome, variants, ordered, context, positions):
        plan = []
        for contig, reason, form in alleles:
            by_strand = []
            for s in "" if form is None else "+-" if strand in (None, "both") else strand:
                letters, p, ref, alt = strand_form(genome[contig], *form, s)
                cut = [[windows(letters, p, ref, alt, context, h, f) for h in ordered] for f in phases_of(phases, ref, alt)]
                by_strand.append([every for every in cut if every[0] is not None])
                for a, r, begin in sum(by_strand[-1], []):
                    assert 1 - (-len(r) // K) <= positions, "a window is longer than what the flag too_long leaves"
                    needed.update({(a, begin): None, (r, begin): None})
            plan.append((reason, by_strand))
        plans.append(plan)
    logps = base_logps(model, needed, alone)

    def score(by_strand, h):
        if not by_strand:
            return None
        values = [[difference(logps[a, begin], logps[r, begin]) for a, r, begin in (every[h] for every in phases_)]
                  for phases_ in by_strand]
        return mean([mean(of_strand) for of_strand in values])

    names = ["ALLR"] if len(ordered) == 1 else ["ALLR_%d" % h for h in ordered]
    return [{**{name: [score(by_strand, h) for _, by_strand in plan] for h, name in enumerate(names)},
             "FLAG": [reason for reason, _ in plan]} for plan in plans]
