"""--lora: the bytes of a checkpoint into whose weights the adapter was added, and refusals of other adapters."""

import json
import os
import shutil
import struct

import numpy as np

from harness import (carbon, case, data, expect, expect_equal, expect_failure, fresh, main, model,
                     ok, read, refused, workplace, write)

CONFIG = {"peft_type": "LORA", "r": 3, "lora_alpha": 6, "use_rslora": False, "bias": "none", "fan_in_fan_out": False,
          "target_modules": ["q_proj", "down_proj"], "rank_pattern": {}, "alpha_pattern": {}, "use_dora": False,
          "init_lora_weights": True, "task_type": "CAUSAL_LM", "base_model_name_or_path": "any"}
LAYER = "base_model.model.model.layers.1."


def f32_model(**changes):
    return model(dtype="f32", **changes)


def tensors_of(path):
    """name -> array of a safetensors file of F32."""
    content = read(path)
    size = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + size])
    return {name: np.frombuffer(content[8 + size + entry["data_offsets"][0]:8 + size + entry["data_offsets"][1]],
                                np.float32).reshape(entry["shape"])
            for name, entry in header.items() if name != "__metadata__"}


def bf16_as_f32(base, name):
    content = read(os.path.join(base, "model.safetensors"))
    size = struct.unpack("<Q", content[:8])[0]
    entry = json.loads(content[8:8 + size])[name]
    begin, end = (8 + size + at for at in entry["data_offsets"])
    return (np.frombuffer(content[begin:end], np.uint16).astype(np.uint32) << 16).view(np.float32).reshape(entry["shape"])


def write_tensors(path, tensors):
    header, body = {}, b""
    for name, array in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [len(body), len(body) + array.nbytes]}
        body += array.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    write(os.path.dirname(path), os.path.basename(path), struct.pack("<Q", len(text)) + text + body)


def pair(outputs, inputs, rank=3, seed=1):
    """A [rank, inputs] and B [outputs, rank]"""
    rng = np.random.default_rng(seed)
    return (rng.standard_normal((rank, inputs), np.float32), rng.standard_normal((outputs, rank), np.float32) / 8)


def plain_tensors():
    (qa, qb), (da, db) = pair(32, 32, seed=1), pair(32, 64, seed=2)
    return {LAYER + "self_attn.q_proj.lora_A.weight": qa, LAYER + "self_attn.q_proj.lora_B.weight": qb,
            LAYER + "mlp.down_proj.lora_A.weight": da, LAYER + "mlp.down_proj.lora_B.weight": db}


def adapter(tensors=None, name="tuned", **changes):
    """The directory of an adapter; a value of None takes the key out of its configuration."""
    path = os.path.join(fresh(), name)
    os.mkdir(path)
    config = {key: value for key, value in {**CONFIG, **changes}.items() if value is not None}
    write(path, "adapter_config.json", json.dumps(config))
    write_tensors(os.path.join(path, "adapter_model.safetensors"), plain_tensors() if tensors is None else tensors)
    return path


def added(weights, a, b, scale):
    """W + scale * B A in f32, with the terms in ascending order."""
    total = np.zeros_like(weights)
    for k in range(a.shape[0]):
        total = total + b[:, k:k + 1] * a[k:k + 1]
    return weights + np.float32(scale) * total


def merged(base, changes):
    """A copy of a checkpoint with other tensors."""
    path = shutil.copytree(base, os.path.join(fresh(), os.path.basename(base)))
    file = os.path.join(path, "model.safetensors")
    write_tensors(file, {**tensors_of(file), **changes})
    return path


def plain_merge(base, scale=2):
    weights = tensors_of(os.path.join(base, "model.safetensors"))
    new = plain_tensors()
    changes = {}
    for module in ("self_attn.q_proj", "mlp.down_proj"):
        name = "model.layers.1.%s.weight" % module
        changes[name] = added(weights[name], *(new[LAYER + module + ".lora_%s.weight" % x] for x in "AB"), scale)
    return merged(base, changes)


def score(*args):
    return ok("score", "-O", "tsv", *args, data("mini.fa")).table()


def same_as_merged(base, lora, checkpoint, what):
    got, plain = score("-m", base, "--lora", lora), score("-m", base)
    expect_equal(got, score("-m", checkpoint), what)
    expect(got != plain, "the adapter changes nothing: " + what)


