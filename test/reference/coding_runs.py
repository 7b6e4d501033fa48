"""The published clean-up of runs of coding bases, from its description alone (docs/recipes.md, "Runs"): numpy in float32 for the
differences of probabilities, one base after the other."""

import numpy as np

DEFAULTS = dict(outward=128, inward=0, stop_run=0, stop_ratio=0.3, min_cds=4, min_gap=4)


def runs_of(mask):
    """[(first, last)] of the runs of true values, last included."""
    padded = np.concatenate(([False], mask, [False])).astype(int)
    return list(zip(np.flatnonzero(np.diff(padded) == 1), np.flatnonzero(np.diff(padded) == -1) - 1))


def steepest(p, positions, neighbour, own, stop_run, stop_ratio):
    """(position, drop) of the first of the largest drops from a base to its neighbour; drop 0 if there is none."""
    best, low = (None, np.float32(0)), 0
    for i in positions:
        low = low + 1 if float(p[i]) <= stop_ratio * float(own) else 0
        if stop_run > 0 and low == stop_run:
            break
        drop = np.float32(p[i]) - np.float32(p[i + neighbour])
        if drop > best[1]:
            best = (i, drop)
    return best


def moved(p, first, last, outward, inward, stop_run, stop_ratio):
    def end(own, out, within, neighbour):
        a = steepest(p, out if outward else [], neighbour, p[own], stop_run, stop_ratio)
        b = steepest(p, within if inward else [], neighbour, p[own], stop_run, stop_ratio)
        if a[0] is None and b[0] is None:
            return own
        return b[0] if b[1] > a[1] else a[0]

    n = len(p)
    left = end(first, range(first, max(1, first - outward) - 1, -1), range(min(last, first + inward), max(1, first) - 1, -1), -1)
    right = end(last, range(last, min(n - 1, last + outward)), range(max(first, last - inward), last), 1)
    return left, right


def coding_runs(p, outward, inward, stop_run, stop_ratio, min_cds, min_gap):
    p = np.asarray(p, np.float32)
    mask = np.zeros(len(p), bool)
    for first, last in runs_of(p > 0.5):
        left, right = moved(p, first, last, outward, inward, stop_run, stop_ratio)
        mask[left:right + 1] = True
    for first, last in runs_of(~mask):
        if first > 0 and last < len(p) - 1 and last - first + 1 < min_gap:
            mask[first:last + 1] = True
    return [(int(first), int(last)) for first, last in runs_of(mask) if last - first + 1 >= min_cds]
