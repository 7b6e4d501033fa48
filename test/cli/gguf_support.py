"""Writes a checkpoint as a GGUF file, from the definition of the format and of llama.cpp's names. Not a test."""

import json
import os
import struct

import numpy as np

TYPES = {"F32": 0, "F16": 1, "Q8_0": 8, "BF16": 30}
NUMPY = {"F32": "<f4", "F16": "<f2", "BF16": "<u2"}
NAMES = {"input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
         "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "post_attention_layernorm": "ffn_norm",
         "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down"}
GLOBAL = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def u32(value):
    return struct.pack("<II", 4, value)


def f32(value):
    return struct.pack("<If", 6, value)


def string(value):
    return struct.pack("<I", 8) + text(value)


def strings(values):
    return struct.pack("<IIQ", 9, 8, len(values)) + b"".join(map(text, values))


def integers(values):
    return struct.pack("<IIQ", 9, 5, len(values)) + struct.pack("<%di" % len(values), *values)


def write_gguf(path, metadata, tensors, alignment=32):
    """metadata: {key: typed bytes}; tensors: [(name, dims with the numbers side by side first, type, bytes)]."""
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    for key, value in metadata.items():
        out += text(key) + value
    offset = 0
    for name, dims, kind, data in tensors:
        out += text(name) + struct.pack("<I%dQIQ" % len(dims), len(dims), *dims, kind, offset)
        offset += -(-len(data) // alignment) * alignment
    with open(path, "wb") as f:
        f.write(out + bytes(-len(out) % alignment))
        for _, _, _, data in tensors:
            f.write(data + bytes(-len(data) % alignment))
    return path


def read_safetensors(path):
    """{name: (dtype, array)}; BF16 as its bits."""
    with open(path, "rb") as f:
        data = f.read()
    size = struct.unpack("<Q", data[:8])[0]
    tensors = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            array = np.frombuffer(data[8 + size + begin:8 + size + end], NUMPY[entry["dtype"]])
            tensors[name] = entry["dtype"], array.reshape(entry["shape"])
    return tensors


def to_f32(dtype, array):
    return (array.astype("<u4") << 16).view("<f4") if dtype == "BF16" else array.astype("<f4")


def q8_0(values):
    """Blocks of 32: a scale in half precision, then 32 whole numbers of it."""
    blocks = values.reshape(-1, 32)
    scale = np.abs(blocks).max(axis=1, keepdims=True) / np.float32(127)
    with np.errstate(divide="ignore", invalid="ignore"):
        numbers = np.where(scale > 0, np.round(blocks / scale), 0).astype("<i1")
    return b"".join(s.tobytes() + n.tobytes() for s, n in zip(scale.astype("<f2"), numbers))


def moved_rows(rows, heads):
    """Neighbouring rows turn together in llama.cpp, those half a head apart in a checkpoint."""
    return rows.reshape(heads, 2, -1, rows.shape[1]).swapaxes(1, 2).reshape(rows.shape)


def gguf_name(name):
    parts = name[:-len(".weight")].split(".", 3)
    if parts[:2] == ["model", "layers"]:
        return "blk.%s.%s.weight" % (parts[2], NAMES[parts[3]])
    return GLOBAL[name[:-len(".weight")]] + ".weight"


def dna_tokens(vocab, first):
    """<dna>, </dna>, <oov> and the 6-mers from id `first` on; other ids have texts of their own."""
    tokens = ["[PAD%d]" % i for i in range(vocab)]
    tokens[first:first + 3] = "<dna>", "</dna>", "<oov>"
    for i in range(4096):
        tokens[first + 3 + i] = "".join("ATCG"[i >> 2 * place & 3] for place in range(5, -1, -1)) + "\ue000"
    return tokens


def convert(checkpoint, path, matrices=None, more=None):
    """The checkpoint directory as one GGUF file; `matrices` is their type if they are to be converted."""
    with open(os.path.join(checkpoint, "config.json")) as f:
        config = json.load(f)
    with open(os.path.join(checkpoint, "dna_config.json")) as f:
        first = json.load(f)["dna_start_id"]
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    head_dim = config["head_dim"]
    metadata = {"general.architecture": string("llama"), "general.license": string("apache-2.0")}
    for key, name in (("block_count", "num_hidden_layers"), ("context_length", "max_position_embeddings"),
                      ("embedding_length", "hidden_size"), ("feed_forward_length", "intermediate_size"),
                      ("attention.head_count", "num_attention_heads"),
                      ("attention.head_count_kv", "num_key_value_heads"), ("vocab_size", "vocab_size")):
        metadata["llama." + key] = u32(config[name])
    for key in ("attention.key_length", "attention.value_length", "rope.dimension_count"):
        metadata["llama." + key] = u32(head_dim)
    metadata["llama.rope.freq_base"] = f32(config["rope_theta"])
    metadata["llama.attention.layer_norm_rms_epsilon"] = f32(config["rms_norm_eps"])
    metadata["tokenizer.ggml.model"] = string("hybriddna")
    metadata["tokenizer.ggml.tokens"] = strings(dna_tokens(config["vocab_size"], first))
    metadata.update(more or {})
    tensors = []
    for name, (dtype, array) in read_safetensors(os.path.join(checkpoint, "model.safetensors")).items():
        if config.get("tie_word_embeddings") and name == "lm_head.weight":
            continue
        if "q_proj" in name or "k_proj" in name:
            array = moved_rows(array, heads if "q_proj" in name else kv_heads)
        kind = "F32" if array.ndim == 1 else matrices or dtype
        if kind == "Q8_0":
            data = q8_0(to_f32(dtype, array))
        else:
            data = array.tobytes() if kind == dtype else to_f32(dtype, array).astype(NUMPY[kind]).tobytes()
        tensors.append((gguf_name(name), array.shape[::-1], TYPES[kind], data))
    return write_gguf(path, metadata, tensors)


def from_q8_0(data, shape):
    """The numbers of Q8_0 blocks as f32, which is exact."""
    blocks = np.frombuffer(data, np.dtype([("scale", "<f2"), ("numbers", "<i1", 32)]))
    return (blocks["scale"].astype("<f4")[:, None] * blocks["numbers"].astype("<f4")).reshape(shape)


def write_safetensors(path, tensors):
    """{name: f32 array}"""
    header, data = {}, b""
    for name, array in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.astype("<f4").tobytes()
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(head)) + head + data)
