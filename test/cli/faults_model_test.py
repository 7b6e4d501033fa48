"""Checkpoints that cannot be used: one clear message, exit status 1, nothing left behind, no crash."""

import json
import os
import shutil
import struct

from harness import DATA, case, fresh, main, model, model_copy, ok, read, refused, workplace, write

MINI = os.path.join(DATA, "mini.vcf")
FASTA = b">a\nACGTTGCAAGCT\n>b\nGGGTTTACGATTA\n"


def both_commands(checkpoint, *words):
    """A checkpoint that cannot be used, with score and vep."""
    directory = workplace()
    fasta = os.path.join(directory, "mini.fa")
    refused(["score", "-m", checkpoint, fasta], *words, directory=directory)
    refused(["vep", "-m", checkpoint, "-f", fasta, "-w", "48", MINI], *words, directory=directory, output="out.vcf.gz")


# ---- the model -----------------------------------------------------------------------------------------------------


def split(path):
    """(header as a dict, tensor bytes) of a safetensors file."""
    content = read(path)
    size = struct.unpack("<Q", content[:8])[0]
    return json.loads(content[8:8 + size]), bytearray(content[8 + size:])


def join(path, header, tensors):
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    write(os.path.dirname(path), os.path.basename(path), struct.pack("<Q", len(text)) + text + bytes(tensors))


def damaged(change):
    """A checkpoint whose safetensors header and bytes were changed."""
    checkpoint = model_copy()
    path = os.path.join(checkpoint, "model.safetensors")
    header, tensors = split(path)
    join(path, header, change(header, tensors) or tensors)
    return checkpoint


def configured(change, file="config.json"):
    checkpoint = model_copy()
    path = os.path.join(checkpoint, file)
    config = json.loads(read(path))
    change(config)
    write(checkpoint, file, json.dumps(config))
    return checkpoint


@case
def model_that_is_not_there():
    missing = os.path.join(fresh(), "missing-model")
    both_commands(missing, "missing-model")
    both_commands("no-such-name", "no-such-name")
    empty = os.path.join(fresh(), "empty-model")
    os.mkdir(empty)
    both_commands(empty, "empty-model", "config.json")


@case
def safetensors_missing():
    checkpoint = model_copy()
    os.remove(os.path.join(checkpoint, "model.safetensors"))
    both_commands(checkpoint, "model.safetensors")


@case
def safetensors_cut():
    for keep in (0, 7, 8, 100, 4000, -1):
        checkpoint = model_copy()
        path = os.path.join(checkpoint, "model.safetensors")
        write(checkpoint, "model.safetensors", read(path)[:keep])
        both_commands(checkpoint, "model.safetensors")


@case
def safetensors_with_a_foreign_length():
    for size in (1 << 62, (1 << 64) - 1, 309601):
        checkpoint = model_copy()
        path = os.path.join(checkpoint, "model.safetensors")
        write(checkpoint, "model.safetensors", struct.pack("<Q", size) + read(path)[8:])
        both_commands(checkpoint, "model.safetensors")


@case
def safetensors_header_that_is_not_json():
    for text in (b"{\"a\": ", b"[]", b"\xff\xfe\x00\x00", b"null", b"{" * 5000):
        checkpoint = model_copy()
        write(checkpoint, "model.safetensors", struct.pack("<Q", len(text)) + text)
        both_commands(checkpoint, "model.safetensors")


Q = "model.layers.1.self_attn.q_proj.weight"


@case
def tensor_with_a_wrong_shape():
    def transpose(header, _):
        header["model.layers.0.mlp.gate_proj.weight"]["shape"].reverse()
    both_commands(damaged(transpose), "model.layers.0.mlp.gate_proj.weight", "[32,64]")

    def flat(header, _):
        header[Q]["shape"] = [32 * 32]
    both_commands(damaged(flat), Q)


@case
def tensor_shape_that_overflows():
    def huge(header, _):
        header[Q]["shape"] = [1 << 33, 1 << 33]
    both_commands(damaged(huge), Q)

    def negative(header, _):
        header[Q]["shape"] = [-32, -32]
    both_commands(damaged(negative), Q)


@case
def tensor_offset_past_the_end():
    def beyond(header, tensors):
        last = max(header, key=lambda name: header[name].get("data_offsets", [0, 0])[1])
        begin, end = header[last]["data_offsets"]
        header[last]["data_offsets"] = [begin + len(tensors), end + len(tensors)]
    both_commands(damaged(beyond), "past the end")


@case
def tensor_offsets_that_overlap_or_are_odd():
    for offsets in ([0, 2048], [2048, 0], [-2, 2046], [0, 1 << 63], ["0", "2048"], [0], None):
        def other(header, _, offsets=offsets):
            header[Q]["data_offsets"] = offsets
        both_commands(damaged(other), Q)


@case
def tensor_missing_or_of_an_unknown_type():
    def drop(header, _):
        del header["model.norm.weight"]
    both_commands(damaged(drop), "model.norm.weight")

    def retype(header, _):
        header[Q]["dtype"] = "F8_E4M3"
    both_commands(damaged(retype), Q)

    def rename(header, _):
        header[Q + "_scale_inv"] = header.pop(Q)
    both_commands(damaged(rename), Q)


