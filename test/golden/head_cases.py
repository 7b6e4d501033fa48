"""What the goldens of classification heads are made of: checkpoints with a head, and an adapter that brings one. Needs numpy.

make_head_goldens.py runs them with transformers and PEFT and writes heads.json; check_heads.py runs `carbon predict`.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tools"))
import adapter_cases  # noqa: E402
import cases  # noqa: E402

# name -> (checkpoint of cases.py, options of the head)
HEADS = {
    "regression": ("dna-tied-f32-hd20", dict(labels=3, label_names="K562_scaled,HepG2_scaled,SKNSH_scaled", problem_type="regression")),
    "one-of-four": ("dna-untied-hd96-gqa4", dict(labels=4, label_names="A,C,G,T", problem_type="single_label_classification")),
    "many-of-five": ("full-tied-hd64-gqa2", dict(labels=5, label_names="a,b,c,d,e", problem_type="multi_label_classification")),
    "yarn": ("dna-yarn-hd96-gqa4", dict(labels=2, problem_type="regression")),
}
# name -> (checkpoint of cases.py, labels, options of PEFT's LoraConfig)
ADAPTERS = {
    "adapter": ("full-tied-hd64-gqa2", 3, dict(r=4, lora_alpha=12, target_modules=["q_proj", "v_proj", "down_proj"],
                                               modules_to_save=["classifier", "score"])),
    "adapter-untied": ("dna-untied-hd96-gqa4", 2, dict(r=2, lora_alpha=8, target_modules="all-linear",
                                                       modules_to_save=["classifier", "score"])),
}
POOLS = ["separator", "last"]
PROBLEMS = {"regression": "none", "single_label_classification": "softmax", "multi_label_classification": "sigmoid"}


def sequences():
    chosen = cases.sequences()
    return {name: chosen[name] for name in ("plain", "noisy", "partial", "ns")}


def runs():
    """(pool, pads the tail, reads the reverse strand)"""
    for pool in POOLS:
        for pad in (False, True):
            for reverse in (False, True):
                yield pool, pad, reverse


def head_args(name):
    checkpoint, head = HEADS[name]
    return cases.checkpoint_args(checkpoint) + [word for key, value in head.items()
                                                for word in ("--" + key.replace("_", "-"), str(value))]


def write_adapter(path, config, shapes):
    adapter_cases.write_adapter(path, config, shapes)


def tokens(bases, pool, pad, reverse, first):
    """docs/conventions.md, "Embeddings": the ids of a text, whose last one is the row that is read."""
    if reverse:
        bases = cases.reverse_complement(bases)
    if not pad:
        bases = bases[:len(bases) // 6 * 6]
    return [first] + cases.kmer_ids(bases, first + 3, first + 2) + ([first + 1] if pool == "separator" else [])


def load(name):
    with open(os.path.join(os.path.dirname(__file__), name)) as file:
        return json.load(file)
