"""Runs the cases of letter_cases.py with Hugging Face transformers and writes letters.json (development only).

    python test/golden/make_letter_goldens.py > test/golden/letters.json      needs torch, transformers, numpy

The stock Qwen3ForCausalLM in float64, and in bfloat16 for its own error. In float64 the rotary embedding is computed in double
from the configuration, because transformers computes it in float32. Ids are those of the checkpoint's tokenizer.json, read by
transformers.
"""
import json
import math
import os
import sys
import tempfile

import numpy as np
import torch
import transformers

sys.path.insert(0, os.path.dirname(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tools"))
import hash_checkpoint  # noqa: E402
import letter_cases  # noqa: E402

LETTERS = "atcg"  # the order of the program's tables


def frequencies(config):
    """inv_freq in double: piece by piece as the authors of Llama 3 write it down."""
    rope = getattr(config, "rope_scaling", None) or getattr(config, "rope_parameters", None) or {}
    theta = rope.get("rope_theta") or config.rope_theta
    out = []
    for j in range(config.head_dim // 2):
        f = theta ** (-2 * j / config.head_dim)
        wavelength = 2 * math.pi / f
        if (rope.get("rope_type") or "default") == "llama3":
            low, high, original = rope["low_freq_factor"], rope["high_freq_factor"], rope["original_max_position_embeddings"]
            if wavelength > original / low:
                f /= rope["factor"]
            elif wavelength >= original / high:
                s = (original / wavelength - low) / (high - low)
                f = (1 - s) * f / rope["factor"] + s * f
        out.append(f)
    return np.array(out)


def rotary_in_double(model):
    table = torch.from_numpy(frequencies(model.config))
    own = model.model.rotary_emb
    assert np.allclose(own.inv_freq.double().numpy(), table.numpy(), rtol=1e-5), "transformers computes another inv_freq"
    assert own.attention_scaling == 1

    def forward(x, position_ids, *unused, **named):
        angles = position_ids[..., None].double() * table
        angles = torch.cat((angles, angles), dim=-1)
        return angles.cos().to(x.dtype), angles.sin().to(x.dtype)

    own.forward = forward


def reference(path, dtype):
    model = transformers.AutoModelForCausalLM.from_pretrained(path, dtype=dtype).eval()
    assert type(model).__name__ == "Qwen3ForCausalLM"
    if dtype == torch.float64:
        rotary_in_double(model)
    return model


@torch.no_grad()
def letter_logps(model, tokenizer, bases):
    """[1 + letters, 4]: log-softmax over A, T, C and G of the next letter, after [BOS] and after each letter."""
    ids = tokenizer(bases).input_ids
    if ids[-1] == tokenizer.convert_tokens_to_ids("[EOS]"):
        ids = ids[:-1]
    assert len(ids) == 1 + len(bases) and ids[0] == tokenizer.convert_tokens_to_ids("[BOS]")
    letters = tokenizer.convert_tokens_to_ids(list(LETTERS))
    return torch.log_softmax(model(torch.tensor([ids])).logits[0, :, letters].double(), -1).numpy()


def entry(name):
    with tempfile.TemporaryDirectory() as path:
        hash_checkpoint.write_checkpoint(path, **letter_cases.options(name))
        tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=path + "/tokenizer.json")
        exact, coarse = reference(path, torch.float64), reference(path, torch.bfloat16)
        sequences, error = {}, 0.0
        for bases in letter_cases.sequences():
            truth = letter_logps(exact, tokenizer, bases)
            error = max(error, float(np.abs(letter_logps(coarse, tokenizer, bases) - truth).max()))
            sequences[bases] = np.round(truth, 7).tolist()
    print("%s: bf16 of transformers is off by %.3g nats" % (name, error), file=sys.stderr)
    return {"options": letter_cases.checkpoint_options(name), "bf16_error": error, "sequences": sequences}


def main():
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    out = {"made_with": {"transformers": transformers.__version__, "torch": torch.__version__.split("+")[0]},
           "checkpoints": {name: entry(name) for name in letter_cases.CHECKPOINTS}}
    json.dump(out, sys.stdout, separators=(",", ":"))
    print()


if __name__ == "__main__":
    main()