@case
def as_a_merged_checkpoint():
    base = f32_model()
    same_as_merged(base, adapter(), plain_merge(base), "alpha / r")
    same_as_merged(base, adapter(use_rslora=True), plain_merge(base, 6 / np.sqrt(3)), "alpha / sqrt(r)")
    for threads in (1, 2):
        expect_equal(score("-m", base, "--lora", adapter(), "-@", str(threads)), score("-m", plain_merge(base)), "threads")


@case
def a_model_of_one_base_a_token():
    base = f32_model(preset="marin", vocab=0, dna_start=-1, max_positions=256)
    same_as_merged(base, adapter(), plain_merge(base), "one base a token")


@case
def scales_of_single_modules():
    base = f32_model()
    new, weights = plain_tensors(), tensors_of(os.path.join(base, "model.safetensors"))
    changes = {}
    for module, scale in (("self_attn.q_proj", 4), ("mlp.down_proj", 2)):
        name = "model.layers.1.%s.weight" % module
        changes[name] = added(weights[name], *(new[LAYER + module + ".lora_%s.weight" % x] for x in "AB"), scale)
    same_as_merged(base, adapter(alpha_pattern={"1.self_attn.q_proj": 12}), merged(base, changes), "alpha_pattern")


@case
def keys_of_alpha_pattern_are_regular_expressions():
    """Those that match "(.*\\.)?(KEY)$", and of several the first one in the file."""
    base = f32_model()
    name = "model.layers.1.%s.weight"
    new, weights = plain_tensors(), tensors_of(os.path.join(base, "model.safetensors"))

    def expect_scales(pattern, q, down):
        changes = {name % module: added(weights[name % module], *(new[LAYER + module + ".lora_%s.weight" % x] for x in "AB"), alpha / 3)
                   for module, alpha in (("self_attn.q_proj", q), ("mlp.down_proj", down))}
        same_as_merged(base, adapter(alpha_pattern=pattern), merged(base, changes), str(pattern))

    expect_scales({"^model.layers.1.self_attn.q_proj": 12, "^q_proj": 9, "^self_attn.q_proj": 9, "down": 9, "ayers.1.mlp.down_proj": 9}, 12, 6)
    expect_scales({r"layers\.[01]\..*_proj": 12, "q_proj": 9}, 12, 12)
    expect_scales({"q_proj": 9, r"(q|down)_proj": 12}, 9, 12)
    expect_scales({r"model\.layers\.\d+\.(?:mlp|self_attn)\.down_proj": 12, "layers.1.self_attn.[a-q]_proj": 9}, 9, 12)
    for key in ("(q_proj", r"\Aq_proj", "(?i)Q_PROJ", "q_proj++", "(?=q)q_proj", "[[:alpha:]]_proj", "q\u00e4", "a{1000}", "a*" * 200):
        refusal(adapter(alpha_pattern={key: 9}), "adapter_config.json", "alpha_pattern")
    # A C++ library may refuse to write these out, as GNU's does, or count, as LLVM's does; and then no module is called so.
    large = adapter(alpha_pattern={"((a{99}){99}){99}b*": 9})
    result = carbon("score", "--no-version", "-m", base, "--lora", large, data("mini.fa"))
    if result.rc == 0:
        expect_equal(score("-m", base, "--lora", large), score("-m", base, "--lora", adapter()), "an expression that no name matches")
    else:
        expect_failure(result, "adapter_config.json", "alpha_pattern", "too long")


@case
def adapters_of_wrapped_models_and_of_auto_model():
    base = f32_model()
    wanted = score("-m", base, "--lora", adapter())
    for old, new in (("base_model.model.model.layers", "base_model.model.layers"),
                     ("base_model", "_orig_mod.base_model"), ("base_model.model.model", "module.base_model.model._orig_mod.model")):
        tensors = {name.replace(old, new, 1): array for name, array in plain_tensors().items()}
        expect_equal(score("-m", base, "--lora", adapter(tensors)), wanted, new)
    twice = {**plain_tensors(), **{"module." + name: array for name, array in plain_tensors().items()}}
    refusal(adapter(twice), "are the same one", base=base)


