"""Times PyTorch and transformers at the rows of bench_gpu's table, and prints it with two columns more.

    bench_gpu ... | peer_transformers.py [--device cuda:0|cpu]

bfloat16 weights from the shape alone: speed does not depend on their values. A row's numbers of sequences and tokens are
read from the table. prefill gives the logits of all rows. decode adds a token to every sequence behind CONTEXT others that
are in the cache. vep is the published Python recipe: for each strand a whole forward of the reference's window and one
of the alternative's, the softmax over 6-mers in float32, and the sum of the log-probabilities of the window's bases; here
the four windows of a variant are one batch, which is quicker than one by one. The models have no tokens but those of
DNA (shapes.py), which spares transformers the published ones' 155,776 logits a token. Times are medians, each ended by
waiting for the device. Without PyTorch, or where that finds no GPU, the table comes back as it was, and says so.
"""
import argparse
import re
import statistics
import sys
import time

from shapes import KMER0, KMERS, SHAPES, config, why_not


class Peer:
    """A model of a shape and what is timed on it."""

    def __init__(self, shape, device, seconds):
        import torch
        import transformers
        self.torch, self.transformers, self.device, self.least_seconds = torch, transformers, torch.device(device), seconds
        with torch.device(device):
            self.model = transformers.AutoModelForCausalLM.from_config(config(SHAPES[shape]), dtype=torch.bfloat16).eval()
            # letter_of[b][k]: the letter, of A T C G, at base b of 6-mer k
            kmers = torch.arange(KMERS)
            self.letter_of = torch.stack([kmers // 4 ** (5 - base) % 4 for base in range(6)])

    def random_tokens(self, sequences, tokens):
        return self.torch.randint(KMER0, KMER0 + KMERS, (sequences, tokens), device=self.device)

    def median_seconds(self, run):
        wait = self.torch.cuda.synchronize if self.device.type == "cuda" else lambda: None
        times = []
        for attempt in range(-2, 1000):  # the first two do not count
            wait()
            start = time.perf_counter()
            run()
            wait()
            if attempt >= 0:
                times.append(time.perf_counter() - start)
            if len(times) >= 5 and sum(times) >= self.least_seconds:
                break
        return statistics.median(times)

    def prefill(self, sequences, tokens):
        ids = self.random_tokens(sequences, tokens)
        return self.median_seconds(lambda: self.model(input_ids=ids, use_cache=False).logits)

    def decode(self, sequences, context):
        cache = self.transformers.DynamicCache(config=self.model.config)
        for first in range(0, context, 512):  # not all logits of the context at a time
            part = self.random_tokens(sequences, min(512, context - first))
            self.model(input_ids=part, past_key_values=cache, use_cache=True, logits_to_keep=1)
        ids = self.random_tokens(sequences, 1)

        def step():
            self.model(input_ids=ids, past_key_values=cache, use_cache=True)
            cache.crop(-1)

        return self.median_seconds(step)

    def vep(self, tokens):
        ids = self.random_tokens(4, tokens)  # reference and alternative on both strands
        kmers = self.random_tokens(4, tokens) - KMER0

        def llr():
            logits = self.model(input_ids=ids, use_cache=False).logits[..., KMER0:KMER0 + KMERS]
            p = self.torch.softmax(logits.float(), dim=-1)
            total = 0
            for base in range(6):
                letters = self.letter_of[base]
                marginal = self.torch.zeros((*p.shape[:2], 4), device=p.device).index_add_(-1, letters, p)
                observed = letters[kmers].unsqueeze(-1)
                total = total + marginal.gather(-1, observed).log().sum(dim=(1, 2))
            delta = (total[1::2] - total[::2]).mean().item()
            assert delta == delta

        return self.median_seconds(llr)

    def row(self, work, context):
        """Seconds of a row's work and how many tokens, or for vep variants, are done in them; None: not a row to time."""
        found = re.fullmatch(r"prefill, (\d+) windows of (\d+)", work)
        if found:
            sequences, tokens = map(int, found.groups())
            return self.prefill(sequences, tokens), sequences * tokens
        found = re.fullmatch(r"decode, batch (\d+)", work)
        if found:
            return self.decode(int(found[1]), context), int(found[1])
        found = re.fullmatch(r"vep, windows of (\d+)", work)
        return (self.vep(int(found[1])), 1) if found else None


def measured(cache, shape, work, options):
    """The peer's rate at a row, or why there is none; a row of the same work is measured once."""
    import torch
    key = (shape, work)
    if key in cache:
        return cache[key]
    try:
        if cache.get("shape") != shape:
            cache.pop("peer", None)
            if options.device != "cpu":
                torch.cuda.empty_cache()
            cache.update(shape=shape, peer=Peer(shape, options.device, options.seconds))
        with torch.inference_mode():
            result = cache["peer"].row(work, options.context)
        cache[key] = result and result[1] / result[0]
    except torch.OutOfMemoryError:
        cache[key] = "does not fit"
    return cache[key]


def with_peer(line, cache, options):
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    if cells[0] == "model":
        return line + " transformers, per s | carbon / transformers |"
    if cells[0] not in SHAPES:
        return line + "---|---|" if cells[0].startswith("---") else line
    rate = measured(cache, cells[0], cells[2], options)
    if not isinstance(rate, float):
        return line + " %s | |" % (rate or "")
    try:
        return line + " %.4g | %.2f |" % (rate, float(cells[5]) / rate)
    except ValueError:  # carbon has no number there
        return line + " %.4g | |" % rate


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--context", type=int, default=1024, help="tokens before a decode step, as in bench_gpu.cpp")
    parser.add_argument("--seconds", type=float, default=1.0, help="of each measurement, at least")
    options = parser.parse_args()
    reason = why_not(options.device)
    if reason is None:
        import torch
        import transformers
        transformers.utils.logging.disable_progress_bar()
        name = "the CPU" if options.device == "cpu" else torch.cuda.get_device_name(options.device)
        print("peer: transformers %s, torch %s, on %s" % (transformers.__version__, torch.__version__, name))
    cache = {}
    for line in sys.stdin:
        line = line.rstrip("\n")
        print(with_peer(line, cache, options) if reason is None and line.startswith("|") else line, flush=True)
    if reason is not None:
        print("\ntransformers: SKIPPED: " + reason)


if __name__ == "__main__":
    main()
