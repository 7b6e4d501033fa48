"""What the parity goldens are made of: checkpoints, sequences and windows. Standard library only.

make_goldens.py scores these with Hugging Face transformers and writes parity.json; check_parity.py scores the same with
`carbon` and compares. Nothing here knows how either of them computes.
"""
import array
import json
import os
import random
import subprocess

# name -> options of make_checkpoint. Head sizes 20, 32, 64, 96, 128; GQA 1, 2, 4, 8; tied and untied; one file and shards;
# full vocabulary and DNA only; BF16, F16 and F32 weights; YaRN on and off.
CHECKPOINTS = {
    "full-tied-hd64-gqa2": dict(hidden=64, layers=3, heads=4, kv_heads=2, head_dim=64, intermediate=160, tied=1,
                                dtype="bf16", shards=3, max_positions=8192, rope_theta=500000),
    "full-untied-hd128-gqa8": dict(hidden=48, layers=2, heads=8, kv_heads=1, head_dim=128, intermediate=128, tied=0,
                                   dtype="bf16", max_positions=32768, rope_theta=5000000, eps=1e-5, no_metadata=1),
    "dna-untied-hd96-gqa4": dict(hidden=128, layers=4, heads=8, kv_heads=2, head_dim=96, intermediate=352, tied=0,
                                 vocab=4224, dna_start=0, dtype="bf16", max_positions=32768, rope_theta=5000000),
    "dna-tied-f32-hd20": dict(hidden=60, layers=3, heads=3, kv_heads=3, head_dim=20, intermediate=100, tied=1,
                              vocab=4107, dna_start=0, dtype="f32", shards=2, max_positions=8192, rope_theta=500000),
    "dna-f16-hd64-gqa8": dict(hidden=96, layers=3, heads=8, kv_heads=1, head_dim=64, intermediate=256, tied=1,
                              vocab=4352, dna_start=37, dtype="f16", max_positions=8192, rope_theta=500000),
    "dna-yarn-hd96-gqa4": dict(hidden=128, layers=3, heads=8, kv_heads=2, head_dim=96, intermediate=256, tied=1,
                               vocab=4224, dna_start=0, dtype="bf16", max_positions=65536, rope_theta=5000000,
                               yarn=4, yarn_original=32768),
    "dna-yarn-hd128-gqa4": dict(hidden=96, layers=3, heads=4, kv_heads=1, head_dim=128, intermediate=256, tied=0,
                                vocab=4224, dna_start=0, dtype="bf16", max_positions=131072, rope_theta=5000000,
                                yarn=4, yarn_original=32768),
}

# Checkpoints whose recipes are run on real windows, and the windows: SNVs of the BRCA1 1000 Genomes VCF (0-based index of
# the record in the file), near both ends and inside.
WINDOW_CHECKPOINTS = ["dna-untied-hd96-gqa4", "full-tied-hd64-gqa2", "dna-yarn-hd128-gqa4"]
WINDOW_RECORDS = [0, 3, 40, 200, 400, 600, 700]
CENTERED_WINDOW = 8192
CONTEXT = 24000


def synthetic(length, seed):
    """Random bases with a repeated motif, so that attention has something to find."""
    rng = random.Random(seed)
    motif = "".join(rng.choice("ACGT") for _ in range(41))
    out = ""
    while len(out) < length:
        out += motif if rng.random() < 0.15 else "".join(rng.choice("ACGT") for _ in range(rng.randint(5, 60)))
    return out[:length]


def sequences():
    """name -> bases. Lengths on and off 6-mer boundaries, N and IUPAC letters, lower case, one base, a long one."""
    noisy = list(synthetic(605, 2))
    for at, letter in ((17, "N"), (100, "R"), (101, "Y"), (300, "n"), (603, "N")):
        noisy[at] = letter
    noisy[200:260] = [c.lower() for c in noisy[200:260]]
    return {
        "plain": synthetic(600, 1),
        "noisy": "".join(noisy),
        "partial": synthetic(391, 3),
        "one": "G",
        "short": "ACGTA",
        "ns": "NNNNNNACGTACNNNNNNNACGTTT",
        "long": synthetic(6144, 4),
    }


# Checkpoints and sequences whose hidden states are compared: every layer and pool of the small hidden sizes.
EMBED_CHECKPOINTS = ["full-untied-hd128-gqa8", "dna-tied-f32-hd20", "dna-yarn-hd96-gqa4"]
EMBED_POOLS = ["separator", "last", "mean", "none"]


