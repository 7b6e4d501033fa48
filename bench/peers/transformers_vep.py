"""The published score of MarinDNA for SNVs, computed by transformers in bfloat16, for bench/letters.sh: MODEL REFERENCE.fa SNVS.vcf
BATCH THREADS.

As the authors' evaluation does it: on each strand a forward of the window of 255 with the reference and one with the alternative,
BATCH windows at a time. Prints JSON: variants/s of the second of two runs, and the scores.
"""
import json
import os
import sys
import time

import torch
import transformers

WINDOW, MIDDLE = 255, 127
COMPLEMENT = str.maketrans("ACGT", "TGCA")


def read_inputs(fasta, vcf):
    """The bases of the only contig, and (index, reference, alternative) of each SNV."""
    with open(fasta, encoding="utf-8") as f:
        bases = "".join(line.strip() for line in f if not line.startswith(">"))
    with open(vcf, encoding="utf-8") as f:
        rows = [line.split("\t") for line in f if not line.startswith("#")]
    return bases, [(int(row[1]) - 1, row[3], row[4]) for row in rows]


def windows_of(bases, variants):
    """Reference and alternative on the forward strand, then both on the other strand, for each variant."""
    for at, _, alt in variants:
        window = bases[at - MIDDLE:at + WINDOW - MIDDLE]
        changed = window[:MIDDLE] + alt + window[MIDDLE + 1:]
        yield from (window, changed, window.translate(COMPLEMENT)[::-1], changed.translate(COMPLEMENT)[::-1])


@torch.no_grad()
def log_likelihoods(model, ids, windows, batch):
    """Of each window, the sum of ln P over the letters from the middle on."""
    letters = [ids[letter] for letter in "acgt"]
    sums = []
    for first in range(0, len(windows), batch):
        tokens = torch.tensor([[ids["[BOS]"]] + [ids[base] for base in window.lower()] for window in windows[first:first + batch]])
        logits = model(input_ids=tokens[:, :-1], use_cache=False).logits[:, MIDDLE:]
        logs = torch.log_softmax(logits[..., letters].float(), -1)
        right = (tokens[:, MIDDLE + 1:, None] == torch.tensor(letters)).float().argmax(-1, keepdim=True)
        sums += logs.gather(-1, right).double().sum((1, 2)).tolist()
    return sums


def main():
    path, fasta, vcf, batch, threads = sys.argv[1:6]
    torch.set_num_threads(int(threads))
    transformers.utils.logging.disable_progress_bar()
    model = transformers.AutoModelForCausalLM.from_pretrained(path, dtype=torch.bfloat16).eval()
    with open(os.path.join(path, "tokenizer.json"), encoding="utf-8") as f:
        ids = json.load(f)["model"]["vocab"]
    bases, variants = read_inputs(fasta, vcf)
    windows = list(windows_of(bases, variants))
    log_likelihoods(model, ids, windows[:int(batch)], int(batch))
    start = time.perf_counter()
    sums = log_likelihoods(model, ids, windows, int(batch))
    seconds = time.perf_counter() - start
    scores = [(sums[i + 1] - sums[i] + sums[i + 3] - sums[i + 2]) / 2 for i in range(0, len(sums), 4)]
    print(json.dumps({"variants_per_s": len(variants) / seconds, "scores": scores}))


if __name__ == "__main__":
    main()
