#!/usr/bin/env python3
"""Write a Llama, Qwen3 or GENERanno checkpoint whose every weight is a hash of (tensor name, element index).

The Python half of make_checkpoint.cpp (the rule is written down there); both write the same bytes. Needs numpy only.
As a module: write_checkpoint(directory, **options), or tensor_values(...) for one tensor without a file.
"""
import argparse
import json
import math
import os
import sys

import numpy as np

GOLDEN = 0x9E3779B97F4A7C15
MASK = (1 << 64) - 1
RELEASED_VOCAB = 155776
DNA_TOKENS = 4107  # <dna>, </dna>, <oov>, 4,096 6-mers, 8 unused
GENERATOR_TOKENS = ("<oov> <s> </s> <pad> <mask> <bog> <eog> <bok> <eok> <+> <-> <cds> <pseudo> <tRNA> <rRNA> <ncRNA> <miscRNA> <mam> <vrt> "
                    "<inv> <pln> <fng> <prt> <arc> <bct> <mit> <plt> <plm> <vir> <sp0> <sp1> <sp2>").split()
BLOCK = 1 << 20

DEFAULTS = dict(hidden=128, layers=4, heads=4, kv_heads=2, head_dim=32, intermediate=384, vocab=0, dna_start=-1,
                max_positions=0, rope_theta=500000.0, eps=1e-6, tied=1, dtype="bf16", shards=1, yarn=0.0,
                yarn_original=0, no_metadata=0, seed=0, preset="",
                labels=0, label_names="", problem_type="", llama3=-1.0, llama3_original=8192, eos=0, mlp_heads=0)
LLAMA3_LOW, LLAMA3_HIGH = 1.0, 4.0
NAMES = {"bf16": ("BF16", "bfloat16", 2), "f16": ("F16", "float16", 2), "f32": ("F32", "float32", 4)}


def fnv1a(text):
    h = 0xCBF29CE484222325
    for byte in text.encode():
        h = ((h ^ byte) * 0x100000001B3) & MASK
    return h


def mix(z):
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def raw_values(name, first, count, offset, scale, seed):
    """float32 weights of the elements [first, first + count) of a tensor, before rounding to the stored type."""
    h0 = np.uint64(fnv1a(name) ^ ((seed * GOLDEN) & MASK))
    index = np.arange(first, first + count, dtype=np.uint64)
    x = mix(h0 + index * np.uint64(GOLDEN))
    u = (x >> np.uint64(40)).astype(np.float32) * np.float32(2.0 ** -23) - np.float32(1)
    return np.float32(offset) + np.float32(scale) * u


def bf16_bits(values):
    bits = values.view(np.uint32)
    return ((bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)).astype(np.uint16)


def stored(values, dtype):
    if dtype == "bf16":
        return bf16_bits(values)
    return values.astype(np.float16) if dtype == "f16" else values


