"""Generates greedily with Hugging Face transformers and writes generate.json (development only).

    python test/golden/make_generate_goldens.py > test/golden/generate.json      needs torch, transformers, numpy

The stock LlamaForCausalLM in float32 and its own generate(), 500 tokens behind prompts of whole 6-mers:
  kmer      generate() with every id but those of the 4,096 6-mers suppressed
  marginal  generate() with the published base-level processor (docs/model.md, "Samplers"): softmax over the 6-mers, marginals, the
            likeliest base at each of the six places, the 6-mer they make
Random checkpoints have near ties; the seeds of CASES are those whose narrowest decision, in nats between the first and the
second choice, is above MARGIN, far from what rounding in float32 moves. `--search` looks for them.
"""
import json
import os
import sys
import tempfile

import torch
import transformers

sys.path.insert(0, os.path.dirname(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tools"))
import cases  # noqa: E402
import hash_checkpoint  # noqa: E402
from make_goldens import GROUPS, rotary_in_double  # noqa: E402

TOKENS = 500
MARGIN = 1e-3


class Restricted(transformers.LogitsProcessor):
    """Only 6-mers, by the joint or by the marginals; keeps the narrowest margin."""

    def __init__(self, kmer0, sampler):
        self.kmer0, self.sampler, self.margin = kmer0, sampler, float("inf")

    def __call__(self, ids, scores):
        z = scores[:, self.kmer0:self.kmer0 + 4096].float()
        out = torch.full_like(scores, -torch.inf)
        if self.sampler == "kmer":
            best = z[0].topk(2).values
            self.margin = min(self.margin, (best[0] - best[1]).item())
            out[:, self.kmer0:self.kmer0 + 4096] = z
            return out
        p = torch.softmax(z, -1)[0].double()
        kmer = 0
        for j in range(6):
            marginal = torch.stack([p[GROUPS[j] == b].sum() for b in range(4)])
            best = marginal.log().topk(2).values
            self.margin = min(self.margin, (best[0] - best[1]).item())
            kmer = 4 * kmer + int(marginal.argmax())
        out[:, self.kmer0 + kmer] = 0
        return out


@torch.no_grad()
def run(checkpoint, sampler, prompt):
    """(bases, narrowest margin)"""
    first = cases.GENERATE_CHECKPOINTS[checkpoint[0]].get("dna_start", 151669)
    with tempfile.TemporaryDirectory() as path:
        cases.write_generate_checkpoint([sys.executable, hash_checkpoint.__file__], *checkpoint, path)
        model = transformers.AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32).eval()
    rotary_in_double(model)
    ids = torch.tensor([[first] + cases.kmer_ids(prompt, first + 3, first + 2)])
    processor = Restricted(first + 3, sampler)
    out = model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=TOKENS, eos_token_id=None,
                         pad_token_id=first, logits_processor=transformers.LogitsProcessorList([processor]))
    kmers = (out[0, ids.shape[1]:] - first - 3).tolist()
    bases = "".join("".join("ATCG"[v >> 2 * (5 - j) & 3] for j in range(6)) for v in kmers)
    assert len(bases) == 6 * TOKENS
    return bases, processor.margin


def main():
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(1)
    if sys.argv[1:] == ["--search"]:
        for name in cases.GENERATE_CHECKPOINTS:
            for sampler in ("kmer", "marginal"):
                for seed in range(100):
                    bases, margin = run((name, seed), sampler, cases.GENERATE_PROMPT)
                    distinct = len({bases[i:i + 6] for i in range(0, len(bases), 6)})
                    print(name, sampler, seed, "margin %.2e, %d distinct 6-mers" % (margin, distinct), flush=True)
                    if margin > MARGIN:
                        break
        return
    out = {"made_with": {"transformers": transformers.__version__, "torch": torch.__version__.split("+")[0]}, "cases": []}
    for name, sampler, seed in cases.GENERATE_CASES:
        bases, margin = run((name, seed), sampler, cases.GENERATE_PROMPT)
        assert margin > MARGIN, "%s %s: the narrowest decision is %.1e" % (name, sampler, margin)
        out["cases"].append({"checkpoint": name, "seed": seed, "sampler": sampler, "margin": round(margin, 6), "bases": bases})
        print(name, sampler, seed, "%.2e" % margin, file=sys.stderr)
    json.dump(out, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