@case
def shard_missing():
    checkpoint = shutil.copytree(model(shards=3), os.path.join(fresh(), "sharded"))
    os.remove(os.path.join(checkpoint, "model-00002-of-00003.safetensors"))
    both_commands(checkpoint, "model-00002-of-00003.safetensors")
    write(checkpoint, "model.safetensors.index.json", "{\"weight_map\": {\"a\": \"../../secret\"}}")
    both_commands(checkpoint, "model.safetensors.index.json")


@case
def config_that_is_not_json():
    for text in (b"", b"{", b"[1, 2]", b"{\"a\": 1} trailing", b"\x00\x01\x02", b"{\"hidden_size\": 32,}", b"[" * 100000):
        checkpoint = model_copy()
        write(checkpoint, "config.json", text)
        both_commands(checkpoint, "config.json")


CONFIGS = {
    "unknown rope_type": (lambda c: c.update(rope_scaling={"rope_type": "longrope", "factor": 2.0}), "longrope"),
    "rope_scaling that is no object": (lambda c: c.update(rope_scaling=[1]), "rope_scaling"),
    "no rope_theta": (lambda c: c.pop("rope_theta"), "rope_theta"),
    "quantization": (lambda c: c.update(quantization_config={"bits": 4}), "quantization_config"),
    "sliding window": (lambda c: c.update(sliding_window=4096), "sliding_window"),
    "activation": (lambda c: c.update(hidden_act="gelu"), "gelu"),
    "model type": (lambda c: c.update(model_type="mistral"), "mistral"),
    "architecture": (lambda c: c.update(architectures=["MistralForCausalLM"]), "MistralForCausalLM"),
    "hidden size of zero": (lambda c: c.update(hidden_size=0), "hidden_size"),
    "negative layers": (lambda c: c.update(num_hidden_layers=-1), "num_hidden_layers"),
    "huge vocabulary": (lambda c: c.update(vocab_size=1 << 62), "vocab_size"),
    "layers as text": (lambda c: c.update(num_hidden_layers="2"), "num_hidden_layers"),
    "no heads": (lambda c: c.pop("num_attention_heads"), "num_attention_heads"),
    "heads that do not divide": (lambda c: c.update(num_key_value_heads=3), "num_key_value_heads"),
    "another layer count": (lambda c: c.update(num_hidden_layers=3), "model.layers.2."),
    "another hidden size": (lambda c: c.update(hidden_size=64), "shape"),
}
for title, (change, word) in CONFIGS.items():
    @case(name="config: " + title)
    def bad_config(change=change, word=word):
        both_commands(configured(change), word)


@case
def dna_config():
    both_commands(configured(lambda c: c.update(k=5), "dna_config.json"), "dna_config.json")
    both_commands(configured(lambda c: c.update(dna_start_id=4000), "dna_config.json"), "dna_start_id")
    checkpoint = model_copy()
    os.remove(os.path.join(checkpoint, "dna_config.json"))
    both_commands(checkpoint, "vocab_size", "155776")


def with_value(name, index, bits):
    """A checkpoint with one BF16 element replaced."""
    def change(header, tensors):
        at = header[name]["data_offsets"][0] + 2 * index
        tensors[at:at + 2] = struct.pack("<H", bits)
    return damaged(change)


NAN, INFINITY = 0x7FC0, 0x7F80


@case
def weights_with_a_nan():
    for name, index in (("model.norm.weight", 3), ("model.layers.0.input_layernorm.weight", 0), (Q, 77),
                        ("model.layers.1.mlp.down_proj.weight", 5)):
        checkpoint = with_value(name, index, NAN)
        directory = workplace()
        fasta = write(directory, "named.fa", FASTA)
        for kind in ([], ["-O", "tsv"], ["--level", "token"], ["--strand", "both"]):
            refused(["score", "-m", checkpoint, *kind, fasta], "a:", directory=directory)
        for kind in (["-w", "48"], ["--recipe", "next-token", "--context", "60"]):
            refused(["vep", "-m", checkpoint, "-f", os.path.join(directory, "mini.fa"), *kind, MINI], "c1:1",
                    directory=directory, output="out.bcf")


@case
def weights_with_an_infinity():
    checkpoint = with_value("model.norm.weight", 3, INFINITY)
    directory = workplace()
    refused(["score", "-m", checkpoint, write(directory, "named.fa", FASTA)], "a:", directory=directory)
    refused(["vep", "-m", checkpoint, "-f", os.path.join(directory, "mini.fa"), "-w", "48", MINI], "c1:1", directory=directory)


@case
def nan_in_the_row_of_one_6mer():
    # Only what comes after AAAAAA is broken: the message names the sequence, and the place in it.
    checkpoint = shutil.copytree(model(tied=0), os.path.join(fresh(), "model"))
    path = os.path.join(checkpoint, "model.safetensors")
    header, tensors = split(path)
    at = header["model.embed_tokens.weight"]["data_offsets"][0] + 2 * 32 * 3  # three special tokens, then AAAAAA
    tensors[at:at + 2] = struct.pack("<H", NAN)
    join(path, header, tensors)
    directory = workplace()
    good = b">good\nACGTTGCAAGCTAAAAAA\n"
    fasta = write(directory, "named.fa", good + b">bad\nCCCCCCAAAAAACCCCCC\n")
    refused(["score", "-m", checkpoint, fasta], "bad:13", directory=directory)
    ok("score", "-m", checkpoint, write(directory, "good.fa", good))


if __name__ == "__main__":
    main()