def tensor_values(name, shape, offset, scale, seed, dtype):
    """float32 array of the weights as a reader of the stored type sees them."""
    out = stored(raw_values(name, 0, math.prod(shape), offset, scale, seed), dtype)
    if dtype == "bf16":
        out = (out.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return out.astype(np.float32).reshape(shape)


def complete(**options):
    """All options, defaults and the preset applied."""
    unknown = set(options) - set(DEFAULTS)
    if unknown:
        raise TypeError("unknown options: %s" % ", ".join(sorted(unknown)))
    o = dict(DEFAULTS, **options)
    if o["preset"] == "demo" and o["dna_start"] < 0:
        o["dna_start"] = 0
    if o["preset"] == "generator":
        if o["dna_start"] >= 0:
            raise ValueError("dna_start is an option of Carbon's tokenizer")
        o["vocab"] = o["vocab"] or len(GENERATOR_TOKENS) + 4096
    if o["preset"] == "generanno":
        if o["dna_start"] >= 0 or o["labels"]:
            raise ValueError("dna_start and labels do not go together with the preset generanno")
        o["tied"] = 0
        o["vocab"] = o["vocab"] or len(GENERATOR_TOKENS) + 4096
        o["label_names"] = o["label_names"] or "NON_CODING,CDS"
    marin = o["preset"] == "marin"
    if marin:
        if o["dna_start"] >= 0 or o["labels"]:
            raise ValueError("dna_start and labels do not go together with the preset marin")
        o["vocab"] = o["vocab"] or len(letter_tokens(o))
    o["max_positions"] = o["max_positions"] or (256 if marin else 8192)
    if o["llama3"] < 0:
        o["llama3"] = 8.0 if marin and not o["yarn"] else 0.0
    if o["vocab"] == 0:
        o["vocab"] = RELEASED_VOCAB if o["dna_start"] < 0 else (o["dna_start"] + DNA_TOKENS + 127) // 128 * 128
    return o


def letter_tokens(o):
    """The tokens of a MarinDNA in the order of their ids."""
    return ["[PAD]", "[UNK]", "[BOS]"] + (["[EOS]"] if o["eos"] else []) + list("acgt")


def architecture(o):
    """[(name, shape, offset, scale)] in file order."""
    tensors = []
    h, d = o["hidden"], o["head_dim"]

    def matrix(name, rows, cols, gain):
        tensors.append((name, [rows, cols], 0.0, np.float32(gain * math.sqrt(3.0 / cols))))

    def norm(name):
        tensors.append((name, [h], 1.0, np.float32(0.1)))

    def head_norm(name):
        tensors.append((name, [d], 1.5, np.float32(0.3)))

    matrix("model.embed_tokens.weight", o["vocab"], h, 2.0 if o["tied"] else math.sqrt(h))
    for i in range(o["layers"]):
        p = "model.layers.%d." % i
        norm(p + "input_layernorm.weight")
        matrix(p + "self_attn.q_proj.weight", o["heads"] * d, h, 1.5)
        matrix(p + "self_attn.k_proj.weight", o["kv_heads"] * d, h, 1.5)
        matrix(p + "self_attn.v_proj.weight", o["kv_heads"] * d, h, 1.5)
        if o["preset"] == "marin":
            head_norm(p + "self_attn.q_norm.weight")
            head_norm(p + "self_attn.k_norm.weight")
        matrix(p + "self_attn.o_proj.weight", h, o["heads"] * d, 1.5)
        norm(p + "post_attention_layernorm.weight")
        matrix(p + "mlp.gate_proj.weight", o["intermediate"], h, 1.5)
        matrix(p + "mlp.up_proj.weight", o["intermediate"], h, 1.0)
        matrix(p + "mlp.down_proj.weight", h, o["intermediate"], 1.0)
    norm("model.norm.weight")
    if o["preset"] == "generanno":
        for p in ("score.0.", "score.1."):
            if o["mlp_heads"]:
                matrix(p + "0.weight", h, h, 1.5)
                tensors.append((p + "0.bias", [h], 0.0, np.float32(0.5)))
                matrix(p + "3.weight", 12, h, 3.0)
            else:
                matrix(p + "weight", 12, h, 2.0)
        return tensors
    if o["labels"]:
        matrix("score.weight", o["labels"], h, 1.0)
    elif not o["tied"]:
        matrix("lm_head.weight", o["vocab"], h, 2.0)
    return tensors


def generator_vocabulary():
    kmers = ["".join("ATCG"[v >> 2 * (5 - j) & 3] for j in range(6)) for v in range(4096)]
    return GENERATOR_TOKENS + kmers


TOKENIZER_CONFIG = {"add_bos_token": True, "add_eos_token": False, "bos_token": "<s>", "eos_token": "</s>", "k": 6,
                    "mask_token": "<mask>", "pad_token": "<pad>", "tokenizer_class": "DNAKmerTokenizer", "unk_token": "<oov>"}


def config(o):
    scaling = None
    if o["yarn"] > 0:
        original = o["yarn_original"] or math.floor(o["max_positions"] / o["yarn"] + 0.5)
        scaling = {"rope_type": "yarn", "factor": float(o["yarn"]), "original_max_position_embeddings": original}
    if o["llama3"] > 0:
        scaling = {"rope_type": "llama3", "factor": float(o["llama3"]), "low_freq_factor": LLAMA3_LOW,
                   "high_freq_factor": LLAMA3_HIGH, "original_max_position_embeddings": o["llama3_original"]}
    generator, marin = o["preset"] == "generator", o["preset"] == "marin"
    # The released GENERators leave it to the reader to divide.
    head_dim = {} if generator and o["hidden"] == o["heads"] * o["head_dim"] else {"head_dim": o["head_dim"]}
    head = {}
    if o["label_names"]:
        head["id2label"] = {str(i): name for i, name in enumerate(o["label_names"].split(","))}
    if o["problem_type"]:
        head["problem_type"] = o["problem_type"]
    generanno = o["preset"] == "generanno"
    causal = ("GENERatorForCausalLM" if generator else "Qwen3ForCausalLM" if marin else "GenerannoForTokenClassification" if generanno
              else "LlamaForCausalLM")
    annotator = {"feature_layer": -1, "k": 6, "mask_token_id": 4, "num_prediction_heads": 2, "use_mlp_classifier": bool(o["mlp_heads"])}

    def only(of_marin, **keys):
        return keys if of_marin == marin else {}

    return {
        "architectures": ["LlamaForSequenceClassification" if o["labels"] else causal], "attention_bias": False,
        "attention_dropout": 0.0, "bos_token_id": 1 if generator else None, "eos_token_id": 2 if generator else None,
        **head_dim, "hidden_act": "silu",
        "hidden_size": o["hidden"], "initializer_range": 0.02, "intermediate_size": o["intermediate"],
        **only(True, layer_types=["full_attention"] * o["layers"]), "max_position_embeddings": o["max_positions"],
        **only(True, max_window_layers=o["layers"], model_type="qwen3", no_bias=True), **only(False, mlp_bias=False, model_type="generanno" if generanno else "llama"),
        **(annotator if generanno else {}),
        "num_attention_heads": o["heads"], "num_hidden_layers": o["layers"], "num_key_value_heads": o["kv_heads"],
        **only(False, pretraining_tp=1), "rms_norm_eps": float(o["eps"]), "rope_scaling": scaling,
        "rope_theta": float(o["rope_theta"]), **only(True, sliding_window=4096), "tie_word_embeddings": bool(o["tied"]),
        "torch_dtype": NAMES[o["dtype"]][1], "use_cache": True, **only(True, use_sliding_window=False), "vocab_size": o["vocab"], **head,
    }


def dna_config(o):
    return {"k": 6, "dna_start_id": o["dna_start"], "dna_vocab_size": DNA_TOKENS,
            "dna_special_tokens": ["<dna>", "</dna>", "<oov>"], "auto_dna_tags": False}


def letter_tokenizer(o):
    """tokenizer.json of a MarinDNA, as the `tokenizers` library writes it."""
    vocabulary = {token: i for i, token in enumerate(letter_tokens(o))}
    around = ["[BOS]"] + (["[EOS]"] if o["eos"] else [])

    def piece(kind, name, sequence):
        return {kind: {"id": name, "type_id": sequence}}

    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": i, "content": token, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
                          "special": True} for token, i in vocabulary.items() if len(token) > 1],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Split", "pattern": {"Regex": ".{1}"}, "behavior": "Isolated", "invert": False},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [piece("SpecialToken", "[BOS]", 0), piece("Sequence", "A", 0)] + [piece("SpecialToken", t, 0) for t in around[1:]],
            "pair": [piece("Sequence", "A", 0), piece("Sequence", "B", 1)],
            "special_tokens": {t: {"id": t, "ids": [vocabulary[t]], "tokens": [t]} for t in around}},
        "decoder": {"type": "Fuse"},
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"},
    }


