"""Runs the heads of head_cases.py with transformers' LlamaForSequenceClassification and PEFT (development only).

    python test/golden/make_head_goldens.py > test/golden/heads.json       needs torch, transformers, peft, numpy

The model gets the ids of one text, without padding, so that it reads the last row. Float64 is the truth; what float32 is
off by stands beside it. An adapter is made and saved by PEFT from a causal checkpoint with a new head; its weights are
replaced by hashed ones.
"""
import json
import os
import sys
import tempfile

import peft
import safetensors.torch
import torch
import transformers

import cases
import head_cases
import hash_checkpoint
import make_goldens


def loaded(path, dtype, **options):
    model = transformers.AutoModelForSequenceClassification.from_pretrained(path, dtype=dtype, **options).eval()
    # A text is alone in its batch, and no id is padding.
    model.config.pad_token_id = model.config.vocab_size - 1
    return model


def prepared(model):
    make_goldens.rotary_in_double(model)
    return model


@torch.no_grad()
def values(model, name, first):
    activation = {"none": lambda z: z, "softmax": lambda z: torch.softmax(z, -1), "sigmoid": torch.sigmoid}[
        head_cases.PROBLEMS.get(model.config.problem_type, "none")]
    out = []
    for bases in head_cases.sequences().values():
        for pool, pad, reverse in head_cases.runs():
            ids = head_cases.tokens(bases, pool, pad, reverse, first)
            out.append(activation(model(torch.tensor([ids])).logits[0].double()).tolist())
    return out


def worst(got, want):
    return max(abs(a - b) for rows in zip(got, want) for a, b in zip(*rows))


def golden_head(name):
    checkpoint, head = head_cases.HEADS[name]
    options = dict(cases.CHECKPOINTS[checkpoint], **head)
    first = options.get("dna_start", 151669)
    with tempfile.TemporaryDirectory() as folder:
        hash_checkpoint.write_checkpoint(folder, **options)
        truth, single = (values(prepared(loaded(folder, dtype)), name, first) for dtype in (torch.float64, torch.float32))
    return {"rows": truth, "f32_error": worst(single, truth)}


def golden_adapter(name):
    checkpoint, labels, settings = head_cases.ADAPTERS[name]
    options = cases.CHECKPOINTS[checkpoint]
    first = options.get("dna_start", 151669)
    with tempfile.TemporaryDirectory() as folder:
        base, adapter = os.path.join(folder, "model"), os.path.join(folder, "adapter")
        hash_checkpoint.write_checkpoint(base, **options)
        model = loaded(base, torch.float32, num_labels=labels, problem_type="regression")
        peft.get_peft_model(model, peft.LoraConfig(task_type="SEQ_CLS", **settings)).save_pretrained(adapter)
        saved = safetensors.torch.load_file(os.path.join(adapter, "adapter_model.safetensors"))
        shapes = {tensor: list(saved[tensor].shape) for tensor in sorted(saved)}
        with open(os.path.join(adapter, "adapter_config.json")) as file:
            config = json.load(file)
        config["base_model_name_or_path"] = checkpoint
        head_cases.write_adapter(adapter, config, shapes)
        found = []
        for dtype in (torch.float64, torch.float32):
            whole = peft.PeftModel.from_pretrained(loaded(base, dtype, num_labels=labels, problem_type="regression"), adapter)
            merged = whole.to(dtype).merge_and_unload() if dtype == torch.float32 else whole.to(dtype).base_model.model
            found.append(values(prepared(merged), name, first))
    return {"config": config, "shapes": shapes, "rows": found[0], "f32_error": worst(found[1], found[0])}


def shorter(entry):
    entry["rows"] = [[float("%.9g" % value) for value in row] for row in entry["rows"]]
    return entry


if __name__ == "__main__":
    print("transformers", transformers.__version__, "peft", peft.__version__, "torch", torch.__version__, file=sys.stderr)
    out = {"heads": {name: shorter(golden_head(name)) for name in head_cases.HEADS},
           "adapters": {name: shorter(golden_adapter(name)) for name in head_cases.ADAPTERS}}
    for kind in out.values():
        for name, entry in kind.items():
            print("%s: float32 is off by at most %.2g" % (name, entry["f32_error"]), file=sys.stderr)
    json.dump(out, sys.stdout, separators=(",", ":"))
    print()
