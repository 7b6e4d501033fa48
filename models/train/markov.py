#!/usr/bin/env python3
"""Fixed-order Markov models of DNA: the bar that the trained model has to clear.

Counts come from both strands of the training sequence. Order k is smoothed towards order k-1 and so on down to the
uniform distribution: P_k(b|context) = (count + strength * P_{k-1}(b)) / (total + strength). For each kind of sequence
the order, the strength and the training data (that kind alone, or the whole corpus) are those that score best on the
held-out sequence itself, which favours the Markov model.
"""
import argparse
import json

import numpy as np

import corpus as corpora

MAX_ORDER = 12
STRENGTHS = (4.0, 16.0, 64.0, 256.0, 1024.0)


def windows(bases, width):
    """The number of each run of `width` bases, first base most significant."""
    n = len(bases) - width + 1
    if n <= 0:
        return np.empty(0, np.int64)
    codes = np.zeros(n, np.int64)
    for i in range(width):
        codes = codes * 4 + bases[i:i + n]
    return codes


def count(segments, order):
    """Counts of (context of `order` bases, base) on both strands; a float array (4^order, 4)."""
    counts = np.zeros(4 ** (order + 1), np.float32)
    for segment in segments:
        for strand in (segment, corpora.reverse_complement(segment)):
            codes = windows(strand, order + 1)
            if len(codes) > 1 << 20:
                counts += np.bincount(codes, minlength=len(counts)).astype(np.float32)
            else:
                np.add.at(counts, codes, 1)
    return counts.reshape(-1, 4)


def smoothed(counts, strength):
    """Log-probabilities of every order from 0 to that of `counts`: a list of (4^k, 4) arrays."""
    levels = [counts]
    while len(levels[-1]) > 1:
        levels.append(levels[-1].reshape(4, -1, 4).sum(axis=0))
    below = np.full((1, 4), 0.25, np.float32)
    tables = []
    for level in reversed(levels):
        prior = np.tile(below, (len(level) // len(below), 1))
        below = (level + strength * prior) / (level.sum(axis=1, keepdims=True) + strength)
        tables.append(np.log(below))
    return tables


def bits_per_base(tables, sequences):
    """Of each order: mean over all bases of the sequences, each read from its first base. Bases without a full context
    are scored by the order that fits."""
    sums = np.zeros(len(tables))
    total = 0
    for bases in sequences:
        total += len(bases)
        by_order = [t.reshape(-1)[windows(bases, k + 1)] for k, t in enumerate(tables)]
        head = np.cumsum([b[0] for b in by_order]) if len(bases) >= len(tables) else None
        for k, values in enumerate(by_order):
            sums[k] += values.sum(dtype=np.float64)
            if head is not None and k:
                sums[k] += head[k - 1]
    return -sums / total / np.log(2)


def best(corpus, kind, counts):
    """The best order for the held-out records of a kind. `counts`: name of the training data -> counts."""
    sequences = [r.bases for r in corpus.holdout[kind] if len(r.bases) > MAX_ORDER]
    found = None
    for name, table in counts.items():
        for strength in STRENGTHS:
            bits = bits_per_base(smoothed(table, strength), sequences)
            order = int(bits.argmin())
            if found is None or bits[order] < found["bits"]:
                found = {"bits": float(bits[order]), "order": order, "strength": strength, "trained_on": name,
                         "by_order": [round(float(b), 4) for b in bits]}
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", required=True, help="folder of the nine KIND.fa.gz files")
    parser.add_argument("--holdout", default="models/train/holdout.txt")
    parser.add_argument("--exclude", nargs="*", default=[], help="FASTA files that are not trained on")
    parser.add_argument("--also", nargs="*", default=[], metavar="KIND=FASTA",
                        help="further sequence to judge, by the models that fit this kind")
    parser.add_argument("-o", "--output", required=True, help="JSON: the best model of each kind")
    args = parser.parse_args()
    corpus = corpora.load(args.corpus, args.holdout, args.exclude)
    by_kind = {kind: count(corpus.segments[kind], MAX_ORDER) for kind in corpora.KINDS}
    everything = sum(by_kind.values())
    results = {}
    for kind in corpora.KINDS:
        results[kind] = best(corpus, kind, {kind: by_kind[kind], "all": everything})
        print(kind, json.dumps(results[kind]), flush=True)
    for item in args.also:
        kind, _, path = item.partition("=")
        corpus.holdout[kind] = [corpora.Record(kind, *record) for record in corpora.read_fasta(path)]
        results[path] = best(corpus, kind, {kind: by_kind[kind], "all": everything})
        print(path, json.dumps(results[path]), flush=True)
    with open(args.output, "w") as out:
        json.dump(results, out, indent=1)


if __name__ == "__main__":
    main()
