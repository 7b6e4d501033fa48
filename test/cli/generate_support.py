"""What the tests of carbon generate compare with: a plain forward pass in numpy, the exact distribution of each sampler,
and a goodness-of-fit test. Not a test. Nothing here is taken from the program; the formulas are those of its manual page.
"""

import json
import math
import os
import random

import numpy as np

from harness import fresh, model, ok, to_fasta, write

LETTERS = "ATCG"
IUPAC = {"A": "A", "C": "C", "G": "G", "T": "T", "R": "AG", "Y": "CT", "S": "CG", "W": "AT", "K": "GT", "M": "AC",
         "B": "CGT", "D": "AGT", "H": "ACT", "V": "ACG", "N": "ACGT"}
SAMPLERS = ("kmer", "marginal", "chain")


def random_bases(length, seed, letters="ACGT"):
    rng = random.Random(seed)
    return "".join(rng.choice(letters) for _ in range(length))


def fasta(records, width=60):
    """Path of a new FASTA file of (name, bases)."""
    return write(fresh(), "prompts.fa", to_fasta(records, width))


class Record:
    """A record that carbon generate wrote."""

    def __init__(self, header, bases):
        self.header = header
        self.name, *fields = header.split(" ")
        self.fields = dict(field.split("=") for field in fields)
        self.logp = float(self.fields["logp"])
        self.bases = bases


def parse(text):
    records = []
    for line in text.splitlines():
        if line.startswith(">"):
            records.append([line[1:], []])
        else:
            records[-1][1].append(line)
    return [Record(header, "".join(lines)) for header, lines in records]


def generate(*args, **options):
    """Records of a run."""
    return parse(ok("generate", "-v", 1, *args, **options).text)


PROMPTS = [("first", random_bases(120, 1)), ("second", random_bases(77, 2)), ("third", "acgtnnRYACGTACGTACG"),
           ("fourth", "A"), ("fifth", random_bases(601, 3))]


def prompts():
    return fasta(PROMPTS)


def run(*args, **options):
    return ok("generate", "-v", 1, "-m", model(), *args, **options)


# ---- the model -----------------------------------------------------------------------------------------------------


def tensors(path):
    """name -> float64 array, of one safetensors file."""
    raw = open(path, "rb").read()
    size = int.from_bytes(raw[:8], "little")
    out = {}
    for name, entry in json.loads(raw[8:8 + size]).items():
        if name == "__metadata__":
            continue
        data = raw[8 + size + entry["data_offsets"][0]:8 + size + entry["data_offsets"][1]]
        if entry["dtype"] == "BF16":
            values = (np.frombuffer(data, np.uint16).astype(np.uint32) << 16).view(np.float32)
        else:
            values = np.frombuffer(data, {"F32": np.float32, "F16": np.float16}[entry["dtype"]])
        out[name] = values.astype(np.float64).reshape(entry["shape"])
    return out


