"""One run of `transformers` for bench/generate.sh: sampled 6-mers behind a batch of prompts, bfloat16, with its own cache.

    generate_peer.py MODEL PROMPTS.fa BATCH TOKENS THREADS     prints 6-mers/s behind the first one, and seconds up to it
"""
import sys
import time

import torch
import transformers

FIRST = 151669  # <dna>, </dna>, <oov>, then the 6-mers


class OnlyKmers(transformers.LogitsProcessor):
    def __call__(self, ids, scores):
        out = torch.full_like(scores, -torch.inf)
        out[:, FIRST + 3:FIRST + 3 + 4096] = scores[:, FIRST + 3:FIRST + 3 + 4096]
        return out


def kmer_ids(bases):
    return [FIRST + 3 + sum("ATCG".index(c) * 4 ** (5 - j) for j, c in enumerate(bases[i:i + 6]))
            for i in range(0, len(bases), 6)]


@torch.no_grad()
def main():
    path, prompts, batch, tokens, threads = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_pretrained(path, dtype=torch.bfloat16).eval()
    bases = [line.strip() for line in open(prompts) if not line.startswith(">")][:batch]
    ids = torch.tensor([[FIRST] + kmer_ids(b) for b in bases])

    def seconds(new):
        start = time.perf_counter()
        out = model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=True, top_k=0, top_p=1.0, temperature=1.0,
                             max_new_tokens=new, eos_token_id=None, pad_token_id=FIRST,
                             logits_processor=transformers.LogitsProcessorList([OnlyKmers()]))
        assert out.shape[1] == ids.shape[1] + new
        return time.perf_counter() - start

    seconds(1)  # warm up
    first = seconds(1)
    print(batch * (tokens - 1) / (seconds(tokens) - first), first)


if __name__ == "__main__":
    main()