@case
def embedding_and_whole_tensors():
    base = f32_model(tied=0)
    weights = tensors_of(os.path.join(base, "model.safetensors"))
    vocab, hidden = weights["model.embed_tokens.weight"].shape
    a, b = pair(hidden, vocab, seed=3)
    head = np.random.default_rng(4).standard_normal((vocab, hidden), np.float32) / 5
    tensors = {"base_model.model.model.embed_tokens.lora_embedding_A": a,
               "base_model.model.model.embed_tokens.lora_embedding_B": b, "base_model.model.lm_head.weight": head,
               "base_model.model.model.norm.weight": np.full(hidden, 1.5, np.float32)}
    checkpoint = merged(base, {"model.embed_tokens.weight": added(weights["model.embed_tokens.weight"], b.T, a.T, 2),
                               "lm_head.weight": head, "model.norm.weight": np.full(hidden, 1.5, np.float32)})
    same_as_merged(base, adapter(tensors), checkpoint, "embedding, head and norm")
    expect_failure(carbon("score", "-m", f32_model(), "--lora", adapter(tensors), data("mini.fa")),
                   "one matrix as embedding and as head")


def stored(base, *names):
    """Copies of a model's tensors by the names that PEFT gives to them."""
    weights = tensors_of(os.path.join(base, "model.safetensors"))
    return {"base_model.model." + name: weights[name.replace(".base_layer", "")] for name in names}


def digest(base, lora):
    lines = ok("vep", "-f", os.path.join(workplace(), "mini.fa"), "-w", "48", "-m", base, "--lora", lora, data("mini.vcf")).lines()
    return next(line for line in lines if line.startswith("##carbon_vepModel")).split("SHA256=")[1]


@case
def copies_that_peft_saves_change_nothing():
    base = f32_model(tied=0)
    vocab = len(tensors_of(os.path.join(base, "model.safetensors"))["lm_head.weight"])
    ha, hb = pair(vocab, 32, seed=5)
    ea, eb = pair(32, vocab, seed=6)
    tensors = {"base_model.model.lm_head.lora_A.weight": ha, "base_model.model.lm_head.lora_B.weight": hb,
               "base_model.model.model.embed_tokens.lora_embedding_A": ea,
               "base_model.model.model.embed_tokens.lora_embedding_B": eb}
    copies = stored(base, "lm_head.base_layer.weight", "model.embed_tokens.base_layer.weight")
    plain, full = adapter(tensors), adapter({**tensors, **copies})
    expect_equal(score("-m", base, "--lora", full), score("-m", base, "--lora", plain), "with copies")
    expect_equal(digest(base, full), digest(base, plain), "the digest")
    changed = {name: array + np.float32(1) for name, array in copies.items()}
    refusal(adapter({**tensors, **changed}), "base_layer.weight", "not those of", base=base)
    refusal(adapter(copies), "only copies", base=base)

    tied = f32_model()
    unchanged = {name: stored(tied, "model.embed_tokens.weight")["base_model.model.model.embed_tokens.weight"]
                 for name in ("base_model.model.model.embed_tokens.weight", "base_model.model.lm_head.weight")}
    plain, full = adapter(), adapter({**plain_tensors(), **unchanged})
    expect_equal(score("-m", tied, "--lora", full), score("-m", tied, "--lora", plain), "copies of a tied matrix")
    expect_equal(digest(tied, full), digest(tied, plain), "the digest of a tied model")
    # A model in bf16 was trained in f32, so that the copies have another type.
    half = model()
    wide = {name: bf16_as_f32(half, "model.embed_tokens.weight") for name in unchanged}
    expect_equal(score("-m", half, "--lora", adapter({**plain_tensors(), **wide})),
                 score("-m", half, "--lora", plain), "copies in f32")
    wide["base_model.model.lm_head.weight"] = wide["base_model.model.lm_head.weight"] * np.float32(1.5)
    refusal(adapter({**plain_tensors(), **wide}), "one matrix as embedding and as head", base=half)


@case
def an_adapter_given_as_the_model():
    lora = adapter()
    expect_failure(carbon("score", "-m", lora, data("mini.fa")), "it is a LoRA adapter")
    expect_failure(carbon("score", "-m", lora, data("mini.fa")), "--lora " + lora)


@case
def weights_of_bf16_stay_the_default():
    base = model()
    text = ok("score", "-O", "tsv", "-m", base, "--lora", adapter(), "-v", "4", data("mini.fa"))
    expect("bf16" in text.err, "computes in another type", text)
    expect_equal(text.table(), score("-m", base, "--lora", adapter(), "--dtype", "bf16"), "auto is bf16")
    expect(text.table() != score("-m", base), "the adapter changes nothing")


