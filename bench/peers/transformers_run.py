"""One run of transformers for bench/peers.sh: MODEL PROMPT.fa NEW BATCHES THREADS, in bfloat16.

annotate MODEL SEQUENCE.fa WINDOWS THREADS DTYPE runs the layers of a Llama without a mask instead. Then it prints JSON with tokens/s by
the tokens of a window, and for each base of the FASTA the probability to be coding on the forward strand.
"""
import importlib.util
import json
import os
import random
import sys

import torch
import transformers

from workload import arguments, decode_tokens, rate, report

CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../workflows/annotate-check/compare.py")


@torch.no_grad()
def decode_and_prefill():
    path, prompt, last, new, batches, threads = arguments()
    torch.set_num_threads(threads)
    transformers.utils.logging.disable_progress_bar()
    model = transformers.AutoModelForCausalLM.from_pretrained(path, dtype=torch.bfloat16).eval()
    ids = torch.tensor([prompt])

    def prefill():
        return model(input_ids=ids, logits_to_keep=1, use_cache=True).logits[0, -1]

    def decode(batch):
        cache = transformers.DynamicCache(config=model.config)
        for tokens in decode_tokens(batch, new):
            model(input_ids=torch.tensor(tokens)[:, None], past_key_values=cache, use_cache=True)

    speed = rate(len(prompt), prefill)
    logp = torch.log_softmax(prefill().double(), -1)[last].item()
    report(speed, {b: rate(b * new, lambda: decode(b)) for b in batches}, logp)


def annotate_check():
    """The script that compares carbon annotate with Python code."""
    spec = importlib.util.spec_from_file_location("annotate_check", CHECK)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def annotate(path, fasta, windows, threads, dtype):
    torch.set_num_threads(int(threads))
    check = annotate_check()
    with open(os.path.join(path, "config.json"), encoding="utf-8") as f:
        config = json.load(f)
    model = check.Restated(config, check.tensors_of(path), torch.float32 if dtype == "f32" else torch.bfloat16)
    z = model(torch.tensor(check.token_ids(check.first_sequence(fasta))))[0]
    rng = random.Random(1)
    speeds = {}
    for window in map(int, windows.split(",")):
        ids = torch.tensor([check.FIRST_KMER + rng.randrange(4 ** check.K) for _ in range(window)])
        speeds[window] = rate(window, lambda ids=ids: model(ids))
    print(json.dumps({"annotate": speeds, "p": torch.sigmoid(z[:, 1] - z[:, 0]).tolist()}))


if __name__ == "__main__":
    if sys.argv[1] == "annotate":
        annotate(*sys.argv[2:])
    else:
        decode_and_prefill()
