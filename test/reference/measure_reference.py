"""CARBON_L2 and CARBON_JSD computed a second time, from the written definitions alone (docs/conventions.md, "Measures").

numpy in float64, both windows whole, one forward a sequence, none of the program's code; for the models of vep_reference.py (6 bases
a token) and letter_reference.py (1).
"""

import numpy as np

import vep_reference
from vep_reference import DIGITS, centered_windows, classify, mean


class Rows:
    """What a model says of a window: a state for each whole token, and ln P of the four letters at each base after the first token."""

    def __init__(self, model, bases):
        self.letters = hasattr(model, "ids")
        k = 1 if self.letters else vep_reference.K
        whole = bases[:len(bases) // k * k]
        self.ids = model.tokens(whole)[1:]
        rows = model.hidden(np.array([model.tokens(whole)]))[0][1:]
        self.states = rows
        if self.letters:
            z = rows @ model.head[[model.ids[letter] for letter in "acgt"]].T
            z = z - z.max(axis=1, keepdims=True)
            self.logs = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
        else:
            self.logs = model.marginals(rows).reshape(-1, 4)


def divergence(p, q):
    """The Jensen-Shannon divergence in nats of distributions given as logs, [bases, 4]: a value for each base."""
    m = np.logaddexp(p, q) - np.log(2)
    return (np.exp(p) * (p - m) + np.exp(q) * (q - m)).sum(axis=-1) / 2


def distances(rows_of, pair, k, horizon):
    """(l2, jsd) of the windows (A, R), None where the windows have nothing to compare."""
    a, r = (rows_of(bases) for bases in pair)
    others = [i for i, (ours, theirs) in enumerate(zip(a.ids, r.ids)) if ours != theirs]
    if not others:
        return None, None
    first, end = others[0], min(len(a.ids), others[0] + horizon // k)
    l2 = np.sqrt(((a.states[first:end] - r.states[first:end]) ** 2).sum())
    begin = (first + 1) * k
    bases = pair[0][begin:begin + (end - first) * k]
    known = np.array([base in DIGITS for base in bases], dtype=bool)
    if not known.any():
        return l2, None
    p, q = (one.logs[first * k:][:len(bases)][known] for one in (a, r))
    return l2, divergence(p, q).sum()


def measures(model, genome, variants, window=8192, horizon=768, strand="both"):
    """For each ALT of the variants, which are (contig, pos, ref, [alt, ...]) with pos from 1, a dict of L2, JSD (None is a missing value)
    and FLAG (None where nothing is missing)."""
    k = 1 if hasattr(model, "ids") else vep_reference.K
    known = {}

    def rows_of(bases):
        if bases not in known:
            known[bases] = Rows(model, bases)
        return known[bases]

    out = []
    for variant in map(vep_reference.upper, variants):
        for i in range(len(variant[3])):
            flag, form = classify(genome, variant, i, "centered", window)
            found = {"L2": None, "JSD": None, "FLAG": flag}
            out.append(found)
            if form is None:
                continue
            p, ref, alt = form
            if len(ref) != len(alt):
                found["FLAG"] = "changes_length"
            elif ref == alt:
                found.update(L2=0.0, JSD=0.0)
            else:
                pairs = [centered_windows(genome[variant[0]], p, ref, alt, window, s, 0) for s in ("+-" if strand == "both" else strand)]
                of_strands = [distances(rows_of, pair, k, horizon) for pair in pairs]
                for name, values in zip(("L2", "JSD"), zip(*of_strands)):
                    values = [value for value in values if value is not None]
                    found[name] = mean(values) if values else None
                if None in (found["L2"], found["JSD"]):
                    found["FLAG"] = "edge"
        known.clear()
    return out


def pooled_states(model, genome, variants, pool, window=8192, strand="both", phases="auto"):
    """For each ALT of the variants (state of R, state of A), the mean over strands of the means over phases of the mean over `pool` bases'
    tokens from the first that differs; None where there is none."""
    k = 1 if hasattr(model, "ids") else vep_reference.K
    out = []
    for variant in map(vep_reference.upper, variants):
        for i in range(len(variant[3])):
            _, form = classify(genome, variant, i, "centered", window)
            of_strands = []
            for s in vep_reference.strands("centered", strand) if form else ():
                of_phases = []
                for f in vep_reference.phases_of(phases, *form[1:]) if k > 1 else range(1):
                    pair = centered_windows(genome[variant[0]], *form, window, s, f)
                    a, r = (Rows(model, bases) for bases in pair) if pair and len(pair[0]) >= k else (None, None)
                    others = [t for t, (ours, theirs) in enumerate(zip(a.ids, r.ids)) if ours != theirs] if a else []
                    if others:
                        of_phases.append([one.states[others[0]:others[0] + pool // k].mean(axis=0) for one in (r, a)])
                if of_phases:
                    of_strands.append(np.mean(of_phases, axis=0))
            out.append(tuple(np.mean(of_strands, axis=0)) if of_strands else None)
    return out


class Rounded:
    """A model of vep_reference.py in bfloat16 as it is usually written: every tensor is rounded after each operation."""

    def __init__(self, model):
        self.model, self.config, self.w = model, model.config, model.w
        self.tokens, self.marginals = model.tokens, lambda rows: model.marginals(rows)

    def hidden(self, ids):
        c, w, r = self.config, self.w, rounded
        heads, kv_heads, d = c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"]

        def norm(x, name):
            return r(r(x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + c["rms_norm_eps"])) * w[name])

        x = w["model.embed_tokens.weight"][ids]
        batch, n, _ = x.shape
        for layer in range(c["num_hidden_layers"]):
            prefix = "model.layers.%d." % layer
            h = norm(x, prefix + "input_layernorm.weight")
            q, keys, v = (r(h @ w[prefix + "self_attn.%s_proj.weight" % name].T).reshape(batch, n, -1, d) for name in "qkv")
            q, keys = r(self.model.rotate(q)), r(self.model.rotate(keys))
            keys, v = (np.repeat(one, heads // kv_heads, axis=2) for one in (keys, v))
            scores = r(np.einsum("bihd,bjhd->bhij", q, keys) / np.sqrt(d))
            scores[..., np.arange(n)[None, :] > np.arange(n)[:, None]] = -np.inf
            weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
            weights = r(weights / weights.sum(axis=-1, keepdims=True))
            mixed = r(np.einsum("bhij,bjhd->bihd", weights, v)).reshape(batch, n, heads * d)
            x = r(x + r(mixed @ w[prefix + "self_attn.o_proj.weight"].T))
            h = norm(x, prefix + "post_attention_layernorm.weight")
            gate, up = (r(h @ w[prefix + "mlp.%s_proj.weight" % name].T) for name in ("gate", "up"))
            x = r(x + r(r(r(gate / (1 + np.exp(-gate))) * up) @ w[prefix + "mlp.down_proj.weight"].T))
        return norm(x, "model.norm.weight")


def rounded(x):
    """To the nearest bfloat16, ties to even."""
    bits = np.asarray(x, dtype=np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000).astype(np.uint32).view(np.float32).astype(np.float64)