def embed_sequences():
    """name -> bases. `none` has a row a 6-mer, so only short ones have it."""
    all_of_them = sequences()
    return {"noisy": all_of_them["noisy"], "partial": all_of_them["partial"], "ns": all_of_them["ns"]}


def embed_cases(layers):
    """(layer, pool, sequence name, pads the tail) for a checkpoint of so many layers."""
    for layer in [-1, *range(1, layers + 1)]:
        for name, bases in embed_sequences().items():
            for pool in EMBED_POOLS:
                if pool != "none" or len(bases) < 60:
                    yield layer, pool, name, False
        yield layer, "last", "partial", True


def checkpoint_args(name):
    args = []
    for key, value in CHECKPOINTS[name].items():
        args += ["--" + key.replace("_", "-"), str(value)]
    return args


def kmer_ids(bases, kmer0, oov):
    """docs/model.md, "6-mers": 6-mers from the left, A-padded tail, <oov> for anything but A, C, G, T."""
    bases = bases.upper()
    ids = []
    for i in range(0, len(bases), 6):
        chunk = bases[i:i + 6]
        chunk += "A" * (6 - len(chunk))
        if all(c in "ATCG" for c in chunk):
            index = 0
            for c in chunk:
                index = index * 4 + "ATCG".index(c)
            ids.append(kmer0 + index)
        else:
            ids.append(oov)
    return ids


def reverse_complement(bases):
    return bases[::-1].translate(str.maketrans("ACGTacgtNn", "TGCAtgcaNn"))


def shared_dir():
    return os.environ.get("CARBON_SHARED", "../shared")


def read_fasta(path):
    text = subprocess.run(["gzip", "-dc", path], check=True, stdout=subprocess.PIPE).stdout.decode()
    return "".join(text.split("\n")[1:]).upper()


def window_cases(shared):
    """(record index, pos, ref, alt) of SNVs of the BRCA1 VCF, and the contig's bases."""
    contig = read_fasta(shared + "/data/genome/ref_brca1.fa.gz")
    records = [line.split("\t")[:5] for line in open(shared + "/data/vcf/brca1/brca1_1kgPhase3_variants.vcf")
               if not line.startswith("#")]
    snvs = [(int(r[1]) - 1, r[3], r[4]) for r in records if len(r[3]) == 1 and len(r[4]) == 1]
    return contig, [snvs[i] for i in WINDOW_RECORDS]


# Greedy generation: checkpoints, the prompt (whole 6-mers), and which seed of the weights is used for which sampler
# (make_generate_goldens.py --search finds them). The final norm is scaled so that few decisions are close.
GENERATE_CHECKPOINTS = {
    "full-tied-hd64-gqa2": dict(hidden=64, layers=2, heads=4, kv_heads=2, head_dim=64, intermediate=160, tied=1,
                                dtype="f32", max_positions=8192, rope_theta=500000),
    "dna-untied-hd96-gqa4": dict(hidden=128, layers=2, heads=8, kv_heads=2, head_dim=96, intermediate=352, tied=0,
                                 vocab=4224, dna_start=0, dtype="f32", max_positions=32768, rope_theta=5000000),
}
GENERATE_SHARPNESS = 8
GENERATE_PROMPT = synthetic(120, 5)
GENERATE_CASES = [  # (checkpoint, sampler, seed)
    ("full-tied-hd64-gqa2", "kmer", 0), ("full-tied-hd64-gqa2", "marginal", 2),
    ("dna-untied-hd96-gqa4", "kmer", 0), ("dna-untied-hd96-gqa4", "marginal", 0),
]


def write_generate_checkpoint(writer, name, seed, path):
    """Runs `writer`, a command that takes make_checkpoint's options, and scales the final norm."""
    options = {**GENERATE_CHECKPOINTS[name], "seed": seed}
    args = [word for key, value in options.items() for word in ("--" + key.replace("_", "-"), str(value))]
    subprocess.run([*writer, *args, path], check=True)
    with open(os.path.join(path, "model.safetensors"), "r+b") as file:
        size = int.from_bytes(file.read(8), "little")
        begin, end = json.loads(file.read(size))["model.norm.weight"]["data_offsets"]
        file.seek(8 + size + begin)
        values = array.array("f", file.read(end - begin))
        file.seek(8 + size + begin)
        file.write(array.array("f", (GENERATE_SHARPNESS * v for v in values)).tobytes())