@case
def every_command_and_its_provenance():
    base, lora = f32_model(), adapter()
    directory = workplace()
    fasta = os.path.join(directory, "mini.fa")
    line = next(line for line in ok("vep", "-m", base, "--lora", lora, "-f", fasta, "-w", "48",
                                    data("mini.vcf")).lines() if line.startswith("##carbon_vepModel"))
    expect('Model="%s+tuned"' % os.path.basename(base) in line, line)
    digest = lambda *args: [item for item in next(
        x for x in ok("vep", "-f", fasta, "-w", "48", *args, data("mini.vcf")).lines()
        if x.startswith("##carbon_vepModel")).split(",") if item.startswith("SHA256=")][0]
    plain = digest("-m", base)
    expect(plain in digest("-m", base), "the digest changes by itself")
    expect_equal(digest("-m", base, "--lora", lora), digest("-m", base, "--lora", shutil.copytree(
        lora, os.path.join(fresh(), "tuned"))), "the digest of a copied adapter")
    different = {plain, digest("-m", base, "--lora", lora), digest("-m", base, "--lora", adapter(lora_alpha=7)),
                 digest("-m", base, "--lora", adapter({k: v + 1 for k, v in plain_tensors().items()}))}
    expect_equal(len(different), 4, "digests")
    for args in (("embed", fasta, "-o", os.path.join(directory, "e.npy")), ("generate", "-l", "12", fasta)):
        ok(args[0], "-m", base, "--lora", lora, *args[1:])
    expect_failure(carbon("bench", "--synthetic", "500M", "--lora", lora), "--lora")


def refusal(lora, *words, base=None):
    directory = workplace()
    refused(["score", "-m", base or f32_model(), "--lora", lora, os.path.join(directory, "mini.fa")], *words,
            directory=directory)


for key, value in (("peft_type", "IA3"), ("peft_type", None), ("lora_alpha", -1), ("lora_alpha", None), ("r", 0),
                   ("r", "3"), ("r", None), ("bias", "all"), ("use_dora", True), ("fan_in_fan_out", True),
                   ("init_lora_weights", "pissa"), ("layer_replication", [[0, 2]]), ("something_new", 1),
                   ("lora_bias", True), ("alpha_pattern", {"q_proj": 0}), ("use_rslora", 1)):
    @case(name="refused: %s %r" % (key, value))
    def refused_setting(key=key, value=value):
        refusal(adapter(**{key: value}), "adapter_config.json", key)


@case
def refused_tensors():
    good = plain_tensors()
    first = LAYER + "self_attn.q_proj.lora_A.weight"
    without = {name: array for name, array in good.items() if name != first}
    refusal(adapter(without), "only one of the two tensors")
    refusal(adapter({**good, LAYER + "self_attn.q_proj.lora_magnitude_vector": np.ones(32, np.float32)}),
            "lora_magnitude_vector")
    refusal(adapter({**without, "model.x.lora_A.weight": good[first]}), "does not begin with")
    refusal(adapter({**without, first: np.ones((3, 31), np.float32)}), "belongs to another model")
    refusal(adapter({**without, first: np.ones((2, 32), np.float32)}), "rank 2")
    refusal(adapter({**without, first: np.ones((2, 32), np.float32)}, rank_pattern={"q_proj": 2}), "ranks")
    refusal(adapter({**good, **{LAYER.replace("1", "9") + "self_attn.q_proj.lora_%s.weight" % x:
                                good[LAYER + "self_attn.q_proj.lora_%s.weight" % x] for x in "AB"}}),
            "does not have", "another model")
    refusal(adapter({**good, LAYER + "self_attn.q_proj.weight": np.ones((32, 32), np.float32)}), "both")
    refusal(adapter({}), "no tensors")


@case
def refused_directories():
    refusal(os.path.join(fresh(), "nothing"), "no adapter_config.json")
    half = adapter()
    os.rename(os.path.join(half, "adapter_model.safetensors"), os.path.join(half, "adapter_model.bin"))
    refusal(half, "save the adapter again, as safetensors")
    cut = adapter()
    file = os.path.join(cut, "adapter_model.safetensors")
    write(cut, "adapter_model.safetensors", read(file)[:-4])
    refusal(cut, "adapter_model.safetensors", "incomplete download")
    odd = adapter()
    write(odd, "adapter_config.json", "[]")
    refusal(odd, "not a JSON object")


if __name__ == "__main__":
    main()
