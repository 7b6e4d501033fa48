"""The values of carbon scan computed a second time, from the written definitions alone: numpy in float64, one window after the
other, each base looked up in every window. The model is that of vep_reference.py."""

import numpy as np

from vep_reference import DIGITS, K, KMERS, rc

LETTERS = "ATCG"
# The letter at each place of each 6-mer.
KMER_DIGITS = np.arange(KMERS)[:, None] // 4 ** (K - 1 - np.arange(K)) % 4


def log_sum(z):
    return z.max() + np.log(np.exp(z - z.max()).sum())


def letter_logs(z, kmer, j, level):
    """ln P of the four letters at place j of a 6-mer with logits z; at level chain, given the known letters of `kmer` before j."""
    keep = np.ones(KMERS, bool)
    if level == "chain":
        for i, base in enumerate(kmer[:j]):
            if base in DIGITS:
                keep &= KMER_DIGITS[:, i] == DIGITS[base]
    return np.array([log_sum(z[keep & (KMER_DIGITS[:, j] == b)]) for b in range(4)]) - log_sum(z[keep])


class Scan:
    """One strand of a contig."""

    def __init__(self, model, bases, context):
        kmers = model.config["max_position_embeddings"] - 1
        self.window = min(kmers, 3 * context // K)
        self.stride = self.window - context // K
        self.model, self.bases, self.context, self.logits = model, bases, context, {}

    def window_logits(self, start):
        """Logits [6-mers, 4096] of the window that starts at `start`."""
        if start not in self.logits:
            ids = self.model.tokens(self.bases[start:start + K * self.window])[:-1]
            self.logits[start] = self.model.hidden(np.array([ids]))[0] @ self.model.kmer_head.T
        return self.logits[start]

    def value(self, i, frame, level):
        """The four log-probabilities at base i in a frame, or None if it has none."""
        index = 0
        while True:
            start = frame + K * self.stride * index
            if start > i:
                return None
            if i < start + K * self.window and (index == 0 or i - start >= self.context):
                break
            index += 1
        row, j = divmod(i - start, K)
        if level == "first" and j > 0:
            return None
        kmer = self.bases[start + row * K:start + row * K + K]
        return letter_logs(self.window_logits(start)[row], kmer, j, "marginal" if level == "first" else level)

    def mean(self, i, frames, level):
        values = [self.value(i, frame, level) for frame in range(0, K, K // frames)]
        return np.mean([value for value in values if value is not None], axis=0)


def scan(model, bases, context, frames, level, strand):
    """{position from 0: {letter: value}} of the bases of a contig in upper case that are A, C, G or T."""
    forward, reverse = Scan(model, bases, context), Scan(model, rc(bases), context)
    out = {}
    for i, base in enumerate(bases):
        if base not in DIGITS:
            continue
        strands = []
        if strand != "-":
            strands.append(dict(zip(LETTERS, forward.mean(i, frames, level))))
        if strand != "+":
            logs = reverse.mean(len(bases) - 1 - i, frames, level)
            strands.append({rc(letter): value for letter, value in zip(LETTERS, logs)})
        out[i] = {letter: np.mean([values[letter] for values in strands]) for letter in LETTERS}
    return out
