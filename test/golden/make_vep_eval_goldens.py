"""The makers' evaluation of variants, restated, with Hugging Face transformers; writes vep_eval.json (development only).

    python test/golden/make_vep_eval_goldens.py > test/golden/vep_eval.json      needs torch, transformers, numpy

delta is the mean log-likelihood of the window with alt minus that with ref. Level token: per token, over the whole vocabulary, of
the whole 6-mers after <dna>. Level bp: per base, from the marginals over the 4,096 6-mers, the last 6-mer filled up with A. With
the reverse complement: the mean of both deltas. Computed in double precision and, as the makers do, in bfloat16.
"""
import json
import sys
import tempfile

import torch
import transformers

import cases
import make_goldens
import vep_eval_cases

LETTERS = "ATCG"


def logits_of(reference, bases):
    """Rows of logits, in the dtype of the model, before each 6-mer; and the ids of the 6-mers."""
    ids = [reference.begin] + cases.kmer_ids(bases, reference.kmer0, reference.oov)
    with torch.no_grad():
        return reference.model(torch.tensor([ids])).logits[0, :-1], torch.tensor(ids[1:])


def token_level(reference, bases):
    logits, ids = logits_of(reference, bases[:len(bases) // 6 * 6])
    return torch.log_softmax(logits, dim=-1).gather(1, ids[:, None]).double().mean().item()


def base_level(reference, bases):
    logits, _ = logits_of(reference, bases + "A" * (-len(bases) % 6))
    kmers = logits[:, reference.kmer0:reference.kmer0 + 4096]
    p = torch.softmax(kmers.double() if kmers.dtype == torch.float64 else kmers.float(), dim=-1).reshape(-1, *[4] * 6)
    marginals = [p.sum(dim=[1 + other for other in range(6) if other != j]) for j in range(6)]
    chosen = [marginals[i % 6][i // 6, LETTERS.index(base)] for i, base in enumerate(bases)]
    return torch.stack(chosen).log().double().mean().item()


def deltas(reference, window, changed):
    """[token, bp, token of both strands, bp of both strands]"""
    out = []
    for level in (token_level, base_level):
        forward = level(reference, changed) - level(reference, window)
        backward = level(reference, cases.reverse_complement(changed)) - level(reference, cases.reverse_complement(window))
        out.append((forward, (forward + backward) / 2))
    return [out[0][0], out[1][0], out[0][1], out[1][1]]


def main():
    options, half = cases.CHECKPOINTS[vep_eval_cases.CHECKPOINT], vep_eval_cases.WINDOW // 2
    bases, out = vep_eval_cases.contig(), {}
    with tempfile.TemporaryDirectory() as path:
        make_goldens.make_checkpoint(vep_eval_cases.CHECKPOINT, path)
        for kind, dtype in (("f64", torch.float64), ("bf16", torch.bfloat16)):
            reference = make_goldens.Reference(path, dtype, options)
            out[kind] = []
            for p, _, alt in vep_eval_cases.variants():
                window = bases[p - half:p + half]
                out[kind].append([float("%.12g" % d) for d in deltas(reference, window, window[:half] + alt + window[half + 1:])])
            print(kind, file=sys.stderr)
    made_with = {"transformers": transformers.__version__, "torch": torch.__version__.split("+")[0]}
    json.dump({"made_with": made_with, "deltas": out}, sys.stdout, separators=(",", ":"))
    print()


if __name__ == "__main__":
    main()
