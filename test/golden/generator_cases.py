"""What the goldens of GENERator are made of: checkpoints, texts, sequences, variants, prompts, and its tokenizer. Standard library only.

make_generator_goldens.py computes them with Hugging Face transformers and writes generator.json; check_generator.py
compares `carbon` with it. The tokenizer is restated here from its description (docs/model.md, "Families").
"""
import itertools
import random
import re

import cases

# Heads of the sizes of the two released shapes (64 and 96 numbers) at a small width, for `make check`; and the shapes
# themselves, cut to two layers.
CHECKPOINTS = {
    "like-1.2B": dict(preset="generator", hidden=256, layers=2, heads=4, kv_heads=1, head_dim=64, intermediate=352, tied=0,
                      dtype="f32", shards=3, max_positions=16384, rope_theta=500000, eps=1e-5),
    "like-3B": dict(preset="generator", hidden=384, layers=2, heads=4, kv_heads=1, head_dim=96, intermediate=352, tied=0,
                    dtype="f32", shards=2, max_positions=16384, rope_theta=500000, eps=1e-5),
}
FULL = {
    "1.2B": dict(preset="generator", hidden=2048, layers=2, heads=32, kv_heads=4, head_dim=64, intermediate=5632, tied=0,
                 dtype="f32", shards=2, max_positions=16384, rope_theta=500000, eps=1e-5),
    "3B": dict(preset="generator", hidden=3072, layers=2, heads=32, kv_heads=4, head_dim=96, intermediate=8448, tied=0,
               dtype="f32", shards=3, max_positions=16384, rope_theta=500000, eps=1e-5),
}

TOKENS = ("<oov> <s> </s> <pad> <mask> <bog> <eog> <bok> <eok> <+> <-> <cds> <pseudo> <tRNA> <rRNA> <ncRNA> <miscRNA> <mam> <vrt> <inv> "
          "<pln> <fng> <prt> <arc> <bct> <mit> <plt> <plm> <vir> <sp0> <sp1> <sp2>").split()
IDS = {token: i for i, token in enumerate(TOKENS + ["".join(six) for six in itertools.product("ATCG", repeat=6)])}
OOV, BEGIN, KMER0 = 0, 1, 32
PIECE = re.compile("|".join(map(re.escape, TOKENS)) + "|[A-Z]{1,6}|.", re.DOTALL)


def text_ids(text):
    """A single token, or up to six capital letters, or one character; what is no token is <oov>."""
    return [IDS.get(piece, OOV) for piece in PIECE.findall(text)]


def texts():
    """500 texts: bases alone and with tokens, letters that are no bases, lower case, rests, white space, other scripts."""
    rng = random.Random(11)
    out = ["", "<s>", "<s>ACGTNACGTNAC", "<s>AAAAAATTTTTTGG", "<mam><cds>", "<dna>ACGTAC</dna>", "<", "<s", "é<s>日本\n\tACGTAC"]
    bases, dirty = "ACGT", "ACGTNRYacgtn*-"
    while len(out) < 500:
        text = ""
        for _ in range(rng.randint(1, 5)):
            kind = rng.random()
            if kind < 0.25:
                text += rng.choice(TOKENS)
            elif kind < 0.75:
                text += "".join(rng.choice(bases) for _ in range(rng.randint(1, 40)))
            elif kind < 0.95:
                text += "".join(rng.choice(dirty) for _ in range(rng.randint(1, 25)))
            else:
                text += rng.choice([" ", "\n", "<oo", "<MAM>", ">", "ß", "🧬", "1", "<s ", "AcG<"])
        out.append(text)
    return out


def sequences():
    """name -> bases. `soft` is partly in lower case, which a command reads as bases."""
    known = cases.sequences()
    return {name: known[name] for name in ("plain", "noisy", "partial", "one", "short", "ns")}


def kmer_ids(bases):
    """What a command reads: upper case, no padding."""
    bases = bases.upper()
    return [IDS.get(bases[i:i + 6], OOV) for i in range(0, len(bases), 6)]


# Variants of a random contig, 0-based, at its ends and inside: centered with this window, next-token with the default context.
CONTIG = cases.synthetic(9000, 21)
WINDOW = 1200
VARIANTS = [(pos, CONTIG[pos], "ACGT"["ACGT".index(CONTIG[pos]) - 1]) for pos in (13, 4000, 8999)]
CONTEXT = 8192

# The first 100 bases of a human coding sequence (HBB): 16 6-mers and a rest of four.
PROMPT = ("ATGGTGCATCTGACTCCTGAGGAGAAGTCTGCCGTTACTGCCCTGTGGGGCAAGGTGAACGTGGATGAAGTTGGTGGTGAGGCCCTGGGCAGGCTGCTGG")
PREFIXES = ["", "<mam><cds>"]
NEW_KMERS = 40
SHARPNESS = 8  # of the final norm, so that few decisions are close
SEEDS = {"like-1.2B": 0, "like-3B": 0, "1.2B": 0, "3B": 0}  # of the weights
EMBEDDED = "partial"


def options(name):
    return {**{**CHECKPOINTS, **FULL}[name], "seed": SEEDS[name]}


def checkpoint_args(name):
    return [word for key, value in options(name).items() for word in ("--" + key.replace("_", "-"), str(value))]
