"""A bf16 Llama checkpoint of one safetensors file as GGUF for llama.cpp: the same bf16 matrices, norms in f32, no vocabulary text.

    to_gguf.py [--names] [--q8_0] MODEL_DIR OUT.gguf

With --q8_0 the matrices are rounded to Q8_0. With --names every token has a text of its own (t0, t1, ...), without which llama-server does not start.
"""
import json
import struct
import sys

import gguf
import numpy

NAMES = {"input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
         "self_attn.o_proj": "attn_output", "post_attention_layernorm": "ffn_norm", "mlp.gate_proj": "ffn_gate",
         "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down"}
OUTSIDE = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}


def tensors(path):
    """(name, array of bf16 bits) of each tensor of a file."""
    with open(path, "rb") as f:
        size, = struct.unpack("<Q", f.read(8))
        header = json.loads(f.read(size))
    data = numpy.memmap(path, numpy.uint16, "r", offset=8 + size)
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        assert entry["dtype"] == "BF16", name
        begin, end = entry["data_offsets"]
        yield name, data[begin // 2:end // 2].reshape(entry["shape"])


def new_name(name):
    stem = name.removesuffix(".weight")
    if stem in OUTSIDE:
        return OUTSIDE[stem] + ".weight"
    _, _, layer, rest = stem.split(".", 3)
    return "blk.%s.%s.weight" % (layer, NAMES[rest])


def interleaved(matrix, head_dim):
    """Rows of each head in llama.cpp's order: the two halves that are rotated against each other lie side by side."""
    rows, columns = matrix.shape
    return matrix.reshape(rows // head_dim, 2, head_dim // 2, columns).swapaxes(1, 2).reshape(rows, columns)


def main():
    names, rounds = "--names" in sys.argv, "--q8_0" in sys.argv
    directory, out = sys.argv[-2:]
    with open(directory + "/config.json") as f:
        config = json.load(f)
    writer = gguf.GGUFWriter(out, "llama")
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_key_length(config["head_dim"])
    writer.add_value_length(config["head_dim"])
    writer.add_rope_dimension_count(config["head_dim"])
    writer.add_rope_freq_base(config["rope_theta"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_vocab_size(config["vocab_size"])
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0 if rounds else gguf.LlamaFileType.MOSTLY_BF16)
    if names:
        count = config["vocab_size"]
        writer.add_tokenizer_model("llama")
        writer.add_token_list(["t%d" % i for i in range(count)])
        writer.add_token_scores([0.0] * count)
        writer.add_token_types([gguf.TokenType.NORMAL] * count)
        writer.add_add_bos_token(False)
    else:
        writer.add_tokenizer_model("no_vocab")
    for name, bits in tensors(directory + "/model.safetensors"):
        if bits.ndim == 1:
            writer.add_tensor(new_name(name), (bits.astype(numpy.uint32) << 16).view(numpy.float32))
            continue
        if "q_proj" in name or "k_proj" in name:
            bits = interleaved(bits, config["head_dim"])
        if rounds:
            values = (bits.astype(numpy.uint32) << 16).view(numpy.float32)
            kind = gguf.GGMLQuantizationType.Q8_0
            writer.add_tensor(new_name(name), gguf.quants.quantize(values, kind), raw_dtype=kind)
            continue
        writer.add_tensor(new_name(name), numpy.ascontiguousarray(bits).view(numpy.uint8),
                          raw_dtype=gguf.GGMLQuantizationType.BF16)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
