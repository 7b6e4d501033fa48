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

DENSE_ORDER, MAX_ORDER = 12, 16  # above the dense orders only contexts of the judged sequence are counted
STRENGTHS = (4.0, 16.0, 64.0, 256.0, 1024.0)
EVERYTHING = "whole corpus"


def windows(bases, width):
    """The number of each run of `width` bases, first base most significant."""
    n = len(bases) - width + 1
    if n <= 0:
        return np.empty(0, np.int64)
    codes = np.zeros(n, np.int64)
    for i in range(width):
        codes = codes * 4 + bases[i:i + n]
    return codes


def strands(segments):
    for segment in segments:
        yield segment
        yield corpora.reverse_complement(segment)


def count(segments, order):
    """Counts of (context of `order` bases, base) on both strands; a float array (4^order, 4)."""
    counts = np.zeros(4 ** (order + 1), np.float32)
    for strand in strands(segments):
        codes = windows(strand, order + 1)
        if len(codes) > 1 << 20:
            counts += np.bincount(codes, minlength=len(counts)).astype(np.float32)
        else:
            np.add.at(counts, codes, 1)
    return counts.reshape(-1, 4)


def lower_orders(counts):
    """Counts of every order from 0 to that of `counts`."""
    levels = [counts]
    while len(levels[-1]) > 1:
        levels.append(levels[-1].reshape(4, -1, 4).sum(axis=0))
    return levels[::-1]


def smoothed(counts, strength):
    """Log-probabilities of the order of `counts`."""
    below = np.full((1, 4), 0.25, np.float32)
    for level in lower_orders(counts):
        prior = np.tile(below, (len(level) // len(below), 1))
        below = (level + strength * prior) / (level.sum(axis=1, keepdims=True) + strength)
    return np.log(below)


class SparseCounts:
    """Counts of one order above the dense ones, of given contexts only."""

    def __init__(self, contexts, order):
        self.order = order
        self.contexts = np.unique(contexts)
        self.maybe = np.zeros(1 << 24, bool)
        self.maybe[self._slot(self.contexts)] = True
        self.of = {}

    @staticmethod
    def _slot(contexts):
        return (contexts.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(40)

    def add(self, name, segments):
        counts = np.zeros(len(self.contexts) * 4, np.float32)
        for strand in strands(segments):
            codes = windows(strand, self.order + 1)
            codes = codes[self.maybe[self._slot(codes >> 2)]]
            place = np.minimum(np.searchsorted(self.contexts, codes >> 2), len(self.contexts) - 1)
            codes, place = codes[self.contexts[place] == codes >> 2], place[self.contexts[place] == codes >> 2]
            np.add.at(counts, place * 4 + (codes & 3), 1)
        self.of[name] = counts.reshape(-1, 4)

    def rows(self, name, contexts):
        return self.of[name][np.searchsorted(self.contexts, contexts)]


def counts_seen(dense, sparse, name, bases):
    """For each order, of each base of a sequence: counts of (its context, the base) and of its context. Zero before the
    first base with a full context, which leaves the order below it."""
    seen = []
    for order in range(MAX_ORDER + 1):
        codes = windows(bases, order + 1)
        if order <= DENSE_ORDER:
            rows = dense[order][codes >> 2]
        else:
            rows = sparse[order].rows(name, codes >> 2)
        own = np.zeros(len(bases), np.float32)
        total = np.zeros(len(bases), np.float32)
        own[len(bases) - len(codes):] = rows[np.arange(len(codes)), codes & 3]
        total[len(bases) - len(codes):] = rows.sum(axis=1)
        seen.append((own, total))
    return seen


def bits_by_order(seen, strength):
    """Mean bits a base of each order, over sequences given as the counts that each of their bases met."""
    sums = np.zeros(MAX_ORDER + 1)
    bases = sum(len(orders[0][0]) for orders in seen)
    for orders in seen:
        p = np.full(len(orders[0][0]), 0.25)
        for order, (own, total) in enumerate(orders):
            p = (own + strength * p) / (total + strength)
            sums[order] -= np.log2(p).sum()
    return sums / bases


def judge(sequences, dense, sparse):
    """The best order and strength for some sequences. `dense`: name of the training data -> counts of each order."""
    found = None
    for name, levels in dense.items():
        seen = [counts_seen(levels, sparse, name, bases) for bases in sequences if len(bases) > MAX_ORDER]
        for strength in STRENGTHS:
            bits = bits_by_order(seen, strength)
            order = int(bits.argmin())
            if found is None or bits[order] < found["bits"]:
                found = {"bits": round(float(bits[order]), 4), "order": order, "strength": strength,
                         "trained_on": name, "by_order": [round(float(b), 4) for b in bits]}
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", required=True, help="folder of the nine KIND.fa.gz files")
    parser.add_argument("--holdout", default="models/train/holdout.txt")
    parser.add_argument("--exclude", nargs="*", default=[], help="FASTA files that are not trained on")
    parser.add_argument("--also", nargs="*", default=[], metavar="KIND=NAME=FASTA",
                        help="further sequence to judge, by models of this kind and of the whole corpus")
    parser.add_argument("-o", "--output", required=True, help="JSON: the best model of each kind")
    args = parser.parse_args()
    corpus = corpora.load(args.corpus, args.holdout, args.exclude)
    judged = [(kind, kind, [r.bases for r in corpus.holdout[kind]]) for kind in corpora.KINDS]
    for item in args.also:
        kind, name, path = item.split("=", 2)
        judged.append((name, kind, [bases for _, bases in corpora.read_fasta(path)]))

    sparse = {}
    for order in range(DENSE_ORDER + 1, MAX_ORDER + 1):
        sparse[order] = SparseCounts(np.concatenate([windows(b, order + 1) >> 2 for *_, all_ in judged for b in all_]), order)
        for kind in corpora.KINDS:
            sparse[order].add(kind, corpus.segments[kind])
        sparse[order].of[EVERYTHING] = sum(sparse[order].of[kind] for kind in corpora.KINDS)
    everything = sum(count(corpus.segments[kind], DENSE_ORDER) for kind in corpora.KINDS)
    everything = lower_orders(everything)

    results = {}
    for name, kind, sequences in judged:
        of_kind = lower_orders(count(corpus.segments[kind], DENSE_ORDER))
        results[name] = judge(sequences, {kind: of_kind, EVERYTHING: everything}, sparse)
        print(name, json.dumps(results[name]), flush=True)
    with open(args.output, "w") as out:
        json.dump(results, out, indent=1)


if __name__ == "__main__":
    main()
