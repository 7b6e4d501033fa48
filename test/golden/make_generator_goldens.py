"""Runs the cases of generator_cases.py with Hugging Face transformers and writes generator.json (development only).

    python test/golden/make_generator_goldens.py > test/golden/generator.json      needs torch, transformers, numpy
    python test/golden/make_generator_goldens.py full > full.json                  the released widths: 10 GB, minutes
    python3 test/golden/check_generator.py full.json

The stock LlamaForCausalLM, in float64 for probabilities and embeddings and in float32 for its own generate(), with a
tokenizer of two rules in place of the published one. That tokenizer, as a transformers tokenizer, is compared with the plain
function that check_generator.py uses.
"""
import json
import os
import subprocess
import sys
import tempfile

import torch
import transformers

sys.path.insert(0, os.path.dirname(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tools"))
import cases  # noqa: E402
import generator_cases as gen  # noqa: E402
import hash_checkpoint  # noqa: E402
from check_generator import sharpen  # noqa: E402
from make_goldens import GROUPS, rotary_in_double, rounded  # noqa: E402

MARGIN = 1e-3  # nats, of the narrowest greedy decision


class Tokenizer(transformers.PreTrainedTokenizer):
    """The vocabulary and the pieces of generator_cases.py behind transformers' own handling of special tokens."""

    def __init__(self):
        self.names = {i: token for token, i in gen.IDS.items()}
        super().__init__(bos_token="<s>", eos_token="</s>", unk_token="<oov>", pad_token="<pad>", mask_token="<mask>")

    vocab_size = property(lambda self: len(gen.IDS))

    def get_vocab(self):
        return dict(gen.IDS)

    def _tokenize(self, text, **unused):
        return gen.PIECE.findall(text)

    def _convert_token_to_id(self, token):
        return gen.IDS.get(token, gen.OOV)

    def _convert_id_to_token(self, index):
        return self.names.get(index, "<oov>")


def check_tokenizer():
    tokenizer = Tokenizer()
    for text in gen.texts():
        assert tokenizer(text, add_special_tokens=False).input_ids == gen.text_ids(text), text


class OnlyKmers(transformers.LogitsProcessor):
    """6-mers only, the first of them beginning with the rest of the prompt; keeps the narrowest margin."""

    def __init__(self, rest):
        self.rest, self.margin = rest, float("inf")
        self.first = torch.ones(4096, dtype=torch.bool)
        for place, base in enumerate(rest):
            self.first &= GROUPS[place] == "ATCG".index(base)

    def __call__(self, ids, scores):
        z = scores[:, gen.KMER0:gen.KMER0 + 4096].float()
        if self.first is not None:
            z = z.masked_fill(~self.first, -torch.inf)
            self.first = None
        best = z[0].topk(2).values
        self.margin = min(self.margin, (best[0] - best[1]).item())
        out = torch.full_like(scores, -torch.inf)
        out[:, gen.KMER0:gen.KMER0 + 4096] = z
        return out


class Reference:
    def __init__(self, path, dtype):
        self.model = transformers.AutoModelForCausalLM.from_pretrained(path, dtype=dtype).eval()
        assert type(self.model).__name__ == "LlamaForCausalLM"
        self.model.config.head_dim = self.model.config.hidden_size // self.model.config.num_attention_heads
        rotary_in_double(self.model)

    @torch.no_grad()
    def rows(self, ids):
        return self.model.model(torch.tensor([ids])).last_hidden_state[0]

    @torch.no_grad()
    def marginals(self, rows):
        z = torch.log_softmax((rows @ self.model.lm_head.weight[gen.KMER0:].T).double(), -1)
        return torch.stack([torch.stack([torch.logsumexp(z[:, GROUPS[p] == b], -1) for b in range(4)], -1) for p in range(6)], 1)

    def base_logps(self, bases):
        kmers = gen.kmer_ids(bases)
        m = self.marginals(self.rows([gen.BEGIN] + kmers[:-1]))
        return [m[i // 6, i % 6, "ATCG".index(c)].item() if c in "ATCG" else None for i, c in enumerate(bases.upper())]

    @torch.no_grad()
    def token_logps(self, bases):
        kmers = gen.kmer_ids(bases[:len(bases) // 6 * 6])
        z = torch.log_softmax(self.model.lm_head(self.rows([gen.BEGIN] + kmers)[:-1]).double(), -1)
        return [z[i, kmer].item() for i, kmer in enumerate(kmers) if kmer != gen.OOV]

    def llr(self, pos, alt):
        """Mean of both strands, docs/conventions.md, "Centered windows", SNVs."""
        half = gen.WINDOW // 2
        begin = max(0, pos - half)
        window = gen.CONTIG[begin:pos + half]
        changed = window[:pos - begin] + alt + window[pos - begin + 1:]
        return sum(sign * sum(self.base_logps(strand(text))) for strand in (str, cases.reverse_complement)
                   for sign, text in ((0.5, changed), (-0.5, window)))

    def next_token(self, pos, ref, alt):
        context = gen.CONTIG[max(0, pos - gen.CONTEXT):pos]
        row = self.marginals(self.rows([gen.BEGIN] + gen.kmer_ids(context[len(context) % 6:]))[-1:])[0, 0]
        return (row["ATCG".index(alt)] - row["ATCG".index(ref)]).item()

    def embeddings(self, bases):
        """pool -> values"""
        kmers = gen.kmer_ids(bases[:len(bases) // 6 * 6])
        rows = self.rows([gen.BEGIN] + kmers + [gen.BEGIN])
        return {"separator": rows[-1].tolist(), "last": rows[-2].tolist(), "mean": rows[1:-1].mean(0).tolist()}

    @torch.no_grad()
    def generate(self, prefix):
        whole = len(gen.PROMPT) // 6 * 6
        ids = torch.tensor([[gen.BEGIN] + gen.text_ids(prefix) + gen.kmer_ids(gen.PROMPT[:whole])])
        processor = OnlyKmers(gen.PROMPT[whole:])
        out = self.model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=gen.NEW_KMERS,
                                  eos_token_id=None, pad_token_id=3, logits_processor=transformers.LogitsProcessorList([processor]))
        kmers = (out[0, ids.shape[1]:] - gen.KMER0).tolist()
        bases = "".join("".join("ATCG"[v >> 2 * (5 - j) & 3] for j in range(6)) for v in kmers)
        return {"prefix": prefix, "bases": bases[len(gen.PROMPT) - whole:], "margin": round(processor.margin, 6)}


def entry(name):
    with tempfile.TemporaryDirectory() as path:
        subprocess.run([sys.executable, hash_checkpoint.__file__, *gen.checkpoint_args(name), path], check=True)
        reference = Reference(path, torch.float64)
        out = {"sequences": {title: {"base": rounded(reference.base_logps(bases)), "token": rounded(reference.token_logps(bases))}
                             for title, bases in gen.sequences().items()},
               "variants": [[round(reference.llr(pos, alt), 9), round(reference.next_token(pos, ref, alt), 9)]
                            for pos, ref, alt in gen.VARIANTS],
               "embeddings": {pool: [float("%.7g" % v) for v in row]
                              for pool, row in reference.embeddings(gen.sequences()[gen.EMBEDDED]).items()}}
        del reference
        sharpen(path)
        single = Reference(path, torch.float32)
        out["generated"] = [single.generate(prefix) for prefix in gen.PREFIXES]
    for sample in out["generated"]:
        print(name, sample["prefix"], "narrowest decision %.2e" % sample["margin"], file=sys.stderr)
        assert sample["margin"] > MARGIN, "choose another seed"
    return out


def main():
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    check_tokenizer()
    names = gen.FULL if sys.argv[1:] == ["full"] else gen.CHECKPOINTS
    out = {"made_with": {"transformers": transformers.__version__, "torch": torch.__version__.split("+")[0]},
           "checkpoints": {name: entry(name) for name in names}}
    json.dump(out, sys.stdout, separators=(",", ":"))
    print()


if __name__ == "__main__":
    main()
