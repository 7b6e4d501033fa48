"""The probabilities of carbon annotate computed a second time, from the published rules alone: the plain decoder of vep_reference.py
without a causal mask, two heads, windows and their means. numpy in float64, none of the program's code.
"""

import json
import os

import numpy as np

import vep_reference
from vep_reference import DIGITS, K, load_tensors

OOV, FIRST_KMER = 0, 32


def erf(x):
    """By the series around 0, which for |x| < 6 is exact to 1e-13; beyond it is 1."""
    x = np.clip(x, -6, 6)
    term, total = x.copy(), x.copy()
    for n in range(1, 200):
        term = term * -x * x / n
        total = total + term / (2 * n + 1)
    return np.where(np.abs(x) < 4, 2 / np.sqrt(np.pi) * total, np.sign(x))


class AnnotatorModel(vep_reference.Model):
    """A GENERanno checkpoint in one file."""

    def __init__(self, directory):  # pylint: disable=super-init-not-called
        with open(os.path.join(directory, "config.json"), encoding="utf-8") as f:
            self.config = json.load(f)
        self.w = load_tensors(os.path.join(directory, "model.safetensors"))

    def tokens(self, bases):
        ids = []
        for i in range(0, len(bases), K):
            kmer = bases[i:i + K].upper()
            known = all(base in DIGITS for base in kmer)
            ids.append(FIRST_KMER + sum(DIGITS[b] * 4 ** (K - 1 - j) for j, b in enumerate(kmer)) if known else OOV)
        return ids

    def attention(self, x, layer):
        c, w = self.config, self.w
        heads, kv_heads = c["num_attention_heads"], c["num_key_value_heads"]
        d = c["hidden_size"] // heads
        batch, n, _ = x.shape
        prefix = "model.layers.%d.self_attn." % layer
        q = self.rotate((x @ w[prefix + "q_proj.weight"].T).reshape(batch, n, heads, d))
        k = self.rotate((x @ w[prefix + "k_proj.weight"].T).reshape(batch, n, kv_heads, d))
        v = (x @ w[prefix + "v_proj.weight"].T).reshape(batch, n, kv_heads, d)
        out = np.empty((batch, n, heads, d))
        for head in range(heads):
            shared = head // (heads // kv_heads)
            scores = q[:, :, head] @ k[:, :, shared].transpose(0, 2, 1) / np.sqrt(d)
            weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
            out[:, :, head] = weights / weights.sum(axis=-1, keepdims=True) @ v[:, :, shared]
        return out.reshape(batch, n, heads * d) @ w[prefix + "o_proj.weight"].T

    def logits(self, bases):
        """[2 strands, bases, 2 classes] of a window."""
        states = self.hidden(np.array([self.tokens(bases)]))[0]
        out = []
        for strand in "01":
            x, last = states, "score.%s.weight" % strand
            if self.config["use_mlp_classifier"]:
                y = x @ self.w["score.%s.0.weight" % strand].T + self.w["score.%s.0.bias" % strand]
                x, last = y / 2 * (1 + erf(y / np.sqrt(2))), "score.%s.3.weight" % strand
            out.append((x @ self.w[last].T).reshape(len(bases), 2))
        return np.stack(out)

    def probabilities(self, contig, window, overlap):
        """[2 strands, bases]: the mean over the windows of each base of the probability of class 1."""
        total, count = np.zeros((2, len(contig))), np.zeros(len(contig))
        for begin, end in windows(len(contig), window, overlap):
            z = self.logits(contig[begin:end])
            total[:, begin:end] += 1 / (1 + np.exp(z[:, :, 0] - z[:, :, 1]))
            count[begin:end] += 1
        return total / np.maximum(count, 1)


def windows(n, window, overlap):
    """[(begin, end)] of a contig of n bases."""
    if n < K:
        return []
    if n < window:
        whole = n // K * K
        return [(0, whole)] + ([(n % K, n)] if n % K else [])
    begins = [0]
    while begins[-1] + window < n:
        begins.append(min(begins[-1] + window - overlap, n - window))
    return [(begin, begin + window) for begin in begins]
