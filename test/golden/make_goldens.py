"""Runs the cases of cases.py with Hugging Face transformers and writes parity.json or embeddings.json (development only).

    python test/golden/make_goldens.py > test/golden/parity.json      needs torch, transformers, numpy, CARBON_SHARED
    python test/golden/make_goldens.py embeddings > test/golden/embeddings.json         needs torch, transformers, numpy

Three passes of the stock LlamaForCausalLM over the same checkpoint: float64 (the truth), float32, bfloat16. In the first
two the rotary embedding is patched to compute its angles in double: transformers computes them in float32, which alone
moves a base by 4e-4 nats at 4,000 tokens.
"""
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np
import torch
import transformers

sys.path.insert(0, os.path.dirname(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tools"))
import cases  # noqa: E402
import hash_checkpoint  # noqa: E402

DIGITS = torch.arange(4096)
GROUPS = torch.stack([(DIGITS >> (2 * (5 - p))) & 3 for p in range(6)])  # [6, 4096]


def rotary_in_double(model):
    """Replaces cos/sin of every rotary module; inv_freq is recomputed in double from the config."""
    config = model.config
    rope = getattr(config, "rope_scaling", None) or getattr(config, "rope_parameters", None) or {}
    theta = rope.get("rope_theta") or config.rope_theta
    dim = config.head_dim
    j = np.arange(0, dim, 2, dtype=np.float64)
    inv_freq, scale = theta ** (-j / dim), 1.0
    if (rope.get("rope_type") or rope.get("type") or "default") == "yarn":
        factor, original = float(rope["factor"]), float(rope["original_max_position_embeddings"])
        corr = lambda r: dim * math.log(original / (2 * math.pi * r)) / (2 * math.log(theta))
        low, high = max(math.floor(corr(32)), 0), min(math.ceil(corr(1)), dim - 1)
        ramp = np.clip((np.arange(dim // 2) - low) / max(high - low, 1e-3), 0, 1)
        inv_freq = inv_freq / factor * ramp + inv_freq * (1 - ramp)
        scale = 0.1 * math.log(factor) + 1
    own = model.model.rotary_emb
    assert np.allclose(own.inv_freq.double().numpy(), inv_freq, rtol=1e-5), "transformers computes another inv_freq"
    assert abs(own.attention_scaling - scale) < 1e-9
    table = torch.from_numpy(inv_freq)

    def forward(x, position_ids, *unused, **named):
        angles = position_ids[..., None].double() * table
        angles = torch.cat((angles, angles), dim=-1)
        return (angles.cos() * scale).to(x.dtype), (angles.sin() * scale).to(x.dtype)

    own.forward = forward


class Reference:
    def __init__(self, path, dtype, options):
        self.model = transformers.AutoModelForCausalLM.from_pretrained(path, dtype=dtype).eval()
        if dtype != torch.bfloat16:
            rotary_in_double(self.model)
        first = options.get("dna_start", 151669)
        self.begin, self.end, self.oov, self.kmer0 = first, first + 1, first + 2, first + 3

    @torch.no_grad()
    def hidden(self, bases):
        """Final-norm rows of <dna> + 6-mers, and the ids."""
        ids = [self.begin] + cases.kmer_ids(bases, self.kmer0, self.oov)
        return self.model.model(torch.tensor([ids])).last_hidden_state[0], ids

    @torch.no_grad()
    def layers(self, bases, pad_tail):
        """layer -> rows of <dna> + 6-mers + </dna>, -1 being the state after the final norm."""
        if not pad_tail:
            bases = bases[:len(bases) // 6 * 6]
        ids = [self.begin] + cases.kmer_ids(bases, self.kmer0, self.oov) + [self.end]
        seen = []
        blocks = self.model.model.layers
        hook = blocks[-1].register_forward_hook(lambda _, given, out: seen.append(out[0] if isinstance(out, tuple) else out))
        states = self.model.model(torch.tensor([ids]), output_hidden_states=True).hidden_states
        hook.remove()
        assert len(states) == len(blocks) + 1
        found = {layer: states[layer][0] for layer in range(1, len(blocks))}
        # transformers puts the final norm on the last of its hidden states.
        found[len(blocks)], found[-1] = seen[0].reshape(states[-1][0].shape), states[-1][0]
        return found

    def embedding(self, bases, layer, pool, pad_tail):
        """[rows, hidden]"""
        rows = self.layers(bases, pad_tail)[layer]
        pooled = {"separator": rows[-1:], "last": rows[-2:-1], "mean": rows[1:-1].mean(0, keepdim=True), "none": rows[1:-1]}
        return pooled[pool].double().numpy()

    @torch.no_grad()
    def marginals(self, bases, only_next=False):
        """[n, 6, 4] natural logs: of every 6-mer, or of the 6-mer after the bases."""
        rows = self.hidden(bases)[0]
        rows = rows[-1:] if only_next else rows[:-1]
        z = (rows @ self.model.lm_head.weight[self.kmer0:self.kmer0 + 4096].T).double()
        z = torch.log_softmax(z, dim=-1)
        return torch.stack([torch.stack([torch.logsumexp(z[:, GROUPS[p] == b], -1) for b in range(4)], -1)
                            for p in range(6)], 1)

    def base_logps(self, bases):
        m = self.marginals(bases)
        return [m[i // 6, i % 6, "ATCG".index(c)].item() if c in "ATCG" else None for i, c in enumerate(bases.upper())]

    @torch.no_grad()
    def token_logps(self, bases):
        rows, ids = self.hidden(bases)
        z = torch.log_softmax(self.model.lm_head(rows[:-1]).double(), dim=-1)
        return [z[i, ids[i + 1]].item() for i in range(len(bases) // 6) if ids[i + 1] != self.oov]

    def llr(self, contig, pos, alt):
        """Mean of both strands, docs/conventions.md, "Centered windows", SNVs."""
        half = cases.CENTERED_WINDOW // 2
        window = contig[max(0, pos - half):min(len(contig), pos + half)]
        at = pos - max(0, pos - half)
        changed = window[:at] + alt + window[at + 1:]
        total = 0.0
        for f in (lambda s: s, cases.reverse_complement):
            total += sum(x for x in self.base_logps(f(changed)) if x is not None)
            total -= sum(x for x in self.base_logps(f(window)) if x is not None)
        return total / 2

    def next_token(self, contig, pos, ref, alt, reverse):
        if reverse:
            context = cases.reverse_complement(contig[pos + 1:pos + 1 + cases.CONTEXT])
            ref, alt = cases.reverse_complement(ref), cases.reverse_complement(alt)
        else:
            context = contig[max(0, pos - cases.CONTEXT):pos]
        context = context.lstrip("N")
        row = self.marginals(context[len(context) % 6:], only_next=True)[0, 0]
        return (row["ATCG".index(alt)] - row["ATCG".index(ref)]).item()


def rounded(values, digits=6):
    return [None if v is None else round(v, digits) for v in values]


def worst(a, b):
    return round(max((abs(x - y) for x, y in zip(a, b) if x is not None), default=0), 9)


def make_checkpoint(name, path):
    subprocess.run([sys.executable, hash_checkpoint.__file__, *cases.checkpoint_args(name), path], check=True)


def embeddings():
    out = {}
    for name in cases.EMBED_CHECKPOINTS:
        options, rows = cases.CHECKPOINTS[name], []
        with tempfile.TemporaryDirectory() as path:
            make_checkpoint(name, path)
            truth, single = (Reference(path, dtype, options) for dtype in (torch.float64, torch.float32))
        error = 0.0
        for layer, pool, title, pad_tail in cases.embed_cases(options["layers"]):
            bases = cases.embed_sequences()[title]
            want = truth.embedding(bases, layer, pool, pad_tail)
            error = max(error, np.abs(single.embedding(bases, layer, pool, pad_tail) - want).max())
            rows.append([[float("%.7g" % v) for v in row] for row in want])
        out[name] = {"f32_error": round(error, 9), "rows": rows}
        print(name, "transformers in float32 is off by at most", error, file=sys.stderr)
    return out


def parity():
    contig, windows = cases.window_cases(cases.shared_dir())
    out = {}
    for name, options in cases.CHECKPOINTS.items():
        entry = {"sequences": {}}
        with tempfile.TemporaryDirectory() as path:
            make_checkpoint(name, path)
            for kind, dtype in (("f64", torch.float64), ("f32", torch.float32), ("bf16", torch.bfloat16)):
                reference = Reference(path, dtype, options)
                for title, bases in cases.sequences().items():
                    slot = entry["sequences"].setdefault(title, {})
                    base, token = reference.base_logps(bases), reference.token_logps(bases)
                    if kind == "f64":
                        slot.update(base=rounded(base), token=rounded(token))
                    else:  # of the others only their error is of interest
                        slot[kind + "_error"] = [worst(base, slot["base"]), worst(token, slot["token"])]
                if name in cases.WINDOW_CHECKPOINTS:
                    for i, (pos, ref, alt) in enumerate(windows):
                        slot = entry.setdefault("windows", [{} for _ in windows])[i]
                        slot.update(pos=pos, ref=ref, alt=alt)
                        slot[kind] = [round(reference.llr(contig, pos, alt), 9),
                                      round(reference.next_token(contig, pos, ref, alt, False), 9),
                                      round(reference.next_token(contig, pos, ref, alt, True), 9)]
                print(name, kind, file=sys.stderr)
        out[name] = entry
    return out


def main():
    wanted = {(): parity, ("embeddings",): embeddings}
    made_with = {"transformers": transformers.__version__, "torch": torch.__version__.split("+")[0]}
    out = {"made_with": made_with, "checkpoints": wanted[tuple(sys.argv[1:])]()}
    json.dump(out, sys.stdout, indent=None, separators=(",", ":"))
    print()


if __name__ == "__main__":
    main()