class Model:
    """A Llama decoder in float64 without a cache, for checkpoints of one file and plain rotary embeddings."""

    def __init__(self, directory):
        self.config = json.load(open(os.path.join(directory, "config.json")))
        dna = os.path.join(directory, "dna_config.json")
        self.first = json.load(open(dna))["dna_start_id"] if os.path.exists(dna) else 151669
        self.weights = tensors(os.path.join(directory, "model.safetensors"))

    def norm(self, x, name):
        mean = (x * x).mean(-1, keepdims=True)
        return x / np.sqrt(mean + self.config["rms_norm_eps"]) * self.weights[name]

    def rotate(self, x):  # [rows, heads, d]
        d = x.shape[-1]
        frequency = self.config["rope_theta"] ** (-np.arange(0, d, 2) / d)
        angle = np.arange(len(x))[:, None, None] * frequency
        a, b = x[..., :d // 2], x[..., d // 2:]
        return np.concatenate([a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle)], -1)

    def attention(self, x, prefix):
        c, w, n = self.config, self.weights, len(x)
        heads, kv_heads, d = c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"]
        q, k, v = ((x @ w[prefix + name + "_proj.weight"].T).reshape(n, -1, d) for name in "qkv")
        q, k = self.rotate(q), self.rotate(k)
        k, v = (np.repeat(t, heads // kv_heads, 1) for t in (k, v))
        scores = np.einsum("ihd,jhd->hij", q, k) / math.sqrt(d)
        scores = np.where(np.tri(n, dtype=bool), scores, -np.inf)
        p = np.exp(scores - scores.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        return np.einsum("hij,jhd->ihd", p, v).reshape(n, heads * d) @ w[prefix + "o_proj.weight"].T

    def logits(self, ids):
        """[4096] logits of the 6-mer behind the ids."""
        w = self.weights
        x = w["model.embed_tokens.weight"][ids]
        for i in range(self.config["num_hidden_layers"]):
            p = "model.layers.%d." % i
            x = x + self.attention(self.norm(x, p + "input_layernorm.weight"), p + "self_attn.")
            h = self.norm(x, p + "post_attention_layernorm.weight")
            gate, up = h @ w[p + "mlp.gate_proj.weight"].T, h @ w[p + "mlp.up_proj.weight"].T
            x = x + (gate / (1 + np.exp(-gate)) * up) @ w[p + "mlp.down_proj.weight"].T
        head = w.get("lm_head.weight", w["model.embed_tokens.weight"])
        return head[self.first + 3:self.first + 3 + 4096] @ self.norm(x[-1], "model.norm.weight")

    def ids(self, bases):
        """<dna> and the whole 6-mers of bases."""
        out = [self.first]
        for i in range(0, len(bases) - 5, 6):
            six = bases[i:i + 6].upper()
            out.append(self.first + 3 + kmer_index(six) if set(six) <= set(LETTERS) else self.first + 2)
        return out

    def next_logits(self, bases):
        return self.logits(self.ids(bases))


# ---- distributions -------------------------------------------------------------------------------------------------


def kmer_index(six):
    return sum(LETTERS.index(c) * 4 ** (5 - j) for j, c in enumerate(six))


KMERS = ["".join(LETTERS[v >> 2 * (5 - j) & 3] for j in range(6)) for v in range(4096)]


def joint(logits, allowed="NNNNNN"):
    """The softmax over the 6-mers that IUPAC letters allow."""
    keep = np.array([all(c in IUPAC[a] for c, a in zip(kmer, allowed)) for kmer in KMERS])
    p = np.where(keep, np.exp(logits - logits.max()), 0)
    return p / p.sum()


def sharpen(p, temperature=1, top_k=None, top_p=1):
    """Temperature, then top-k, then top-p of what is left."""
    q = np.zeros_like(p)
    q[p > 0] = np.exp(np.log(p[p > 0]) / temperature)
    q /= q.sum()
    order = sorted(range(len(q)), key=lambda i: (-q[i], i))[:top_k]
    total, reached, kept = q[order].sum(), 0.0, []
    for i in order:
        if reached >= top_p * total:
            break
        kept.append(i)
        reached += q[i]
    out = np.zeros_like(q)
    out[kept] = q[kept]
    return out / out.sum()


def sampler_distribution(p, sampler, **options):
    """[4096]: what one draw of the sampler gives, for the joint p."""
    if sampler == "kmer":
        return sharpen(p, **options)
    cube = p.reshape((4,) * 6)
    if sampler == "marginal":
        out = np.ones(1)
        for j in range(6):
            marginal = cube.sum(axis=tuple(i for i in range(6) if i != j))
            out = np.multiply.outer(out, sharpen(marginal, **options)).ravel()
        return out
    out = np.ones(1)
    for j in range(6):
        sums = cube.sum(axis=tuple(range(j + 1, 6))).reshape(-1, 4)
        steps = [sharpen(row / row.sum(), **options) if row.sum() > 0 else row for row in sums]
        out = (out[:, None] * np.array(steps)).ravel()
    return out


def by_bases(p, first, last):
    """The distribution of the bases [first, last) as a dict of text -> probability."""
    sums = p.reshape(4 ** first, 4 ** (last - first), 4 ** (6 - last)).sum(axis=(0, 2))
    return {KMERS[i * 4 ** (6 - last)][first:last] if first == 0 else
            "".join(LETTERS[i >> 2 * (last - first - 1 - j) & 3] for j in range(last - first)): q
            for i, q in enumerate(sums)}


# ---- goodness of fit -----------------------------------------------------------------------------------------------

FALSE_ALARM = 1e-6  # of one test, on either side; seeds are fixed, so a test that passes always passes
_Z = 4.7534         # the standard normal quantile of 1 - FALSE_ALARM


def chi_square_limit(df, z):
    """The quantile of chi-square at the normal quantile z (Wilson and Hilferty 1931)."""
    return df * max(0.0, 1 - 2 / (9 * df) + z * math.sqrt(2 / (9 * df))) ** 3


def goodness_of_fit(counts, expected, draws):
    """'' if counts (a dict) fit the probabilities `expected` (a dict of the same keys), else what is wrong.

    Pearson's chi-square; outcomes of fewer than 8 expected draws are pooled in groups that have that many.
    """
    impossible = [k for k in counts if expected.get(k, 0) < 1e-12]
    if impossible:
        return "drew %s, which has probability 0" % impossible[:3]
    chi2, bins, rest_seen, rest_expected = 0.0, 0, 0, 0.0
    for key in sorted(expected, key=lambda k: (expected[k], k)):
        rest_seen += counts.get(key, 0)
        rest_expected += expected[key] * draws
        if rest_expected >= 8:
            chi2 += (rest_seen - rest_expected) ** 2 / rest_expected
            bins += 1
            rest_seen, rest_expected = 0, 0.0
    if bins < 2:
        return ""
    df = bins - 1
    low, high = chi_square_limit(df, -_Z), chi_square_limit(df, _Z)
    return "" if low <= chi2 <= high else "chi-square %.1f with %d degrees of freedom, not in [%.1f, %.1f]" % (
        chi2, df, low, high)
