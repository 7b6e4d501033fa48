"""What the goldens of adapters are made of: checkpoints and LoRA adapters with hashed weights. Needs numpy.

make_adapter_goldens.py lets PEFT add each adapter to its checkpoint and writes adapters.json, with the adapter_config.json
that PEFT has saved and the names and shapes of the tensors; check_adapters.py writes the same adapter from that alone.
"""
import json
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tools"))
import cases  # noqa: E402
import hash_checkpoint  # noqa: E402

# name -> (checkpoint, options of PEFT's LoraConfig)
ADAPTERS = {
    "all-linear": ("dna-tied-f32-hd20", dict(r=4, lora_alpha=12, target_modules="all-linear")),
    "attention-rslora": ("full-tied-hd64-gqa2", dict(r=8, lora_alpha=16, use_rslora=True,
                                                     target_modules=["q_proj", "k_proj", "v_proj", "o_proj"])),
    "patterns": ("dna-untied-hd96-gqa4", dict(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj", "down_proj"],
                                              rank_pattern={"v_proj": 2}, alpha_pattern={"layers.1.mlp.down_proj": 32},
                                              layers_to_transform=[1, 3])),
    "embedding-and-head": ("dna-untied-hd96-gqa4", dict(r=3, lora_alpha=6, modules_to_save=["lm_head"],
                                                        target_modules=["embed_tokens", "gate_proj"])),
}


def values(name, shape):
    """The weights of a tensor of an adapter, as large as those of the model, so that a mistake is seen."""
    offset, scale = (0.0, math.sqrt(3.0 / shape[-1])) if "lora_" in name else (0.0, 2 * math.sqrt(3.0 / shape[-1]))
    if "lora_B" in name or "lora_embedding_B" in name:
        scale = 0.3 / math.sqrt(shape[-1])
    return hash_checkpoint.tensor_values(name, shape, offset, scale, 7, "f32")


def write_safetensors(path, tensors):
    """`tensors`: name -> float32 array."""
    header, at = {}, 0
    for name, array in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [at, at + 4 * array.size]}
        at += 4 * array.size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(len(text).to_bytes(8, "little") + text)
        for array in tensors.values():
            array.tofile(out)


def write_adapter(path, config, shapes):
    """`config`: what adapter_config.json holds; `shapes`: tensor -> shape."""
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, "adapter_config.json"), "w") as out:
        json.dump(config, out)
    write_safetensors(os.path.join(path, "adapter_model.safetensors"),
                      {name: values(name, shape) for name, shape in shapes.items()})


def sequences():
    chosen = cases.sequences()
    return {name: chosen[name] for name in ("plain", "noisy", "partial")}
