"""What the peers of bench/peers.sh have in common: the tokens, and the line that a run prints.

A run prints JSON: tokens/s of prefill, of decode by batch, and the log-probability of the last 6-mer of the FASTA after all
others, which shows that all programs run the same model.
"""
import json
import random
import sys
import time

FIRST = 151669  # <dna>, </dna>, <oov>, then the 6-mers
KMER0 = FIRST + 3


def arguments():
    """MODEL, prompt tokens with <dna>, the 6-mer after them, new tokens, batches, threads."""
    model, fasta, new, batches, threads = sys.argv[1:6]
    with open(fasta) as f:
        bases = "".join(line.strip() for line in f if not line.startswith(">"))
    kmers = [KMER0 + sum("ATCG".index(c) * 4 ** (5 - j) for j, c in enumerate(bases[i:i + 6])) for i in range(0, len(bases), 6)]
    return model, [FIRST] + kmers[:-1], kmers[-1], int(new), [int(b) for b in batches.split(",")], int(threads)


def decode_tokens(batch, new):
    """Token step of each sequence: <dna>, then 6-mers."""
    rng = random.Random(1)
    return [[FIRST] * batch] + [[KMER0 + rng.randrange(4096) for _ in range(batch)] for _ in range(new - 1)]


def rate(tokens, run):
    """Tokens per second of the second of two runs."""
    run()
    start = time.perf_counter()
    run()
    return tokens / (time.perf_counter() - start)


def report(prefill, decode, logp):
    print(json.dumps({"prefill": prefill, "decode": decode, "logp": logp}))
