"""Values of classification heads computed a second time, from the written definitions alone: numpy in float64.

Windows are those of docs/conventions.md ("Classification heads"), written down anew. Reads generated checkpoints with a tied
embedding, which vep_reference.py runs.
"""

import numpy as np

import vep_reference

K = vep_reference.K


class Head:
    def __init__(self, directory):
        self.model = vep_reference.Model(directory)
        self.score = self.model.w["score.weight"]

    def state(self, bases, pool, pad):
        """The hidden state that is read: of </dna>, or of the last 6-mer."""
        if not pad:
            bases = bases[:len(bases) // K * K]
        ids = self.model.tokens(bases)
        if pool == "separator":
            ids.append(self.model.dna_begin + 1)
        return self.model.hidden(np.array([ids]))[0, -1]

    def of_strand(self, bases, pool="separator", pad=False, activation="none", scale=None):
        z = self.score @ self.state(bases, pool, pad)
        if activation == "sigmoid":
            z = 1 / (1 + np.exp(-z))
        if activation == "softmax":
            z = np.exp(z - z.max())
            z /= z.sum()
        return z if scale is None else z * [std for _, std in scale] + [mean for mean, _ in scale]

    def values(self, bases, strand="+", **how):
        bases = bases.upper()
        both = {"+": [bases], "-": [vep_reference.rc(bases)], "both": [bases, vep_reference.rc(bases)]}[strand]
        return np.mean([self.of_strand(one, **how) for one in both], axis=0)


def windows(bases, p, ref, alt, w, strand):
    """Window of the reference and of the alternative; p is 0-based, the allele in normal form."""
    left, right = w // 2, w - w // 2
    if strand == "+":
        start = p - left
        reference = bases[max(0, start):start + w]
        other = bases[max(0, start):p] + alt + bases[p + len(ref):]
    else:
        end = p + len(ref) - 1 + right
        reference = vep_reference.rc(bases[max(0, end - w):max(0, end)])
        other = vep_reference.rc(bases[:p] + alt + bases[p + len(ref):max(0, end)])
    length = min(len(reference), len(other))
    return reference[:length], other[:length]
