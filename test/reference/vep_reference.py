"""The scores and flags of carbon vep computed a second time, from the written definitions alone.

numpy in float64, whole windows, one forward a sequence: no shared prefixes, no cancelled rows, none of the program's
code. Slow and plain on purpose. Reads generated checkpoints (safetensors of F32 or BF16) and plain lists of variants.
"""

import json
import os

import numpy as np

K = 6
KMERS = 4096
DIGITS = {base: digit for digit, base in enumerate("ATCG")}
COMPLEMENT = str.maketrans("ACGT", "TGCA")
QUERY_BLOCK = 512  # rows of the attention matrix at a time
BATCH_TOKENS = 4096
# [6-mer, 4 j + b]: 1 where the 6-mer's base j is b.
MEMBERS = np.concatenate([(np.arange(KMERS)[:, None] // 4 ** (K - 1 - j) % 4 == np.arange(4)) for j in range(K)], 1) * 1.0


def rc(bases):
    """Reverse complement; letters that are no base stay, and stay unscored."""
    return bases.translate(COMPLEMENT)[::-1]


# ---- the model -----------------------------------------------------------------------------------------------------


def load_tensors(path):
    with open(path, "rb") as f:
        header = json.loads(f.read(int.from_bytes(f.read(8), "little")))
        body = f.read()
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        if entry["dtype"] == "F32":
            values = np.frombuffer(body[begin:end], "<f4")
        elif entry["dtype"] == "BF16":
            values = (np.frombuffer(body[begin:end], "<u2").astype(np.uint32) << np.uint32(16)).view(np.float32)
        else:
            raise ValueError("tensor %s has dtype %s" % (name, entry["dtype"]))
        tensors[name] = values.astype(np.float64).reshape(entry["shape"])
    return tensors


def rms_norm(x, weight, eps):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps) * weight


class Model:
    """A Llama checkpoint in one file, without rope scaling."""

    def __init__(self, directory):
        with open(os.path.join(directory, "config.json")) as f:
            self.config = json.load(f)
        with open(os.path.join(directory, "dna_config.json")) as f:
            self.dna_begin = json.load(f)["dna_start_id"]
        if self.config["rope_scaling"] is not None:
            raise ValueError("rope scaling is not part of this reference")
        self.oov, self.first_kmer = self.dna_begin + 2, self.dna_begin + 3
        self.w = load_tensors(os.path.join(directory, "model.safetensors"))
        head = self.w["model.embed_tokens.weight" if self.config["tie_word_embeddings"] else "lm_head.weight"]
        self.kmer_head = head[self.first_kmer:self.first_kmer + KMERS]

    def tokens(self, bases):
        """<dna> and the 6-mers, the last one filled up with A."""
        bases += "A" * (-len(bases) % K)
        ids = [self.dna_begin]
        for i in range(0, len(bases), K):
            kmer = bases[i:i + K]
            known = all(base in DIGITS for base in kmer)
            ids.append(self.first_kmer + sum(DIGITS[b] * 4 ** (K - 1 - j) for j, b in enumerate(kmer)) if known else self.oov)
        return ids

    def rotate(self, x):
        """Rotary positions from 0, half-split layout; x is [batch, positions, heads, head_dim]."""
        half = x.shape[-1] // 2
        frequency = float(self.config["rope_theta"]) ** (-np.arange(half) / half)
        angle = np.arange(x.shape[1])[:, None] * frequency
        cos, sin = np.cos(angle)[:, None, :], np.sin(angle)[:, None, :]
        a, b = x[..., :half], x[..., half:]
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    def attention(self, x, layer):
        c, w = self.config, self.w
        heads, kv_heads, d = c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"]
        batch, n, _ = x.shape
        prefix = "model.layers.%d.self_attn." % layer
        q = self.rotate((x @ w[prefix + "q_proj.weight"].T).reshape(batch, n, heads, d))
        k = self.rotate((x @ w[prefix + "k_proj.weight"].T).reshape(batch, n, kv_heads, d))
        v = (x @ w[prefix + "v_proj.weight"].T).reshape(batch, n, kv_heads, d)
        out = np.empty((batch, n, heads, d))
        for head in range(heads):
            shared = head // (heads // kv_heads)
            for begin in range(0, n, QUERY_BLOCK):
                end = min(n, begin + QUERY_BLOCK)
                scores = q[:, begin:end, head] @ k[:, :end, shared].transpose(0, 2, 1) / np.sqrt(d)
                scores[:, np.arange(end) > np.arange(begin, end)[:, None]] = -np.inf
                weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
                weights /= weights.sum(axis=-1, keepdims=True)
                out[:, begin:end, head] = weights @ v[:, :end, shared]
        return out.reshape(batch, n, heads * d) @ w[prefix + "o_proj.weight"].T

    def hidden(self, ids):
        """[batch, positions, hidden] after the final norm."""
        w, eps = self.w, self.config["rms_norm_eps"]
        x = w["model.embed_tokens.weight"][ids]
        for layer in range(self.config["num_hidden_layers"]):
            prefix = "model.layers.%d." % layer
            x = x + self.attention(rms_norm(x, w[prefix + "input_layernorm.weight"], eps), layer)
            h = rms_norm(x, w[prefix + "post_attention_layernorm.weight"], eps)
            gate = h @ w[prefix + "mlp.gate_proj.weight"].T
            up = h @ w[prefix + "mlp.up_proj.weight"].T
            x = x + (gate / (1 + np.exp(-gate)) * up) @ w[prefix + "mlp.down_proj.weight"].T
        return rms_norm(x, w["model.norm.weight"], eps)

    def marginals(self, hidden):
        """ln P_j(b): [rows, 6, 4], the softmax being over the 4,096 6-mers only."""
        z = hidden @ self.kmer_head.T
        e = np.exp(z - z.max(axis=-1, keepdims=True))
        total = np.log(e.sum(axis=-1))
        out = np.log(e @ MEMBERS) - total[:, None]
        assert np.isfinite(out).all(), "a group's probability is too small for this reference"
        return out.reshape(-1, K, 4)

    def batches(self, sequences):
        """(sequences, their final hidden states) in groups of one token count."""
        by_length = {}
        for bases in sequences:
            by_length.setdefault(len(self.tokens(bases)), []).append(bases)
        for length, group in by_length.items():
            step = max(1, BATCH_TOKENS // length)
            for i in range(0, len(group), step):
                part = group[i:i + step]
                yield part, self.hidden(np.array([self.tokens(bases) for bases in part]))

    def base_logps(self, sequences):
        """For each sequence ln P of its every base, those that are not A/C/G/T left out."""
        out = {}
        for part, hidden in self.batches(sequences):
            for bases, rows in zip(part, hidden):
                table = self.marginals(rows[:-1]).reshape(-1, 4)  # <dna> predicts the first 6-mer
                out[bases] = np.array([table[i, DIGITS[b]] for i, b in enumerate(bases) if b in DIGITS])
        return out

    def next_base(self, contexts):
        """For each context, whose length is a multiple of 6, ln P_0 of the base after it."""
        out = {}
        for part, hidden in self.batches(contexts):
            for bases, row in zip(part, self.marginals(hidden[:, -1])):
                out[bases] = {base: row[0, DIGITS[base]] for base in DIGITS}
        return out


# ---- the definitions -----------------------------------------------------------------------------------------------


def is_acgt(bases):
    return bases != "" and set(bases) <= set("ACGT")


def is_symbolic(alt):
    """Also breakends; those without a mate are letters and a dot. A dot alone is a missing allele, not a breakend."""
    return alt.startswith("<") or "[" in alt or "]" in alt or (len(alt) > 1 and "." in (alt[0], alt[-1]))


def flag(genome, contig, pos, ref, alt, recipe, window):
    """Why the allele has no score, the first reason that applies; None if it has one. REF and ALT in upper case."""
    if contig not in genome:
        return "no_contig"
    bases = genome[contig]
    if pos < 1 or pos > len(bases) or pos - 1 + len(ref) > len(bases):
        return "edge"
    if is_symbolic(alt):
        return "symbolic"
    if alt == "*":
        return "star"
    under = bases[pos - 1:pos - 1 + len(ref)]
    if not (is_acgt(ref) and is_acgt(alt) and is_acgt(under)):
        return "non_acgt"
    if ref != under:
        return "ref_mismatch"
    if recipe == "centered":
        return "too_long" if max(len(ref), len(alt)) > window / 2 else None
    return None if len(ref) == len(alt) == 1 else "multibase"


def centered_windows(bases, pos, ref, alt, window, strand):
    """(A, R) in reading direction."""
    p, after = pos - 1, pos - 1 + len(ref)
    if strand == "+":
        unclipped = p - window // 2
        start, end = max(0, unclipped), min(len(bases), unclipped + window)
        r = bases[start:end]
        a = bases[start:p] + alt + bases[after:]
    else:
        q0 = p + window // 2
        q = min(len(bases), q0)
        r = rc(bases[max(0, q0 - window):q])
        a = rc(bases[:p] + alt + bases[after:q])
    size = min(len(a), len(r))
    return a[:size], r[:size]


def next_token_context(bases, pos, size, strand):
    p = pos - 1
    left = bases[max(0, p - size):p] if strand == "+" else rc(bases[p + 1:p + 1 + size])
    left = left.lstrip("N")
    return left[len(left) % K:]


def strands(recipe, option):
    if option is None:
        option = "both" if recipe == "centered" else "+"
    return "+-" if option == "both" else option


def annotate(model, genome, variants, recipes=("centered",), window=8192, context=24000, strand=None):
    """For each (contig, pos, ref, [alt, ...]) a dict of lists, a value an ALT: LLR, NT (those asked for; None is a
    missing value) and FLAG (None where nothing is missing). `genome`: upper-case bases by name."""
    windows, contexts, plans = {}, {}, []
    for contig, pos, ref, alts in variants:
        ref = ref.upper()
        plan = []
        for alt in (alt.upper() for alt in alts):
            reasons = {recipe: flag(genome, contig, pos, ref, alt, recipe, window) for recipe in recipes}
            needs = {}
            for recipe in (recipe for recipe in recipes if reasons[recipe] is None):
                for s in strands(recipe, strand):
                    if recipe == "centered":
                        needs["centered", s] = pair = centered_windows(genome[contig], pos, ref, alt, window, s)
                        windows.update(dict.fromkeys(pair))
                    else:
                        text = next_token_context(genome[contig], pos, context, s)
                        letters = (alt, ref) if s == "+" else (rc(alt), rc(ref))
                        needs["next-token", s] = (text, *letters)
                        contexts[text] = None
            plan.append((reasons, needs))
        plans.append(plan)
    logps, following = model.base_logps(windows), model.next_base(contexts)

    def score(recipe, needs):
        deltas = []
        for (of, _), need in needs.items():
            if of != recipe:
                continue
            if recipe == "centered":
                a, r = (logps[bases] for bases in need)
                n = min(len(a), len(r))
                deltas.append(a[:n].sum() - r[:n].sum())
            else:
                text, alt, ref = need
                deltas.append(following[text][alt] - following[text][ref])
        return sum(deltas) / len(deltas) if deltas else None

    out = []
    for plan in plans:
        values = {"LLR" if recipe == "centered" else "NT": [score(recipe, needs) for _, needs in plan] for recipe in recipes}
        ordered = [recipe for recipe in ("centered", "next-token") if recipe in recipes]
        values["FLAG"] = [next((reasons[recipe] for recipe in ordered if reasons[recipe]), None) for reasons, _ in plan]
        out.append(values)
    return out