def write_json(path, value):
    with open(path, "w", newline="\n") as out:
        out.write(json.dumps(value, indent=2) + "\n")


def write_safetensors(path, tensors, o):
    label, _, size = NAMES[o["dtype"]]
    header = {} if o["no_metadata"] else {"__metadata__": {"format": "pt"}}
    at = 0
    for name, shape, _, _ in tensors:
        end = at + math.prod(shape) * size
        header[name] = {"dtype": label, "shape": shape, "data_offsets": [at, end]}
        at = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path + ".tmp", "wb") as out:
        out.write(len(text).to_bytes(8, "little") + text)
        for name, shape, offset, scale in tensors:
            count = math.prod(shape)
            for first in range(0, count, BLOCK):
                values = raw_values(name, first, min(BLOCK, count - first), offset, scale, o["seed"])
                stored(values, o["dtype"]).tofile(out)
    os.replace(path + ".tmp", path)


def write_checkpoint(directory, **options):
    o = complete(**options)
    tensors = architecture(o)
    if not 1 <= o["shards"] <= len(tensors):
        raise ValueError("shards must be 1..%d" % len(tensors))
    os.makedirs(directory, exist_ok=True)
    for stale in ("dna_config.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt", "model.safetensors", "model.safetensors.index.json"):
        if os.path.exists(os.path.join(directory, stale)):
            os.remove(os.path.join(directory, stale))
    write_json(os.path.join(directory, "config.json"), config(o))
    if o["dna_start"] >= 0:
        write_json(os.path.join(directory, "dna_config.json"), dna_config(o))
    if o["preset"] in ("generator", "generanno"):
        write_json(os.path.join(directory, "tokenizer_config.json"), TOKENIZER_CONFIG)
        with open(os.path.join(directory, "vocab.txt"), "w", newline="\n") as out:
            out.writelines("%s %d\n" % (token, i) for i, token in enumerate(generator_vocabulary()))
    if o["preset"] == "marin":
        write_json(os.path.join(directory, "tokenizer.json"), letter_tokenizer(o))
    if o["shards"] == 1:
        write_safetensors(os.path.join(directory, "model.safetensors"), tensors, o)
        return
    weight_map = {}
    for shard in range(o["shards"]):
        name = "model-%05d-of-%05d.safetensors" % (shard + 1, o["shards"])
        part = tensors[len(tensors) * shard // o["shards"]:len(tensors) * (shard + 1) // o["shards"]]
        write_safetensors(os.path.join(directory, name), part, o)
        weight_map.update((t[0], name) for t in part)
    total = sum(math.prod(t[1]) for t in tensors) * NAMES[o["dtype"]][2]
    write_json(os.path.join(directory, "model.safetensors.index.json"),
               {"metadata": {"total_size": total}, "weight_map": dict(sorted(weight_map.items()))})


def main():
    parser = argparse.ArgumentParser(description="Write a checkpoint whose weights are hashes of their names")
    parser.add_argument("dir", metavar="DIR")
    for name, value in DEFAULTS.items():
        choices = {"dtype": sorted(NAMES), "preset": ["demo", "generator", "marin", "generanno"]}.get(name)
        parser.add_argument("--" + name.replace("_", "-"), type=type(value), default=value, choices=choices)
    options = vars(parser.parse_args())
    directory = options.pop("dir")
    try:
        write_checkpoint(directory, **options)
    except (OSError, ValueError) as e:
        sys.exit("[E::hash_checkpoint] %s" % e)


if __name__ == "__main__":
    main()
