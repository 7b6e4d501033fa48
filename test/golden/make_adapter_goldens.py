"""Adds the adapters of adapter_cases.py to their checkpoints with PEFT and writes adapters.json (development only).

    python test/golden/make_adapter_goldens.py > test/golden/adapters.json       needs torch, transformers, peft, numpy

Each adapter is made and saved by PEFT; its weights are replaced by hashed ones; the checkpoint with the adapter beside it
(not merged) is run in float64, the truth, and merged in float32.
"""
import json
import os
import sys
import tempfile

import peft
import safetensors.torch
import torch

import adapter_cases
import cases
import make_goldens


def shorter(digits, numbers):
    return [None if n is None else round(n, digits) for n in numbers]


def with_adapter(checkpoint, options, dtype, adapter, merged):
    reference = make_goldens.Reference(checkpoint, dtype, options)
    model = peft.PeftModel.from_pretrained(reference.model, adapter)
    # PEFT keeps the adapter in float32 unless the model's other weights are of another type.
    model = model.to(dtype)
    reference.model = model.merge_and_unload() if merged else model.base_model.model
    return reference


def golden(name):
    checkpoint_name, settings = adapter_cases.ADAPTERS[name]
    options = cases.CHECKPOINTS[checkpoint_name]
    with tempfile.TemporaryDirectory() as folder:
        checkpoint, adapter = os.path.join(folder, "model"), os.path.join(folder, "adapter")
        make_goldens.make_checkpoint(checkpoint_name, checkpoint)
        base = make_goldens.Reference(checkpoint, torch.float32, options)
        peft.get_peft_model(base.model, peft.LoraConfig(task_type="CAUSAL_LM", **settings)).save_pretrained(
            adapter, save_embedding_layers=False)
        saved = safetensors.torch.load_file(os.path.join(adapter, "adapter_model.safetensors"))
        shapes = {tensor: list(saved[tensor].shape) for tensor in sorted(saved)}
        with open(os.path.join(adapter, "adapter_config.json")) as file:
            config = json.load(file)
        config["base_model_name_or_path"] = checkpoint_name
        adapter_cases.write_adapter(adapter, config, shapes)
        truth = with_adapter(checkpoint, options, torch.float64, adapter, merged=False)
        single = with_adapter(checkpoint, options, torch.float32, adapter, merged=True)
        plain = make_goldens.Reference(checkpoint, torch.float64, options)
        out = {"checkpoint": checkpoint_name, "config": config, "shapes": shapes, "sequences": {}}
        change = error = 0.0
        for title, bases in adapter_cases.sequences().items():
            want = truth.base_logps(bases)
            out["sequences"][title] = shorter(6, want)
            error = max(error, make_goldens.worst(single.base_logps(bases), want))
            change = max(change, make_goldens.worst(plain.base_logps(bases), want))
    print("%s: the adapter changes a base by up to %.3g nats; PEFT in float32 is off by at most %.2g" % (name, change, error),
          file=sys.stderr)
    out["f32_error"] = error
    return out


if __name__ == "__main__":
    print("peft", peft.__version__, "torch", torch.__version__, file=sys.stderr)
    json.dump({name: golden(name) for name in adapter_cases.ADAPTERS}, sys.stdout, separators=(",", ":"))
    print()
