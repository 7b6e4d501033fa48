"""What the goldens of one base a token are made of: checkpoints and sequences. Standard library only.

make_letter_goldens.py scores them with Hugging Face transformers and writes letters.json, which
test/unit/letter_golden_test.cpp compares with the decoder.
"""
import cases

# name -> options of make_checkpoint: tied and untied, one and several KV heads, both kinds of tokenizer, frequencies of Llama 3
# that change within the window and without, F32 and BF16 weights. The first has the heads of MarinDNA m5.1.
CHECKPOINTS = {
    "untied-hd128-like-m5.1": dict(hidden=120, layers=2, heads=15, kv_heads=15, head_dim=128, intermediate=480, tied=0, dtype="f32"),
    "untied-hd40-gqa2": dict(hidden=72, layers=3, heads=6, kv_heads=3, head_dim=40, intermediate=160, tied=0, dtype="bf16", eos=1,
                             llama3=8, llama3_original=256),
    "tied-hd64-gqa4": dict(hidden=96, layers=3, heads=4, kv_heads=1, head_dim=64, intermediate=160, tied=1, dtype="bf16",
                           llama3=4, llama3_original=128),
    "tied-hd32-plain": dict(hidden=64, layers=3, heads=2, kv_heads=2, head_dim=32, intermediate=160, tied=1, dtype="f32", llama3=0),
}


def options(name):
    return {"preset": "marin", "eps": 1e-6, "rope_theta": 500000, **CHECKPOINTS[name]}


def checkpoint_options(name):
    return " ".join("--%s %s" % (key.replace("_", "-"), value) for key, value in options(name).items())


def sequences():
    """A whole window, one with letters that are not bases and with lower case, and short ones."""
    noisy = list(cases.synthetic(160, 32))
    for at, letter in ((3, "N"), (40, "R"), (41, "n"), (159, "N")):
        noisy[at] = letter
    noisy[60:90] = [c.lower() for c in noisy[60:90]]
    return [cases.synthetic(255, 31), "".join(noisy), "G", "ACGTA"]
